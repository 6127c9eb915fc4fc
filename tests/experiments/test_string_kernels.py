"""The tables of Lodhi et al. in small: the draws, the machine, and a kernel matrix that is interrupted."""

import numpy as np
import pytest
from samples import needs_corpora

from textmargin.experiments import _news
from textmargin.experiments._machine import Kernels, evaluate, f1, fit_predict, tune_on_words
from textmargin.experiments._news import N_TEST, N_TRAIN, as_in_the_paper, draws
from textmargin.experiments.catalogue import EXPERIMENTS
from textmargin.experiments.run import Run

TEXTS = [
    "corn exports fell",
    "corn imports rose",
    "bank raises rates",
    "bank cuts rate",
    "the corn bank",
    "wheat",
    "rates",
]


@pytest.fixture
def run(tmp_path):
    return Run(quick=True, kernels=tmp_path / "kernels", results=tmp_path / "results", progress=False)


def test_texts_are_read_as_in_the_paper():
    assert (
        as_in_the_paper("The Net-Profit of 1986: 3.5 mln\n dlrs, it said.")
        == "net profit 1986 3 5 mln dlrs said"
    )


@needs_corpora
def test_a_draw_has_the_papers_numbers():
    (draw,) = draws([3])
    assert len(draw.train) == 380
    assert len(draw.test) == 90
    assert draw.Y_train.sum(axis=0).tolist() == list(N_TRAIN.values())
    assert draw.Y_test.sum(axis=0).tolist() == list(N_TEST.values())
    assert (draw.Y_train.sum(axis=1) == 1).all()
    again = next(draws([3]))
    assert again.train == draw.train
    assert next(draws([4])).train != draw.train


@needs_corpora
def test_documents_of_two_of_the_topics_are_not_drawn():
    news = _news._news().part("train")
    both = [
        as_in_the_paper(text)
        for text, own in zip(news.texts, news.labels, strict=True)
        if {"acq", "crude"} <= {*own}
    ]
    assert both
    assert not {*both} & {*_news._pool("train", "acq")}


def test_measures_are_those_of_the_paper():
    Y, accepted = (
        np.array([[1, 0], [1, 1], [0, 1], [0, 0]]),
        np.array([[1, 0], [0, 0], [1, 0], [0, 0]], dtype=bool),
    )
    found = evaluate(Y, accepted, np.array([3, 4]))
    assert found == {
        "F1": [0.5, 0.0],
        "precision": [0.5, 0.0],
        "recall": [0.5, 0.0],
        "support vectors": [3.0, 4.0],
    }
    assert f1(Y[:, :1], accepted[:, :1]).tolist() == [0.5]  # one topic is not two classes


def test_kernels_look_alike_from_outside(run):
    kernels = Kernels(run)
    for matrices in (kernels.subsequences(3, 0.5), kernels.ngrams(3), kernels.words()):
        K, K_test = matrices(TEXTS[:5], TEXTS[5:])
        assert K.shape == (5, 5)
        assert K_test.shape == (2, 5)
        np.testing.assert_allclose(np.diag(K), 1.0, rtol=1e-6)


def test_the_machine_learns_one_topic_or_several(run):
    K = Kernels(run).subsequences(3, 0.5)(TEXTS[:4], TEXTS[4:])
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    accepted, n_support = fit_predict(K, Y, 10.0)
    assert accepted.shape == (3, 2)
    alone, n_alone = fit_predict(K, Y[:, :1], 10.0)
    assert (alone[:, 0] == accepted[:, 0]).all()
    assert n_alone[0] == n_support[0]


def test_words_choose_the_smallest_of_equal_costs():
    texts = [f"{topic} {number}" for topic in ("corn wheat", "bank rates") for number in range(10)]
    Y = np.repeat(np.eye(2, dtype=int), 10, axis=0)
    assert tune_on_words([(texts, Y)], n_folds=2) == 0.1  # all of them separate these texts


@needs_corpora
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("strings-")])
def test_every_table_runs_quickly_and_gives_the_same_twice(name, run, tmp_path):
    first = EXPERIMENTS[name].run(run)
    second = EXPERIMENTS[name].run(
        Run(quick=True, kernels=tmp_path / "others", results=tmp_path / "results", progress=False)
    )
    assert first.differences(second) == []
    assert first.quick
    values = [
        value.ours for row in first.table.rows.values() for value in row.values() if value.ours is not None
    ]
    assert len(values) > 4
    assert np.isfinite(values).all()
