"""A store of feedback that is damaged is refused in a line."""

import sqlite3

import pytest

from textmargin.errors import FeedbackError
from textmargin.feedback.store import FeedbackStore


def test_a_damaged_store_of_which_sqlite_speaks_in_bytes_ended_in_a_traceback(tmp_path):
    """SQLite quotes what it cannot read, which is no UTF-8."""
    path = tmp_path / "feedback.sqlite"
    FeedbackStore(path).close()
    file = sqlite3.connect(path)
    file.execute("PRAGMA writable_schema = ON")
    file.execute(
        "UPDATE sqlite_master SET sql = CAST(x'435245415445205441424c45ff62' AS TEXT) WHERE type = 'table'"
    )
    file.commit()
    file.close()
    with pytest.raises(FeedbackError, match=r"feedback\.sqlite cannot hold feedback: "):
        FeedbackStore(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [("NULL", "that is a NoneType"), ("x'00'", "that is a bytes"), ("'{'", "of 1 characters")],
)
def test_null_where_feedback_was_ended_in_a_traceback(content, what, tmp_path):
    path = tmp_path / "feedback.sqlite"
    FeedbackStore(path).close()
    file = sqlite3.connect(path)
    ((table,),) = file.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%content%'"
    ).fetchall()
    file.execute("PRAGMA writable_schema = ON")
    file.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'")
    file.commit()
    file.close()
    file = sqlite3.connect(path)
    file.execute(f"INSERT INTO {table} (id, content) VALUES ('a', {content})")
    file.commit()
    file.close()
    with (
        FeedbackStore(path) as store,
        pytest.raises(FeedbackError, match=f"a stored feedback {what} cannot be read"),
    ):
        list(store)
