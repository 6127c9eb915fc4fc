"""Users' files, whole and damaged: read as they were written, or refused in a word of ours; no other
exception, no hang.

Delimited files and JSON lines are read by the compiled core (`read_chunks`) and line by line (`read_rows`),
which must agree.
"""

import csv
import functools
import gzip
import io
import json
import random
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from attack.hostile_texts import ALPHABETS

from textmargin import KeywordPrior
from textmargin.config import read_costs
from textmargin.desk.project import Project
from textmargin.errors import TextmarginError
from textmargin.feedback.store import Feedback, FeedbackStore
from textmargin.tables.chunks import FileRows, read_chunks
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows
from textmargin.tables.reader import read_table
from textmargin.tables.rows import InvalidLine, Row

SECONDS_A_CASE = 15
BITS = [
    b'"', b'""', b"\n", b"\r", b"\r\n", b",", b";", b"\t", b"\\", b"\0", b"\xff", b"\xed\xa0\x80", b"{", b"[",
    b"}", b"]", b"null", b"\xef\xbb\xbf", b"\xff\xfe", b"1e999", b"-", b"NaN",
]  # fmt: skip
TOML = [
    b'[costs]\na = { hit = 5, false_alarm = -1 }\n"*" = { hit = 1, false_alarm = -2, ask = -0.5 }\n',
    b'[keywords]\ngrain = ["corn", "wheat*", "a b"]\nmoney = { bank = 2.0, rate = -1.5 }\n',
    b"a = " + b"[" * 3000,
    b"a = " + b"9" * 6000,
    b"a = 1e400",
    b'a = ["x", 1]',
    b"keywords = []",
]


def case(seed):
    rng = random.Random(f"user_files/{seed}")
    kinds = [whole_delimited, whole_lines, damaged_delimited, damaged_lines, guessed, packed, columnar]
    with tempfile.TemporaryDirectory() as folder:
        rng.choice([*kinds, databases, settings])(rng, Path(folder))


def a_value(rng, printable=True):
    letters = rng.choice([one for one in ALPHABETS if not printable or one.isprintable()] + ['a,;|"\n\t'])
    return "".join(rng.choice(letters + "ab ") for _ in range(rng.choice([0, 1, 3, 10, 10, 200])))


def a_table(rng, least=1):
    names = [f"column{k}" for k in range(rng.randrange(2, 5))]
    return names, [[f"x{a_value(rng)}" for _ in names] for _ in range(rng.choice([least, 3, 30]))]


def delimited(rng, names, rows, delimiter):
    """CSV as programs write it."""
    out = io.StringIO()
    style = {
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        "lineterminator": rng.choice(["\n", "\r\n"]),
    }
    csv.writer(out, delimiter=delimiter, **style).writerows([names, *rows])
    return out.getvalue()


