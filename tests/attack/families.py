"""What a family of the attack is, and how its cases run.

A family is a module of this folder with a function `case(seed)`, which makes one case of the seed alone and
raises what it finds: an AssertionError if a number differs from its definition, or any exception that nobody
promised. `SECONDS_A_CASE` says how long a case may take. What was found once stands in `examples.toml` by its
seed and runs with every run of the tests.
"""

import importlib
import signal
import time
import tomllib
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parent
EXAMPLES = tomllib.loads((FOLDER / "examples.toml").read_text("utf-8"))
PATIENCE = 6  # a case may take so many times its seconds by the clock


class SlowCase(BaseException):
    """A case takes longer than its family allows; no `except Exception` of the product catches it."""


def names():
    """The modules of this folder that are families."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if "\ndef case(seed" in path.read_text("utf-8"))


def run_case(name, seed):
    """What one case found, or None."""
    family = importlib.import_module(f"attack.{name}")
    try:
        with time_limit(getattr(family, "SECONDS_A_CASE", 20)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            family.case(seed)
    except (Exception, SlowCase) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = " ".join(str(error).split())[:300]
        return f"{type(error).__name__}: {message} ({Path(place.filename).name}:{place.lineno})"
    return None


def run(name, first, seconds):
    """How many cases ran from the seed `first` on, at least one, and what was found by seed."""
    found, seed, end = {}, first, time.monotonic() + seconds
    while seed == first or time.monotonic() < end:
        if (what := run_case(name, seed)) is not None:
            found[seed] = what
        seed += 1
    return seed - first, found


@contextmanager
def time_limit(seconds):
    """SlowCase after so many seconds of this process, or `PATIENCE` times as many by the clock."""

    def stop(*_):
        raise SlowCase(f"more than {seconds:g} s")

    for timer, number, limit in (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, seconds * PATIENCE),
    ):
        signal.signal(number, stop)
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
