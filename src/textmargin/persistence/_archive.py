"""The file: a zip archive whose last words are the digest of every byte before them.

    model.json      what the model consists of (`_manifest.py`)
    arrays/0.npy    its arrays, as `numpy.load` reads them
    comment         signature and digest (`_seal.py`)

Bounds are kept before anything is unpacked: names, sizes, and how much may come out of how little.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ._seal import CHUNK, MANIFEST, Refused, check_seal, seal

MAX_BYTES = 4_000_000_000
MAX_MANIFEST_BYTES = 256_000_000
MAX_VALUES = 20_000_000

_END = struct.Struct("<4s4H2LH")  # zip's end of central directory, which stands before the comment
_DIRECTORY_BYTES = 8_000_000
_NAME = re.compile(r"model\.json|arrays/(0|[1-9][0-9]{0,5})\.npy")
_LEVEL = 1
# Arrays are packed where a sample of them gets to less than so much: zeros of a prior, truth values. Weights
# and scores do not, and would take longer to pack than anything else in `save`, and as long to unpack as all
# else in `load`.
_WORTH_PACKING, _N_SAMPLES, _SAMPLE_BYTES = 1 / 3, 16, 4096
# Deflate makes 1000 out of 1, and honest models need some of it: weights that are mostly 0. Of what is larger
# than so many bytes, packed must be more than so many in 1. The manifest gets larger once more when it is
# parsed, by 60 to 230 bytes a value: beyond so many values, each must have cost so many bytes. Where it does
# not, `pack` packs nothing, and then it does: "0," is two.
_SMALL, _RATIO = 256_000_000, 200
_SMALL_MANIFEST, _RATIO_MANIFEST = 16_000_000, 50
_FEW_VALUES, _BYTES_A_VALUE = 200_000, 2
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # one pass, come what may


def pack(entries: Mapping[str, bytes], key: bytes | None = None) -> bytes:
    """A sealed archive, signed where there is a key; the same entries and key give the same bytes."""
    packed = _zipped(
        entries, {name for name, content in entries.items() if name == MANIFEST or _shrinks(content)}, key
    )
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        dense = _too_dense(archive.infolist(), len(packed)) or (
            MANIFEST in entries
            and skeleton(entries[MANIFEST], archive.getinfo(MANIFEST).compress_size) is None
        )
    return _zipped(entries, set(), key) if dense else packed


def _shrinks(content: bytes) -> bool:
    starts = range(0, len(content), max(_SAMPLE_BYTES, len(content) // _N_SAMPLES))
    sample = b"".join(content[start : start + _SAMPLE_BYTES] for start in starts)
    return len(zlib.compress(sample, _LEVEL)) < _WORTH_PACKING * len(sample)


def _zipped(entries: Mapping[str, bytes], deflated: Collection[str], key: bytes | None = None) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)  # of 1980, always
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            archive.writestr(
                info, content, zipfile.ZIP_DEFLATED if name in deflated else zipfile.ZIP_STORED, _LEVEL
            )
    seal(stream, key)
    return stream.getvalue()


def _too_dense(infos: list[zipfile.ZipInfo], n_bytes: int) -> bool:
    """Whether more comes out than is good: of the file, of its manifest."""
    total, manifest = (
        sum(info.file_size for info in infos),
        [info for info in infos if info.filename == MANIFEST],
    )
    return (total > _SMALL and total > _RATIO * n_bytes) or any(
        info.file_size > _SMALL_MANIFEST and info.file_size > _RATIO_MANIFEST * info.compress_size
        for info in manifest
    )


def skeleton(manifest: bytes, packed: int) -> bytes | None:
    """JSON without its strings; nothing if it has more values than go with its size when packed."""
    most = min(MAX_VALUES, _FEW_VALUES + packed // _BYTES_A_VALUE)
    # a value has a name and may be a string: four quotation marks
    if manifest.count(b'"') - manifest.count(b'\\"') > 4 * most:
        return None
    bare = _STRING.sub(b"", manifest)
    return bare if bare.count(b",") + bare.count(b"[") + bare.count(b"{") <= most else None


class Archive:
    """The entries of a file whose directory was found in order."""

    def __init__(self, archive: zipfile.ZipFile, sizes: dict[str, int]) -> None:
        self._archive = archive
        self.sizes = sizes

    def packed(self, name: str) -> int:
        """The bytes that an entry takes in the file."""
        return self._archive.getinfo(name).compress_size

    @contextmanager
    def entry(self, name: str) -> Iterator[IO[bytes]]:
        """Read an entry, which may hold no more than it declared."""
        try:
            with self._archive.open(name) as stream:
                yield stream
        except Refused:
            raise
        except Exception as error:  # whatever a zip archive that was made up brings about
            raise Refused(f"has an entry {name!r} that cannot be unpacked ({error})") from error

    def content(self, name: str) -> bytes:
        """All of an entry."""
        with self.entry(name) as stream:
            content = b"".join(iter(lambda: stream.read(CHUNK), b""))
        if len(content) != self.sizes[name]:
            raise Refused(f"has an entry {name!r} of {len(content)} bytes, which declares {self.sizes[name]}")
        return content


@contextmanager
def opened(path: Path, max_bytes: int, key: bytes | None = None) -> Iterator[Archive]:
    """A file's archive, if the seal holds, with a key the signature too, and the directory is in order."""
    if path.exists() and not path.is_file():
        raise Refused("is not a file", "name the file itself")
    with path.open("rb") as file:
        stream: IO[bytes] = file
        n_bytes = os.fstat(file.fileno()).st_size
        # what is checked is what is built, whoever writes to the file meanwhile
        if key is not None and n_bytes <= max_bytes:
            stream = io.BytesIO(file.read(n_bytes))
        _check_end(stream, n_bytes, check_seal(stream, n_bytes, max_bytes, key))
        try:
            archive = zipfile.ZipFile(stream)
        except Exception as error:
            raise Refused(f"has no directory that can be read ({error})") from error
        with archive:
            yield Archive(archive, _checked_sizes(archive.infolist(), n_bytes, max_bytes))


