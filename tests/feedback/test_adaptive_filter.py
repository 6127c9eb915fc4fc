"""A filter that learns from what it accepts: what it may look at, what exploring may cost, and that it gets
better.
"""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError

from textmargin import T11SU, AdaptiveFilter, PriorSVC, Utility
from textmargin.errors import LabelError, ScoreError
from textmargin.feedback._chance import _DEVIATION, _MEAN, Chance

WORDS = [f"word{letter}{other}" for letter in "abcdefghij" for other in "abcdefghij"]


def topic_texts(n_texts, share, seed):
    """Texts of twelve words; those of the topic take a third of them from ten words of its own, the others
    seldom.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random(n_texts) < share
    texts = []
    for own in truth:
        from_topic = rng.random(12) < (0.33 if own else 0.04)
        texts.append(
            " ".join(
                WORDS[k] for k in np.where(from_topic, rng.integers(0, 10, 12), rng.integers(10, 100, 12))
            )
        )
    return texts, truth


@pytest.fixture(scope="module")
def stream():
    texts, truth = topic_texts(2200, 0.08, seed=3)
    known = np.full(len(texts), None)
    known[np.flatnonzero(truth[:200])[:3]] = True
    return texts[:200], known[:200], texts[200:], truth[200:]


def run(filters, texts, truth, batch=20, told=None):
    """Accepted texts, in batches; `told` is what is said of each text, the truth by default."""
    told = truth if told is None else told
    accepted, explored = [], []
    for first in range(0, len(texts), batch):
        decision = filters.decide(texts[first : first + batch])
        accepted.append(decision.accepted)
        explored.append(decision.explored)
        filters.learn(decision, told[first : first + batch])
    return np.concatenate(accepted), np.concatenate(explored)


def value(truth, accepted):
    return float(T11SU((truth & accepted).sum(), (~truth & accepted).sum(), (truth & ~accepted).sum(), 0))


def test_a_learner_with_a_sparse_coef_scores_as_with_a_dense_one(stream):
    texts, known, later, _ = stream
    sparse, dense = (
        AdaptiveFilter(learner=PriorSVC(sparse_coef=flag)).start(texts, known).decide(later)
        for flag in (True, False)
    )
    np.testing.assert_allclose(sparse.scores, dense.scores, atol=1e-4)


def test_feedback_makes_it_better(stream):
    texts, known, later, truth = stream
    filters = AdaptiveFilter().start(texts, known)
    static = filters.decide(later).scores >= 0
    adaptive, _ = run(AdaptiveFilter().start(texts, known), later, truth)
    assert value(truth, adaptive) > value(truth, static) + 0.1
    assert value(truth, adaptive) > 0.6


def test_what_is_said_of_rejected_texts_changes_nothing(stream):
    texts, known, later, truth = stream
    one, other = (AdaptiveFilter().start(texts, known) for _ in range(2))
    accepted, _ = run(one, later[:600], truth[:600])
    lies = np.where(accepted, truth[:600], ~truth[:600])
    assert np.array_equal(run(other, later[:600], truth[:600], told=lies)[0], accepted)
    assert one.thresholds_ == other.thresholds_


@pytest.mark.parametrize("patience", [100, 400])
@pytest.mark.parametrize("batch", [1, 64])
def test_exploring_costs_one_false_alarm_in_so_many_texts(stream, patience, batch):
    texts, known, later, truth = stream
    filters = AdaptiveFilter(exploration=3.0, patience=patience, budget=10).start(texts, known)
    accepted, explored = run(filters, later, truth, batch)
    assert (accepted | ~explored).all()
    assert 0 < (explored & ~truth).sum() <= 1 + len(later) / patience
    failures = np.flatnonzero(explored & ~truth)
    assert (np.diff(failures) > patience).all()


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.2])
def test_exploring_costs_no_more_than_a_share_of_what_was_earned(stream, budget):
    texts, known, later, truth = stream
    filters = AdaptiveFilter(exploration=3.0, patience=1, budget=budget, utility=Utility(tp=2, fp=-1)).start(
        texts, known
    )
    accepted, explored = run(filters, later, truth)
    earned = 2 * (3 + np.cumsum(accepted & truth))
    assert (np.cumsum(explored & ~truth) <= budget * earned).all()
    assert ((explored & ~truth).sum() > 0) == (budget > 0)


def test_texts_that_nobody_judges_count_as_false_alarms(stream):
    texts, known, later, _ = stream
    filters = AdaptiveFilter(exploration=3.0, patience=100, budget=10).start(texts, known)
    explored = [filters.decide(later[first : first + 50]).explored for first in range(0, 2000, 50)]
    places = np.flatnonzero(np.concatenate(explored))
    assert places.size > 3
    assert (np.diff(places) > 100).all()


def test_batches_do_not_matter_where_nothing_is_learnt(stream):
    texts, known, later, _ = stream
    whole = AdaptiveFilter(exploration=3.0, patience=100, budget=10).start(texts, known).decide(later)
    filters = AdaptiveFilter(exploration=3.0, patience=100, budget=10).start(texts, known)
    parts = [filters.decide(later[first : first + 30]) for first in range(0, 2000, 30)]
    assert np.array_equal(np.concatenate([part.accepted for part in parts]), whole.accepted)


def test_without_exploration_it_accepts_what_is_above_the_threshold(stream):
    texts, known, later, _ = stream
    filters = AdaptiveFilter(exploration=0.0).start(texts, known)
    decision = filters.decide(later)
    assert not decision.explored.any()
    assert np.array_equal(decision.accepted, decision.scores >= 0)


def test_a_saved_filter_goes_on_as_if_it_had_not_been(stream):
    texts, known, later, truth = stream
    one = AdaptiveFilter().start(texts, known)
    run(one, later[:300], truth[:300])
    other = pickle.loads(pickle.dumps(one))
    assert np.array_equal(
        run(one, later[300:900], truth[300:900])[0], run(other, later[300:900], truth[300:900])[0]
    )
    assert one.thresholds_ == other.thresholds_


def test_topics_side_by_side_are_those_alone(stream):
    texts, known, later, truth = stream
    second = np.where(np.arange(200) == 7, True, None)  # any text will do
    both = AdaptiveFilter().start(texts, np.column_stack([known, second]), topics=["first", "second"])
    alone = AdaptiveFilter().start(texts, known)
    assert both.topics_ == ["first", "second"]
    together = run(both, later[:400], np.column_stack([truth, ~truth])[:400])[0]
    assert np.array_equal(together[:, 0], run(alone, later[:400], truth[:400])[0])
    assert both.thresholds_[0] == alone.thresholds_[0]


def test_the_dearer_a_false_alarm_the_fewer_are_accepted(stream):
    texts, known, later, truth = stream
    numbers = [
        run(AdaptiveFilter(utility=Utility(tp=2, fp=fp)).start(texts, known), later[:800], truth[:800])[
            0
        ].sum()
        for fp in (-0.25, -1, -8)
    ]
    assert numbers[0] > numbers[1] > numbers[2]


def test_training_again_is_rare(stream):
    """At a growth of a quarter the number of trainings is logarithmic in the judged texts."""
    texts, known, later, truth = stream
    filters = AdaptiveFilter().start(texts, known)
    fit, n_fits = filters._topics[0].train, []
    filters._topics[0].train = lambda memory: (n_fits.append(1), fit(memory))
    run(filters, later, truth, batch=1)
    assert filters.n_judged_[0] > 100
    assert 5 < len(n_fits) < 40


def test_memory_is_bounded(stream):
    texts, known, later, truth = stream
    filters = AdaptiveFilter(memory=15).start(texts, known)
    run(filters, later, truth)
    topic = filters._topics[0]
    assert filters.n_hits_[0] > 60
    assert topic.n_trained[0] == 15
    assert topic.truth.sum() < 15 * 1.25 + 20  # what came since, in batches of 20
    assert sum(rows.shape[0] for rows in topic.rows) == topic.truth.size == topic.scores.size


def test_keywords_help_at_the_start(stream):
    texts, known, later, truth = stream
    told = AdaptiveFilter(knowledge={1: WORDS[:10]}).start(texts, known)
    plain = AdaptiveFilter().start(texts, known)
    scores = [filters.decide(later).scores for filters in (told, plain)]
    ranks = [np.mean(one[truth][:, None] > one[~truth][None, :]) for one in scores]
    assert ranks[0] > ranks[1]


def test_the_line_is_the_most_probable_one():
    rng = np.random.default_rng(0)
    score = rng.normal(size=40)
    truth = (rng.random(40) < 1 / (1 + np.exp(-2 * score))).astype(float)
    weight = rng.random(40)

    def objective(line):
        odds = score * line[0] + line[1]
        return (
            weight @ (np.logaddexp(0, odds) - truth * odds) + (((line - _MEAN) / _DEVIATION) ** 2).sum() / 2
        )

    chance = Chance.fit(score, truth, weight)
    assert chance.line == pytest.approx(minimize(objective, _MEAN, tol=1e-12).x, abs=1e-5)
    steps = 1e-3 * np.eye(2)

    def second_derivative(a, b):
        corners = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
        return sum(sign * objective(chance.line + i * a + j * b) for i, j, sign in corners) / (4 * 1e-6)

    hessian = [[second_derivative(a, b) for a in steps] for b in steps]
    assert chance.covariance == pytest.approx(np.linalg.inv(hessian), rel=1e-3)


def test_optimism_meets_the_odds_at_its_threshold():
    chance = Chance(np.array([4.0, -1.0]), np.array([[0.5, -0.1], [-0.1, 0.4]]))
    theta = chance.optimistic_threshold(-0.7, 1.5, reach=10.0)
    at = np.array([theta, 1.0])
    assert at @ chance.line + 1.5 * np.sqrt(at @ chance.covariance @ at) == pytest.approx(-0.7)
    assert theta < chance.threshold(-0.7)
    assert chance.optimistic_threshold(-0.7, 100.0, reach=0.5) == pytest.approx(chance.threshold(-0.7) - 0.5)
    assert chance.optimistic_threshold(-0.7, 1e-9, reach=1.0) == pytest.approx(chance.threshold(-0.7))


def test_scores_that_mislead_do_not_turn_the_filter_over():
    """Where the highest scores were all wrong and the lower ones right, the lowest are not accepted for
    that.
    """
    score = np.linspace(-2, 2, 400)
    assert Chance.fit(score, (score < 0).astype(float), np.ones(400)).line[0] == pytest.approx(0.5, abs=1e-3)


def test_bad_input(stream):
    texts, known, later, _ = stream
    with pytest.raises(NotFittedError, match="call start"):
        AdaptiveFilter().decide(later)
    with pytest.raises(LabelError, match="Topic 1 has no positive"):
        AdaptiveFilter().start(texts, np.full(200, None))
    with pytest.raises(LabelError, match="no negative"):
        AdaptiveFilter().start(texts, np.full(200, True))
    with pytest.raises(LabelError, match=r"truth has shape \(200,\), but there are 199 texts"):
        AdaptiveFilter().start(texts[:199], known)
    with pytest.raises(LabelError, match=r"got 2\."):
        AdaptiveFilter().start(texts, [2] * 200)
    with pytest.raises(LabelError, match="topics has 2 names"):
        AdaptiveFilter().start(texts, known, topics=["a", "b"])
    with pytest.raises(ScoreError, match="needs the number of texts that were missed"):
        AdaptiveFilter(utility=T11SU).start(texts, known)
    filters = AdaptiveFilter().start(texts, known)
    with pytest.raises(LabelError, match="truth has shape"):
        filters.learn(filters.decide(later[:3]), [True, False])
    two = AdaptiveFilter().start(texts, np.column_stack([known, known]))
    with pytest.raises(LabelError, match="about 1 topics, but this filter has 2"):
        two.learn(filters.decide(later[:3]), [True] * 3)
