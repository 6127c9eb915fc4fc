"""Self-training and the rule that believes: worked examples, slow definitions, and what other estimators
already solve.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from textmargin import PriorSVC, TextClassifier
from textmargin.labels import ClassLabels
from textmargin.learners.class_shares import guess_shares
from textmargin.learners.self_training import Pool, SelfTraining, select
from textmargin.learners.semi_supervised import Trial, believe, scale_jointly
from textmargin.learners.trust import Solver

THREE = ClassLabels.of(["a", "b", "c"], multilabel=False)
TWO = ClassLabels.of(["no", "yes"], multilabel=False)
TOPICS = ClassLabels.of(["a", "b"], multilabel=True)
TRAINING = SelfTraining(1.0, Solver(1.0, 1e-8, 50))


def pool_of(n=300, n_labelled=15, seed=0, labels=THREE, n_words=120):
    """Texts of one class each, whose words come from a third of the columns; priors know eight columns of
    each.
    """
    rng = np.random.default_rng(seed)
    k = labels.names.size
    truth = np.arange(n) % k
    X = rng.random((n, n_words)) * (
        rng.random((n, n_words)) < np.where(np.arange(n_words) % k == truth[:, None], 0.18, 0.04)
    )
    X = sp.csr_array(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9))
    member = truth[:, None] == np.arange(k)
    signs = np.where(member, 1, -1).astype(np.int8)
    signs[n_labelled:] = 0
    priors = np.zeros((k, 1, n_words))
    for j in range(k):
        priors[j, 0, j : 8 * k : k] = 1.0
    if labels.kind == "binary":
        signs, priors = signs[:, 1:], priors[1:] - priors[:1]
    return Pool(X, signs, np.ones(n), np.zeros((labels.n_problems, n_words)), labels), priors, truth


def test_a_class_takes_no_more_than_its_share_those_that_lead_by_most_first():
    scores = np.array(
        [[0.9, 0.1, 0], [0.8, 0.7, 0], [0.7, 0.0, 0], [0.6, 0.5, 0], [0.1, 0.9, 0], [0, 0.2, 0.8]]
    )
    found = select(THREE, scores, np.full(3, 1 / 3), 1.0, np.zeros(3, dtype=bool))
    assert found.tolist() == [[1, -1, -1], [0, 0, 0], [1, -1, -1], [0, 0, 0], [-1, 1, -1], [-1, -1, 1]]


def test_a_class_that_leads_nowhere_takes_the_nearest_free_text():
    scores = np.array([[0.9, 0.1, 0.0], [0.8, 0.7, 0.5], [0.2, 0.9, 0.0], [0.3, 0.35, 0.3]])
    found = select(THREE, scores, np.full(3, 1 / 4), 1.0, np.array([True, True, True]))
    assert found[:, 2].tolist() == [-1, 0, -1, 1]


def test_a_text_whose_classes_tie_is_not_learnt_from():
    found = select(
        THREE, np.array([[0.5, 0.5, 0.1], [0.9, 0.1, 0.2]]), np.full(3, 1.0), 1.0, np.zeros(3, dtype=bool)
    )
    assert found.tolist() == [[0, 0, 0], [1, -1, -1]]


def test_of_several_labels_each_takes_its_highest_texts_for_it_and_its_lowest_against_it():
    scores = np.array([[0.9, 0.1], [0.5, 0.2], [0.4, 0.9], [0.1, 0.8]])
    found = select(TOPICS, scores, np.array([0.25, 0.5]), 1.0, np.zeros(2, dtype=bool))
    assert found.tolist() == [[1, -1], [-1, -1], [-1, 1], [-1, 1]]
    half = select(TOPICS, scores, np.array([0.5, 0.5]), 0.5, np.zeros(2, dtype=bool))
    assert half.tolist() == [[1, -1], [0, 0], [0, 1], [-1, 0]]


def test_shares_of_one_label_a_text_are_halfway_between_equal_and_how_often_each_class_leads():
    scores = np.eye(3)[[0, 0, 0, 1]]
    assert guess_shares(THREE, scores) == pytest.approx(0.5 / 3 + 0.5 * np.array([0.75, 0.25, 0.0]))
    assert guess_shares(THREE, np.zeros((4, 3))) == pytest.approx([1 / 3, 1 / 3, 1 / 3])


@settings(max_examples=60)
@given(st.lists(st.integers(-50, 50), min_size=3, max_size=40).filter(lambda values: len(set(values)) > 1))
def test_shares_of_several_labels_are_by_the_cut_with_the_least_variance_within_two_groups(values):
    values = np.array(values, dtype=float)
    cuts = np.unique(values)[1:]
    within = [
        sum(part.size * part.var() for part in (values[values >= cut], values[values < cut])) for cut in cuts
    ]
    share = guess_shares(TOPICS, np.column_stack([values, values]))[0]
    chosen = np.sort(values)[::-1][round(share * values.size) - 1]
    own = within[cuts.tolist().index(chosen)]
    assert own == pytest.approx(min(within), abs=1e-6 * max(within))


@pytest.mark.parametrize("labels", [THREE, TWO])
def test_the_start_is_the_svm_of_the_labelled_texts_with_its_prior_held(labels):
    pool, priors, truth = pool_of(labels=labels)
    used = scale_jointly(priors, np.ones(priors.shape[:2], dtype=bool), 1.0)
    start = TRAINING.start(pool.with_priors(used))
    svm = PriorSVC(prior=used, trust="fixed", tol=1e-8).fit(pool.X[:15], truth[:15])
    np.testing.assert_allclose(start.coef, svm.coef_, atol=1e-6)
    np.testing.assert_allclose(start.intercept, svm.intercept_, atol=1e-6)


def test_labelled_texts_keep_their_labels_and_guesses_are_mostly_right():
    pool, priors, truth = pool_of()
    belief = believe(TRAINING, pool, priors, 1.0)
    assert belief.guess is not None
    np.testing.assert_array_equal(belief.guess.signs[:15], pool.signs[:15])
    assert (belief.guess.scores(pool.X).argmax(axis=1) == truth).mean() > 0.85
    assert belief.verdicts[-1].status == "supported"


def test_without_labels_all_that_is_known_is_used_and_nothing_is_weighed():
    pool, priors, truth = pool_of(n_labelled=0)
    belief = believe(TRAINING, pool, priors, 1.0)
    assert belief.guess is not None
    assert belief.verdicts == []
    assert (belief.guess.scores(pool.X).argmax(axis=1) == truth).mean() > 0.85


def test_wrong_priors_are_refused_and_unlabelled_texts_may_still_help():
    pool, priors, truth = pool_of(n_labelled=24)
    belief = believe(TRAINING, pool, np.roll(priors, 1, axis=0), 1.0)
    assert not belief.priors.any()
    if belief.guess is not None:
        assert (belief.guess.scores(pool.X).argmax(axis=1) == truth).mean() > 0.85


def test_held_out_texts_have_no_part_in_their_scores_not_even_as_unlabelled_ones():
    pool, priors, _ = pool_of(n_labelled=24)
    trial = Trial.of(TRAINING, pool)
    out = trial.labelled[trial.fold == 0]
    used = scale_jointly(priors, np.ones(priors.shape[:2], dtype=bool), 1.0)
    before = trial.scores(used, unlabelled=True)[trial.fold == 0]
    rest = pool.with_priors(used).take(np.setdiff1d(np.arange(300), out))
    np.testing.assert_allclose(before, TRAINING.guess(rest).scores(pool.X[out]))


def test_a_rare_class_with_words_was_guessed_to_be_the_common_one():
    """Five words for the common class beside those for the rare one turned the labels round."""
    rng = np.random.default_rng(0)
    common, rare = ([f"{side}{j}" for j in range(200)] for side in "cr")
    chances = np.arange(1, 201) ** -0.5 / np.sum(np.arange(1, 201) ** -0.5)
    texts = [" ".join(rng.choice(words, 6, p=chances)) for words in [rare] * 8 + [common] * 400]
    model = TextClassifier(knowledge={"common": common[20:25], "rare": rare[:5]}).fit(texts)
    assert model.shares_["rare"] < 0.2
