"""Figures are those of scikit-learn, and intervals hold what a figure would be on all texts."""

import numpy as np
import pytest
import sklearn.metrics

from textmargin import T11SU, Utility
from textmargin.decisions.outcomes import Outcomes, distinct, wilson_interval
from textmargin.decisions.single_label import answer_table
from textmargin.decisions.utility import macro_average

NAMES = ["a", "b", "c", "d"]


def several(n, seed=0):
    """(truth, decided): any number of labels a text, some right, some wrong."""
    random = np.random.default_rng(seed)
    truth = random.random((n, 4)) < [0.5, 0.3, 0.2, 0.1]
    decided = truth ^ (random.random((n, 4)) < 0.15)
    return truth, decided


def outcomes(truth, decided, measure=None):
    first, n_texts = distinct([truth, decided])
    nothing = np.zeros((first.size, 4), dtype=bool)
    return Outcomes.of(truth[first], decided[first], nothing, [measure] * 4, "multilabel", n_texts)


def rows(*labels):
    """An indicator of the labels of each text, such as "ab"."""
    return np.array([[name in own for name in NAMES[:2]] for own in labels])


def test_figures_are_those_of_scikit_learn():
    truth, decided = several(200)
    figures = outcomes(truth, decided, T11SU).figures()
    assert figures["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(truth, decided))
    for name in ("macro", "micro"):
        assert figures[f"{name}_f1"] == pytest.approx(sklearn.metrics.f1_score(truth, decided, average=name))
    assert (
        figures["t11su"]
        == figures["utility"]
        == pytest.approx(macro_average(truth.astype(int), decided.astype(int), T11SU).value)
    )


def test_intervals_are_those_of_texts_drawn_one_by_one():
    """A draw of counts of outcomes is a draw of texts."""
    truth, decided = several(300)
    worth = Utility(tp=3, fp=-2)
    found = outcomes(truth, decided, worth).intervals()
    random = np.random.default_rng(1)
    drawn = []
    for _ in range(1000):
        rows = random.integers(0, len(truth), len(truth))
        figures = outcomes(truth[rows], decided[rows], worth).figures()
        drawn.append([figures["macro_f1"][0], figures["micro_f1"][0], figures["utility"][0]])
    own = outcomes(truth, decided, worth).figures()
    for k, name in enumerate(("macro_f1", "micro_f1", "utility")):
        values = np.array(drawn)[:, k]
        expected = np.quantile(values, [0.05, 0.95]) + own[name] - values.mean()
        np.testing.assert_allclose(found[name], expected, atol=0.15 * np.ptp(expected))


@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "micro_f1", "utility"])
def test_nine_of_ten_intervals_hold_the_figure_of_all_texts(name):
    truth, decided = several(20_000)
    worth = Utility()
    every, n = outcomes(truth, decided, worth).figures(), 150
    value = every[name][0] * (n / len(truth) if name == "utility" else 1)
    random, held = np.random.default_rng(2), 0
    for _ in range(150):
        rows = random.integers(0, len(truth), n)
        low, high = outcomes(truth[rows], decided[rows], worth).intervals()[name]
        held += low <= value <= high
    assert 0.83 <= held / 150 <= 0.97  # of 150, 90 % are 135 ± 3.7


def test_no_mistakes_on_few_texts_was_no_mistakes_on_any():
    truth, _ = several(40)
    found = outcomes(truth, truth, Utility(tp=5)).intervals()
    assert found["accuracy"] == wilson_interval(1.0, 40)
    for name, most in (("macro_f1", 1.0), ("micro_f1", 1.0), ("utility", 5.0 * truth.sum())):
        low, high = found[name]
        assert 0.9 * most < low < high == most


@pytest.mark.parametrize(("share", "n"), [(0.0, 10), (0.3, 10), (0.98, 3299), (1.0, 1)])
def test_wilson_interval_by_its_definition(share, n):
    """The shares p with (share − p)² ≤ z² p (1 − p) / n, z = 1.6449."""
    for end in wilson_interval(share, n):
        assert (share - end) ** 2 == pytest.approx(1.6448536**2 * end * (1 - end) / n, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("ask", [None, -0.5])
def test_of_one_label_the_utility_is_that_of_the_table_of_answers(ask):
    """As thresholds value decisions: an unsure text is a miss, or the right answer at the price of asking."""
    rng = np.random.default_rng(0)
    truth, answers = rng.integers(4, size=300), rng.integers(5, size=300)
    utilities = [Utility(tp=1.0 + k, fp=-2.0, fn=-0.3 * k, tn=0.1, ask=ask) for k in range(4)]
    own, given = truth[:, None] == np.arange(4), answers[:, None] == np.arange(4)
    guesses = (answers == 4)[:, None] & (np.arange(4) == 0)
    outcomes = Outcomes.of(own, given, guesses, utilities, "multiclass")
    figures = outcomes.figures()
    assert figures["utility"][0] == pytest.approx(answer_table(tuple(utilities))[truth, answers].sum())
    assert figures["answered"][0] == np.mean(answers < 4)
    assert figures["accuracy"][0] == np.mean(answers == truth)
    assert figures["accuracy_answered"][0] == pytest.approx(np.mean((answers == truth)[answers < 4]))
    counts = outcomes.counts(outcomes.n_texts[None, :])
    np.testing.assert_array_equal(counts.unsure[0], np.bincount(truth[answers == 4], minlength=4))
    np.testing.assert_array_equal((counts.tp + counts.fn + counts.unsure)[0], np.bincount(truth, minlength=4))


def test_of_two_labels_one_look_is_paid_for():
    """Costs that name one label: a text that is asked costs the price, whichever label it has."""
    own, given, guesses = rows("a", "b", "a", "b"), rows("", "", "a", "a"), rows("a", "a", "", "")
    measures = [Utility(tp=3, fp=-1, fn=-1, ask=-0.25), None]
    outcomes = Outcomes.of(own, given, guesses, measures, "binary")
    assert outcomes.figures()["utility"][0] == (3 - 0.25) + (0 - 0.25) + 3 - 1


def test_of_several_labels_each_open_one_is_paid_for():
    measures = [Utility(tp=2, fp=-1, ask=-0.5)] * 2
    outcomes = Outcomes.of(rows("a", "ab"), rows("", "a"), rows("ab", ""), measures, "multilabel")
    figures = outcomes.figures()
    # asked of a, which it has, and of b; then a hit and a miss
    assert figures["utility"][0] == (2 - 0.5) - 0.5 + 2
    assert figures["answered"][0] == 0.5
    assert figures["micro_f1"][0] == 2 / (2 + 2)  # unsure is not accepted


def test_a_text_without_labels_that_is_open_is_not_right():
    outcomes = Outcomes.of(rows(""), rows(""), rows("a"), [None, None], "multilabel")
    assert (outcomes.figures()["accuracy"][0], outcomes.figures()["answered"][0]) == (0, 0)
