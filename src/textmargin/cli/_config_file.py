"""Options of `train` in a TOML file: a line for each, under the name of the option; what the command line
says wins.

    data = "tickets.csv"
    label = "desk"
    ngrams = "1-2"
    min-recall = 0.9

Dashes and underscores are the same. Paths are relative to the file, so that it can be used from anywhere.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from ..errors import nearest
from ._console import OptionError, mistakes

# Parameters that may name files.
PATHS = (
    "data",
    "output",
    "report",
    "test",
    "costs",
    "keywords",
    "word_vectors",
    "prior_model",
    "stop_words",
    "unlabelled",
    "guesses",
    "key",
)
_OF_A_RUN = ("config", "as_json", "verbose", "help")  # parameters that say nothing of the model
_WIDTH = 110  # of comments

_HEAD = """\
Settings for: textmargin train --config {name}
A line without # is set; the others show what holds otherwise, where it can be written down. The command \
line wins.
Paths are relative to this file."""


@mistakes()
def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """What a file says becomes what holds where the command line says nothing: the callback of `--config`."""
    if path is None or context.resilient_parsing:
        return path
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--config {path} cannot be read: {error.strerror}.") from error
    except RecursionError:
        raise OptionError(f"--config {path} cannot be read: its brackets are nested too deep.") from None
    except ValueError as error:
        raise OptionError(
            f"--config {path} is not TOML: {error}. A line is a name, = and a value, text in quotes."
        ) from error
    known = settings(context.command.params)
    context.default_map = {}
    for key, value in table.items():
        name = _spelling(key)
        if name not in known:
            near = nearest(name, known)
            hint = (
                "textmargin init writes a file with all of them." if near is None else f"Did you mean {near}?"
            )
            raise OptionError(f"{path}: there is no setting {key!r}. {hint}")
        parameter = known[name]
        context.default_map[parameter.name] = _value(parameter, value, path)
    return path


def settings(parameters: Iterable[Any]) -> dict[str, Any]:
    """The parameters of a command that a file may set, by the names they have there."""
    return {_key(one): one for one in parameters if one.name not in _OF_A_RUN}


def write_config(parameters: Iterable[Any], values: Mapping[str, Any], name: str) -> str:
    """A file with every setting: those with a value as they are set, the others commented out.

    Parameters
    ----------
    parameters : those of `train`
    values : by parameter, as the file has them
    name : of the file, for its head
    """
    shown = name.encode("utf-8", "backslashreplace").decode()  # a name on the disk need not be UTF-8
    lines = [f"# {line}" for line in _HEAD.format(name=shown).splitlines()]
    by_panel: dict[str, list[Any]] = {}
    for one in settings(parameters).values():
        by_panel.setdefault(getattr(one, "rich_help_panel", None) or "Files", []).append(one)
    for panel, members in by_panel.items():
        lines += ["", f"## {panel}"]
        for one in members:
            lines += ["", *_comment(one), _setting(one, values.get(one.name))]
    return "\n".join(lines) + "\n"


def _comment(parameter: Any) -> list[str]:
    help_ = " ".join((parameter.help or "").replace("\\[", "[").split())
    usual = parameter.show_default
    usual = f" By default: {usual}." if isinstance(usual, str) else ""
    return textwrap.wrap(
        f"{help_}{usual}", _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False
    )


def _setting(parameter: Any, value: Any) -> str:
    if value is not None:
        try:
            str(value).encode()
        except UnicodeEncodeError as error:  # bytes of a shell that are no UTF-8
            raise OptionError(
                f"--{_key(parameter)} {value!a} is no text in UTF-8, and cannot stand in a file of settings."
            ) from error
        return f"{_key(parameter)} = {_toml(value)}"
    usual = None if callable(parameter.default) else parameter.default
    return f"# {_key(parameter)} ={'' if usual is None else f' {_toml(usual)}'}"


def _toml(value: Any) -> str:
    return json.dumps(value if isinstance(value, bool | int | float) else str(value), ensure_ascii=False)


def _value(parameter: Any, value: Any, path: Path) -> Any:
    """A value as the command line would have it, checked as that is; where an option may be given several
    times, a list.
    """
    if getattr(parameter, "multiple", False):
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            raise OptionError(
                f"{path}: {_key(parameter)} is text in quotes, or a list of such; got {value!r:.60}."
            )
        return [_relative(parameter, one, path) for one in values]
    wants_flag = bool(getattr(parameter, "is_flag", False))
    if isinstance(value, bool) != wants_flag or not isinstance(value, bool | int | float | str):
        wanted = "true or false" if wants_flag else "a number, or text in quotes"
        raise OptionError(f"{path}: {_key(parameter)} is {wanted}; got {value!r:.60}.")
    return value if wants_flag else _relative(parameter, str(value), path)


def _relative(parameter: Any, value: str, path: Path) -> str:
    """A value; of a path that of the file it stands in is the folder it starts from."""
    return str(path.parent / value) if parameter.name in PATHS and _is_path(parameter.name, value) else value


def _is_path(name: str, value: str) -> bool:
    if name == "stop_words":
        from ..representations.languages import LANGUAGES

        return value.lower() not in ("none", *LANGUAGES)
    return value != "-" and "://" not in value


def _key(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name)
    return str(max(parameter.opts, key=len).lstrip("-"))


def _spelling(key: str) -> str:
    return key.replace("_", "-")
