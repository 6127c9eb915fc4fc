"""Files written whole or not at all, whatever happens on the way: a full disk, Ctrl-C, a power cut."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..errors import FULL, OutputError


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Put files in place, in order, once all of them are safely on the disk under other names beside them.

    Raises OutputError where that cannot be done; before anything is written, where a folder is in the way.
    """
    contents = {_target(path): content for path, content in contents.items()}
    ready: dict[Path, Path] = {}
    path = Path()
    for path in contents:
        if path.is_dir():
            raise OutputError(errno.EISDIR, "a folder is in its place", str(path))
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
            ready[path] = Path(name)
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        for path, temporary in ready.items():
            temporary.chmod(0o666 & ~_umask())  # mkstemp makes it readable to its owner alone
            os.replace(temporary, path)  # noqa: PTH105  # atomic, and what a full disk is tried out on
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        for temporary in ready.values():
            temporary.unlink(missing_ok=True)


@contextmanager
def put_whole(path: Path) -> Iterator[Path]:
    """A name beside a file to write under, where it is too large to be held in memory; put in place if the
    block ends well.
    """
    path = _target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _sync(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if error.errno in FULL and error.filename is None:  # of a stream, which does not know its name
            raise OutputError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """See that what was written is on the disk. The file is closed again: not every system renames one that
    is open.
    """
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _target(path: Path) -> Path:
    """Where a symbolic link leads, so that it stays a link: the file it stands for is the one that is
    written.
    """
    return path.resolve() if path.is_symlink() else path


def _umask() -> int:
    """What a process may not give others; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
