"""The command reference, from the commands themselves: a page for each, with every argument, option, default
and help.

Runs when a build begins, and writes reStructuredText into `generated/commands`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from textmargin.cli import app as application
from textmargin.cli._usage import COMMANDS, import_commands

FOLDER = "generated/commands"


def find_commands() -> dict[str, Any]:
    """Every command by the words that are typed for it, groups before what is in them, in the order of
    `--help`.
    """
    found: dict[str, Any] = {}
    commands = import_commands(COMMANDS)
    for name in COMMANDS:
        found[f"textmargin {name}"] = commands[name]
        for inner, command in getattr(commands[name], "commands", {}).items():
            found[f"textmargin {name} {inner}"] = command
    return found


def pages() -> dict[str, str]:
    """The text of each page by its name: an index, and one for each command."""
    commands = find_commands()
    first_words = [words for words in commands if words.count(" ") == 1]
    written = {"index": _index(first_words, commands)}
    for words in first_words:
        inner = [other for other in commands if other.startswith(f"{words} ")]
        sections = [
            _section(words, commands[words], "="),
            *(_section(other, commands[other], "-") for other in inner),
        ]
        written[words.split()[1]] = "\n\n".join(sections) + "\n"
    return written


def parameters(words: str, command: Any) -> Iterator[tuple[str, str, str]]:
    """Panel, names and help of each argument and option of a command; --help, which all have, is left out."""
    context = (
        command.make_context(words, [], resilient_parsing=True) if hasattr(command, "make_context") else None
    )
    for one in command.params:
        record = one.get_help_record(context)
        if record is None or "--help" in one.opts:
            continue
        is_option = one.param_type_name == "option"
        panel = getattr(one, "rich_help_panel", None) or ("Options" if is_option else "Arguments")
        yield panel, " ".join(record[0].split()), record[1].replace("\\[", "[")


def _index(words: list[str], commands: dict[str, Any]) -> str:
    rows = "\n".join(
        f"   * - :doc:`{one} <{one.split()[1]}>`\n     - {_inline(_first(commands[one].help))}"
        for one in words
    )
    names = "\n".join(f"   {one.split()[1]}" for one in words)
    general = _options("textmargin", typer.main.get_group(application))
    return f"""Command reference
=================

Every command, with all its options and their defaults, as ``--help`` says them. How commands go together,
and what they print, is told in :doc:`the command line </command-line>`; results go to standard output,
remarks to standard error, and the exit code of a mistake is 2.

.. list-table::
   :widths: 30 70

{rows}

{general}

.. toctree::
   :hidden:

{names}
"""


def _section(words: str, command: Any, line: str) -> str:
    if hasattr(command, "commands"):
        usage = f"{words} COMMAND"
    else:
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        names = [one.name.upper() if one.required else f"[{one.name.upper()}]" for one in arguments]
        usage = " ".join([words, *names, "[OPTIONS]"])
    told = "\n\n".join(_inline(" ".join(part.split())) for part in (command.help or "").split("\n\n"))
    return (
        f"{words}\n{line * len(words)}\n\n.. code-block:: text\n\n   "
        f"{usage}\n\n{told}\n\n{_options(words, command)}"
    )


def _options(words: str, command: Any) -> str:
    """A list for each panel of the help."""
    panels: dict[str, list[str]] = {"Arguments": [], "Options": []}
    for panel, names, told in parameters(words, command):
        panels.setdefault(panel, []).append(
            f".. option:: {_option_names(names)}\n\n{textwrap.indent(_inline(told) or '…', '   ')}"
        )
    lists = [
        f".. rubric:: {panel}\n\n" + "\n\n".join(entries) for panel, entries in panels.items() if entries
    ]
    return "\n\n".join([f".. program:: {words}", *lists])


def _option_names(names: str) -> str:
    """`-o, --output FILE`, `--header / --no-header`: as Sphinx wants them, with commas."""
    return re.sub(r"\s*/\s*", ", ", names).replace("[required]", "").strip()


def _first(told: str | None) -> str:
    return " ".join((told or "").split("\n\n")[0].split())


def _inline(told: str) -> str:
    """Plain help as reStructuredText: what is in backticks, options and addresses are code, the rest is as it
    is.
    """
    pieces = re.split(r"(`[^`]+`|(?<![\w-])--[a-z][\w-]*|\w+://[^\s,;)]+)", told)
    return "".join(
        f"``{piece.strip('`')}``" + ("\\ " if piece else "")
        if index % 2
        else re.sub(r"([\\*|_])", r"\\\1", piece)
        for index, piece in enumerate(pieces)
    )


def _write(sphinx: Any) -> None:
    folder = Path(sphinx.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in folder.glob("*.rst"):
        if path.stem not in written:
            path.unlink()
    for name, text in written.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:  # an unchanged page is not built again
            path.write_text(text, "utf-8")


def setup(sphinx: Any) -> dict[str, bool]:
    """Let Sphinx call it before it looks for pages."""
    sphinx.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
