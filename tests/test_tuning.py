"""Settings chosen on held-out scores: better where that can be told, else as given."""

import numpy as np
import pytest

from textmargin import Corpus, ModelConfig, load_dataset
from textmargin.errors import SettingError
from textmargin.tuning import tune

DESK = load_dataset("desk").part("train")


def planted(n=120):
    """Two labels that differ in the order of two words alone, so that only pairs of words tell them apart."""
    rng = np.random.default_rng(0)
    filler = [f"word{k}" for k in range(30)]
    texts, labels = [], []
    for k in range(n):
        pair = "alpha beta" if k % 2 else "beta alpha"
        texts.append(f"{rng.choice(filler)} {pair} {rng.choice(filler)}")
        labels.append("one" if k % 2 else "two")
    return Corpus("planted", texts, labels)


def test_pairs_of_words_are_chosen_where_only_they_tell():
    tuning = tune(ModelConfig(stop_words="none"), planted())
    assert tuning.choice.config.ngrams == "1-2"
    assert tuning.choice.score > 0.95 > 0.7 > tuning.candidates[0].score
    assert "words 1-2" in str(tuning)


def test_settings_stay_where_nothing_is_clearly_better():
    rng = np.random.default_rng(1)
    noise = Corpus("noise", [f"word{a} word{b}" for a, b in rng.integers(20, size=(40, 2))], ["a", "b"] * 20)
    tuning = tune(ModelConfig(ngrams="1", stop_words="none"), noise)
    best = max(tuning.candidates, key=lambda one: one.score)
    assert (tuning.choice is tuning.candidates[0]) == (best.lead <= best.error)


def test_what_is_named_outright_stays():
    tuning = tune(ModelConfig(tokens="letters", ngrams="1"), DESK)
    assert {(one.config.tokens, one.config.ngrams) for one in tuning.candidates} == {("letters", "1")}
    assert [one.config.C for one in tuning.candidates][:2] == [1.0, 0.1]


def test_held_out_rightness_is_that_of_the_model():
    """Of two labels, several, and several a text."""
    model = ModelConfig().fit(DESK)
    expected = np.mean(model.held_out_.complete().argmax(axis=1) == model.held_out_.truth)
    assert tune(ModelConfig(ngrams="1", stop_words="none", C=1), DESK).n_texts == len(DESK)
    assert tune(ModelConfig(), DESK).candidates[0].score == pytest.approx(expected)
    several = Corpus(
        "several",
        DESK.texts,
        [(label,) if k % 3 else (label, "third") for k, label in enumerate(DESK.labels)],
    )
    assert 0 < tune(ModelConfig(ngrams="1", stop_words="none"), several).candidates[0].score < 1


def test_costs_are_still_those_given_after_tuning():
    from textmargin import Utility

    config = ModelConfig(utility=Utility(tp=5, fp=-1), ngrams="1", stop_words="none")
    assert tune(config, DESK).choice.config.utility == config.utility


def test_settings_that_make_no_sense_are_refused_before_anything_is_trained():
    with pytest.raises(SettingError, match="decay"):
        tune(ModelConfig(decay=0.3), DESK)
