"""Feedback: what is acknowledged is there, once, in order; and what thresholds make of them."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from serve.services import any_labels, fitted
from typer.testing import CliRunner

from textmargin import TextClassifier
from textmargin.cli import app
from textmargin.config import ModelConfig
from textmargin.datasets.corpus import Corpus
from textmargin.decisions.feedback import feedback_threshold
from textmargin.decisions.utility import F1, T10U, Utility
from textmargin.errors import DuplicateFeedbackIdError, FeedbackError, LabelError, ScoreError
from textmargin.feedback.retune import _is_correct, retune
from textmargin.feedback.store import Feedback, FeedbackStore
from textmargin.persistence import load_classifier

KILLS, RECORDS = (10, 10_000) if "TEXTMARGIN_LONG" in os.environ else (5, 400)

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
    with FeedbackStore(tmp_path / "judged.sqlite") as store:
        assert store._database.rows("PRAGMA journal_mode") == [("wal",)]
        assert store._database.rows("PRAGMA synchronous") == [(2,)]


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
    with pytest.raises(FeedbackError, match="is not there"):
        FeedbackStore(tmp_path / "new", create=False)
    with pytest.raises(FeedbackError, match="mysql:// is not a place"):
        FeedbackStore("mysql://x/y")
    with pytest.raises(FeedbackError) as caught:
        FeedbackStore("postgresql://judge:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


# Thresholds


def test_worked_example():
    """Accepted from 1.0 on, +2 right and −1 wrong: the utility from the top is 2, 4, 3, 5, 4, 3, 2; best in
    the gap at 1.5.
    """
    y, score = [1, 1, 0, 1, 0, 0, 0], [2.0, 1.9, 1.8, 1.6, 1.4, 1.2, 1.0]
    found = feedback_threshold(y, score, 1.0, T10U, least=5)
    assert (found.theta, found.gain, found.can_fall) == (1.5, 3.0, False)
    assert (found.n_accepted, found.n_right, found.n_rejected, found.n_missed) == (7, 3, 0, 0)


def test_it_falls_only_where_rejected_texts_were_judged_and_no_further():
    y, score = [1, 1, 1, 1], [2.0, 1.5, 0.5, 0.2]  # all right: lower would be better
    stays = feedback_threshold(y[:2], score[:2], 1.0, least=2)
    assert (stays.theta, stays.can_fall) == (1.0, False)
    assert feedback_threshold(y[:3], score[:3], 1.0, least=2).theta == 1.0  # one rejected text is too few
    falls = feedback_threshold(y, score, 1.0, least=2)
    assert (falls.theta, falls.n_missed, falls.can_fall) == (0.2, 2, True)
    assert feedback_threshold(y, score, 1.0, least=2, min_precision=0.1).theta == 1.0


def test_it_stays_unless_another_is_worth_more():
    assert feedback_threshold([1, 0, 0], [2.0, 1.5, 1.2], 1.0, Utility(tp=2, fp=-1), least=3).theta == 1.75
    # as good at 1.75
    assert feedback_threshold([1, 0, 1], [2.0, 1.5, 1.2], 1.0, Utility(tp=1, fp=-1), least=3).theta == 1.0


def test_misses_count():
    """A text that is no longer accepted is missed, and costs what a miss costs."""
    y, score = [1, 0, 0, 0, 0, 0, 0, 0, 1], [3.0, 2.5, 2.4, 2.3, 2.2, 2.1, 2.0, 1.5, 1.0]
    assert feedback_threshold(y, score, 1.0, Utility(tp=2, fp=-1), least=5).theta == 2.75
    assert feedback_threshold(y, score, 1.0, Utility(tp=2, fp=-1, fn=-5), least=5).theta == 1.0


def test_a_floor_for_precision_is_kept():
    y, score = [1, 1, 0, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    assert feedback_threshold(y, score, 1.0, Utility(tp=9, fp=-1), least=5, min_precision=0.75).theta == 1.5
    with pytest.raises(ScoreError, match=r"min_precision=0.9; the best to be had is 0.500"):
        feedback_threshold([0, 1, 0], [3.0, 2.0, 1.0], 1.0, least=3, min_precision=0.9)


@pytest.mark.parametrize(
    ("y", "utility", "why"),
    [
        ([1, 1], T10U, "2 accepted texts were judged, and it takes 3"),
        ([0, 0, 0], T10U, "none of the 3"),
        ([0, 0, 1], Utility(tp=1, fp=-1), "accepting nothing"),
        ([1, 1, 1], F1, "number of texts that were missed"),
    ],
)
def test_too_little_to_go_by_is_refused(y, utility, why):
    with pytest.raises(ScoreError, match=why):
        feedback_threshold(y, [3.0, 2.0, 1.0][: len(y)], 0.5, utility, least=3)


@pytest.fixture(scope="module")
def filtering():
    """A filter for one of two labels, new texts with their labels, and the threshold set far too low for
    them.
    """
    rng = np.random.default_rng(0)
    words = {"spam": ["win", "prize", "cash"], "other": ["meeting", "report", "lunch"]}

    def texts(n, share):
        labels = [str(label) for label in rng.choice(["other", "spam"], n, p=[1 - share, share])]
        every = [*words["spam"], *words["other"]]
        return [" ".join([*rng.choice(words[label], 2), *rng.choice(every, 3)]) for label in labels], labels

    model = ModelConfig(utility=Utility(tp=9, fp=-1)).fit(Corpus("made up", *texts(200, 0.3)))
    return model, *texts(400, 0.3)


def judged(model, texts, labels, judge):
    return [
        Feedback(text, own, judge(own, label))
        for text, own, label in zip(texts, model.decide(texts).labels, labels, strict=True)
        if judge(own, label) is not None
    ]


def test_accepted_texts_alone_raise_the_threshold(filtering):
    model, texts, labels = filtering
    costly = Utility(tp=1, fp=-3)
    named = judged(model, texts, labels, lambda own, label: (label,) if own == ("spam",) else None)
    right_or_wrong = judged(
        model, texts, labels, lambda own, label: own == (label,) if own == ("spam",) else None
    )
    found = retune(model, named, costly)
    assert found.thresholds == retune(model, right_or_wrong, costly).thresholds
    assert found.thresholds["spam"].theta > model.thresholds_[1]
    assert found.thresholds["spam"].n_rejected == 0
    assert found.model.thresholds_[1] == found.thresholds["spam"].theta
    # no hit is worth losing, though false alarms below all hits are
    generous = retune(model, named, Utility(tp=99, fp=-1)).model
    hits = [text for text, label in zip(texts, labels, strict=True) if label == "spam"]
    assert generous.decide(hits).labels == model.decide(hits).labels
    assert generous.thresholds_[1] < found.model.thresholds_[1]
    again = retune(found.model, named, costly)  # what it no longer accepts is about the model before
    assert again.model.thresholds_.tolist() == found.model.thresholds_.tolist()
    assert again.n_other > 0


def test_rejected_texts_that_were_judged_lower_it(filtering):
    model, texts, labels = filtering
    strict = retune(
        model, judged(model, texts, labels, lambda own, label: (label,)), Utility(tp=1, fp=-9)
    ).model
    everything = judged(strict, texts, labels, lambda own, label: (label,))
    found = retune(strict, everything, Utility(tp=9, fp=-1))
    assert found.thresholds["spam"].can_fall
    assert found.model.thresholds_[1] < strict.thresholds_[1]


def test_of_many_labels_those_with_enough_can_be_moved():
    model = fitted()
    texts = [f"wheat corn harvest {word} {k}" for k in range(8) for word in ("bank", "oil", "yen", "grain")]
    feedback = judged(model, texts, ["grain"] * len(texts), lambda own, label: own == (label,))
    with pytest.raises(ScoreError, match="0 decisions for 'money' were judged; it takes 20"):
        retune(model, feedback, only=["money"])
    with pytest.raises(ScoreError, match=r"on 7 texts: . decisions were judged; it takes 20"):
        retune(model, feedback[:7])
    found = retune(model, feedback, only=["grain"])
    assert list(found.thresholds) == ["grain"]
    with pytest.raises(LabelError, match="no threshold of 'fish'"):
        retune(model, feedback, only=["fish"])
    with pytest.raises(ScoreError, match="no feedback"):
        retune(model, [])
    with pytest.raises(ScoreError, match="trained without a utility"):
        retune(fitted(utility=None), feedback)
    with pytest.raises(ScoreError, match="floor for recall"):
        retune(fitted(min_recall=0.5), feedback)


def test_the_same_text_judged_again_is_no_new_evidence():
    model = fitted()
    feedback = judged(model, ["wheat corn harvest"] * 40, ["grain"] * 40, lambda own, label: own == (label,))
    with pytest.raises(ScoreError, match="1 decisions for 'grain' were judged; it takes 20"):
        retune(model, feedback, only=["grain"])


def test_labels_the_model_does_not_have_are_left_out():
    model = fitted()
    texts = [f"wheat corn harvest {k}" for k in range(40)]
    feedback = judged(model, texts, ["grain"] * 40, lambda own, label: own == (label,))
    misspelt = [replace(one, correct=("Grain",)) for one in feedback[:10]]
    found = retune(model, [*misspelt, *feedback[10:]], only=["grain"])
    assert found.n_other == 10
    assert found.thresholds["grain"].n_accepted == 30


@pytest.mark.parametrize(
    ("predicted", "correct", "oil"),
    [
        (("oil",), True, True),
        (("oil",), False, False),
        (("oil", "grain"), True, True),
        (("oil", "grain"), False, None),  # one of the two
        (("grain",), True, None),  # of oil nobody spoke
        (("grain",), False, None),
        ((), True, False),
        ((), False, None),
        (("grain",), ("oil",), True),
        (("oil",), (), False),
    ],
)
def test_what_feedback_says_of_a_label(predicted, correct, oil):
    many = TextClassifier().fit(*any_labels())
    assert _is_correct(Feedback("x", predicted, correct), "oil", many) is oil


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_on_the_command_line(filtering, tmp_path):
    model, texts, labels = filtering
    model.save(tmp_path / "model.tmm")
    store, new = tmp_path / "judged.sqlite", tmp_path / "new.tmm"
    added = (
        "feedback",
        "add",
        store,
        "--text",
        "win cash",
        "--predicted",
        "spam",
        "--correct",
        "spam",
        "--id",
        "1",
    )
    assert call(*added).stdout == "Stored: 1\n"
    assert call(*added).stdout == "Already there: 1\n"
    assert call(*added[:-4], "--was-wrong").exit_code == 0
    first, second = json.loads(call("feedback", "list", store, "--json").stdout)
    assert (first["correct"], second["correct"]) == (["spam"], False)
    assert "spam → wrong  'win cash'" in call("feedback", "list", store).stdout
    few = call("threshold", model_file := tmp_path / "model.tmm", "--from-feedback", store, "-o", new)
    assert few.exit_code == 2
    assert "'spam'" in few.stderr
    assert "it takes 20" in few.stderr
    assert not new.exists()
    with FeedbackStore(store) as stored:
        for one in judged(
            model, texts, labels, lambda own, label: own == (label,) if own == ("spam",) else None
        ):
            stored.record(one)
    costs = ("--hit", 1, "--false-alarm", -3)
    done = call("threshold", model_file, "--from-feedback", store, "-o", new, "--json", *costs)
    assert done.exit_code == 0, done.output
    assert "0 rejected ones judged, 0 missed; it could rise, not fall" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["after"]["spam"] > facts["before"]["spam"]
    assert facts["after"] == dict(zip(("other", "spam"), load_classifier(new).thresholds_, strict=True))
    for wrong in (
        ("--min-recall", 0.5, "--from-feedback", store),
        ("--only", "spam"),
        ("--from-feedback", tmp_path / "none"),
    ):
        assert call("threshold", model_file, "-o", new, *wrong).exit_code == 2
    assert call("feedback", "list", tmp_path / "none").exit_code == 2
    assert call("feedback", "add", store, "--text", "x").exit_code == 2
