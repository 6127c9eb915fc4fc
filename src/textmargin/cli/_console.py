"""What all commands share: the application, how mistakes are told, and how results are printed."""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer

from .. import __version__
from .._system.json import jsonable
from .._system.stages import StageDisplay
from ..errors import SettingError, TextmarginError
from ._interrupts import Termination, ends_at_once, raise_interrupts, raise_terminations
from ._usage import Commands, Group

DEBUG = "TEXTMARGIN_DEBUG"


class OptionError(TextmarginError, ValueError):
    """Options that are wrong, or do not go together."""


class Application(typer.Typer):
    """An application whose commands tell mistakes in one line, and what they are at where it takes long."""

    def __init__(self, cls: type[Group] = Group, **settings: Any) -> None:
        super().__init__(cls=cls, **settings)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the words say; asked to end by SIGTERM it ends as by Ctrl-C, with 143."""
        raise_terminations()
        try:
            with ends_at_once():
                return super().__call__(*args, **kwargs)
        except Termination as termination:  # before a command has begun, or after it has ended
            raise SystemExit(128 + termination.number) from None
        except OSError as error:  # of help, which is printed before a command has begun
            if error.errno != errno.ENOSPC:
                raise
            # what is left would fail again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            remark(f"standard output cannot be written: {error.strerror}.")
            raise SystemExit(2) from None

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """A decorator that makes a function a command."""
        register = super().command

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(function)
            def run(*args: Any, **kwargs: Any) -> Any:
                with mistakes(), StageDisplay(remark if kwargs.get("verbose") else None):
                    return function(*args, **kwargs)

            # Lines of a docstring are those of its file; a paragraph of help is as wide as the terminal.
            paragraphs = [" ".join(one.split()) for one in (inspect.getdoc(function) or "").split("\n\n")]
            register(name, help="\n\n".join(paragraphs), **settings)(run)
            return function

        return decorate


app = Application(
    Commands,
    help="Text classification with support vector machines that use what you know.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=f"Set {DEBUG}=1 for the traceback of an error.",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version)
    ] = False,
) -> None:
    """Text classification with support vector machines that use what you know."""


_FROM_THE_START = (
    "a file that it writes is whole or not there, and given again the command starts from the beginning."
)


@contextmanager
def resumable(promise: str) -> Iterator[None]:
    """For work of which a part stays when it is interrupted: what to tell then."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(promise)
        raise


@contextmanager
def mistakes() -> Iterator[None]:
    """What a user can mend is one line on standard error, and exit code 2; warnings are one line each, said
    once.

    Only our own errors are such, and those of the system about a named file; any other is a fault, and keeps
    its traceback.
    """
    told: set[str] = set()

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        line = with_options(message)
        if line not in told:
            remark(line)
        told.add(line)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show_warning
        try:
            raise_interrupts()
            _escape_what_cannot_be_encoded()
            yield
        except KeyboardInterrupt as interrupt:
            number = interrupt.number if isinstance(interrupt, Termination) else signal.SIGINT
            how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
            remark(f"{how}; {' '.join(getattr(interrupt, '__notes__', [_FROM_THE_START]))}")
            raise typer.Exit(128 + number) from None
        except BrokenPipeError:  # who reads the results has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except Exception as error:
            # scikit-learn's own word for a parameter out of range, which its objects and ours share
            own = isinstance(error, TextmarginError) or type(error).__name__ == "InvalidParameterError"
            # and the system's about a file that the user named: a name too long, a folder that is closed to
            # them
            named = isinstance(error, OSError) and error.filename is not None
            if not (own or named) or _is_debugging():
                raise
            remark(with_options(error) if own else _about_a_file(error))
            raise typer.Exit(2) from error


def _escape_what_cannot_be_encoded() -> None:
    """On standard output as Python does on standard error: names of files need not be UTF-8, and texts hold
    anything.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_debugging() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def _about_a_file(error: Any) -> str:
    """What the system says of a file; a name of thousands of characters is no file's, and is shortened."""
    name = os.fsdecode(error.filename)
    return f"{name if len(name) <= 200 else f'{name[:100]}…{name[-40:]}'} cannot be used: {error.strerror}."


def _option(name: str) -> str:
    return "--share" if name == "shares" else f"--{name.replace('_', '-')}"


# Parameters of the library as this program's options. Messages of the library name what the caller typed:
# here that is options.
_SETTINGS = (
    "keywords",
    "rationales",
    "prior_model",
    "trust",
    "threshold_scores",
    "always_answer",
    "length",
    "decay",
)
_NAMES = (
    "text",
    "label",
    "label_separator",
    "missing_labels",
    "delimiter",
    "encoding",
    "sheet",
    "only",
    "holdout",
    "split_by",
    "features",
    "min_recall",
    "min_precision",
    "always_answer",
    "positive",
    *_SETTINGS,
)
_OPTIONS = {
    "decision=ThresholdClassifier(utility=...)": "--hit and --false-alarm, --costs or --utility",
    "knowledge={'class': ['word', 'word'], …}": "--keywords FILE",
    "by classes=[...]": "by a line without words in the keyword file, as in ham = []",
    "name it in classes=[...], or label": "label",
    "shares names": "--share names",
    "shares must": "--share must",
    "utility=Utility(tp=2, fp=-1)": "--hit 2 --false-alarm -1",
    "check_data(texts, labels)": "textmargin check",
    "skip_invalid=True": "--skip-invalid",
    "always_answer=False": "--may-be-unsure",
    "always_answer=True": "--always-answer",
    "file_format='txt'": "--format txt",
    "keep_formulas=True": "--keep-formulas",
    "header=False": "--no-header",
    "header=True": "--header",
    "file_format=": "--format",
    "pos_label=": "--positive",
    "scores=": "--threshold-scores",
    **{f"{name}=": _option(name) for name in _NAMES},
}
# With its value, which needs no quotes here; not as a part of a call, such as `predict(text=...)`.
_PARAMETER = re.compile(
    rf"(?<![\w.])(?<!\w\()({'|'.join(map(re.escape, _OPTIONS))})(?:'([\w-]+)'|(?=(['\w]))|)"
)
_OUT_OF_RANGE = re.compile(r"The '(\w+)' parameter of \w+ (?=must be)")  # in scikit-learn's words


def with_options(message: Exception | str) -> str:
    """A message, such as an error's, on one line, parameters as the options they are here."""
    line = " ".join(str(message).split())
    line = _PARAMETER.sub(_with_value, line)
    line = _OUT_OF_RANGE.sub(
        lambda found: f"{_option(found[1])} " if found[1] in _SETTINGS else found[0], line
    )
    if isinstance(message, SettingError):
        names = "|".join(dict.fromkeys([message.setting, *_SETTINGS]))  # as words, not as parts of a path
        line = re.sub(rf"(?<![-\w/.'])({names})(?![\w=/']|\.\w)", lambda found: _option(found[1]), line)
    return line


def _with_value(found: re.Match[str]) -> str:
    name, value, follows = found.groups()
    return _OPTIONS[name] + (f" {value or ''}" if value or follows else "")


def remark(line: str) -> None:
    """A line on standard error."""
    typer.echo(f"textmargin: {line}", err=True)


def print_json(data: Any) -> None:
    """Plain data on standard output; NaN as null."""
    typer.echo(json.dumps(jsonable(data), indent=1, ensure_ascii=False))


def amount(value: float | None) -> str:
    """In a user's currency: whole where it is whole."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"
