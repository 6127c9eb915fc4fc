"""The command line: each command calls one library function and prints.

Results go to stdout, progress and remarks to stderr, mistakes to stderr in one line with exit code 2. The
module of a command is imported when it is asked for, and heavy imports wait inside the commands, so that
`--help` is instant.
"""

from ._interrupts import ends_at_once

with ends_at_once():
    from ._console import app

__all__ = ["app"]
