"""A run on texts in parts may be killed, or find its disk full or its files damaged: nothing half-written is
ever read.
"""

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from textmargin import BagOfWords
from textmargin.errors import StoreError
from textmargin.scale import TextFiles, TextLists
from textmargin.scale.store import Store
from textmargin.tables.dialect import Dialect
from textmargin.tables.parts import open_parts

PARTS = [[f"corn word{i} word{i % 7} oil", f"wheat word{i}"] for i in range(6)]
LABELS = ["a", "b"] * 6


def matrix_bytes(folder):
    return [(folder / name).read_bytes() for name in ("starts", "entries")]


def fit(folder, parts=PARTS, **parameters):
    texts = TextLists(parts, LABELS, folder=folder)
    return texts, BagOfWords(n_jobs=2, **parameters).fit_transform(texts)


@pytest.fixture
def known(tmp_path):
    """The matrix of a run that nothing happened to."""
    fit(tmp_path / "known")
    assert not list((tmp_path / "known").glob("draft-*"))  # which would take as much room again
    return matrix_bytes(tmp_path / "known")


def full_disk(monkeypatch, after):
    """A disk that is full after so many files."""
    calls = iter(range(10**6))
    sync = os.fsync

    def fsync(handle):
        if next(calls) >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("after", range(1, 11))
def test_full_disk(tmp_path, monkeypatch, known, after):
    """The error names the folder and what is needed; what is there is whole, and the next run goes on."""
    with monkeypatch.context() as patch:
        full_disk(patch, after)
        with pytest.raises(StoreError, match="No space left") as error:
            fit(tmp_path / "run")
    assert str(tmp_path / "run") in str(error.value)
    assert not list((tmp_path / "run").glob(".*.part"))
    texts, _ = fit(tmp_path / "run")
    assert matrix_bytes(tmp_path / "run") == known
    assert list(texts.labels) == LABELS


def test_full_disk_says_how_much_is_needed(tmp_path, monkeypatch):
    full_disk(monkeypatch, 3)
    with pytest.raises(
        StoreError, match=r"about \d+ MB in all are needed there; free some space, or name another folder"
    ):
        fit(tmp_path / "run")


def damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "truncated":
        content = content[: len(content) // 2]
    elif how == "flipped":
        content[len(content) // 2] ^= 1
    else:
        content = bytearray()
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["truncated", "flipped", "empty"])
@pytest.mark.parametrize("name", ["draft-2.npz", "all.npz"])
def test_damaged_draft(tmp_path, monkeypatch, known, how, name):
    with monkeypatch.context() as patch:
        full_disk(patch, 8)  # the matrix does not fit
        with pytest.raises(StoreError):
            fit(tmp_path / "run")
    damage(tmp_path / "run" / name, how)
    with pytest.raises(StoreError, match=rf"{name} is damaged.*delete it, and what was in it is made again"):
        fit(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    fit(tmp_path / "run")
    assert matrix_bytes(tmp_path / "run") == known


@pytest.mark.parametrize("name", ["starts", "entries"])
def test_damaged_matrix(tmp_path, known, name):
    damage(tmp_path / "known" / name, "flipped")
    with pytest.raises(
        StoreError, match=rf"matrix.json is damaged \(the checksum of {name} is another\); delete it"
    ):
        fit(tmp_path / "known")
    (tmp_path / "known" / "matrix.json").unlink()
    texts, _ = fit(tmp_path / "known")
    assert matrix_bytes(tmp_path / "known") == known
    assert list(texts.labels) == LABELS


def test_another_run_in_the_same_folder(tmp_path):
    fit(tmp_path)
    with pytest.raises(
        StoreError, match="another min_df: 1, here it is 2; name another folder, or delete that one"
    ):
        fit(tmp_path, min_df=2)
    with pytest.raises(StoreError, match="another source"):
        fit(tmp_path, [["other"], *PARTS[1:], ["and more"]])
    _, X = fit(tmp_path)
    with pytest.raises(StoreError, match="in use by another run"):
        fit(tmp_path)
    X.delete()
    assert not tmp_path.exists()


def test_a_folder_with_something_else_in_it(tmp_path):
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(StoreError, match="not empty"):
        fit(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        fit(tmp_path / "file")


def test_a_temporary_folder_goes_with_the_matrix():
    texts, X = fit(None)
    folder = X.store.folder
    assert folder.exists()
    del X
    assert not folder.exists()
    BagOfWords().fit(texts)


def test_a_file_that_changed_is_another_source(tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("text,label\ncorn oil,a\nwheat,b\n")
    BagOfWords().fit_transform(TextFiles(open_parts(table), folder=tmp_path / "run"))
    table.write_text("text,label\ncorn oil,a\nbarley,b\nrye,a\n")
    with pytest.raises(StoreError, match="another source"):
        BagOfWords().fit_transform(TextFiles(open_parts(table), folder=tmp_path / "run"))


def test_a_file_that_is_read_otherwise_is_another_source(tmp_path):
    table, run = tmp_path / "texts.csv", tmp_path / "run"
    table.write_bytes("text,label\ncorn œil,a\nwheat,b\n".encode("cp1252"))
    BagOfWords().fit_transform(TextFiles(open_parts(table, dialect=Dialect(encoding="cp1252")), folder=run))
    with pytest.raises(StoreError, match="another source"):
        BagOfWords().fit_transform(
            TextFiles(open_parts(table, dialect=Dialect(encoding="cp1250")), folder=run)
        )


def test_other_labels_are_another_source(tmp_path):
    fit(tmp_path)
    with pytest.raises(StoreError, match="another source"):
        BagOfWords().fit_transform(TextLists(PARTS, LABELS[::-1], folder=tmp_path))


def test_labels_in_an_array_of_numbers(tmp_path):
    numbers = np.arange(12) % 2
    for _ in range(2):  # and from the folder
        texts = TextLists(PARTS, numbers, folder=tmp_path)
        BagOfWords().fit(texts)
        assert list(texts.labels) == numbers.tolist()


def test_arrays_that_are_not_there(tmp_path):
    assert Store(tmp_path, {}).load("nothing") is None
    assert Store(tmp_path, {}).matrix() is None


KILLS = """
import os, signal, sys, time
from pathlib import Path
from textmargin import BagOfWords
from textmargin.scale import TextLists

parts = [[f"corn word{i} word{j} oil {j * i} x{j}y" for j in range(1500)] for i in range(8)]

def run(folder):
    X = BagOfWords(n_jobs=2).fit_transform(TextLists(parts, folder=folder))

def start(folder):
    pid = os.fork()
    if pid == 0:
        run(folder)
        os._exit(0)
    return pid

folder = Path(sys.argv[1])
os.waitpid(start(folder / "first"), 0)  # which loads what the others then find in memory
begin = time.monotonic()
os.waitpid(start(folder / "known"), 0)
seconds = time.monotonic() - begin
n_killed = 0
for number in range(10):
    pid = start(folder / str(number))
    time.sleep(seconds * (number + 0.5) / 11)
    os.kill(pid, signal.SIGKILL)
    n_killed += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    os.waitpid(start(folder / str(number)), 0)
print(n_killed)
"""


def test_killed_at_any_moment(tmp_path):
    """kill -9, then again with the same folder: bit for bit the matrix of a run that was left alone."""
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLS), str(tmp_path)], check=True, capture_output=True
    )
    assert int(output.stdout) >= 3  # the others had ended by then
    known = matrix_bytes(tmp_path / "known")
    assert len(known[0]) == 8 * (8 * 1500 + 1)
    for number in range(10):
        assert matrix_bytes(tmp_path / str(number)) == known
        assert not [path for path in Path(tmp_path / str(number)).iterdir() if path.suffix == ".part"]


def test_rows_of_nothing(tmp_path):
    store = Store(tmp_path, {})
    store.write_rows([])
    assert np.frombuffer((tmp_path / "starts").read_bytes(), "<i8").tolist() == [0]
    assert store.matrix() == store.paths


def test_a_path_in_place_of_a_table_is_named():
    with pytest.raises(
        TypeError, match=r"table is 'big.csv'; TextFiles takes what tables.parts.open_parts gives"
    ):
        TextFiles("big.csv")
