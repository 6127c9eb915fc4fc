"""Recordings of an eye tracker for the texts of a project."""

import pytest
from desk.readings import STARTS, reading_project
from typer.testing import CliRunner

from textmargin.cli import app
from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.desk.reading_verdict import readings
from textmargin.desk.recordings import import_events, import_readings
from textmargin.errors import ActError, TableError

CSV = """id,word,duration,x,onset,word_start
1,1,220,55,400,40
1,0,180,12,100,0
1,,300,600,700,
2,0,90,5,0,0
"""


@pytest.fixture
def project(tmp_path):
    with reading_project(tmp_path / "work.desk") as project:
        yield project


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
    assert first["fixations"] == {
        "word": [0, 1, -1],
        "duration": [180, 220, 300],
        "x": [12, 55, 600],
        "onset": [100, 400, 700],
    }
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
        (
            "id,word,duration,x,onset\n5,0,220,55,0\n",
            "there is no text with id 5; the project's are numbered 1 to 2",
        ),
        ("id,word,duration,x,onset\n0,0,220,55,0\n", "there is no text with id 0"),
        ("id,word,duration,x,onset\n1,0,long,55,0\n", "line 2: duration should be a number; it is 'long'"),
        ("id,word,duration,x,onset\n1,0.5,220,55,0\n", "word should be a whole number"),
    ],
)
def test_recordings_that_do_not_fit_are_refused_whole(project, tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        import_readings(
            project, recording(tmp_path, content + "2,0,200,5,0\n" * ("onset" in content)), "eyes"
        )
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
