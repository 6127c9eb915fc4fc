"""The public surface, a line for each name: `python tests/public_names.py` writes it to public_names.txt.

Commands come last, each with its arguments and options.
Public are the names of `__all__` in the modules below, with their parameters and defaults, and of their
classes the methods and properties that this package defines. Annotations are left out: types may become more
exact without anybody having to care.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from textmargin.cli._usage import COMMANDS, import_commands

MODULES = (
    "textmargin",
    "textmargin.desk",
    "textmargin.errors",
    "textmargin.persistence",
    "textmargin.scale",
    "textmargin.serve",
    "textmargin.tables",
    "textmargin.tables.decision_columns",
)
FILE = Path(__file__).with_name("public_names.txt")


def surface() -> list[str]:
    """Every public name: what it is, and what it takes; then every command."""
    names = [
        line
        for module in MODULES
        for name in sorted(import_module(module).__all__)
        for line in lines(module, name)
    ]
    commands = import_commands(COMMANDS)
    return names + [line for name in COMMANDS for line in command_lines(f"textmargin {name}", commands[name])]


def command_lines(words: str, command: Any) -> Iterator[str]:
    """A command with its arguments, a line for each of its options, and the commands in it."""
    arguments = [one.name.upper() for one in command.params if one.param_type_name == "argument"]
    yield " ".join([f"command {words}", *arguments])
    for one in command.params:
        if one.param_type_name == "option" and not one.hidden:
            yield f"  {' '.join([*one.opts, *one.secondary_opts])}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from command_lines(f"{words} {name}", inner)


def lines(module: str, name: str) -> Iterator[str]:
    """A name, and below it what belongs to it."""
    thing = getattr(import_module(module), name)
    path = f"{module}.{name}"
    if not inspect.isclass(thing):
        yield (
            f"{path} function {parameters(thing)}"
            if callable(thing) and not is_value(thing)
            else f"{path} value {thing!r}"
        )
        return
    if issubclass(thing, BaseException):
        kind = "warning" if issubclass(thing, Warning) else "error"
        yield f"{path} {kind} ({', '.join(base.__name__ for base in thing.__bases__)})"
    else:
        yield f"{path} class {parameters(thing)}"
    for member in sorted(dir(thing)):
        if not member.startswith("_") and (line := member_line(thing, member)):
            yield f"  {line}"


def member_line(owner: type, name: str) -> str | None:
    """A method or property of ours; None for what scikit-learn and Python bring along, and for fields, which
    are parameters.
    """
    found = inspect.getattr_static(owner, name)
    if isinstance(found, (classmethod, staticmethod)):
        own, kind = found.__func__, type(found).__name__
    elif isinstance(found, property):
        own, kind = found.fget, "property"
    elif inspect.isfunction(found):
        own, kind = found, "method"
    elif hasattr(found, "fn"):  # scikit-learn's available_if
        own, kind = found.fn, "method"
    elif hasattr(found, "func"):  # functools.cached_property
        own, kind = found.func, "property"
    else:
        return None
    if not str(getattr(own, "__module__", "")).startswith("textmargin"):
        return None
    return f".{name} {kind}" + (
        "" if kind == "property" else f" {parameters(own, bound=kind != 'staticmethod')}"
    )


class Sorted(frozenset[str]):
    """A set that is shown in the same order each time."""

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, sorted(self)))}}})"


def is_value(thing: Any) -> bool:
    """Whether it is an object that can be called, such as a utility, and no function."""
    return not (inspect.isroutine(thing) or inspect.isclass(thing))


def parameters(thing: Any, *, bound: bool = False) -> str:
    """Names, kinds and defaults of what it takes."""
    found = list(inspect.signature(thing).parameters.values())[bound:]
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in found]
    plain = [
        one.replace(default=Sorted(one.default)) if isinstance(one.default, frozenset) else one
        for one in plain
    ]
    return re.sub(r"<(?:function|class) '?([\w.<>]+?)'?(?: at 0x\w+)?>", r"\1", str(inspect.Signature(plain)))


if __name__ == "__main__":
    FILE.write_text("\n".join(surface()) + "\n")
    print(f"{len(surface())} lines in {FILE.name}")
