"""Which encoding bytes are in: by their mark, by zero bytes, UTF-8 where they are, else Windows-1252, which
is then said.

Windows-1252 holds nearly every byte, so that texts in Cyrillic or Chinese encodings would pass for it and
become nonsense. Western texts have few bytes beyond ASCII; where there are many, the encoding must be named.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from encodings.aliases import aliases

from ..errors import TableError, nearest

# what lines and values are found by
_ASCII = b'\t\n\r ",:;{}[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
_SHIFTING = ("hz", "iso2022", "utf-7")  # encodings in which such a byte may be half of another character
_MARKS = {  # UTF-32 before UTF-16, whose mark it begins with
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NAMES = {"cp1252": "Windows-1252", "utf-8": "UTF-8"}
_OTHERS = "cp1251 (Cyrillic), cp1256 (Arabic), gb18030 (Chinese), shift_jis (Japanese) or euc-kr (Korean)"
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_MOST_FOREIGN = 0.3  # of letters; in French it is a twentieth
_FEW = 20  # letters beyond ASCII, of which nothing can be said


def find_encoding(first: bytes, name: str) -> str:
    """The encoding of a text by its first bytes.

    Parameters
    ----------
    first : bytes
    name : str
        What to call the file in errors.

    Examples
    --------
    >>> from textmargin.tables.encodings import find_encoding
    >>> find_encoding("Grüße".encode(), "a.csv"), find_encoding("Grüße".encode("latin-1"), "a.csv")
    ('utf-8', 'cp1252')
    >>> find_encoding("Grüße".encode("utf-16"), "a.csv")
    'utf-16'
    >>> find_encoding("Grüße an alle".encode("utf-16-be"), "a.csv")
    'utf-16-be'
    """
    for mark, encoding in _MARKS.items():
        if first.startswith(mark):
            return encoding
    if b"\0" in first:
        return _by_zero_bytes(first) or "utf-8"
    with suppress(UnicodeDecodeError):  # nearly always
        codecs.getincrementaldecoder("utf-8")().decode(first)
        return "utf-8"
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(first)
    n_wrong = sum("\udc80" <= character <= "\udcff" for character in text)
    if n_wrong <= sum(character > "\x7f" for character in text) - n_wrong:
        return "utf-8"  # a few bytes that are not are faults of their lines
    foreign = [byte for byte in _LETTER.findall(first) if byte > b"\x7f"]
    try:
        first.decode("cp1252")
    except UnicodeDecodeError as error:
        raise TableError(_unknown(name)) from error
    if len(foreign) >= _FEW and len(foreign) > _MOST_FOREIGN * len(_LETTER.findall(first)):
        raise TableError(_unknown(name))
    return "cp1252"


def check_encoding(encoding: str) -> str:
    """An encoding that is known, "utf-8" however it was spelt."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)  # hex and the like are known, and no encodings of texts
        codecs.getincrementaldecoder(encoding)
    except (LookupError, UnicodeEncodeError) as error:  # the latter of a name that is no UTF-8
        # hex_codec and the like
        texts = {name: one for name, one in aliases.items() if not one.endswith("_codec")}
        near = nearest(encoding.replace("-", "_"), [*texts.values(), *texts])
        meant = "." if near is None else f"; did you mean {near!r}?"
        raise TableError(
            f"The encoding {encoding!r} is not known{meant} Well-known ones for encoding= are utf-8, "
            "utf-16, latin-1, cp1252, "
            f"{_OTHERS}."
        ) from error
    return "utf-8" if name in ("utf-8", "utf-8-sig") else encoding


def keeps_ascii(encoding: str) -> bool:
    """Whether ASCII bytes stand for themselves, so that lines and values can be found before they are
    decoded.
    """
    try:
        return not codecs.lookup(encoding).name.startswith(_SHIFTING) and _ASCII.decode(
            encoding
        ) == _ASCII.decode("ascii")
    except UnicodeError:
        return False


def display_name(encoding: str) -> str:
    """An encoding as people write it."""
    return _NAMES.get(encoding, encoding.upper())


def _by_zero_bytes(first: bytes) -> str | None:
    """UTF-16 without a mark: of texts that are ASCII for the most part every other byte is zero."""
    even, odd = first[::2].count(0), first[1::2].count(0)
    n_pairs = len(first) // 2
    if odd > 0.4 * n_pairs and even < 0.05 * n_pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * n_pairs and odd < 0.05 * n_pairs else None


def _unknown(name: str) -> str:
    return f"{name} is neither UTF-8 nor Windows-1252; name its encoding with encoding=, as {_OTHERS}."
