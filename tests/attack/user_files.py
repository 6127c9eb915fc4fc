"""Users' files, whole and damaged: read as a slow reader reads them, or refused in a word of ours; no other
exception, no hang.

CSV, TSV and JSON lines that are whole must give the rows that were written. Damaged ones are read twice, by
the compiled core (`read_chunks`) and line by line (`read_rows`), which must agree. JSON, zip and gzip
archives, Parquet, spreadsheets, projects of the desk, stores of feedback, costs, keywords and settings in
TOML must be read or refused.
"""

import csv
import functools
import gzip
import io
import json
import random
import sqlite3
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

from attack.hostile_texts import ALPHABETS

import textmargin.desk  # noqa: F401  # whose projects are files of users, too
from textmargin import KeywordPrior
from textmargin.config import read_costs
from textmargin.desk.project import Project
from textmargin.errors import TextmarginError
from textmargin.feedback.store import Feedback, FeedbackStore
from textmargin.suggestions.keyword_file import write_keywords
from textmargin.tables.chunks import FileRows, read_chunks
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.reader import read_table
from textmargin.tables.rows import InvalidLine, Row

SECONDS_A_CASE = 15


def case(seed):
    rng = random.Random(f"user_files/{seed}")
    kinds = [
        whole_delimited,
        whole_lines,
        damaged_delimited,
        damaged_delimited,
        damaged_lines,
        damaged_json,
        packed,
    ]
    kinds += [columnar, databases, costs, keywords, guessed, guessed]
    with tempfile.TemporaryDirectory() as folder:
        rng.choice(kinds)(rng, Path(folder))


# What files are made of.


def a_value(rng, printable=True):
    letters = rng.choice(
        [one for one in ALPHABETS if not printable or one.isprintable()] + ['a,;|"\n\t', "a"]
    )
    size = rng.choice([0, 1, 3, 10, 10, 10, 200])
    return "".join(rng.choice(letters + "ab ") for _ in range(size))


def a_table(rng, least=1):
    names = [f"column{k}" for k in range(rng.randrange(2, 5))]
    rows = [[f"x{a_value(rng)}" for _ in names] for _ in range(rng.choice([least, 3, 30]))]
    return names, rows


def written(rng, names, rows, delimiter):
    """CSV as programs write it."""
    out = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    csv.writer(
        out, delimiter=delimiter, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"])
    ).writerows([names, *rows])
    return out.getvalue()


BITS = [
    b'"',
    b'""',
    b"\n",
    b"\r",
    b"\r\n",
    b",",
    b";",
    b"\t",
    b"\\",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"{",
    b"[",
    b"}",
    b"]",
    b"null",
]
BITS += [
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xe2\x80\xa8",
    b"1e999",
    b"-",
    b"'",
    b"=",
    b"#",
    b"\x1a",
    b"'''",
    b'"""',
    b"\\u0000",
    b"NaN",
]


def damaged(rng, content, times=None):
    """Bytes with some taken away, doubled, exchanged, or put where they do not belong."""
    content = bytearray(content)
    for _ in range(times if times is not None else rng.choice([1, 1, 2, 5, 30])):
        at = rng.randrange(len(content) + 1)
        way = rng.random()
        if way < 0.45:
            content[at:at] = rng.choice(BITS) * rng.choice([1, 1, 1, 50])
        elif way < 0.6:
            del content[at : at + rng.choice([1, 1, 10, 1000])]
        elif way < 0.75:
            content[at:at] = content[at : at + rng.randrange(1, 60)] * rng.choice([1, 2, 20])
        elif way < 0.9 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        else:
            content = content[:at] if rng.random() < 0.3 else content
    return bytes(content)


def both(path, dialect):
    """Rows and invalid lines by the core, and line by line; None where it is refused."""
    try:
        rows = FileRows(read_chunks(path, dialect, lambda line: None))
        fast = sorted(
            [(row.number, row.values) for row in rows] + [(line.number, None) for line in rows.invalid],
            key=lambda r: r[0],
        )
    except TextmarginError:
        fast = None
    try:
        flat = [row for batch in read_rows(path, dialect) for row in batch]
        slow = [
            (row.number, row.values if isinstance(row, Row) else None)
            for row in flat
            if isinstance(row, Row | InvalidLine)
        ]
        slow.sort(key=lambda r: r[0])
    except TextmarginError:
        slow = None
    return fast, slow


def agree(fast, slow):
    assert (fast is None) == (slow is None), (
        f"{'the core' if fast is None else 'line by line'} refuses what the other reads"
    )
    if fast is None:
        return
    assert [number for number, _ in fast] == [number for number, _ in slow], "lines differ"
    for (number, a), (_, b) in zip(fast, slow, strict=True):
        assert a == b or repr(a) == repr(b), f"line {number}: {a!r:.200} by the core, {b!r:.200} line by line"


# The cases.