def _check_end(stream: IO[bytes], n_bytes: int, n_comment: int) -> None:
    """The directory must end right before the comment, and be small: it is read into memory as a whole."""
    start = n_bytes - n_comment - _END.size
    stream.seek(max(0, start))
    end = stream.read(_END.size)
    signature, *_, directory_bytes, _, comment = (
        _END.unpack(end) if start >= 0 and len(end) == _END.size else (b"", 0, 0, 0)
    )
    stream.seek(max(0, start - 20))
    large = stream.read(4) == b"PK\x06\x07"  # the form for more than 2 GiB, which has another directory
    if signature != b"PK\x05\x06" or comment != n_comment or (large and n_bytes < 1 << 31):
        raise Refused("is sealed, but no archive of textmargin")
    if directory_bytes > _DIRECTORY_BYTES:
        raise Refused(f"has a directory of {directory_bytes:,} bytes, more than any model needs")


def _checked_sizes(infos: list[zipfile.ZipInfo], n_bytes: int, max_bytes: int) -> dict[str, int]:
    """The declared size of each entry."""
    sizes: dict[str, int] = {}
    for info in infos:
        name = info.orig_filename  # as it stands; zipfile mends names
        if not _NAME.fullmatch(name):
            raise Refused(f"has an entry {name!r:.80}, which is not part of a model")
        if name in sizes:
            raise Refused(f"has two entries named {name!r}")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if (
            info.flag_bits
            or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            or kind not in (0, stat.S_IFREG)
        ):
            raise Refused(f"has an entry {name!r} that is a link, encrypted or packed in an unknown way")
        sizes[name] = info.file_size
    if MANIFEST not in sizes:
        raise Refused(f"has no {MANIFEST}")
    total, packed = sum(sizes.values()), sum(info.compress_size for info in infos)
    if total > max_bytes:
        raise Refused(
            f"unpacks to {total:,} bytes, more than max_bytes={max_bytes:,}",
            "raise max_bytes if you trust it",
        )
    if packed > n_bytes or _too_dense(infos, n_bytes) or sizes[MANIFEST] > MAX_MANIFEST_BYTES:
        raise Refused(f"has {n_bytes:,} bytes that declare to unpack to {total:,}, as no model does")
    return sizes
