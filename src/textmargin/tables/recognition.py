"""What a file is that holds no table of texts, by its first bytes, and what to do with it."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

from ..errors import TableError

_PLAIN_TEXT = "save it as plain text, or copy its texts into a table"
_AS_TABLE = "export a table from it as CSV"
_LOOKS = {
    b"%PDF": ("a PDF document", _PLAIN_TEXT),
    b"\x89PNG": ("an image (PNG)", "texts are needed, not pictures of them"),
    b"\xff\xd8\xff": ("an image (JPEG)", "texts are needed, not pictures of them"),
    b"GIF8": ("an image (GIF)", "texts are needed, not pictures of them"),
    b"{\\rtf": ("a document (RTF)", _PLAIN_TEXT),
    b"SQLite format 3\0": (
        "an SQLite database",
        f"{_AS_TABLE}: sqlite3 -csv -header FILE 'select * from TABLE'",
    ),
    b"\x93NUMPY": ("a NumPy array", _AS_TABLE),
    b"\x89HDF": ("an HDF5 file", _AS_TABLE),
    b"ARROW1": ("an Arrow (Feather) file", "write it as Parquet"),
    b"Obj\x01": ("an Avro file", "write it as Parquet"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "unpack it"),
    b"Rar!\x1a\x07": ("a RAR archive", "unpack it"),
    b"\x7fELF": ("a program", "name a table of texts"),
    b"PAR1": ("a Parquet file", "say so with file_format='parquet'"),
    b"\xd0\xcf\x11\xe0": ("an old Office document", "if it is a spreadsheet, say so with file_format='xlsx'"),
}
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95cX(}\]q\x8c]")
_HTML = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|table)\b", re.IGNORECASE | re.DOTALL
)
_XML = re.compile(rb"\s*<\?xml\b")
_INSIDE = {  # a file in a zip archive that tells what the whole is
    "word/document.xml": ("a Word document", _PLAIN_TEXT),
    "ppt/presentation.xml": ("a PowerPoint presentation", _PLAIN_TEXT),
    "xl/workbook.xml": ("an Excel file", "say so with file_format='xlsx'"),
    "xl/workbook.bin": ("an Excel file", "say so with file_format='xlsx'"),
    "arrays/0.npy": (
        "a model of textmargin",
        "name a table of texts; to decide with the model, name it first",
    ),
}
_MIME_TYPES = {
    b"application/vnd.oasis.opendocument.spreadsheet": ("an OpenDocument spreadsheet", _AS_TABLE),
    b"application/vnd.oasis.opendocument.text": ("an OpenDocument text", _PLAIN_TEXT),
}


def refuse_binary(first: bytes, name: str, path: Path | None = None) -> None:
    """An error that says what a file is, where it is none with lines of text.

    Parameters
    ----------
    first : bytes
        The first ones.
    name : str
        What to call it.
    path : Path, default=None
        None for standard input.
    """
    found = next((look for magic, look in _LOOKS.items() if first.startswith(magic)), None)
    if found is None and first.startswith(b"PK\x03\x04"):
        found = _inside(path) if path is not None else ("a zip archive", "unpack it, as with unzip -p")
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


def _inside(path: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            kind = archive.read("mimetype") if "mimetype" in names else b""
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ):  # what it was can no longer be told
        return "a zip archive that breaks off or is damaged", "get it anew"
    found = next((look for name, look in _INSIDE.items() if name in names), None)
    return found or _MIME_TYPES.get(
        kind, ("a zip archive", "unpack it, as with unzip -p, and name the table in it")
    )
