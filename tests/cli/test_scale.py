"""Commands on a cluster: the same model file, the same decisions, and what is said of mistakes."""

import csv
import json
import re
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed")

from distributed import LocalCluster

from textmargin import load_dataset, scale
from textmargin.cli import app
from textmargin.cli._cluster import ClusterOptions
from textmargin.errors import ClusterError
from textmargin.persistence import load_classifier


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def cluster(threads):
    """Where the workers in this process are: what commands do is the same."""
    return threads.scheduler_address


def rows_of(n=90):
    """Messages of two topics: few, so that training takes few passes."""
    train = load_dataset("desk").part("train")
    rows = [
        (text, label)
        for text, label in zip(train.texts, train.labels, strict=True)
        if label in ("account", "hardware")
    ]
    return rows[:n]


def write_parquet(folder, rows, n_parts):
    folder.mkdir()
    for i, own in enumerate(np.array_split(np.arange(len(rows)), n_parts)):
        columns = {"text": [rows[row][0] for row in own], "label": [rows[row][1] for row in own]}
        table = pa.table(columns, schema=pa.schema([("text", pa.string()), ("label", pa.string())]))
        pq.write_table(table, folder / f"{i:02}.parquet")
    return folder


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Texts in a CSV file and in Parquet parts, one of them empty; and the model that is trained in
    memory.
    """
    folder = tmp_path_factory.mktemp("known")
    rows = rows_of()
    write_parquet(folder / "parts", rows, 3)
    pq.write_table(
        pq.read_table(folder / "parts" / "00.parquet").slice(0, 0), folder / "parts" / "99.parquet"
    )
    with (folder / "texts.csv").open("w", newline="") as stream:  # values go on over lines, and hold quotes
        csv.writer(stream).writerows(
            [("text", "label"), *((f'{text}\n and "more"', label) for text, label in rows)]
        )
    one = folder / "one.parquet"
    pq.write_table(
        pa.concat_tables([pq.read_table(path) for path in sorted((folder / "parts").glob("*"))]), one
    )
    assert call("train", one, "-o", folder / "known.tmm", "--hit", 3).exit_code == 0
    return folder


def assert_same_model(ours, theirs):
    ours, theirs = load_classifier(ours), load_classifier(theirs)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.model_.utility == theirs.model_.utility
    assert ours.model_.pos_label_ == theirs.model_.pos_label_
    assert {**ours.metadata_, "source": None} == {**theirs.metadata_, "source": None}
    assert ours.representation_.vocabulary_ == theirs.representation_.vocabulary_
    np.testing.assert_allclose(ours.learner_.coef_, theirs.learner_.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.thresholds_, theirs.thresholds_, atol=1e-6)
    assert ours.get_params().keys() == theirs.get_params().keys()
    np.testing.assert_array_equal(ours.text_digests_, theirs.text_digests_)


def test_two_workers_train_the_same_model_and_decide(known, tmp_path):
    """A cluster of its own: its dashboard is named, each pass has its objective and time, and nothing of it
    stays.
    """
    result = call("train", known / "parts", "--workers", 2, "-o", tmp_path / "m.tmm", "--hit", 3)
    assert result.exit_code == 0, result.output
    assert_same_model(tmp_path / "m.tmm", known / "known.tmm")
    assert re.search(r"2 workers; watch at http://\S+/status", result.stderr)
    assert "Trained on 90 texts" in result.stdout


KNOWN = [("--keywords", "words.toml"), ("--holdout", 0.2), ("--costs", "costs.toml")]


@pytest.mark.parametrize("words", KNOWN, ids=lambda words: words[0])
def test_what_else_is_known_goes_with_workers(known, cluster, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.toml").write_text('account = ["password", "login"]\nhardware = ["screen", "cable"]\n')
    (tmp_path / "costs.toml").write_text(
        "[account]\nhit = 4\nfalse_alarm = -1\n[hardware]\nhit = 1\nfalse_alarm = -2\n"
    )
    facts = []
    for source, name, more in (("one.parquet", "here", ()), ("parts", "there", ("--cluster", cluster))):
        result = call("train", known / source, "-o", f"{name}.tmm", "--json", *words, *more)
        assert result.exit_code == 0, result.output
        printed = json.loads(result.stdout.replace("one.parquet", "parts"))
        facts.append({**printed, "output": None, "thresholds": None, "estimate": None})
    assert_same_model(tmp_path / "there.tmm", tmp_path / "here.tmm")
    assert facts[0] == facts[1]


def test_a_csv_file_in_parts(known, cluster, tmp_path):
    for extra in ((), ("--cluster", cluster)):
        result = call(
            "train",
            known / "texts.csv",
            *extra,
            "-o",
            tmp_path / f"{len(extra)}.tmm",
            "--utility",
            "t10u",
            "--json",
        )
        assert result.exit_code == 0, result.output
    assert_same_model(tmp_path / "2.tmm", tmp_path / "0.tmm")
    assert json.loads(result.stdout)["n_texts"] == 90


def test_decisions_from_parquet_to_parquet(known, cluster, tmp_path):
    words = ("predict", known / "known.tmm", known / "parts", "--cluster", cluster, "-o", tmp_path / "out")
    result = call(*words, "--scores")
    assert result.exit_code == 0, result.output
    assert "Decided on 90 texts" in result.stdout
    assert "the decisions are in predicted_label\n" in result.stderr
    in_memory = call("predict", known / "known.tmm", known / "one.parquet", "--json", "--scores")
    expected = [json.loads(line) for line in in_memory.stdout.splitlines()]
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert [row["predicted_label"] for row in found] == [one["predicted_label"] for one in expected]
    np.testing.assert_allclose(
        [row["score of account"] for row in found], [one["scores"]["account"] for one in expected]
    )
    again = call(*words, "--scores")
    assert "4 of 4 parts were there from an earlier run" in again.stderr
    other = call(*words)
    assert other.exit_code == 2
    assert "or delete that one" in other.stderr


def test_a_damaged_part_is_named(known, cluster, tmp_path):
    folder = write_parquet(tmp_path / "parts", rows_of(20), 2)
    (folder / "01.parquet").write_bytes(b"PAR1 and no more")
    for words in (
        ("train", folder, "-o", tmp_path / "m.tmm"),
        ("predict", known / "known.tmm", folder, "-o", tmp_path / "out"),
    ):
        result = call(*words, "--cluster", cluster)
        assert result.exit_code == 2
        assert "01.parquet cannot be read as Parquet" in result.stderr
    assert not (tmp_path / "m.tmm").exists()
    assert not (tmp_path / "out").exists()


def test_a_damaged_page_stops_training_and_is_named(cluster, tmp_path):
    """Its footer is whole, so that only those who read it find out."""
    folder = write_parquet(tmp_path / "parts", rows_of(60), 2)
    whole = (folder / "01.parquet").read_bytes()
    (folder / "01.parquet").write_bytes(whole[:4] + b"\xff" * 500 + whole[504:])
    result = call("train", folder, "--cluster", cluster, "-o", tmp_path / "m.tmm")
    assert result.exit_code == 2
    assert "01.parquet cannot be read as Parquet" in result.stderr
    assert not (tmp_path / "m.tmm").exists()


def test_a_cluster_that_ends_before_the_work_does():
    mortal = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)

    def work():
        with ClusterOptions(cluster=mortal.scheduler_address).connect() as client:
            waiting = client.submit(time.sleep, 2, pure=False)
            mortal.close()
            waiting.result()

    with mortal, pytest.raises(ClusterError, match="The cluster ended before the work did"):
        work()


@pytest.mark.parametrize(
    "words", [("train", "parts", "-o", "m.tmm"), ("predict", "known.tmm", "parts", "-o", "out")]
)
def test_without_dask_it_is_said_what_to_install(known, monkeypatch, words):
    monkeypatch.chdir(known)
    for name in [name for name in sys.modules if name.startswith("textmargin.scale.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("connect", "predict_parquet"):  # which a module keeps once they were asked for
        monkeypatch.delitem(vars(scale), name, raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    result = call(*words, "--workers", 2)
    assert result.exit_code == 2
    assert "Dask, which is not installed: pip install 'textmargin[scale]'" in result.stderr


def test_no_cluster_there(known, tmp_path, monkeypatch):
    monkeypatch.setattr("textmargin.scale.dask.PATIENCE", 1.0)
    result = call("train", known / "parts", "--cluster", "tcp://127.0.0.1:1", "-o", tmp_path / "m.tmm")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(
        "textmargin: No Dask scheduler answers at 'tcp://127.0.0.1:1'"
    )
    assert not (tmp_path / "m.tmm").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "-"), "Standard input is not read in parts"),
        (("train", "parts", "--label", "topic"), "no column 'topic'"),
        (("train", "parts", "--holdout", "0.2", "--split-by", "day"), "no column 'day'"),
        (("train", "parts", "--features", "ngrams"), "SubsequenceFeatures or KernelLandmarks"),
        (("train", "parts", "--features", "subsequence"), "SubsequenceFeatures or KernelLandmarks"),
        (("predict", "known.tmm", "parts"), "--output"),
        (("predict", "known.tmm", "parts", "--json", "-o", "out"), "--json has no meaning with --cluster "
                                                                   "or --workers"),
        (("train", "parts", "--cluster", "tcp://x:1"), "--cluster and --workers are both given"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_on_a_cluster(known, monkeypatch, words, message):
    """One line that names the option, before anything is started."""
    monkeypatch.chdir(known)
    monkeypatch.setattr("textmargin.scale.dask.connect", None)
    result = call(*words, "--workers", 2)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_lines_that_cannot_be_read_are_named_or_left_out(known, cluster, tmp_path):
    (tmp_path / "bad.jsonl").write_text(
        '{"text": "wheat", "label": "x"}\n{"text": "bank", "label": "y"}\n{"text": 3, "label": "x"}\nno\n' * 3
    )
    words = ("train", tmp_path / "bad.jsonl", "--cluster", cluster, "-o", tmp_path / "m.tmm")
    result = call(*words)
    assert result.exit_code == 2
    assert "Line 3 of" in result.stderr
    result = call(*words, "--skip-invalid")
    assert result.exit_code == 0, result.output
    assert "line 4 left out: not JSON" in result.stderr
    assert "and 1 more" in result.stderr


def test_labels_that_differ_by_case_are_noted_on_a_cluster_too(cluster, tmp_path):
    rows = [("wheat and corn", "x"), ("bank rates", "y"), ("oil prices", "X")] * 4
    folder = write_parquet(tmp_path / "parts", rows, 2)
    result = call("train", folder, "--cluster", cluster, "-o", tmp_path / "m.tmm")
    assert result.exit_code == 0, result.output
    assert "Labels 'X' and 'x' differ only by blanks or case" in result.stderr
