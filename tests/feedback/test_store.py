"""Feedback: what is acknowledged is there, once, in order."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from textmargin.errors import DuplicateFeedbackIdError, FeedbackError
from textmargin.feedback.store import Feedback, FeedbackStore

KILLS, RECORDS = 5, 400

WRITER = """
import sys
from textmargin.feedback.store import Feedback, FeedbackStore
store = FeedbackStore(sys.argv[1])
for line in sys.stdin:
    store.record(Feedback(f"text {line.strip()}", ("a",), True, id=line.strip()))
    print(line.strip(), flush=True)
"""


@pytest.fixture(scope="module")
def postgres():
    """The URL of a server of our own, on a socket in a folder, from the system's packages."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not folders:
        pytest.skip("PostgreSQL's initdb is not installed here")
    programs = folders[-1].parent
    as_other = []
    if os.getuid() == 0:  # as which it does not run
        runuser = shutil.which("runuser", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if runuser is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        as_other = [runuser, "-u", "postgres", "--"]
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if as_other:
            shutil.chown(folder, "postgres")

        def do(*words):
            done = subprocess.run(
                [*as_other, *map(str, words)],
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
            assert done.returncode == 0, done.stdout.decode()

        do(
            programs / "initdb",
            "-D",
            folder / "data",
            "-A",
            "trust",
            "-U",
            "judge",
            "--no-sync",
            "-E",
            "UTF8",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
        do(programs / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")
        try:
            yield f"postgresql://judge@/postgres?host={folder}"
        finally:
            do(programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "judged.sqlite")
    url = request.getfixturevalue("postgres")
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS textmargin_feedback")
    return url


def test_what_goes_in_comes_out_in_order(where):
    feedback = [
        Feedback("a\x00b \ud800 🙂 'x\"; DROP TABLE feedback", ("a", "b"), (), {"a": 0.1}),
        Feedback("", (), True),
        Feedback("x" * 100_000, ("ä",), ("ö", "ü"), id="z"),
        *(Feedback(str(k), ("a",), k % 2 == 0, id=str(1_000_000 - k)) for k in range(1010)),
    ]
    with FeedbackStore(where) as store:
        with ThreadPoolExecutor(1) as other:
            assert all(other.map(store.record, feedback))
        assert list(store) == feedback
    with FeedbackStore(where, create=False) as store:
        assert len(store) == len(feedback)


def test_the_same_id_is_stored_once_and_never_for_another(where):
    one = Feedback("x", ("a",), ("b",), id="7")
    with FeedbackStore(where) as store, FeedbackStore(where) as other:
        assert store.record(one)
        assert not other.record(Feedback("x", ("a",), ("b",), id="7", time="later"))
        with pytest.raises(DuplicateFeedbackIdError, match="'7' belongs to another"):
            store.record(Feedback("y", ("a",), ("b",), id="7"))
        assert list(other) == [one]


def test_kill_9_loses_nothing_that_was_acknowledged(where):
    """A client that heard nothing sends the record again; in the end all are there once, in order."""
    chance = random.Random(0)
    acknowledged: list[int] = []
    for turn in range(KILLS + 1):
        start = len(acknowledged)
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        stop = RECORDS if turn == KILLS else start + chance.randrange(1, RECORDS // KILLS)
        try:
            for number in range(start, RECORDS):
                process.stdin.write(f"{number}\n")
                process.stdin.flush()
                if number == stop:
                    time.sleep(chance.uniform(0, 0.01))  # it may be anywhere by then
                    break
                assert int(process.stdout.readline()) == number
                acknowledged.append(number)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        with FeedbackStore(where) as store:
            ids = [int(one.id) for one in store]
        assert ids[: len(acknowledged)] == acknowledged
        assert len(ids) <= len(acknowledged) + 1
    assert ids == list(range(RECORDS))


def test_processes_that_start_at_once_share_a_store(where):
    with ThreadPoolExecutor(4) as many:
        stores = list(many.map(lambda _: FeedbackStore(where), range(4)))
        list(many.map(lambda k: stores[k % 4].record(Feedback("x", ("a",), True, id=str(k))), range(40)))
    assert {one.id for one in stores[0]} == {str(k) for k in range(40)}
    for store in stores:
        store.close()


def test_sqlite_synchronises_at_every_commit(tmp_path):
    """Journal, file and folder are on the disk before `record` returns."""
    with FeedbackStore(tmp_path / "judged.sqlite") as store, store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3


def test_without_sqlalchemy_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(FeedbackError, match=r"needs SQLAlchemy.*pip install 'textmargin\[serve\]'"):
        FeedbackStore(tmp_path / "judged.sqlite")


def test_what_is_no_store_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("this is no feedback, but long enough to be a header" * 99)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = other.read_bytes()
    for path in (tmp_path / "notes.txt", other, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(FeedbackError):
            FeedbackStore(path)
    assert other.read_bytes() == before
    with pytest.raises(FeedbackError, match="does not exist"):
        FeedbackStore(tmp_path / "new", create=False)
    with pytest.raises(FeedbackError, match="Got mysql://"):
        FeedbackStore("mysql://x/y")
    with pytest.raises(FeedbackError) as caught:
        FeedbackStore("postgresql://judge:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


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


@pytest.mark.parametrize("content", ["x'00'", "'{'", "'{}'"])
def test_what_is_no_feedback_is_refused_in_a_line(content, tmp_path):
    path = tmp_path / "feedback.sqlite"
    FeedbackStore(path).close()
    with sqlite3.connect(path) as file:
        file.execute(f"INSERT INTO textmargin_feedback (id, content) VALUES ('a', {content})")
    file.close()
    with FeedbackStore(path) as store, pytest.raises(FeedbackError, match="A stored feedback cannot be read"):
        list(store)
