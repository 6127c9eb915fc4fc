"""What a family of the attack is, and how its cases are run one after the other.

A family is a module of this folder with a function `case(seed)`, which makes one case of the seed, alone, and
raises what it finds: an AssertionError where a number differs from its definition, or any exception that
nobody promised. Nothing else is asked of it; `SECONDS_A_CASE` says how long a case may take, and a function
`missing` what it needs that not everybody has. What was found once is in `examples.toml` by its seed, and is
tried again in every run of the tests; a family has a short run there as well, in `test_families.py` or in a
file of its own.
"""

import importlib
import signal
import time
import tomllib
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "examples.toml"
PATIENCE = 6


class Slow(BaseException):  # which no `except Exception` of the product catches
    """A case takes longer than its family allows."""


@dataclass(frozen=True)
class Failure:
    """A case, and what was found."""

    seed: int
    what: str


@dataclass
class Outcome:
    """Of the cases of one family."""

    family: str
    first: int
    n_cases: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)


def names() -> list[str]:
    """The modules of this folder that are families, in order."""
    return sorted(
        path.stem for path in FOLDER.glob("*.py") if "\ndef case(seed" in path.read_text(encoding="utf-8")
    )


def without_tests() -> list[str]:
    """Those that have no file of tests of their own."""
    return [name for name in names() if not (FOLDER / f"test_{name}.py").exists()]


def examples(name: str) -> dict[int, str]:
    """Cases of a family that once failed, by their seeds, with what it was."""
    return {
        int(seed): what
        for seed, what in tomllib.loads(EXAMPLES.read_text(encoding="utf-8")).get(name, {}).items()
    }


def load(name: str) -> ModuleType:
    return importlib.import_module(f"attack.{name}")


def missing(name: str) -> str | None:
    """What a family cannot do without, if it is not there."""
    return getattr(load(name), "missing", lambda: None)()


def run_case(name: str, seed: int) -> Failure | None:
    """One case; what it found, if anything."""
    family = load(name)
    try:
        with time_limit(seconds_a_case(name)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            family.case(seed)
    except Exception as error:
        return Failure(seed, _told(error))
    except Slow as error:
        return Failure(seed, _told(error))
    return None


def run(name: str, first: int, seconds: float) -> Iterator[tuple[int, Failure | None]]:
    """Cases from the seed `first` on, until the time is over: at least one."""
    load(name)  # which is no case
    end, seed = time.monotonic() + seconds, first
    while True:
        yield seed, run_case(name, seed)
        seed += 1
        if time.monotonic() > end:
            return


def seconds_a_case(name: str) -> float:
    """Of the processor; by the clock a case may take so many times `PATIENCE`."""
    return float(getattr(load(name), "SECONDS_A_CASE", 20))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Slow after so many seconds of this process, or where it waits, after many more: a machine may have
    other work to do.
    """

    def ring(*_: object) -> None:
        raise Slow(f"more than {seconds:g} s")

    timers = [
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, seconds * PATIENCE),
    ]
    before = [(number, signal.signal(number, ring)) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler)


def _told(error: BaseException) -> str:
    """One line: the error, and where it comes from."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:300]} ({Path(place.filename).name}:{place.lineno})"
