"""How far a class is from being lost, and what a budget leaves of decisions."""

import numpy as np
import pytest

from textmargin import TextClassifier, ThresholdClassifier, Utility, load_dataset
from textmargin.decisions.leads import class_leads, withhold


@pytest.fixture(scope="module")
def desk():
    return load_dataset("desk")


@pytest.mark.parametrize("always_answer", [True, False])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_a_threshold_raised_by_less_than_the_lead_keeps_the_text(desk, kind, always_answer):
    train, texts = desk.part("train"), desk.part("test").texts
    labels = {
        "binary": ["account" if label == "account" else "other" for label in train.labels],
        "multiclass": train.labels,
        "multilabel": [(label,) if row % 5 else (label, "late") for row, label in enumerate(train.labels)],
    }[kind]
    decision = ThresholdClassifier(utility=Utility(1, -2), always_answer=always_answer)
    model = TextClassifier(decision=decision).fit(train.texts, labels)
    columns = model.learner_.decision_function(model.representation_.transform(texts)).reshape(len(texts), -1)
    inner = model.model_
    leads = class_leads(model.decide(texts), model.labels_, always_answer=not inner.can_be_unsure)
    own = [model.labels_.positive] if kind == "binary" else list(range(len(model.classes_)))
    thresholds = inner.thresholds_.copy()
    for k, column in enumerate(own):
        for row in np.flatnonzero(leads[:, k] > 1e-6)[:5]:
            for share, stays in ((0.999, True), (1.001, False)):
                inner.thresholds_ = thresholds.copy()
                inner.thresholds_[k] += share * leads[row, k]
                assert inner.decide_scores(columns[[row]]).accepted[0, column] == stays
    inner.thresholds_ = thresholds
    assert ((leads >= 0) == model.decide(texts).accepted[:, own]).all()


def test_what_is_withheld_becomes_a_guess(desk):
    model = TextClassifier().fit(desk.part("train").texts, desk.part("train").labels)
    decided = model.decide(desk.part("test").texts)
    none = withhold(decided, model.labels_, np.zeros(decided.accepted.shape, dtype=bool))
    assert not none.accepted.any()
    assert none.guesses == decided.labels
    assert (
        withhold(decided, model.labels_, np.ones(decided.accepted.shape, dtype=bool)).labels == decided.labels
    )
