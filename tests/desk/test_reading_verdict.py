"""Whether how people read helps is measured, and no more is said than that shows."""

import numpy as np
import pytest
from desk.readings import reading_project, sampled

from textmargin import GazePrior
from textmargin.desk import reading_verdict as verdicts
from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.desk.reading import pointer_reading, split_words
from textmargin.desk.reading_verdict import gaze_prior, reading_verdict
from textmargin.desk.session import Desk
from textmargin.errors import ActError


def shelf(tmp_path, informative, n=14, seed=0, n_classes=4, n_filler=160, several=False):
    """Texts of classes with words of their own, as long as filler words; these are read longer where readings
    are informative.
    """
    rng = np.random.default_rng(seed)
    own = {f"class{c}": [f"{c}wor{a}{b}" for a in "abcde" for b in "xyz"] for c in "pqrs"[:n_classes]}
    # as rare as a class's own
    filler = [f"fill{a}{b}" for a in "abcdefghijklmnop" for b in "klmnopqrst"][:n_filler]
    texts, labels, durations = [], [], []
    for name, words in own.items():
        for _ in range(n):
            chosen = [*rng.choice(words, 2), *rng.choice(filler, 6)]
            rng.shuffle(chosen)
            texts.append(" ".join(chosen))
            labels.append((name,) if not several else [(), (name,), (name, "all")][len(texts) % 3])
            longer = (
                rng.permutation([word in words for word in chosen])
                if not informative
                else [word in words for word in chosen]
            )
            durations.append([float(600 if one else 250) + 20 * rng.random() for one in longer])
    project = Project.create(
        tmp_path / f"shelf{informative}.desk", texts, labels, multilabel=several, source="made up"
    )
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    for number, (text, spent) in enumerate(zip(texts, durations, strict=True)):
        words = split_words(text)
        onsets = np.concatenate([[0.0], np.cumsum(spent)[:-1]]).tolist()
        fixations = {
            "word": list(range(len(words))),
            "duration": spent,
            "x": [70.0 * k for k in range(8)],
            "onset": onsets,
        }
        content = {"text": number, "fixations": fixations, "word_starts": [70.0 * k for k in range(8)]}
        more = {"words": [list(span) for span in words], "sentences": [0] * 8, "source": "pointer"}
        project.record(Act(new_id(), "anna", "reading", {**content, **more}))
    return project


def test_readings_that_tell_the_classes_words_are_said_to_help(tmp_path):
    with shelf(tmp_path, True) as project:
        assert isinstance(gaze_prior(project.state, project.texts), GazePrior)
        verdict = reading_verdict(project.state, project.texts)
    assert verdict.startswith("How 56 labelled texts were read with the pointer helps so far: it saves")
    assert "more than in 19 times" in verdict


@pytest.mark.parametrize("seed", range(3))
def test_readings_that_tell_nothing_are_not_said_to_help(tmp_path, seed):
    """Though a prior from them may be adopted: it knows which words stand in the texts of a class."""
    with shelf(tmp_path, False, seed=seed) as project:
        verdict = reading_verdict(project.state, project.texts)
    assert verdict.startswith("How 56 labelled texts were read")
    assert "does not help" in verdict or "not shown to help" in verdict


def test_what_the_rarity_of_words_tells_as_well_is_not_said_to_be_due_to_reading(tmp_path):
    """The same readers where all other words are common: who looks long at rare words says no more than that
    they are rare.
    """
    with shelf(tmp_path, True, n_filler=24) as project:
        verdict = reading_verdict(project.state, project.texts)
    assert "is not shown to help: it saves" in verdict
    assert "readings dealt out anew among like words save as much" in verdict


@pytest.mark.parametrize(
    ("n", "n_classes", "lack"),
    [
        (4, 4, "16 labelled texts were read, 5 or more in 0 classes"),
        (8, 2, "16 labelled texts were read, 5 or more in 2 classes"),
    ],
)
def test_too_few_readings_are_said_to_be_too_few(tmp_path, n, n_classes, lack):
    with shelf(tmp_path, True, n=n, n_classes=n_classes) as project:
        assert gaze_prior(project.state, project.texts) is None
        verdict = reading_verdict(project.state, project.texts)
    assert verdict.startswith("Too few readings with the pointer to tell whether they help:")
    assert f"{lack}; it takes 5 in each of 3." in verdict


def test_texts_with_several_labels_and_with_none_are_weighed_too(tmp_path):
    with shelf(tmp_path, True, n=20, several=True) as project:
        labels = set(project.state.answers().values())
        verdict = reading_verdict(project.state, project.texts, n_deals=1)
    assert {(), ("classp",), ("classp", "all")} <= {tuple(sorted(own, key="all".__eq__)) for own in labels}
    assert verdict.startswith("How 80 labelled texts were read with the pointer")
    assert "cannot be weighed" not in verdict


def test_characters_of_scripts_without_blanks_cannot_be_weighed(tmp_path):
    texts = [
        start + "请尽快处理"[:k]
        for start in ("账单错误付款", "打印机坏了吗", "网络连接很慢")
        for k in range(6)
    ]
    labels = [(name,) for name in "abc" for _ in range(6)]
    with Project.create(tmp_path / "han.desk", texts, labels) as project:
        project.record(Act(new_id(), "anna", "consent", {"reading": True}))
        for number, text in enumerate(texts):
            sent = {
                **sampled([(k, 200, 16 * k) for k in range(len(text))]),
                "word_starts": [16.0 * k for k in range(len(text))],
            }
            project.record(Act(new_id(), "anna", "reading", pointer_reading({"text": number, **sent}, texts)))
        assert "cannot be weighed: what was read is single characters" in reading_verdict(
            project.state, project.texts
        )


def test_without_readings_there_is_no_verdict(tmp_path):
    with reading_project(tmp_path / "work.desk") as project:
        assert reading_verdict(project.state, project.texts) is None


def test_dealing_out_anew_keeps_words_and_what_was_measured():
    table = {
        "doc_id": np.arange(40) % 5,
        "word": np.array([f"word{chr(97 + k % 13)}" for k in range(40)]),
        "totalFixDur": np.arange(40.0),
    }
    dealt = verdicts._dealt(table, np.random.default_rng(0))
    assert dealt["word"] is table["word"]
    assert sorted(dealt["totalFixDur"]) == sorted(table["totalFixDur"])
    assert (dealt["totalFixDur"] != table["totalFixDur"]).any()


def test_the_desk_says_nothing_of_readings_once_consent_is_taken_back(tmp_path):
    with shelf(tmp_path, False, n=4) as project, Desk(project, n_jobs=1) as desk:
        desk.wait()
        assert desk.state("anna")["reading_verdict"].startswith("Too few readings")
        desk.act({"id": new_id(), "annotator": "anna", "kind": "consent", "content": {"reading": False}})
        desk.wait()
        assert desk.state("anna")["reading_verdict"] is None
        sent = {"text": 0, **sampled([(0, 400, 5)]), "word_starts": [70.0 * k for k in range(8)]}
        with pytest.raises(ActError, match="has not agreed"):
            desk.act({"id": new_id(), "annotator": "anna", "kind": "reading", "content": sent})
