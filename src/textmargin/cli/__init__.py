"""The command line: each command calls one library function and prints.

Results go to stdout, progress and remarks to stderr, mistakes to stderr in one line with exit code 2. Heavy imports wait inside
the commands, so that `--help` is instant.
"""

from . import model, use, page, service, strings, demonstration, tables, corpora  # noqa: I001  # in the order of `--help`
from .app import app

__all__ = ["app", "corpora", "demonstration", "model", "page", "service", "strings", "tables", "use"]
