"""How a file is written: its format, encoding, delimiter and header; as given, or found out from its first
bytes.

- The delimiter is the one of , ; tab | that cuts the first line in two values or more, and most lines below
  it in as many.
- The first line is a header, unless that is surely wrong: one of its values is a text like those below it,
  another occurs again below as labels do, and none is a usual name of a column.
- Lines of a .txt file are a table where tabs cut all in as many values; or semicolons do, and one is a usual
  name of a column or there are five lines, for texts hold semicolons too.
- Lines from a pipe are plain texts where the first one has no usual name of a column and no delimiter cuts
  all in as many values.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from .._system.json import read_json
from ..errors import TableError
from .columns import LABEL_NAMES, TEXT_NAMES, n_words
from .encodings import check_encoding, display_name, find_encoding, keeps_ascii
from .lines import MOST_BYTES, MOST_LINES, RecordJoiner

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
_N_LINES = 200  # that are looked at
_MIN_ROWS = 5  # below a first line before it is taken for one of them
_MIN_BELOW = 3  # below a first line before it is refused for being unlike them
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # with which Excel opens a file
_ARRAY = re.compile(r"\s*\[\s*[{\]]")


@dataclass(frozen=True)
class Dialect:
    """How a file is written; what is None is found out.

    Parameters
    ----------
    file_format : str, default=None
        One of `FORMATS`.
    encoding : str, default=None
    delimiter : str, default=None
        What stands between the values of a line: one character.
    header : bool, default=None
        Whether the first line names the columns; where it does not, they are called "1", "2", ….
    sheet : str, default=None
        Of a spreadsheet with several; by default the first that looks like a table.

    Examples
    --------
    >>> from textmargin.tables.dialect import Dialect
    >>> Dialect(delimiter=";", encoding="cp1252").delimiter
    ';'
    """

    file_format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    sheet: str | None = None

    def check(self) -> None:
        """That the encoding is known and the delimiter is one."""
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()
        ):
            raise TableError(
                f"delimiter={self.delimiter!r} cannot stand between values; give one ASCII character, "
                "such as ';'."
            )


def find_dialect(
    first: bytes,
    dialect: Dialect,
    name: str,
    names: Collection[str] = (),
    *,
    complete: bool = True,
    piped: bool = False,
) -> Dialect:
    r"""The dialect of a text file, of which the first bytes are known.

    Parameters
    ----------
    first : bytes
    dialect : Dialect
        What is known of it.
    name : str
        What to call the file in errors.
    names : names of columns that are expected
    complete : bool, default=True
        Whether these bytes are all.
    piped : bool, default=False
        Whether lines may be plain texts without a name.

    Examples
    --------
    >>> from textmargin.tables.dialect import Dialect, find_dialect
    >>> find_dialect("text;label\nschön, so;gut\n".encode("cp1252"), Dialect("csv"), "a.csv")
    Dialect(file_format='csv', encoding='cp1252', delimiter=';', header=True, sheet=None)
    """
    encoding = find_encoding(first, name) if dialect.encoding is None else check_encoding(dialect.encoding)
    try:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(first)
    except UnicodeError as error:
        raise TableError(f"{name} is not {encoding}; name another with encoding=.") from error
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    lines = (lines if complete or len(lines) == 1 else lines[:-1])[:_N_LINES]
    found = replace(dialect, encoding=encoding, file_format=dialect.file_format or _find_format(text))
    if found.file_format in ("json", "jsonl") and dialect.file_format in (None, "json", "jsonl"):
        return replace(found, file_format=_which_json(text, str(found.file_format)))
    if found.file_format not in ("csv", "tsv"):
        return found
    if found.delimiter is None:
        found = replace(found, delimiter="\t" if found.file_format == "tsv" else _find_delimiter(lines))
    records = records_of(lines, str(found.delimiter))
    if not records:
        return replace(found, header=found.header is not False)
    if piped and dialect == Dialect(encoding=dialect.encoding) and _is_plain(records, _known_names(names)):
        return replace(found, file_format="txt", delimiter=None)
    if found.header is None:
        _check_first(records, lines, name)
        found = replace(found, header=not is_data(records, names))
    return found


def find_table(first: bytes, name: str, *, complete: bool) -> str | None:
    r"""The delimiter of a table that is called plain text; None where it is a text per line.

    Parameters
    ----------
    first : bytes
        The first ones of a file.
    name : str
        What to call it in errors.
    complete : bool
        Whether these are all.

    Examples
    --------
    >>> from textmargin.tables.dialect import find_table
    >>> find_table(b"text\tlabel\nno toner\tprinting\n", "a.txt", complete=True)
    '\t'
    >>> find_table(b"no toner; please help\nwifi is down; again\n", "a.txt", complete=True) is None
    True
    """
    try:
        encoding = find_encoding(first, name)
    except TableError:
        encoding = "latin-1"  # one that must be named; delimiters are the same in it
    lines = codecs.getincrementaldecoder(encoding)("replace").decode(first).removeprefix("\ufeff").split("\n")
    lines = (lines if complete else lines[:-1])[:_N_LINES]
    for delimiter, least in (("\t", 2), (";", _MIN_ROWS)):
        records = records_of(lines, delimiter)
        n_values = len(records[0] or ()) if records else 0
        named = n_values > 1 and any(value.strip().lower() in _known_names(()) for value in records[0] or ())
        alike = n_values > 1 and all(record is not None and len(record) == n_values for record in records)
        if alike and len(records) >= (2 if named else least):
            return delimiter
    return None


def describe(found: Dialect, given: Dialect, names: Sequence[str] = ()) -> str:
    """What was found out and is not the usual, in words; "" where there is nothing to say.

    Parameters
    ----------
    found, given : Dialect
    names : names of the columns
    """
    words = []
    if given.file_format is None and found.file_format in ("txt", "json", "jsonl"):
        words.append(
            {"txt": "plain lines, a text each", "json": "JSON", "jsonl": "JSON lines"}[found.file_format]
        )
    if given.delimiter is None and found.delimiter not in (None, "," if found.file_format == "csv" else "\t"):
        words.append(DELIMITERS.get(str(found.delimiter), repr(found.delimiter)))
    if given.encoding is None and found.encoding not in (None, "utf-8"):
        words.append(display_name(str(found.encoding)))
    if given.header is None and found.header is False:
        words.append(f"no header: columns {', '.join(names[:6])}{', …' * (len(names) > 6)}")
    return ", ".join(words)


def separator_line(line: str) -> str | None:
    """The delimiter that a first line such as sep=; is there to name."""
    match = _SEPARATOR_LINE.fullmatch(line)
    return match[1] if match else None


def records_of(lines: Sequence[str], delimiter: str) -> list[list[str] | None]:
    """The values of each record, None where it cannot be read; blank lines, and a line that names the
    delimiter, left out.
    """
    joiner = RecordJoiner(delimiter.encode(), MOST_LINES, MOST_BYTES)
    whole = [*joiner.add([line.encode("utf-8", "replace") for line in lines]), *joiner.flush()]
    contents = [line.content.decode() for line in whole if line.content.strip()]
    if contents and separator_line(contents[0]):
        contents = contents[1:]
    records: list[list[str] | None] = []
    for content in contents:
        try:
            records += csv.reader([content], delimiter=delimiter, strict=True)
        except csv.Error:
            records.append(None)
    return records


def is_data(records: Sequence[list[str] | None], names: Collection[str] = ()) -> bool:
    """Whether the first record is one like those below it, and no header.

    Parameters
    ----------
    records : values of each record, None where it could not be read
    names : names of columns that are expected
    """
    known = _known_names(names)
    first = records[0]
    below = [
        record
        for record in records[1:]
        if record is not None and first is not None and len(record) == len(first)
    ]
    if (
        first is None
        or len(first) < 2
        or len(below) < _MIN_ROWS
        or any(value.strip().lower() in known for value in first)
    ):
        return False
    columns = list(zip(*below, strict=True))
    texts = {
        place
        for place, values in enumerate(columns)
        if n_words(first[place]) >= 3 and sum(map(n_words, values)) >= 3 * len(values)
    }
    labels = {
        place
        for place, values in enumerate(columns)
        if first[place].strip() and first[place] in values and len(set(values)) <= len(values) / 2
    }
    return bool(texts and labels - texts)


def transcodes(dialect: Dialect) -> bool:
    """Whether lines can be found only after decoding."""
    return not keeps_ascii(str(dialect.encoding))


def _known_names(names: Collection[str]) -> set[str]:
    """Less numbers, which columns without a header are called by, and which may as well be values."""
    return {*TEXT_NAMES, *LABEL_NAMES, *(one.lower() for one in names if not one.isdigit())}


def _find_format(text: str) -> str:
    """Of a source whose name does not tell it."""
    start = text.lstrip()
    if _ARRAY.match(start) or start.partition("\n")[0].strip() == "{":
        return "json"
    return "jsonl" if start.startswith("{") else "csv"


def _which_json(text: str, file_format: str) -> str:
    """An array, or an object that holds one, or an object per line, whatever the name says."""
    if _ARRAY.match(text):
        return "json"
    first, _, others = text.lstrip().partition("\n")
    try:
        values = read_json(first)
    except ValueError:
        return file_format
    if not isinstance(values, dict):
        return file_format
    if file_format == "json" and not others.strip():
        holds_rows = any(
            isinstance(value, list) and value and isinstance(value[0], dict) for value in values.values()
        )
        return "json" if holds_rows else "jsonl"
    return "jsonl"


def _find_delimiter(lines: Sequence[str]) -> str:
    named = separator_line(next((line for line in lines if line.strip()), ""))
    if named is not None:
        return named
    best, fewest = ",", (0, 0, 0)
    # names and numbers hold commas sooner than the others
    for place, delimiter in enumerate(reversed(DELIMITERS)):
        records = records_of(lines, delimiter)
        n_values = len(records[0] or ()) if records else 0
        if n_values < 2:
            continue
        n_unlike = sum(record is None or len(record) != n_values for record in records)
        found = (n_unlike, -n_values, place)
        if fewest == (0, 0, 0) or found < fewest:
            best, fewest = delimiter, found
    return best


def _is_plain(records: Sequence[list[str] | None], known: Collection[str]) -> bool:
    first = records[0] or []
    if any(value.strip().lower() in known for value in first):
        return False
    return (
        len(records) < 2
        or len(first) < 2
        or any(record is None or len(record) != len(first) for record in records)
    )


def _check_first(records: Sequence[list[str] | None], lines: Sequence[str], name: str) -> None:
    """That what stands first is no title above the names of the columns."""
    for delimiter in DELIMITERS:
        counts = [len(record or ()) for record in records_of(lines, delimiter)]
        n_values, n_like = Counter(counts[1:]).most_common(1)[0] if len(counts) > _MIN_BELOW else (0, 0)
        if n_values < 2 or n_like < 0.8 * (len(counts) - 1) or counts[0] >= n_values:
            continue
        if (
            len(records[0] or ()) > 1
            and sum(len(record or ()) == len(records[0] or ()) for record in records) > 1
        ):
            continue  # another delimiter does fit
        number = next(
            (place for place, line in enumerate(lines, start=1) if line.count(delimiter) >= n_values - 1), 2
        )
        raise TableError(
            f"The first line of {name} has {counts[0]} value{'s' * (counts[0] != 1)}, those below it "
            f"{n_values} with "
            f"{DELIMITERS[delimiter]} between them, so that it does not name the columns. Remove what "
            "stands above their names "
            f"(tail -n +{number}), or name every column; plain texts are read with file_format='txt'."
        )
