"""What a file is that holds no table of texts, by its first bytes, and what to do with it."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import TableError

_PLAIN_TEXT = "save it as plain text, or copy its texts into a table"
_AS_TABLE = "export a table from it as CSV"
_LOOKS = {
    b"%PDF": ("a PDF document", _PLAIN_TEXT),
    b"{\\rtf": ("a document (RTF)", _PLAIN_TEXT),
    b"\x89PNG": ("an image (PNG)", "texts are needed, not pictures of them"),
    b"\xff\xd8\xff": ("an image (JPEG)", "texts are needed, not pictures of them"),
    b"SQLite format 3\0": ("an SQLite database", _AS_TABLE),
    b"PAR1": ("a Parquet file", "say so with file_format='parquet'"),
    b"\xd0\xcf\x11\xe0": ("an old Office document", "if it is a spreadsheet, say so with file_format='xlsx'"),
}
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95cX(}\]q\x8c]")
_HTML = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|table)\b", re.IGNORECASE | re.DOTALL
)
_XML = re.compile(rb"\s*<\?xml\b")
_INSIDE = {  # what stands among the first bytes of a zip archive and tells what the whole is
    b"word/": ("a Word document", _PLAIN_TEXT),
    b"ppt/": ("a PowerPoint presentation", _PLAIN_TEXT),
    b"xl/": ("an Excel file", "say so with file_format='xlsx'"),
    b"opendocument.spreadsheet": ("an OpenDocument spreadsheet", _AS_TABLE),
    b"opendocument.text": ("an OpenDocument text", _PLAIN_TEXT),
    b"PK": ("a zip archive", "unpack it, as with unzip -p, and name the table in it"),
}


def refuse_binary(first: bytes, name: str) -> None:
    """An error that says what a file is, where it is none with lines of text.

    Parameters
    ----------
    first : bytes
        The first ones.
    name : str
        What to call it.
    """
    found = next((look for magic, look in _LOOKS.items() if first.startswith(magic)), None)
    if found is None and first.startswith(b"PK\x03\x04"):
        found = next(look for part, look in _INSIDE.items() if part in first)
    if found is None and _PICKLE.match(first):
        found = ("a Python pickle, which could run anything when opened", _AS_TABLE)
    if found is None and (_HTML.match(first[:2000]) or _XML.match(first)):
        found = ("a web page (HTML)" if _HTML.match(first[:2000]) else "an XML file", _AS_TABLE)
    if found is not None:
        raise TableError(f"{name} is {found[0]}: {found[1]}.")


def refuse_zero_bytes(name: str) -> None:
    """What to say of bytes that are neither text nor anything known."""
    raise TableError(
        f"{name} holds zero bytes, so it is not a text file; give a CSV, TSV, JSON, text, Excel or "
        "Parquet file, and if it is "
        "text all the same, say encoding='utf-16', or encoding='utf-8', with which such lines alone "
        "cannot be read."
    )


def refuse_folder(folder: Path) -> None:
    """What to say of a folder without texts."""
    others = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    hint = f" It holds {', '.join(path.name for path in others[:5])}; name one file." if others else ""
    raise TableError(f"{folder} holds no .txt files.{hint}")
