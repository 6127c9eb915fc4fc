"""How somebody reads is stored where they agreed, as a table for `GazePrior`, and erased where they take that
back.
"""

import pytest
from desk.readings import reading_act, reading_project

from textmargin.desk.acts import Act, new_id
from textmargin.desk.reading_verdict import reading_verdict, readings
from textmargin.desk.state import State
from textmargin.errors import ActError


@pytest.fixture
def project(tmp_path):
    with reading_project(tmp_path / "work.desk") as project:
        yield project


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
    """Nor can giving it again, or undoing that it was taken back, bring any of it back; the log replays all
    the same.
    """
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
    with pytest.raises(
        ActError, match="word_starts of a reading should be one for each of 7 words, or none; it has 1"
    ):
        project.record(reading_act(word_starts=[1.0]))
    with pytest.raises(ActError, match="0 or more; one is -5"):
        project.record(reading_act(fixations={**fixations, "word": [-1], "duration": [-5]}))
