"""Reading measures against scan-paths worked out by hand, and GazePrior on made-up readers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from textmargin import GazePrior, TextClassifier, fixations_from_events, reading_measures
from textmargin.errors import PriorError

# Words at 0, 50, 120, 200; the first two make one sentence, the others another.
STARTS, SENTENCES = [0, 50, 120, 200], [0, 0, 1, 1]
# 0 → 1 → 1 → (short, dropped) → 3 → back to 2 → back to 1 → 3 → outside
PATH = {
    "word": [0, 1, 1, 2, 3, 2, 1, 3, -1],
    "duration": [200, 150, 100, 50, 220, 180, 90, 110, 300],
    "x": [10, 60, 75, 130, 210, 125, 55, 230, 500],
}


def measured(**kwargs):
    return {
        name: values.tolist() for name, values in reading_measures(PATH, STARTS, SENTENCES, **kwargs).items()
    }


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("skipped", [0, 0, 0, 0]),
        ("fixcount", [1, 3, 1, 2]),
        ("firstPassCnt", [1, 2, 1, 1]),
        ("P1stFixation", [1, 1, 1, 1]),
        ("P2stFixation", [0, 1, 0, 1]),
        ("prevFixDur", [0, 200, 220, 100]),
        ("firstfixDur", [200, 150, 180, 220]),
        ("firstPassFixDur", [200, 250, 180, 220]),
        ("nextFixDur", [150, 220, 90, 180]),
        ("firstSaccLen", [0, 50, 85, 135]),
        ("lastSaccLen", [50, 135, 70, 85]),
        ("prevFixPos", [0, 40, 90, 125]),
        ("landingPos", [10, 10, 5, 10]),
        ("leavingPos", [10, 25, 5, 10]),
        ("totalFixDur", [200, 340, 180, 330]),
        ("meanFixDur", [200, 340 / 3, 180, 165]),
        ("nRegressFrom", [0, 0, 1, 1]),  # from 3 to 2, and on from 2 to 1
        ("regressLen", [0, 0, 90, 270]),
        ("nextWordRegress", [0, 1, 1, 0]),
        ("regressDur", [0, 90, 180, 0]),
        ("timePrtctg", [200, 50, 180, 110]),
    ],
)
def test_by_hand(measure, expected):
    assert measured()[measure] == pytest.approx(expected)


def test_words_not_fixated_are_skipped():
    found = reading_measures({"word": [1], "duration": [100], "x": [55]}, STARTS)
    assert found["skipped"].tolist() == [1, 0, 1, 1]
    assert found["totalFixDur"].tolist() == [0, 100, 0, 0]
    nothing = reading_measures({"word": [], "duration": [], "x": []}, STARTS)
    assert nothing["skipped"].all()


def test_pupils_at_once_and_later():
    path = {
        "word": [0, 1, 0],
        "duration": [300, 400, 300],
        "x": [1, 60, 2],
        "onset": [0, 600, 1400],
        "pupil": [3.0, 5.0, 4.0],
    }
    found = reading_measures(path, [0, 50])
    assert found["pupilDiamMax"].tolist() == [4, 5]
    assert found["pupilDiamLag"].tolist() == [5, 4]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"word": [0], "x": [1]}, "no column 'duration'"),
        ({"word": [0, 1], "duration": [100], "x": [1]}, "different lengths"),
        ({"word": [9], "duration": [100], "x": [1]}, "on word 9, but the text has 4 words"),
        ({"word": [0], "duration": [np.nan], "x": [1]}, "not finite"),
    ],
)
def test_bad_paths_say_what_is_wrong(path, message):
    with pytest.raises(PriorError, match=message):
        reading_measures(path, STARTS)


def readers(seed=0, n=8):
    """Texts of four categories with words of their own; these are read for longer than the filler words."""
    rng = np.random.default_rng(seed)
    own = {c: [f"{c}{letter}" for letter in "abcdefgh"] for c in ("art", "law", "sea", "war")}
    filler = [f"filler{letter}" for letter in "abcdefghijkl"]
    texts, labels, rows = {}, {}, []
    for category, words in own.items():
        for d in range(n):
            name = f"{category}/{d}"
            chosen = [*rng.choice(words, 5), *rng.choice(filler, 5)]
            texts[name], labels[name] = " ".join(chosen), category
            for word in chosen:
                rows.append(
                    (
                        name,
                        f"{word.capitalize()},",
                        (300 if word in words else 180) + 30 * rng.normal(),
                        rng.normal(),
                    )
                )
    return pd.DataFrame(rows, columns=["doc_id", "word", "totalFixDur", "noise"]), texts, labels


def test_words_read_for_long_get_weight():
    table, texts, labels = readers()
    prior = GazePrior(table, texts, labels, progress=False).fit()
    for category, weights in prior.weights_.items():
        own = [w for word, w in weights.items() if word.startswith(category)]
        filler = [w for word, w in weights.items() if word.startswith("filler")]
        assert min(own) > np.mean(filler)
        assert prior.mse_[category] < np.var([prior.ideal_[category][word] for word in weights])
        assert set(prior.settings_[category]) == {"C", "epsilon", "gamma"}


def test_a_category_is_not_learnt_from_its_own_readings():
    """With the readings of one category turned upside down, its weights are turned too: the others taught
    what long means.
    """
    table, texts, labels = readers()
    of_art = table.doc_id.str.startswith("art")
    turned = table.assign(totalFixDur=np.where(of_art, 480 - table.totalFixDur, table.totalFixDur))
    weights = GazePrior(turned, texts, labels, regressor=Ridge(), progress=False).fit().weights_["art"]
    assert np.mean([w for word, w in weights.items() if word.startswith("art")]) < np.mean(
        [w for word, w in weights.items() if word.startswith("filler")]
    )


def test_as_knowledge_of_a_classifier():
    table, texts, labels = readers()
    prior = GazePrior(table, texts, labels, regressor=Ridge(), progress=False)
    names = list(texts)
    few = [name for name in names if name.endswith(("/0", "/1"))]
    model = TextClassifier(knowledge=prior).fit([texts[n] for n in few], [labels[n] for n in few])
    assert model.score([texts[n] for n in names], [labels[n] for n in names]) > 0.8
    assert len(model.learner_.verdict_) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": "token"}, "no column 'token'"),
        ({"measures": ["pupil"]}, "no column 'pupil'"),
        ({"labels": {"art/0": "art", "law/0": "law"}}, "at least two others"),
    ],
)
def test_bad_input_says_what_is_wrong(change, message):
    table, texts, labels = readers()
    with pytest.raises(PriorError, match=message):
        GazePrior(**{"readings": table, "texts": texts, "labels": labels, "progress": False, **change}).fit()


def test_fixations_that_pymovements_found():
    """Four fixations on three words, from raw samples to measures."""
    pm, pl = pytest.importorskip("pymovements"), pytest.importorskip("polars")
    time = np.arange(1000)
    x = np.select([time < 300, time < 600, time < 800], [20.0, 70.0, 22.0], 130.0) + 0.2 * np.sin(time)
    screen = pm.Experiment(1280, 720, 38, 30, 60, "upper left", 1000)
    gaze = pm.gaze.from_numpy(time=time, pixel=np.vstack([x, np.full(1000, 50.0)]), experiment=screen)
    gaze.pix2deg()
    gaze.pos2vel()
    gaze.detect("idt", dispersion_threshold=0.5, minimum_duration=80)
    with pytest.raises(PriorError, match="no column 'location_x'"):
        fixations_from_events(gaze.events)
    gaze.compute_event_properties(("location", {"position_column": "pixel"}))
    words = pl.DataFrame(
        {"word": ["a", "b", "c"], "x": [0.0, 50, 120], "w": [45.0, 60, 60], "y": [0.0] * 3, "h": [99.0] * 3}
    )
    stimulus = pm.stimulus.TextStimulus(
        words.with_row_index("word_idx"),
        aoi_column="word",
        start_x_column="x",
        width_column="w",
        start_y_column="y",
        height_column="h",
    )
    gaze.events.map_to_aois(stimulus)
    found = reading_measures(fixations_from_events(gaze.events), words["x"].to_numpy())
    assert found["fixcount"].tolist() == [2, 1, 1]
    assert found["nRegressFrom"].tolist() == [0, 1, 0]
    np.testing.assert_allclose(found["totalFixDur"], [499, 299, 198], atol=2)
    np.testing.assert_allclose(found["landingPos"], [20, 20, 10], atol=1)
