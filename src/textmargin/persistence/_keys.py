"""Keys that model files are signed with: bytes of one's own, which who has them can sign with as well as
check.
"""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path
from typing import Any

from ..errors import ModelFileError, TextmarginWarning

LEAST_BYTES = 32  # as many as SHA-256 gives: fewer could be tried out
_MOST_BYTES = 1_000_000  # beyond, a file was named by mistake
_MAKE_ONE = "make one of 32 random bytes: head -c 32 /dev/urandom > FILE; chmod 600 FILE"


def check_key(key: Any) -> None:
    """Raise ModelFileError unless a key can be one; it is never shown."""
    if not isinstance(key, bytes):
        raise ModelFileError(
            f"key must be bytes; got a {type(key).__name__}. read_key(path) reads them from a file."
        )
    if len(key) < LEAST_BYTES:
        raise ModelFileError(f"key has {len(key)} bytes, and needs at least {LEAST_BYTES}; {_MAKE_ONE}.")
    if len(set(key)) == 1:
        raise ModelFileError(f"key is one byte, {len(key)} times; {_MAKE_ONE}.")


def read_key(path: str | os.PathLike[str]) -> bytes:
    """The key in a file, all of its bytes as they are; warns where others than its owner may read them.

    Parameters
    ----------
    path : str or path
        Of at least 32 bytes.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from textmargin.persistence import read_key
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "key")
    ...     path.touch(mode=0o600)
    ...     _ = path.write_bytes(os.urandom(32))
    ...     len(read_key(path))
    32
    """
    try:
        with Path(path).open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            key = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ModelFileError(
            f"The key {path} cannot be read: {error.strerror or error}; {_MAKE_ONE}."
        ) from error
    if not key:
        raise ModelFileError(f"The key {path} is empty; {_MAKE_ONE}.")
    if len(key) > _MOST_BYTES:
        raise ModelFileError(
            f"The key {path} has more than {_MOST_BYTES:,} bytes, as no key has; was another file meant?"
        )
    try:
        check_key(key)
    except ModelFileError as error:
        raise ModelFileError(f"The key {path} cannot be used: {error}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        warnings.warn(
            f"The key {path} is open to others than its owner (mode {stat.S_IMODE(mode):o}), who could "
            "sign with it: "
            f"chmod 600 {path}",
            TextmarginWarning,
            stacklevel=2,
        )
    return key
