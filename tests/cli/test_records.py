"""Records that stay bytes come out as rows do: the same lines, decisions in the same batches, the same
remarks and mistakes.
"""

import csv
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
import zlib
from contextlib import ExitStack, redirect_stderr
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textmargin import Corpus, core
from textmargin._system.progress import RowCounter
from textmargin.cli._console import remark
from textmargin.cli._deciding import _one_ahead, decide_batches
from textmargin.cli._decision_lines import DecisionWriter
from textmargin.config import ModelConfig
from textmargin.errors import TextmarginError
from textmargin.labels import Decisions
from textmargin.tables import formats
from textmargin.tables.dialect import Dialect
from textmargin.tables.record_stream import RecordBatch, RecordUse, stream_records
from textmargin.tables.streams import ByteStream
from textmargin.tables.writer import open_writer

NAMES = ["a;b", "=c", 'd"e,', "é\n"]
NUMBERS = [0.0, 0.5, -0.25, 1e-6, -3e-6, 0.0001, 123456.789012, 1e16, 2.0, np.inf, -np.inf, np.nan, 1 / 3]


class Model:
    """Decides by a checksum of the text, and notes what it was asked."""

    has_held_out = True
    metadata_ = {}

    def __init__(self, multilabel):
        self.labels_ = SimpleNamespace(multilabel=multilabel, text_names=NAMES)
        self.asked = []

    def decide(self, texts, probabilities=False):
        texts = list(texts)
        self.asked.append(texts)
        codes = np.array(
            [zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts], dtype=np.int64
        ).reshape(-1, 1)
        places = np.arange(len(NAMES))
        accepted = codes >> places & 1 == 1
        if not self.labels_.multilabel:
            accepted = (codes % 5 == places) & (codes % 3 > 0)
        unsure = (codes >> (places + 8) & 1 == 1) & ~accepted
        if not self.labels_.multilabel:
            unsure = (codes % 4 == places) & ~accepted.any(axis=1, keepdims=True)
        scores = np.array(NUMBERS)[(codes + places) % len(NUMBERS)]
        return Decisions(
            NAMES, scores, accepted, unsure, np.abs(np.sin(codes + places)) if probabilities else None
        )


def outcome(
    content,
    cuts,
    *,
    records,
    n_threads=1,
    dialect,
    to_format,
    narrow,
    scores,
    multilabel,
    strict,
    keep_formulas,
    patient,
    ahead=False,
):
    """All that comes out of a run: lines, batches of texts, remarks and the mistake."""
    ends = sorted({*(cut % (len(content) + 1) for cut in cuts), len(content)} - {0})
    pieces = iter([content[start:end] for start, end in zip([0, *ends], ends, strict=False)])
    stream = ByteStream("standard input", lambda: next(pieces, b""), patient)
    model, err, mistake = Model(multilabel), io.StringIO(), ""
    out = io.TextIOWrapper(io.BytesIO(), newline="", write_through=True)
    kinds = set()
    with redirect_stderr(err), patch.object(formats, "open_stream", lambda *_: stream), ExitStack() as stack:
        settings = {} if to_format == "jsonl" else {"keep_formulas": keep_formulas}
        table = stack.enter_context(open_writer(out, to_format, **settings))
        use = RecordUse(
            to_format == "jsonl" or narrow is True, not keep_formulas, n_threads=n_threads, rows=not records
        )
        try:
            batches = stream_records("-", use, dialect, log=remark)
            batches = (kinds.add(type(batch)) or batch for batch in batches)
            write = DecisionWriter(model, table, scores, narrow, use).write
            decide_batches(model, batches, "standard input", strict, write, RowCounter(False), narrow, ahead)
        except TextmarginError as error:
            mistake = str(error)
    return (
        out.buffer.getvalue(),
        model.asked,
        [*err.getvalue().splitlines(), *table.notes, mistake],
        RecordBatch in kinds,
    )


SOUP = [
    b"a",
    b"text",
    b" ",
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"=",
    b"+",
    b"-",
    b"@",
    b"+49 (1)",
    b"-1e5",
    b"-1e",
]
SOUP += [
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\0",
    b"\x0b",
    b"\x1f",
    b"\\",
    b"'",
    b"sep=;\n",
    b"sep=\xc2\xa7\n",
    b"+1\xd9\xa3",
    b"-\xd9\xa3e\xd9\xa3",
]
SOUP += [one.encode() for one in ("ü", "\u00a0", "\u3000", "\u2028", "\u200b", "😀", "\ufeff")]
soups = st.lists(st.sampled_from(SOUP), max_size=12).map(b"".join)
values = st.text(st.sampled_from(list("ab ,;\t\"'\r\n=+-@5eü\u00a0\u2003😀")), max_size=6)
cuts = st.lists(st.integers(0, 400), max_size=4)
runs = st.fixed_dictionaries(
    {
        "narrow": st.sampled_from([None, None, False, True]),
        "multilabel": st.booleans(),
        "scores": st.booleans(),
        "strict": st.sampled_from([False, False, True]),
        "keep_formulas": st.booleans(),
        "patient": st.booleans(),
        "to_format": st.sampled_from(["csv", "tsv", "jsonl"]),
    }
)


