"""Options of `train` in a TOML file: a line for each, under the name of the option; what the command line
says wins.

    data = "tickets.csv"
    label = "desk"
    ngrams = "1-2"
    min-recall = 0.9

Dashes and underscores are the same. Paths are relative to the file, so that it can be used from anywhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
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
            hint = "textmargin train --help lists them." if near is None else f"Did you mean {near}?"
            raise OptionError(f"{path}: there is no setting {key!r}. {hint}")
        parameter = known[name]
        context.default_map[parameter.name] = _value(parameter, value, path)
    return path


def settings(parameters: Iterable[Any]) -> dict[str, Any]:
    """The parameters of a command that a file may set, by the names they have there."""
    return {_key(one): one for one in parameters if one.name not in _OF_A_RUN}


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