def whole_delimited(rng, folder):
    names, rows = a_table(rng)
    delimiter, encoding = rng.choice(",;\t|"), rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32"])
    path = folder / f"a.{rng.choice(['csv', 'tsv'])}"
    path.write_bytes(written(rng, names, rows, delimiter).encode(encoding))
    known = "utf-8" if encoding == "utf-8-sig" else encoding
    for found in both(path, Dialect(encoding=known, delimiter=delimiter, header=True)):
        assert found is not None, "refused"
        assert [list(values.values()) for _, values in found] == rows, "not the rows that were written"
        assert all(list(values) == names for _, values in found)


def some_json(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 3:
        return a_value(rng, printable=False)
    if kind < 5:
        return rng.choice([None, True, False, 0, -1, 1.5, 10**30, 1e-300, -0.0])
    if kind == 5:
        return [some_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {a_value(rng): some_json(rng, depth + 1) for _ in range(rng.randrange(4))}


def json_lines(rng):
    rows = [
        {"text": a_value(rng, printable=False), "label": some_json(rng)}
        for _ in range(rng.choice([1, 3, 30]))
    ]
    ascii_only, end = rng.random() < 0.5, rng.choice(["\n", "\r\n", "\n\n"])
    separators = rng.choice([None, (",", ":"), (" , ", "\t: ")])
    return rows, [json.dumps(row, ensure_ascii=ascii_only, separators=separators) for row in rows], end


def whole_lines(rng, folder):
    rows, lines, end = json_lines(rng)
    path = folder / "a.jsonl"
    path.write_text(end.join(lines) + rng.choice(["", end]), encoding="utf-8", newline="")
    for found in both(path, Dialect(file_format="jsonl", encoding="utf-8")):
        assert found is not None, "refused"
        assert repr([values for _, values in found]) == repr(rows), "not the rows that were written"


def damaged_delimited(rng, folder):
    names, rows = a_table(rng, least=0)
    delimiter = rng.choice(",;\t")
    path = folder / "a.csv"
    path.write_bytes(damaged(rng, written(rng, names, rows, delimiter).encode()))
    encoding = rng.choice(["utf-8", "utf-8", "cp1252", "latin-1"])
    agree(*both(path, Dialect("csv", encoding, delimiter, header=rng.random() < 0.8)))


def damaged_lines(rng, folder):
    _, lines, end = json_lines(rng)
    path = folder / "a.jsonl"
    path.write_bytes(damaged(rng, (end.join(lines) + "\n").encode("utf-8", "surrogatepass")))
    fast, slow = both(path, Dialect("jsonl", "utf-8"))
    agree(fast, slow)
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        with suppress(ValueError, RecursionError):
            value = json.loads(line.decode()) if b"\0" not in line and line.strip() else None
            if isinstance(value, dict) and slow is not None:
                assert repr(dict(slow).get(number)) == repr(value), (
                    f"line {number} is JSON, and was not read as it stands"
                )


def damaged_json(rng, folder):
    rows, _, _ = json_lines(rng)
    content = json.dumps(rng.choice([rows, {"rows": rows}, {"a": 1, "rows": rows}]))
    if rng.random() < 0.1:
        content = rng.choice(["[", '{"a":']) * rng.choice([100, 100_000])
    path = folder / "a.json"
    path.write_bytes(damaged(rng, content.encode()) if rng.random() < 0.8 else content.encode())
    read_or_refuse(rng, path)


def packed(rng, folder):
    names, rows = a_table(rng)
    content = written(rng, names, rows, ",").encode()
    if rng.random() < 0.5:
        path = folder / "a.csv.zip"
        with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
            for name in rng.choice(
                [["a.csv"], ["a.csv", "b.csv"], ["../a.csv"], ["__MACOSX/._a.csv", "a.csv"], []]
            ):
                archive.writestr(name, content)
    else:
        path = folder / "a.csv.gz"
        path.write_bytes(gzip.compress(content))
    if rng.random() < 0.8:
        path.write_bytes(damaged(rng, path.read_bytes(), rng.choice([1, 3])))
    read_or_refuse(rng, path)


@functools.cache
def parquet(seed):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, out = random.Random(seed), io.BytesIO()
    names, rows = a_table(rng)
    kinds = [
        str,
        lambda v: len(v),
        lambda v: [v],
        lambda v: None if len(v) % 2 else v,
        lambda v: v.encode(),
        lambda v: {"v": v},
    ]
    columns = {name: list(map(rng.choice(kinds), values)) for name, *values in zip(names, *rows, strict=True)}
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@functools.cache
def workbook(seed):
    import openpyxl

    rng, out, book = random.Random(seed), io.BytesIO(), openpyxl.Workbook()
    names, rows = a_table(rng)
    for row in [names, *rows]:
        with suppress(openpyxl.utils.exceptions.IllegalCharacterError):
            book.active.append(row)
    book.save(out)
    return out.getvalue()


def columnar(rng, folder):
    kind, make = rng.choice([("parquet", parquet), ("xlsx", workbook)])
    path = folder / f"a.{kind}"
    path.write_bytes(damaged(rng, make(rng.randrange(5)), rng.choice([0, 1, 3])))
    read_or_refuse(rng, path)


def read_or_refuse(rng, path):
    with suppress(TextmarginError):
        read_table(
            path, labels=rng.choice(["required", "optional", "ignored"]), skip_invalid=rng.random() < 0.5
        )


def databases(rng, folder):
    """Projects and stores of feedback: bytes, or rows of what is in them, altered."""
    is_project = rng.random() < 0.6
    path = folder / ("a.desk" if is_project else "a.sqlite")
    if is_project:
        texts = [a_value(rng, printable=False) or "x" for _ in range(rng.choice([1, 5]))]
        with suppress(TextmarginError):
            Project.create(path, texts, classes=["a", "b"]).close()
    else:
        with FeedbackStore(path) as store:
            for k in range(5):
                store.record(Feedback(a_value(rng, printable=False), ("a",), ("b",), id=str(k)))
    if not path.exists():
        return
    if rng.random() < 0.5:
        path.write_bytes(damaged(rng, path.read_bytes(), rng.choice([1, 5])))
    else:
        _alter_rows(rng, path)
    with suppress(TextmarginError):
        if is_project:
            with suppress(TextmarginError):
                read_table(path, labels="ignored")
            with Project.open(path) as project:
                list(project.acts())
        else:
            with FeedbackStore(path, create=False, timeout=1.0) as store:
                len(list(store))


def _alter_rows(rng, path):
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = rng.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info('{table}')")]
    value = rng.choice(
        [None, -1, 10**18, 1.5, "", "{}", "[]", '{"version": 99}', b"\xff\x00", "x" * 1000, "[" * 5000]
    )
    statements = [
        (f"UPDATE '{table}' SET '{rng.choice(columns)}' = ?", (value,)),
        (f"DELETE FROM '{table}'", ()),
        (f"DROP TABLE '{table}'", ()),
        (f"ALTER TABLE '{table}' RENAME TO other", ()),
        ("PRAGMA user_version = 77", ()),
    ]
    with suppress(sqlite3.Error):
        connection.execute(*rng.choice(statements))
        connection.commit()
    connection.close()


TOML = [
    '[costs]\na = { hit = 5, false_alarm = -1 }\n"*" = { hit = 1, false_alarm = -2, miss = 0, ask = -0.5 }\n',
    "a = { hit = 1 }\n",
    '[keywords]\ngrain = ["corn", "wheat*", "a b"]\nmoney = { bank = 2.0, rate = -1.5 }\n',
    'grain = [\n  "corn", # a comment\n  "wheat",\n]\n',
]
HOSTILE_TOML = [
    "a = " + "[" * 3000,
    "a = " + "{a = " * 500,
    "[" + "a." * 3000 + "a]",
    "a = 1e400",
    "a = 1979-05-27",
    "a = nan",
    '"" = 1',
]
HOSTILE_TOML += [
    "a = " + "9" * 6000,
    'a = """',
    "a = [1, [2, [3]]]",
    'a = ["x", 1]',
    "costs = 3",
    "keywords = []",
    "a = {}",
    "\ufeffa = 1",
]


def some_toml(rng):
    if rng.random() < 0.2:
        return rng.choice(HOSTILE_TOML).encode()
    content = rng.choice(TOML).encode()
    return content if rng.random() < 0.2 else damaged(rng, content, rng.choice([1, 2, 5]))


def costs(rng, folder):
    path = folder / "costs.toml"
    path.write_bytes(some_toml(rng))
    with suppress(TextmarginError):
        read_costs(path)


def keywords(rng, folder):
    """Read, and what was read is what an edit keeps."""
    path = folder / f"keywords.{rng.choice(['toml', 'toml', 'csv', 'json'])}"
    path.write_bytes(
        some_toml(rng) if path.suffix == ".toml" else damaged(rng, b'{"a": ["corn"], "b": {"bank": 2}}')
    )
    try:
        before = KeywordPrior.from_file(path).entries()
    except TextmarginError:
        return
    if path.suffix == ".toml":
        new = {name: dict(words) for name, words in before.items()} | {"new": {"word": 1.0, "ö b": 1.0}}
        with suppress(TextmarginError):
            write_keywords(path, new)
            assert KeywordPrior.from_file(path).entries() == new, "what was written is not what is read"


def guessed(rng, folder):
    """Files of which nothing is said: encoding, delimiter and header are found out."""
    names, rows = a_table(rng, least=0)
    content = written(rng, names, rows, rng.choice(",;\t|:")).encode(
        rng.choice(["utf-8", "utf-16", "utf-8-sig", "utf-32-le"])
    )
    content = damaged(rng, content) if rng.random() < 0.7 else content
    endings = ["csv", "tsv", "txt", "json", "jsonl", "xlsx", "parquet", "desk", "csv.gz", "zip", "ods", "dat"]
    path = folder / f"a.{rng.choice(endings)}"
    path.write_bytes(content)
    read_or_refuse(rng, path)
