"""From a pointer over a text to fixations and measures, worked out by hand; consent; recordings; whether reading helps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from textmargin import GazePrior, reading_measures
from textmargin.cli import app
from textmargin.desk import reading_verdict as verdicts
from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.desk.reading import (
    GAP,
    LONGEST,
    MOST_SAMPLES,
    SHORTEST,
    check_reading,
    fixations_from_samples,
    pointer_reading,
    sentence_numbers,
    split_words,
)
from textmargin.desk.reading_verdict import gaze_prior, reading_verdict, readings
from textmargin.desk.recordings import import_events, import_readings
from textmargin.desk.session import Desk
from textmargin.desk.state import State
from textmargin.errors import ActError, TableError

TEXT = "The invoice is wrong. Please mend it."
STARTS = [0.0, 40.0, 110.0, 130.0, 190.0, 250.0, 300.0]


def sampled(path, step=25.0):
    """Samples of a pointer that rests so many ms on each word, at an x; one every `step` ms."""
    samples, now = {"time": [], "word": [], "x": []}, 0.0
    for word, duration, x in path:
        for _ in range(round(duration / step)):
            for name, value in (("time", now), ("word", word), ("x", x)):
                samples[name].append(value)
            now += step
    return samples


# The → invoice → (sweeps over "is") → wrong. → back to invoice → wrong. → off the text → Please → it.
PATH = [
    (0, 200, 10),
    (1, 400, 60),
    (2, 100, 115),
    (3, 300, 140),
    (1, 250, 50),
    (3, 175, 150),
    (-1, 200, 400),
    (4, 225, 200),
    (6, 200, 310),
]


def test_fixations_by_hand():
    """Of 100 ms on "is" it is a sweep; the last run ends with its own last sample."""
    assert fixations_from_samples(sampled(PATH)) == {
        "word": [0, 1, 3, 1, 3, -1, 4, 6],
        "duration": [200, 400, 300, 250, 175, 200, 225, 175],
        "x": [10, 60, 140, 50, 150, 400, 200, 310],
        "onset": [0, 200, 700, 1000, 1250, 1425, 1625, 1850],
    }


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("skipped", [0, 0, 1, 0, 0, 1, 0]),
        ("fixcount", [1, 2, 0, 2, 1, 0, 1]),
        ("firstfixDur", [200, 400, 0, 300, 225, 0, 175]),
        ("totalFixDur", [200, 650, 0, 475, 225, 0, 175]),
        ("prevFixDur", [0, 200, 0, 400, 200, 0, 225]),
        ("nextFixDur", [400, 300, 0, 250, 175, 0, 0]),
        ("firstSaccLen", [0, 50, 0, 80, 200, 0, 110]),
        ("landingPos", [10, 20, 0, 10, 10, 0, 10]),
        ("nRegressFrom", [0, 0, 0, 1, 0, 0, 0]),
        ("regressLen", [0, 0, 0, 250, 0, 0, 0]),
        ("regressDur", [0, 250, 0, 0, 0, 0, 0]),
        ("P2stFixation", [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_measures_by_hand(measure, expected):
    content = pointer_reading({"text": 0, **sampled(PATH), "word_starts": STARTS}, [TEXT])
    assert [TEXT[start:end] for start, end in content["words"]] == TEXT.split()
    assert content["sentences"] == [0, 0, 0, 0, 1, 1, 1]
    found = reading_measures(content["fixations"], content["word_starts"], content["sentences"])
    assert found[measure].tolist() == pytest.approx(expected)


def test_a_gap_ends_a_fixation_where_it_was_last_seen():
    """The page was hidden for a minute: nobody knows what was read meanwhile."""
    times = [0, 100, 200, 60_000, 60_100, 60_200, 60_300]
    found = fixations_from_samples({"time": times, "word": [2] * 7, "x": [0] * 7})
    assert (found["duration"], found["onset"]) == ([200, 300], [0, 60_000])
    just = fixations_from_samples({"time": [0, GAP, 2 * GAP], "word": [2, 2, 3], "x": [0] * 3})
    assert just["duration"] == [2 * GAP]


def test_who_rests_on_a_word_for_long_is_not_reading_it():
    still = fixations_from_samples(sampled([(0, 300, 0), (1, LONGEST + 25, 0), (2, 300, 0), (3, 25, 0)]))
    assert still["word"] == [0, 2]


def test_the_way_to_the_text_and_from_it_is_not_reading():
    found = fixations_from_samples(sampled([(-1, 400, 0), (1, 300, 0), (-1, 200, 0), (2, 300, 0), (-1, 400, 0)]))
    assert found["word"] == [1, -1, 2]
    assert fixations_from_samples(sampled([(-1, 400, 0)]))["word"] == []


words_under = st.lists(st.tuples(st.floats(0, 400), st.integers(-1, 6), st.floats(-50, 900)), max_size=60)


@given(words_under)
def test_fixations_take_no_more_time_than_there_was(steps):
    times = np.cumsum([0.0, *(gap for gap, _, _ in steps)])[1:].tolist()
    sent = {"time": times, "word": [word for _, word, _ in steps], "x": [x for *_, x in steps]}
    content = pointer_reading({"text": 0, **sent, "word_starts": STARTS}, [TEXT])
    found = content["fixations"]
    span = times[-1] - times[0] if times else 0.0
    assert sum(found["duration"]) <= span + 1e-9
    assert set(found["word"]) <= set(sent["word"])
    assert all(SHORTEST <= one <= LONGEST for one in found["duration"])
    ends = [onset + duration for onset, duration in zip(found["onset"], found["duration"], strict=True)]
    assert all(end <= onset + 1e-9 for end, onset in zip(ends, found["onset"][1:], strict=False))
    check_reading(content)


@given(st.text(max_size=80))
def test_words_hold_all_that_is_no_blank(text):
    spans = split_words(text)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert len(sentence_numbers(text, spans)) == len(spans)


def test_words_and_sentences_of_other_scripts():
    text = "Bill 😡 “wrong”? 账单错了。请改"
    assert [text[start:end] for start, end in split_words(text)] == [
        "Bill",
        "😡",
        "“wrong”?",
        "账",
        "单",
        "错",
        "了。",
        "请",
        "改",
    ]
    assert sentence_numbers(text, split_words(text)) == [0, 0, 0, 1, 1, 1, 1, 2, 2]
    arabic = "الفاتورة خاطئة؟ أصلحها"
    assert sentence_numbers(arabic, split_words(arabic)) == [0, 0, 1]
    two = "no stop\n\nat all\nhere"
    assert sentence_numbers(two, split_words(two)) == [0, 0, 1, 1, 1]


GOOD = {"text": 0, "time": [0, 25], "word": [0, 1], "x": [1, 2], "word_starts": STARTS}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": [0, 7]}, "word 7, but the text has 7 words"),
        ({"word": [0, -2]}, "word -2"),
        ({"word": [0, 0.5]}, "word 0.5"),
        ({"word": [0]}, "equally long, 24000 samples at most; they have 2, 1 and 2"),
        ({"time": [25, 0]}, "never fall"),
        ({"time": [-5, 0]}, "never fall"),
        ({"time": [0, 1e9]}, "a day at most"),
        ({"time": [0, float("nan")]}, "time of a reading should hold numbers only, of a sensible size; it holds nan"),
        ({"x": [1, 10**400]}, "it holds 1000"),
        ({"x": [True, 2]}, "it holds True"),
        ({"x": ["1", 2]}, "it holds '1'"),
        ({"x": [1, 2e6]}, "in pixels"),
        ({"x": "12"}, "should be a list of numbers; it is '12'"),
        ({"word_starts": [0.0]}, "has 7 words; word_starts of its reading has 1"),
        ({"text": 1}, "should be a number from 0 to 0; it is 1"),
        ({"text": True}, "it is True"),
        ({"name": "anna"}, "should have the fields text, time, word, x, word_starts; it has"),
        ({"time": [0] * 24_001, "word": [0] * 24_001, "x": [0] * 24_001}, "24000 samples at most"),
    ],
)
def test_what_no_page_would_send_is_refused(change, message):
    pointer_reading(GOOD, [TEXT])
    with pytest.raises(ActError, match=message):
        pointer_reading({**GOOD, **change}, [TEXT])


def test_ten_minutes_are_turned_into_fixations_in_a_moment():
    many = sampled([(k % 7, 200, k) for k in range(MOST_SAMPLES // 8)])
    assert len(pointer_reading({"text": 0, **many, "word_starts": STARTS}, [TEXT])["fixations"]["word"]) == MOST_SAMPLES // 8


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "work.desk", [TEXT, "Another text."], classes=["billing", "other"], source="two") as project:
        yield project


def reading_act(annotator="anna", text=0, **content):
    return Act(new_id(), annotator, "reading", {**pointer_reading({**GOOD, **sampled(PATH), "text": text}, [TEXT]), **content})


def test_consent_off_means_nothing_is_stored(project):
    """Neither at first, nor after consent was taken back; and consent is of the one who gave it."""
    before = project.path.read_bytes()
    with pytest.raises(ActError, match="has not agreed"):
        project.record(reading_act())
    assert (project.state.n_acts, project.state.readings, list(project.acts())) == (0, [], [])
    assert project.path.read_bytes() == before
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    project.record(reading_act())
    with pytest.raises(ActError, match="ben has not agreed"):
        project.record(reading_act("ben"))
    assert len(project.state.readings) == 1
    project.record(Act(new_id(), "anna", "consent", {"reading": False}))
    with pytest.raises(ActError, match="has not agreed"):
        project.record(reading_act())
    assert len([act for act in project.acts() if act.kind == "reading"]) == 1


def test_what_was_stored_is_not_used_once_consent_is_taken_back(project):
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    project.record(reading_act())
    assert set(readings(project.state, project.texts)["doc_id"]) == {0}
    assert reading_verdict(project.state, project.texts) is not None
    project.record(Act(new_id(), "anna", "consent", {"reading": False}))
    assert readings(project.state, project.texts)["doc_id"].size == 0
    assert reading_verdict(project.state, project.texts) is None


def test_who_takes_consent_back_leaves_no_reading_in_the_file(project):
    """Nor can giving it again, or undoing that it was taken back, bring any of it back; the log replays all the same."""
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    told = project.record(reading_act(word_starts=[0, 987654.25, 0, 0, 0, 0, 0]))
    assert b"987654.25" in b"".join(one.read_bytes() for one in project.path.parent.glob("*.desk*"))
    back = project.record(Act(new_id(), "anna", "consent", {"reading": False}))
    for one in project.path.parent.glob("*.desk*"):
        assert b"987654.25" not in one.read_bytes()
    assert project.state.readings == []
    assert project.record(told).number == told.number  # a page that had not heard of it may send it again
    project.record(Act(new_id(), "anna", "undo", {"act": back.id}))
    assert (project.state.consent, project.state.readings) == ({"anna": True}, [])
    assert State.replay(project.header, project.acts()).contents() == project.state.contents()
    project.record(reading_act())
    assert len(project.state.readings) == 1


def test_readings_are_a_table_for_gaze_prior(project):
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    project.record(reading_act())
    table = readings(project.state, project.texts)
    assert table["word"].tolist() == ["The", "invoice", "is", "wrong", "Please", "mend", "it"]
    assert table["reader"].tolist() == ["anna"] * 7
    assert table["totalFixDur"].tolist() == [200, 650, 0, 475, 225, 0, 175]
    assert table["landingPos"].tolist() == [10, 20, 0, 10, 10, 0, 10]
    assert "pupilDiamMax" not in table
    assert readings(project.state, project.texts, "tracker")["doc_id"].size == 0


def test_a_fixation_on_a_word_that_is_not_there_is_refused_wherever_it_comes_from(project):
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    fixations = {"word": [7], "duration": [200], "x": [1], "onset": [0]}
    with pytest.raises(ActError, match="word 7, but the text has 7 words"):
        project.record(reading_act(fixations=fixations))
    with pytest.raises(ActError, match="word_starts of a reading should be one for each of 7 words, or none; it has 1"):
        project.record(reading_act(word_starts=[1.0]))
    with pytest.raises(ActError, match="0 or more; one is -5"):
        project.record(reading_act(fixations={**fixations, "word": [-1], "duration": [-5]}))


CSV = """id,word,duration,x,onset,word_start
1,1,220,55,400,40
1,0,180,12,100,0
1,,300,600,700,
2,0,90,5,0,0
"""


def recording(tmp_path, content, name="eyes.csv"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_recordings_of_an_eye_tracker(project, tmp_path):
    """In the order of onsets; the same file again adds nothing."""
    path = recording(tmp_path, CSV)
    assert import_readings(project, path, "eyes") == 2
    assert project.state.consent == {"eyes": True}
    first = project.state.readings[0].content
    assert first["source"] == "tracker"
    assert first["fixations"] == {"word": [0, 1, -1], "duration": [180, 220, 300], "x": [12, 55, 600], "onset": [100, 400, 700]}
    assert first["word_starts"] == [0, 40, 0, 0, 0, 0, 0]
    table = readings(project.state, project.texts, "tracker")
    assert table["landingPos"].tolist() == [12, 15, 0, 0, 0, 0, 0, 5, 0]
    assert table["totalFixDur"][7] == 90  # which is long enough for an eye
    n = project.state.n_acts
    assert import_readings(project, path, "eyes") == 2
    assert project.state.n_acts == n


def test_recordings_that_do_not_say_where_words_start(project, tmp_path):
    path = recording(tmp_path, "id;word;duration;x;onset\n1;1;220;55;400\n")
    import_readings(project, path, "eyes")
    table = readings(project.state, project.texts, "tracker")
    assert table["totalFixDur"][1] == 220
    assert not {"landingPos", "leavingPos", "prevFixPos"} & set(table)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,word,duration,x\n1,1,220,55\n", "no column 'onset'"),
        ("id,word,duration,x,onset\n1,7,220,55,0\n", "line 2: .*word 7, but the text has 7 words"),
        ("id,word,duration,x,onset\n5,0,220,55,0\n", "there is no text with id 5; the project's are numbered 1 to 2"),
        ("id,word,duration,x,onset\n0,0,220,55,0\n", "there is no text with id 0"),
        ("id,word,duration,x,onset\n1,0,long,55,0\n", "line 2: duration should be a number; it is 'long'"),
        ("id,word,duration,x,onset\n1,0.5,220,55,0\n", "word should be a whole number"),
    ],
)
def test_recordings_that_do_not_fit_are_refused_whole(project, tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        import_readings(project, recording(tmp_path, content + "2,0,200,5,0\n" * ("onset" in content)), "eyes")
    assert project.state.n_acts == 0


def test_recordings_of_who_took_consent_back_are_refused(project, tmp_path):
    project.record(Act(new_id(), "eyes", "consent", {"reading": False}))
    with pytest.raises(ActError, match="took back the consent"):
        import_readings(project, recording(tmp_path, CSV), "eyes")
    assert project.state.readings == []


def test_events_of_pymovements(project):
    pl = pytest.importorskip("polars")
    events = pl.DataFrame(
        {
            "name": ["fixation", "saccade", "fixation"],
            "onset": [0, 200, 240],
            "duration": [200, 40, 260],
            "location_x": [12.0, 30.0, 52.0],
            "word_idx": [0, None, 1],
        }
    )
    assert import_events(project, {0: events}, "eyes", word_starts={0: STARTS}) == 1
    table = readings(project.state, project.texts, "tracker")
    assert table["totalFixDur"].tolist() == [200, 260, 0, 0, 0, 0, 0]
    assert table["landingPos"].tolist()[:2] == [12, 12]
    with pytest.raises(TableError, match=r"events of text 1: .*word 9"):
        import_events(project, {1: events.with_columns(word_idx=pl.lit(9))}, "eyes")


def shelf(tmp_path, informative, n=14, seed=0, n_classes=4, n_filler=160, several=False):
    """Texts of classes with words of their own, as long as filler words; these are read longer where readings are informative."""
    rng = np.random.default_rng(seed)
    own = {f"class{c}": [f"{c}wor{a}{b}" for a in "abcde" for b in "xyz"] for c in "pqrs"[:n_classes]}
    filler = [f"fill{a}{b}" for a in "abcdefghijklmnop" for b in "klmnopqrst"][:n_filler]  # as rare as a class's own
    texts, labels, durations = [], [], []
    for name, words in own.items():
        for _ in range(n):
            chosen = [*rng.choice(words, 2), *rng.choice(filler, 6)]
            rng.shuffle(chosen)
            texts.append(" ".join(chosen))
            labels.append((name,) if not several else [(), (name,), (name, "all")][len(texts) % 3])
            longer = (
                rng.permutation([word in words for word in chosen]) if not informative else [word in words for word in chosen]
            )
            durations.append([float(600 if one else 250) + 20 * rng.random() for one in longer])
    project = Project.create(tmp_path / f"shelf{informative}.desk", texts, labels, multilabel=several, source="made up")
    project.record(Act(new_id(), "anna", "consent", {"reading": True}))
    for number, (text, spent) in enumerate(zip(texts, durations, strict=True)):
        words = split_words(text)
        onsets = np.concatenate([[0.0], np.cumsum(spent)[:-1]]).tolist()
        fixations = {"word": list(range(len(words))), "duration": spent, "x": [70.0 * k for k in range(8)], "onset": onsets}
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
    """The same readers where all other words are common: who looks long at rare words says no more than that they are rare."""
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
    texts = [start + "请尽快处理"[:k] for start in ("账单错误付款", "打印机坏了吗", "网络连接很慢") for k in range(6)]
    labels = [(name,) for name in "abc" for _ in range(6)]
    with Project.create(tmp_path / "han.desk", texts, labels) as project:
        project.record(Act(new_id(), "anna", "consent", {"reading": True}))
        for number, text in enumerate(texts):
            sent = {**sampled([(k, 200, 16 * k) for k in range(len(text))]), "word_starts": [16.0 * k for k in range(len(text))]}
            project.record(Act(new_id(), "anna", "reading", pointer_reading({"text": number, **sent}, texts)))
        assert "cannot be weighed: what was read is single characters" in reading_verdict(project.state, project.texts)


def test_without_readings_there_is_no_verdict(project):
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


def test_recordings_are_imported_from_the_command_line(project, tmp_path):
    path = str(project.path)
    project.close()
    runner, eyes = CliRunner(), str(recording(tmp_path, CSV))
    without = runner.invoke(app, ["desk", path, "--import-readings", eyes])
    assert (without.exit_code, "--annotator NAME" in without.output) == (2, True)
    found = runner.invoke(app, ["desk", path, "--import-readings", eyes, "--annotator", "eyes"])
    assert (found.exit_code, found.output.strip()) == (0, f"2 texts read by eyes stored in {path}")
    with Project.open(path) as again:
        assert len(again.state.readings) == 2


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