def some_json(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind < 3:
        return a_value(rng, printable=False)
    if kind < 5:
        return rng.choice([None, True, False, 0, -1, 1.5, 10**30, 1e-300, -0.0])
    if kind == 5:
        return [some_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {a_value(rng): some_json(rng, depth + 1) for _ in range(rng.randrange(4))}


def damaged(rng, content, times=None):
    """Bytes with some taken away, doubled, flipped, or put where they do not belong."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 30]) if times is None else times):
        at, way = rng.randrange(len(content) + 1), rng.random()
        if way < 0.45:
            content[at:at] = rng.choice(BITS) * rng.choice([1, 1, 1, 50])
        elif way < 0.6:
            del content[at : at + rng.choice([1, 10, 1000])]
        elif way < 0.75:
            content[at:at] = content[at : at + rng.randrange(1, 60)] * rng.choice([1, 2, 20])
        elif way < 0.95 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        else:
            del content[at:]
    return bytes(content)


def both(path, dialect):
    """Rows and invalid lines (None) by number, from the core and line by line; None if refused."""
    fast = slow = None
    with suppress(TextmarginError):
        rows = FileRows(read_chunks(path, dialect, lambda line: None))
        fast = {row.number: row.values for row in rows} | {line.number: None for line in rows.invalid}
    with suppress(TextmarginError):
        found = [
            one for batch in read_rows(path, dialect) for one in batch if isinstance(one, Row | InvalidLine)
        ]
        slow = {one.number: one.values if isinstance(one, Row) else None for one in found}
    assert fast == slow or repr(sorted((fast or {}).items())) == repr(sorted((slow or {}).items()))
    assert (fast is None) == (slow is None)
    return fast


def whole_delimited(rng, folder):
    names, rows = a_table(rng)
    delimiter, encoding = rng.choice(",;\t|"), rng.choice(["utf-8", "utf-8", "utf-16", "utf-32"])
    path = folder / "a.csv"
    path.write_bytes(delimited(rng, names, rows, delimiter).encode(encoding))
    found = both(path, Dialect(encoding=encoding, delimiter=delimiter, header=True))
    assert [list(values.values()) for values in found.values()] == rows, "not the rows that were written"


def json_lines(rng):
    rows = [
        {"text": a_value(rng, printable=False), "label": some_json(rng)}
        for _ in range(rng.choice([1, 3, 30]))
    ]
    ascii_only = rng.random() < 0.5
    return rows, rng.choice(["\n", "\r\n"]).join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)


def whole_lines(rng, folder):
    rows, lines = json_lines(rng)
    path = folder / "a.jsonl"
    path.write_text(lines, encoding="utf-8", newline="")
    found = both(path, Dialect(file_format="jsonl", encoding="utf-8"))
    assert repr(list(found.values())) == repr(rows), "not the rows that were written"


def damaged_delimited(rng, folder):
    delimiter, path = rng.choice(",;\t"), folder / "a.csv"
    path.write_bytes(damaged(rng, delimited(rng, *a_table(rng, least=0), delimiter).encode()))
    both(path, Dialect("csv", rng.choice(["utf-8", "utf-8", "cp1252"]), delimiter, header=rng.random() < 0.8))


def damaged_lines(rng, folder):
    path = folder / "a.jsonl"
    path.write_bytes(damaged(rng, json_lines(rng)[1].encode("utf-8", "surrogatepass")))
    both(path, Dialect("jsonl", "utf-8"))


def read_or_refuse(rng, path):
    with suppress(TextmarginError):
        labels = rng.choice(["required", "optional", "ignored"])
        read_table(path, labels=labels, skip_invalid=rng.random() < 0.5)


def guessed(rng, folder):
    """Nothing is said of the file: encoding, delimiter and header are recognised."""
    content = delimited(rng, *a_table(rng, least=0), rng.choice(",;\t|:"))
    if rng.random() < 0.2:
        content = json.dumps({"rows": json_lines(rng)[0]})
    content = content.encode(rng.choice(["utf-8", "utf-16", "utf-8-sig", "utf-32-le"]))
    endings = ["csv", "tsv", "txt", "json", "jsonl", "xlsx", "parquet", "desk", "csv.gz", "dat"]
    path = folder / f"a.{rng.choice(endings)}"
    path.write_bytes(damaged(rng, content) if rng.random() < 0.7 else content)
    read_or_refuse(rng, path)


def packed(rng, folder):
    content = delimited(rng, *a_table(rng), ",").encode()
    path = folder / "a.csv.gz"
    path.write_bytes(damaged(rng, gzip.compress(content), rng.choice([0, 1, 3])))
    read_or_refuse(rng, path)


@functools.cache
def a_file(kind, seed):
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, out = random.Random(seed), io.BytesIO()
    names, rows = a_table(rng)
    if kind == "parquet":
        makers = [
            str,
            len,
            lambda v: [v],
            lambda v: None if len(v) % 2 else v,
            str.encode,
            lambda v: {"v": v},
        ]
        columns = {
            name: list(map(rng.choice(makers), values)) for name, *values in zip(names, *rows, strict=True)
        }
        pq.write_table(pa.table(columns), out)
        return out.getvalue()
    book = openpyxl.Workbook()
    for row in [names, *rows]:
        with suppress(openpyxl.utils.exceptions.IllegalCharacterError):
            book.active.append(row)
    book.save(out)
    return out.getvalue()


def columnar(rng, folder):
    path = folder / rng.choice(["a.parquet", "a.xlsx"])
    path.write_bytes(damaged(rng, a_file(path.suffix[1:], rng.randrange(5)), rng.choice([0, 1, 3])))
    read_or_refuse(rng, path)


def databases(rng, folder):
    """Projects of the desk and stores of feedback with bytes or rows altered."""
    is_project, path = rng.random() < 0.6, folder / "a.desk"
    if is_project:
        texts = [a_value(rng, printable=False) or "x" for _ in range(rng.choice([1, 5]))]
        with suppress(TextmarginError):
            Project.create(path, texts, classes=["a", "b"]).close()
    else:
        with FeedbackStore(path) as store:
            for k in range(5):
                store.record(Feedback(a_value(rng, printable=False), ("a",), ("b",), id=str(k)))
    if path.exists() and rng.random() < 0.5:
        path.write_bytes(damaged(rng, path.read_bytes(), rng.choice([1, 5])))
    elif path.exists():
        alter_rows(rng, path)
    with suppress(TextmarginError):
        if is_project:
            with Project.open(path) as project:
                list(project.acts())
        else:
            with FeedbackStore(path, create=False, timeout=1.0) as store:
                list(store)


def alter_rows(rng, path):
    connection = sqlite3.connect(path)
    table = rng.choice(list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")))[0]
    column = rng.choice(list(connection.execute(f"PRAGMA table_info('{table}')")))[1]
    value = rng.choice([None, -1, 10**18, 1.5, "", "{}", '{"version": 99}', b"\xff\x00", "[" * 5000])
    with suppress(sqlite3.Error):
        connection.execute(f"UPDATE '{table}' SET '{column}' = ?", (value,))
        connection.commit()
    connection.close()


def some_toml(rng):
    content = rng.choice(TOML)
    return content if rng.random() < 0.3 else damaged(rng, content, rng.choice([1, 2, 5]))


def settings(rng, folder):
    """Costs and keywords."""
    path = folder / "a.toml"
    path.write_bytes(some_toml(rng))
    with suppress(TextmarginError):
        read_costs(path)
    with suppress(TextmarginError):
        KeywordPrior.from_file(path).entries()
