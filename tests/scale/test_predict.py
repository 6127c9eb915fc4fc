"""Decisions from Parquet to Parquet: those of the model in memory, and nothing half-written taken for
whole.
"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textmargin import TextClassifier, ThresholdClassifier, load_dataset, scale
from textmargin.errors import TableError, TextmarginError

pytestmark = pytest.mark.usefixtures("client")
COMPLETE = "_complete.json"


@pytest.fixture(scope="module")
def desk():
    return load_dataset("desk")


@pytest.fixture(scope="module")
def model(desk):
    """With thresholds, so that there are scores that must not travel."""
    part = desk.part("train")
    return TextClassifier(decision=ThresholdClassifier()).fit(part.texts, np.array(part.labels))


def write_parts(folder, texts, n_parts):
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(len(texts)), n_parts)):
        table = pa.table({"id": rows, "text": pa.array([texts[row] for row in rows], pa.string())})
        pq.write_table(table, folder / f"part-{i}.parquet")
    return folder


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_decides_as_in_memory(desk, model, tmp_path, n_parts):
    source = write_parts(tmp_path / "in", desk.texts, n_parts)
    found = scale.predict_parquet(model, source, tmp_path / "out", scores=True)
    table = pq.read_table(tmp_path / "out")
    expected = model.decide(desk.texts)
    assert (found.n_texts, found.n_parts, found.n_earlier) == (len(desk), n_parts, 0)
    assert table["id"].to_pylist() == list(range(len(desk)))
    assert table["label"].to_pylist() == [own[0] if own else None for own in expected.labels]
    assert table["guess"].to_pylist() == [own[0] if own else None for own in expected.guesses]
    np.testing.assert_allclose(table["confidence"], model.decide(desk.texts, probabilities=True).confidence)
    np.testing.assert_allclose(table["score of billing"], expected.scores[:, expected.names.index("billing")])
    assert json.loads((tmp_path / "out" / COMPLETE).read_text())["n_texts"] == len(desk)


def test_several_labels_a_text(desk, tmp_path):
    Y = desk.indicator()[0]
    Y[:, 1] |= Y[:, 0]
    model = TextClassifier().fit(desk.texts, Y)
    source = write_parts(tmp_path / "in", desk.texts[:50], 2)
    scale.predict_parquet(model, source, tmp_path / "out")
    table = pq.read_table(tmp_path / "out")
    assert table.column_names == ["id", "label", "guess", "score", "confidence"]
    expected = [[str(k) for k in np.flatnonzero(row)] for row in model.predict(desk.texts[:50])]
    assert table["label"].to_pylist() == expected


def test_an_empty_part_and_a_null_text(model, tmp_path):
    source = write_parts(tmp_path / "in", ["no paper", None, "cannot log in"], 2)
    pq.write_table(pq.read_table(source / "part-0.parquet").slice(0, 0), source / "part-9.parquet")
    found = scale.predict_parquet(model, source, tmp_path / "out", scores=True)
    assert (found.n_texts, found.n_parts) == (3, 3)
    empty = pq.read_table(tmp_path / "out" / "part-9.parquet")
    assert empty.num_rows == 0
    assert empty.schema.equals(pq.read_table(tmp_path / "out" / "part-0.parquet").schema)
    row = pq.read_table(tmp_path / "out" / "part-0.parquet").to_pylist()[1]
    assert row["label"] is row["guess"] is row["confidence"] is None
    assert row["score of billing"] is None


def test_a_damaged_footer_is_found_before_anything_is_written(desk, model, tmp_path):
    source = write_parts(tmp_path / "in", desk.texts, 3)
    whole = (source / "part-1.parquet").read_bytes()
    (source / "part-1.parquet").write_bytes(whole[:-20])
    with pytest.raises(TableError, match=r"part-1\.parquet cannot be read as Parquet, so nothing was begun"):
        scale.predict_parquet(model, source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_page_stops_the_run_and_a_mended_one_lets_it_go_on(desk, model, tmp_path):
    source = write_parts(tmp_path / "in", desk.texts, 3)
    whole = (source / "part-1.parquet").read_bytes()
    (source / "part-1.parquet").write_bytes(whole[:4] + b"\xff" * 2000 + whole[2004:])
    with pytest.raises(TableError, match=r"part-1\.parquet cannot be decided on"):
        scale.predict_parquet(model, source, tmp_path / "out")
    assert COMPLETE not in files(tmp_path / "out")
    assert "part-1.parquet" not in files(tmp_path / "out")
    (source / "part-1.parquet").write_bytes(whole)
    scale.predict_parquet(model, source, tmp_path / "out")
    assert pq.read_table(tmp_path / "out").num_rows == len(desk)


def test_a_run_that_was_stopped_goes_on(desk, model, tmp_path):
    """Half-written files are never under the name of a part; what is there under it is whole, and not done
    again.
    """
    source, out = write_parts(tmp_path / "in", desk.texts, 5), tmp_path / "out"

    def stop(done, parts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scale.predict_parquet(model, source, out, progress=stop)
    assert COMPLETE not in files(out)
    (out / ".part-4.parquet.x.part").write_bytes(b"PAR1 and no more")  # what a killed worker leaves
    for path in out.glob("part-*.parquet"):
        pq.read_table(path)
    found = scale.predict_parquet(model, source, out)
    assert found.n_earlier >= 1
    assert files(out) == [COMPLETE, "_started.json", *(f"part-{i}.parquet" for i in range(5))]
    assert pq.read_table(out).num_rows == len(desk)
    assert scale.predict_parquet(model, source, out).n_earlier == 5


def test_texts_that_changed_are_decided_again(desk, model, tmp_path):
    source, out = write_parts(tmp_path / "in", desk.texts, 3), tmp_path / "out"
    scale.predict_parquet(model, source, out)
    pq.write_table(pa.table({"id": [7], "text": ["no paper"]}), source / "part-1.parquet")
    (source / "part-2.parquet").unlink()
    found = scale.predict_parquet(model, source, out)
    assert (found.n_parts, found.n_earlier) == (2, 1)
    assert files(out) == [COMPLETE, "_started.json", "part-0.parquet", "part-1.parquet"]
    assert pq.read_table(out / "part-1.parquet")["id"].to_pylist() == [7]


def test_addresses_are_refused(model, tmp_path):
    for places in (("s3://bucket/in", tmp_path), (tmp_path, "s3://bucket/out")):
        with pytest.raises(TableError, match=r"s3://bucket/.* is an address"):
            scale.predict_parquet(model, *places)


def test_decisions_of_another_run_are_not_mixed(desk, model, tmp_path):
    source, out = write_parts(tmp_path / "in", desk.texts[:20], 2), tmp_path / "out"
    scale.predict_parquet(model, source, out)
    with pytest.raises(TableError, match="an earlier run with another scores"):
        scale.predict_parquet(model, source, out, scores=True)


def test_folders_that_are_not_ours(desk, model, tmp_path):
    source = write_parts(tmp_path / "in", desk.texts[:20], 2)
    with pytest.raises(TableError, match="holds the texts themselves"):
        scale.predict_parquet(model, source, source)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(TableError, match="was not written by predict"):
        scale.predict_parquet(model, source, tmp_path / "mine")
    assert files(tmp_path / "mine") == ["notes.txt"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"text": "body"}, r"part-0\.parquet has no column 'body'. It has 'id', 'text'")],
)
def test_columns_that_are_not_there(desk, model, tmp_path, settings, message):
    source = write_parts(tmp_path / "in", desk.texts[:20], 1)
    with pytest.raises(TableError, match=message):
        scale.predict_parquet(model, source, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_sources_that_are_not_there(model, tmp_path):
    for source, message in (
        (tmp_path / "no", "There is no file"),
        (tmp_path, "holds no files"),
        (tmp_path / "*.parquet", "No file"),
    ):
        with pytest.raises(TableError, match=message):
            scale.predict_parquet(model, source, tmp_path / "out")
    with pytest.raises(TextmarginError, match="a fitted TextClassifier"):
        scale.predict_parquet(TextClassifier(), tmp_path, tmp_path / "out")
