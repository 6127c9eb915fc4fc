"""What all commands share: the application, how mistakes are told, and options that several commands have."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from ..errors import TextmarginError

if TYPE_CHECKING:
    from ..decisions.utility import Measure

app = typer.Typer(
    help="Text classification with support vector machines that use what you know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
TextColumn = Annotated[str | None, typer.Option("--text", help="Column of the texts; guessed where it is obvious.")]
LabelColumn = Annotated[str | None, typer.Option("--label", help="Column of the labels; guessed where it is obvious.")]
Separator = Annotated[str | None, typer.Option(help="What stands between several labels of one text.")]
Kind = Annotated[str | None, typer.Option("--format", help="csv, tsv, jsonl, txt, parquet or folder; by default by its name.")]
Encoding = Annotated[str, typer.Option(help="Of the file.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read, and say which.")]
Hit = Annotated[float | None, typer.Option(help="What a text is worth that is accepted and right.")]
FalseAlarm = Annotated[float | None, typer.Option(help="What one is worth that is accepted and wrong: a negative number.")]
Miss = Annotated[float | None, typer.Option(help="What one is worth that should have been accepted: 0 or less.")]
UtilityName = Annotated[str | None, typer.Option("--utility", help="t10u, t11su, t10su or f1 in place of costs.")]
Costs = Annotated[
    Path | None, typer.Option(help="TOML file with costs by label: label = { hit = 5, false_alarm = -1, miss = 0 }.")
]
MinRecall = Annotated[float | None, typer.Option(help="Floor for recall, 0 to 1.")]
MinPrecision = Annotated[float | None, typer.Option(help="Floor for precision, 0 to 1.")]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version)] = False,
) -> None:
    """Text classification with support vector machines that use what you know."""


@contextmanager
def mistakes() -> Iterator[None]:
    """What a user can mend is one line on standard error, and exit code 2; warnings are one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _remarked
        try:
            yield
        except KeyboardInterrupt:
            remark("interrupted; nothing was left half-written. Run the command again to go on.")
            raise typer.Exit(2) from None
        except BrokenPipeError:  # who reads the results has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (TextmarginError, ValueError) as error:
            remark(" ".join(str(error).split()))
            raise typer.Exit(2) from error
        except OSError as error:
            remark(f"{error.filename or 'a file'}: {error.strerror}" if error.strerror else str(error))
            raise typer.Exit(2) from error


def _remarked(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(" ".join(str(message).split()))


def remark(line: str) -> None:
    """A line on standard error."""
    typer.echo(f"textmargin: {line}", err=True)


def print_json(data: Any) -> None:
    """Plain data on standard output; NaN as null."""
    typer.echo(json.dumps(_finite(data), indent=1, ensure_ascii=False))


def worth(
    hit: float | None, false_alarm: float | None, miss: float | None, utility: str | None, costs: Path | None
) -> Measure | dict[str, Measure] | None:
    """What decisions are worth, as said with options; None where nothing is said."""
    from ..decisions.utility import Utility
    from ..training import UTILITIES, read_costs

    given = [name for name, value in (("--utility", utility), ("--costs", costs)) if value is not None]
    if hit is not None or false_alarm is not None or miss is not None:
        given.append("--hit, --false-alarm and --miss")
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} both say what decisions are worth; choose one.")
    if utility is not None:
        if utility.lower() not in UTILITIES:
            raise ValueError(f"--utility {utility} is none of {', '.join(UTILITIES)}.")
        return UTILITIES[utility.lower()]
    if costs is not None:
        return dict(read_costs(costs))
    if not given:
        return None
    return Utility(
        tp=2.0 if hit is None else hit, fp=-1.0 if false_alarm is None else false_alarm, fn=0.0 if miss is None else miss
    )


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and data != data else data


def check_writable(path: Path, *others: object) -> None:
    """Before any work: whether a file can be written, and would replace none of the others, nor something that is no file.

    Parameters
    ----------
    path : Path
    *others : paths that are read, or written as well; None where there are none
    """
    whole = path.resolve()
    for other in others:
        if other is not None and whole == Path(str(other)).resolve():
            raise ValueError(f"{path} would replace {other}, which is needed; choose another name.")
    if path.is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} cannot be written: it is not a regular file.")
    if not whole.parent.is_dir() or not os.access(whole.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"{path} cannot be written: its folder is not there, or one may not write there.")