@st.composite
def tables(draw):
    """CSV as programs write it, and as they should not."""
    names = draw(
        st.sampled_from(
            [["id", "text", "n"], ["text"], ["text", "label", "score"], ["body", "x"], ["-x", "Text"]]
        )
    )
    delimiter, end = draw(st.sampled_from([(",", "\n"), (",", "\r\n"), (";", "\n"), ("\t", "\n")]))
    stream = io.StringIO()
    rows = csv.writer(
        stream,
        delimiter=delimiter,
        lineterminator=end,
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    )
    rows.writerow(names)
    parts = [stream.getvalue().encode()]
    for _ in range(draw(st.integers(0, 8))):
        stream.seek(0)
        stream.truncate()
        rows.writerow([draw(values) for _ in names])
        parts.append(
            draw(
                st.one_of(
                    st.just(stream.getvalue().encode()),
                    st.sampled_from([b"\n", b" \r\n"]),
                    soups.map(lambda s: s + b"\n"),
                )
            )
        )
    return draw(
        st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\n", b"sep=;\n", b"sep=\xc2\xa7\n"])
    ) + b"".join(parts), Dialect(
        draw(st.sampled_from([None, "tsv" if delimiter == "\t" else "csv"])),
        delimiter=draw(st.sampled_from([None, delimiter])),
        header=draw(st.sampled_from([None, None, True, False])),
    )


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), values),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(values, inner, max_size=3)),
    max_leaves=4,
)
objects = st.fixed_dictionaries(
    {"text": st.one_of(values, values, values, json_values)},
    optional={
        "label": json_values,
        "score": json_values,
        "scores": json_values,
        "x": json_values,
        "ü": json_values,
        "ü\n": json_values,
        "predicted_label": st.just(1),
    },
)
SPELLINGS = [{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"separators": (" ,", " :\t")}]
JSON_SOUP = [
    b'{"text": "a',
    b'"',
    b"}",
    b",",
    b'"x": ',
    b"1.50",
    b"-0",
    b"01",
    b"1e400",
    b"1E5",
    b"-0.0",
    b"NaN",
    b"\\u00e9",
    b"\\ud83d\\ude00",
]
JSON_SOUP += [
    b"\\ud800",
    b"\\/",
    b"\\x",
    b'"text": "b"',
    b"[",
    b"]",
    b"null",
    b"tru",
    b"\t",
    b"\xff",
    b"{",
    b"9" * 401,
    b"1e-320",
    b"\\u000B",
]


@st.composite
def json_lines(draw):
    """Objects in the spellings that programs have, and lines that are none."""
    lines = []
    for one in draw(st.lists(objects, max_size=8)):
        whole = json.dumps(one, **draw(st.sampled_from(SPELLINGS))).encode("utf-8", "replace")
        soup = (
            b'{"text": "a", "x": ' + b"".join(draw(st.lists(st.sampled_from(JSON_SOUP), max_size=6))) + b"}"
        )
        lines.append(
            draw(st.sampled_from([whole, whole, whole, soup, b"  ", b"[1]", whole + b"\r", b" " + whole]))
        )
    return b"\n".join(lines), Dialect(draw(st.sampled_from([None, "jsonl"])))


plain_lines = st.tuples(
    st.lists(soups, max_size=8).map(b"\n".join), st.sampled_from([Dialect("txt"), Dialect()])
)


@pytest.mark.parametrize(
    "files", [tables(), json_lines(), plain_lines], ids=["delimited", "objects", "lines"]
)
def test_records_are_written_as_rows_are(files):
    n_records = 0

    @settings(max_examples=100, deadline=None)
    @given(files, cuts, runs, st.sampled_from([1, 2, 3]))
    def check(file, cuts, run, n_threads):
        nonlocal n_records
        content, dialect = file
        *expected, _ = outcome(content, cuts, records=False, dialect=dialect, **run)
        *found, by_records = outcome(content, cuts, records=True, n_threads=n_threads, dialect=dialect, **run)
        assert found == expected
        n_records += by_records

    check()
    assert n_records


