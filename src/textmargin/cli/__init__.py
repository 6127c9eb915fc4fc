"""The command line: each command calls one library function and prints.

Results go to stdout, progress and remarks to stderr, mistakes to stderr in one line with exit code 2. Heavy imports wait inside
the commands, so that `--help` is instant.
"""

from . import (  # noqa: I001  # in the order of `--help`
    check, train, init, evaluate, predict, explain, suggest, threshold, adapt, report, serve, feedback, similarity, demo,
    reproduce, data,
)  # fmt: skip
from ._console import app

__all__ = [
    "adapt",
    "app",
    "check",
    "data",
    "demo",
    "evaluate",
    "explain",
    "feedback",
    "init",
    "predict",
    "report",
    "reproduce",
    "serve",
    "similarity",
    "suggest",
    "threshold",
    "train",
]
