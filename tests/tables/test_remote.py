"""Files of other places are read in parts as those of this machine are."""

import sys

import pytest

from textmargin import load_dataset
from textmargin.errors import TableError
from textmargin.tables.parts import open_parts
from textmargin.tables.remote import RemotePath

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

DESK = load_dataset("desk").part("train")


@pytest.fixture
def store(tmp_path):
    """The same files here and there."""
    import pandas as pd

    system = fsspec.filesystem("memory")
    frame = pd.DataFrame({"text": DESK.texts, "label": DESK.labels}).iloc[:60]
    for place, own in enumerate((frame.iloc[:20], frame.iloc[20:])):
        own.to_parquet(tmp_path / f"{place}.parquet", row_group_size=9)
    (tmp_path / "lines").mkdir()
    frame.to_csv(tmp_path / "lines" / "all.csv", index=False)
    frame.to_csv(tmp_path / "lines" / "packed.csv.gz", index=False)
    frame.to_json(tmp_path / "lines" / "all.jsonl", orient="records", lines=True)
    (tmp_path / "_hidden.parquet").write_bytes(b"")
    for file in tmp_path.rglob("*.*"):
        system.pipe(f"/desk/{file.relative_to(tmp_path).as_posix()}", file.read_bytes())
    yield tmp_path
    system.rm("/desk", recursive=True)


@pytest.mark.parametrize(
    "name",
    ["?.parquet", "0.parquet", "lines/all.csv", "lines/packed.csv.gz", "lines/all.jsonl", "lines/*.jsonl"],
)
def test_parts_are_those_of_the_same_files_here(store, name):
    tables = [
        open_parts(source, store / f"{number}.parts", part_bytes=2000)
        for number, source in enumerate((str(store / name), f"memory://desk/{name}"))
    ]
    here, there = (table.corpus(table.is_labelled) for table in tables)
    assert (there.texts, there.labels) == (here.texts, here.labels)
    assert tables[0].sizes == tables[1].sizes


def test_a_folder_stands_for_its_files_less_hidden_ones(store):
    for file in (store / "lines").iterdir():
        file.unlink()
    fsspec.filesystem("memory").rm("/desk/lines", recursive=True)
    assert sum(open_parts("memory://desk", store / "a.parts").sizes) == 60


def test_a_file_that_changes_is_another_one(store):
    path = RemotePath("memory://desk/0.parquet")
    before = path.stat()
    fsspec.filesystem("memory").pipe("/desk/0.parquet", b"other")
    assert path.stat() != before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("memory://desk/none.csv", "There is no file memory://desk/none.csv"),
        ("memory://desk/*.tsv", "No file fits the pattern 'memory://desk/"),
        ("nowhere://desk", "nowhere://desk cannot be reached: Protocol not known: nowhere"),
    ],
)
def test_what_is_not_there_is_named(store, source, message):
    with pytest.raises(TableError) as caught:
        open_parts(source, store / "a.parts")
    assert message in str(caught.value)


def test_without_fsspec_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(TableError, match="needs fsspec, which is not installed: pip install fsspec"):
        open_parts("s3://bucket/texts.csv", tmp_path / "a.parts")
