"""Rows of a JSON array, whole, in order and with constant memory."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables.user_files import read_flat

from textmargin.errors import TableError
from textmargin.tables import streams
from textmargin.tables.dialect import Dialect
from textmargin.tables.formats import read_rows

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    max_leaves=5,
)


@settings(max_examples=25)
@given(
    st.lists(st.dictionaries(st.text(), values, min_size=1), min_size=1),
    st.sampled_from([1, 3, 1000]),
    st.sampled_from([None, 1]),
)
def test_an_array_is_read_as_json_reads_it(tmp_path_factory, rows, at_once, indent):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(rows, indent=indent))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "AT_ONCE", at_once)
        patch.setattr(streams, "FIRST_BLOCK", 20)
        assert [row.values for row in read_flat(path)] == rows
        path.write_text(
            json.dumps(
                {"n": 3.5, "meta": {"rows": [1]}, "empty": [], "rows": rows, "end": [1, "x"]}, indent=indent
            )
        )
        assert [row.values for row in read_flat(path, file_format="json")] == rows


def test_a_long_array_takes_no_more_memory_than_a_short_one(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        "[" + ",".join(json.dumps({"text": "some words " * 20, "n": k}) for k in range(30_000)) + "]"
    )
    tracemalloc.start()
    n = sum(len(batch) for batch in read_rows(path, Dialect("json")))
    assert (n, tracemalloc.get_traced_memory()[1] < 5_000_000) == (30_000, True)
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1}, 3]', "after 2 rows: not an object but int"),
        ('[{"a": 1}, {"a"', "after 1 rows"),
        ('[{"a": 1}', "after 1 rows: it breaks off"),
        ('{"a": [{"b": 1}], "c": [{"d": 2}]}', "several lists of objects, 'a' and 'c'"),
        ("3", "begins with neither"),
        ('[{"a": ' + "[" * 100_000, "nested too deep"),
    ],
)
def test_what_cannot_be_read_is_explained(content, message, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(TableError, match=message):
        read_flat(path)
