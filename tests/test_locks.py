"""Locks beside a file: on Linux, and as other systems have them, by the library filelock."""

import subprocess
import sys
import threading
import time

import pytest

from textmargin._system import locks
from textmargin._system.locks import ByteLocks
from textmargin.scale.store import Store, delete_run


@pytest.fixture(params=["fcntl", "filelock"], autouse=True)
def system(request, monkeypatch):
    if request.param == "filelock":
        pytest.importorskip("filelock")
        monkeypatch.setattr(locks, "_fcntl", lambda: None)
    elif locks._fcntl() is None:
        pytest.skip("this system has no locks of open files")
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "locks"


def test_two_objects_exclude_each_other_number_by_number(path):
    with ByteLocks(path) as one, ByteLocks(path) as other:
        assert one.acquire(0, wait=False)
        assert one.acquire(7, wait=False)
        assert not other.acquire(0, wait=False)
        assert not other.acquire(7, wait=False)
        assert other.acquire(8, wait=False)
        assert not one.acquire(8, wait=False)
    with ByteLocks(path) as again:
        assert all(again.acquire(number, wait=False) for number in (0, 7, 8))


def test_what_an_object_has_it_has_again(path, system):
    """Where numbers share files, two of one object may be in one."""
    far = locks._MOST_FILES + 3 if system == "filelock" else 3
    with ByteLocks(path) as one:
        assert one.acquire(3)
        assert one.acquire(far)
        assert one.acquire(3, wait=False)


def test_who_waits_goes_on_when_the_other_is_done(path):
    order = []

    def wait():
        with ByteLocks(path) as other:
            other.acquire(5)
            order.append("other")

    with ByteLocks(path) as one:
        assert one.acquire(5)
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.2)
        order.append("one")
    thread.join(10)
    assert order == ["one", "other"]


def test_a_lock_ends_with_its_process_however_that_ends(path, system):
    hold = f"""
import sys, time
from pathlib import Path
from textmargin._system import locks
if {system == "filelock"}:
    locks._fcntl = lambda: None
with locks.ByteLocks(Path({str(path)!r})) as mine:
    print(mine.acquire(2), flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    with ByteLocks(path) as locks_here:
        assert not locks_here.acquire(2, wait=False)
        process.kill()
        process.wait(10)
        process.stdout.close()
        assert locks_here.acquire(2)


def test_a_run_is_one_process_at_a_time_and_goes_on_after_its_end(tmp_path):
    run = Store(tmp_path / "run", {"source": "a"})
    with pytest.raises(OSError, match="is in use by another run"):
        delete_run(tmp_path / "run")
    run.close()
    again = Store(tmp_path / "run", {"source": "a"})
    again.close()
    delete_run(tmp_path / "run")
    assert not (tmp_path / "run").exists()