def large_table():
    """Rows of every kind, enough of them for several threads."""
    rows = [
        f'{k},"no ""toner"" {k}\nat all",+49 170 {k}\n' if k % 7 == 0 else f"{k},toner für {k},=1+{k}\n"
        for k in range(2000)
    ]
    rows[500], rows[900], rows[901], rows[1300], rows[1999] = (
        "1,2\n",
        "\n",
        '8, ,"x\ry"\n',
        '9,"a"b,c\n',
        "10,-٣,last",
    )
    return ("id,text,x\n" + "".join(rows)).encode()


@pytest.mark.parametrize("to_format", ["csv", "jsonl"])
def test_threads_change_nothing(to_format):
    run = {
        "dialect": Dialect("csv"),
        "to_format": to_format,
        "narrow": None,
        "scores": True,
        "multilabel": True,
    }
    run |= {"strict": False, "keep_formulas": False, "patient": True}
    *expected, _ = outcome(large_table(), [], records=False, **run)
    for n_threads in (1, 2, 3):
        *found, by_records = outcome(large_table(), [], records=True, n_threads=n_threads, **run)
        assert by_records
        assert found == expected


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 8))
@example(1e22, 1)
@example(123456789012345.67, 2)
@example(9.9e-5, 6)
@example(5e-324, 6)
@example(-0.0, 6)
def test_numbers_are_those_of_python(value, decimals):
    assert core.number_text(value) == repr(value)
    for number in (value, value % 1e4):
        with np.errstate(over="ignore"):
            rounded = float(np.round(number, decimals) + 0.0)
        assert core.number_text(number, decimals) == json.dumps(rounded)


def test_a_pipe_is_answered_line_by_line_and_ends_at_once(tmp_path):
    ModelConfig().fit(Corpus("desk", ["toner", "vpn"] * 3, ["printing", "network"] * 3)).save(
        tmp_path / "m.tmm"
    )
    command = [sys.executable, "-m", "textmargin", "predict", str(tmp_path / "m.tmm")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"id,text\n")
    for line, answer in [
        (b"1,toner\n", b"1,toner,printing,,"),
        (b'2,"vpn\nvpn"\n', b'2,"vpn\n'),
        (b"3,toner\n", b'vpn",network,,'),
    ]:
        process.stdin.write(line)
        process.stdin.flush()
        if line.startswith(b"1"):
            assert process.stdout.readline() == b"id,text,label,guess,score,confidence\n"
        assert process.stdout.readline().startswith(answer)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.stderr.readline() == b"textmargin: text: column 'text'\n"
    assert b"interrupted" in process.stderr.readline()
    assert time.monotonic() - start < 1
    assert process.wait(timeout=30) == 130


def test_the_last_line_of_a_named_pipe_waited_for_the_next(tmp_path):
    ModelConfig().fit(Corpus("desk", ["toner", "vpn"] * 3, ["printing", "network"] * 3)).save(
        tmp_path / "m.tmm"
    )
    os.mkfifo(tmp_path / "lines.csv")
    command = [sys.executable, "-m", "textmargin", "predict", tmp_path / "m.tmm", tmp_path / "lines.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        with (tmp_path / "lines.csv").open("wb", buffering=0) as pipe:
            pipe.write(b"id,text\n1,toner\n")
            assert select.select([process.stdout], [], [], 20)[0]
        assert process.stdout.read().splitlines()[1].startswith(b"1,toner,printing,,")


def test_a_batch_ahead_changes_nothing_and_loses_nothing():
    """Decisions are made of one batch while the one before is written."""
    content = (
        b"text,id\n"
        + b"".join(b"row number %d,%d\n" % (k, k) for k in range(500))
        + b'bad,"x"y\n'
        + b"last,1\n"
    )
    run = {
        "dialect": Dialect(),
        "to_format": "csv",
        "narrow": False,
        "scores": True,
        "multilabel": False,
        "strict": False,
    }
    run |= {"keep_formulas": False, "patient": False, "records": True}
    one, other = (
        outcome(content, range(0, len(content), 700), ahead=ahead, **run) for ahead in (False, True)
    )
    assert one[:2] == other[:2]
    assert sorted(one[2]) == sorted(other[2])
    batches = _one_ahead(len, _broken(["a", "bc"]))
    assert [next(batches), next(batches)] == [("a", 1), ("bc", 2)]
    with pytest.raises(OSError, match="gone"):
        next(batches)


def _broken(batches):
    yield from batches
    raise OSError("gone")


def test_a_text_that_was_put_moved_when_more_threads_came():
    records = core.RecordSplitter(ord(","), 10, 1000).add(b"a,b\nc,d\n")
    texts = ["long enough to lie in memory of its own " * n for n in (3, 30)]
    for place, text in enumerate(texts):
        records.put_row(place, text.encode())
    records.read_delimited(",", 2, 1, defuse=False, n_threads=16)
    assert list(records.texts()) == texts
