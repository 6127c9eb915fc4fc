r"""What a file ends with: the digest of every byte before it, and before that, where its writer has a key, a
signature.

    … end of the archive | "textmargin signature hmac-sha256:" HMAC "\n" | "textmargin model sha256:" SHA-256

Both stand in the archive's comment. The signature is the HMAC-SHA256 of all bytes before its own digits; what
comes after these follows from them. The same model and key give the same bytes. The digest finds damage, the
signature who has not got the key.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import struct
from typing import IO

from ._keys import check_key

CHUNK = 1 << 20
MANIFEST = "model.json"

_SEAL = b"textmargin model sha256:"
_SIGNATURE = b"textmargin signature hmac-sha256:"
_DIGITS = 64
_N_SEAL = len(_SEAL) + _DIGITS
_N_SIGNATURE = len(_SIGNATURE) + _DIGITS + 1
_N_LENGTH = 2  # bytes before the comment, which say how long it is
_HEX = re.compile(rb"[0-9a-f]{64}\n")
_FOREIGN = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\x80": "a pickle, which could run anything when opened",
    b"\x89PNG": "an image (PNG)",
    b"\xff\xd8\xff": "an image (JPEG)",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip file, perhaps of joblib",
    b"\x78": "a compressed pickle of joblib, which could run anything when opened",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\x08": "perhaps an ONNX model",
    b"{": "perhaps JSON",
}


class Refused(Exception):  # noqa: N818
    """A file that is not to be loaded: what is wrong with it, as the end of a sentence that begins with its
    name.
    """

    def __init__(
        self, wrong: str, advice: str = "it was damaged or made up; get it again from where it came from"
    ) -> None:
        super().__init__(f"{wrong}; {advice}.")
        self.wrong = wrong


def seal(stream: io.BytesIO, key: bytes | None) -> None:
    """End an archive that has no comment with a seal, and with a signature where there is a key."""
    size = _N_SEAL + (0 if key is None else _N_SIGNATURE)
    stream.seek(-_N_LENGTH, io.SEEK_END)
    stream.write(struct.pack("<H", size))
    if key is not None:
        check_key(key)
        stream.write(_SIGNATURE)
        with stream.getbuffer() as whole:
            digits = hmac.new(key, whole, hashlib.sha256).hexdigest().encode()
        stream.write(digits + b"\n")
    stream.write(_SEAL)
    with stream.getbuffer() as whole:
        digits = hashlib.sha256(whole).hexdigest().encode()
    stream.write(digits)


def without_seal(content: bytes) -> io.BytesIO:
    """The archive of a file without its comment, if its seal holds."""
    end = len(content) - check_seal(io.BytesIO(content), len(content), len(content), None)
    return io.BytesIO(content[: end - _N_LENGTH] + bytes(_N_LENGTH))


def _n_comment(stream: IO[bytes], n_bytes: int) -> int:
    """The bytes of the comment of a file that ends in a seal: with a signature, or without."""
    start = n_bytes - _N_SEAL - _N_SIGNATURE
    stream.seek(max(0, start))
    before = stream.read(_N_SIGNATURE)
    signed = start >= 0 and before.startswith(_SIGNATURE) and _HEX.fullmatch(before, len(_SIGNATURE))
    return _N_SEAL + (_N_SIGNATURE if signed else 0)


def check_seal(stream: IO[bytes], n_bytes: int, max_bytes: int, key: bytes | None) -> int:
    """Refuse a file that is foreign or damaged, or with a key one that is not signed with it; the bytes of
    its comment.
    """
    head = stream.read(64)
    stream.seek(max(0, n_bytes - _N_SEAL))
    end = stream.read(_N_SEAL)
    if not end.startswith(_SEAL):
        raise Refused(*_foreign(head))
    if n_bytes > max_bytes:
        raise Refused(
            f"has {n_bytes:,} bytes, more than max_bytes={max_bytes:,}", "raise max_bytes if you trust it"
        )
    digest = hashlib.sha256()
    _feed(digest, stream, n_bytes - _DIGITS)
    if digest.hexdigest().encode() != end[-_DIGITS:]:
        raise Refused(
            "is damaged: its content does not have the digest it ends with",
            "get it again from where it came from",
        )
    size = _n_comment(stream, n_bytes)
    if key is not None:
        _check_signature(stream, n_bytes - size, size > _N_SEAL, key)
    return size


def _check_signature(stream: IO[bytes], start: int, signed: bool, key: bytes) -> None:
    if not signed:
        raise Refused(
            "is not signed, and a key was given",
            "sign it with `textmargin sign`, if you know that it is yours",
        )
    code = hmac.new(key, digestmod=hashlib.sha256)
    _feed(code, stream, start + len(_SIGNATURE))
    stream.seek(start + len(_SIGNATURE))
    if not hmac.compare_digest(code.hexdigest().encode(), stream.read(_DIGITS)):
        raise Refused(
            "is not signed with this key",
            "it was signed with another, or altered by who has not got it; do not trust it",
        )


def _feed(digest: hmac.HMAC | hashlib._Hash, stream: IO[bytes], n_bytes: int) -> None:
    """The first bytes of a file into a digest."""
    stream.seek(0)
    while n_bytes and (part := stream.read(min(CHUNK, n_bytes))):
        digest.update(part)
        n_bytes -= len(part)


def _foreign(head: bytes) -> tuple[str, str]:
    """What a file is that does not end as ours do."""
    if not head:
        return "is empty", "it was perhaps not written to the end; save the model again"
    if head[30:40] == MANIFEST.encode():
        return "is cut off: its end is missing", "get it again from where it came from"
    known = [kind for magic, kind in _FOREIGN.items() if head.startswith(magic)]
    kind = f", but {known[0]}" if known else ""
    return f"is not a textmargin model{kind}", "give a file that `textmargin train`, or save, wrote"
