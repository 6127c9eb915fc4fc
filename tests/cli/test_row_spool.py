"""Rows that wait come back as they were."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest

from textmargin.cli._console import OptionError
from textmargin.cli._row_spool import RowSpool
from textmargin.tables.rows import Row


def test_values_of_every_kind_of_file_come_back():
    values = {
        "text": "ünï \ud800 \n",
        "when": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "time": time(3, 4),
        "span": timedelta(days=-1, microseconds=5),
        "price": Decimal("1.10"),
        "raw": b"\x00\xff",
        "nested": {"a": [1, 2.5, None, True]},
    }
    spool = RowSpool()
    spool.add([Row(2, values), Row(3, {})])
    spool.add([])
    assert [*spool.batches()] == [[Row(2, values), Row(3, {})], []]


def test_a_value_that_cannot_wait_is_named():
    with pytest.raises(OptionError, match=r"cannot hold back a row with .* complex"):
        RowSpool().add([Row(1, {"x": 1j})])
