"""A project loses nothing that it said is stored, whatever happens to the process or the disk."""

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from desk.logs import held

from textmargin.desk.acts import Act, new_id
from textmargin.desk.project import Project
from textmargin.desk.state import State
from textmargin.errors import ActError, DeskError

TEXTS = ["no paper", "wifi is gone", "no toner", "vpn"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "work.desk"


def make(path, texts=TEXTS, given=None, classes=("network", "printing"), **options):
    return Project.create(path, texts, given, classes=classes, source="mails.csv", **options)


def label(text, name="printing", who="anna", **more):
    return Act(new_id(), who, "label", {"text": text, "labels": [name], **more})


def python(code, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_what_was_done_is_there_again(path):
    with make(path, given=[("printing",), None, None, ("network",)]) as project:
        recorded = [
            project.record(label(1, "network")),
            project.record(Act(new_id(), "ben", "class", {"name": "other"})),
        ]
        assert [act.number for act in recorded] == [1, 2]
        assert recorded[0].time.endswith("+00:00")
        assert list(project.acts()) == recorded
        live = held(project.state)
    with Project.open(path) as project:
        assert project.texts == TEXTS
        assert held(project.state) == live
        assert held(State.replay(project.header, project.acts())) == live
        assert project.header["given"] == [("printing",), None, None, ("network",)]
        assert (project.header["source"], project.header["multilabel"]) == ("mails.csv", False)
        assert project.record(label(2)).number == 3


def test_texts_come_back_as_they_were(path):
    texts = [
        "",
        "a\0b",
        "\ud800 half a pair",
        "🎉 emoji",
        "שלום",
        "x" * 1_000_000,
        "line\nline\r\n",
        *map(str, range(2000)),
    ]
    with make(path, texts) as project:
        assert project.texts == texts
    with Project.open(path) as project:
        assert project.texts == texts
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": []}, "there is no text to read"),
        ({"given": [("a",)]}, "4 texts and labels of 1"),
        ({"given": [("a", "b"), None, None, None]}, "a text has the labels a, b; .* multilabel=True"),
        ({"given": [(), None, None, None]}, "a text has no label; .* multilabel=True"),
        ({"classes": ["a", "*"]}, "cannot be called '[*]'"),
        ({"classes": [" a"]}, "cannot be called ' a'"),
    ],
)
def test_what_cannot_be_a_project(path, options, message):
    with pytest.raises(DeskError, match=message):
        make(path, **options)
    assert list(path.parent.iterdir()) == []


def test_a_file_that_is_there_is_not_replaced(path):
    path.write_text("precious")
    with pytest.raises(DeskError, match="is there already; open it, or choose another name"):
        make(path)
    assert path.read_text() == "precious"
    with pytest.raises(DeskError, match="cannot be made"):
        make(path.parent / "nowhere" / "work.desk")


def test_the_same_id_is_the_same_act(path):
    with make(path) as project:
        act = label(0)
        first = project.record(act)
        assert project.record(act) == first
        assert project.record(first) == first  # as a client that heard the answer would send it
        assert len(project.state.acts) == 1
        with pytest.raises(ActError, match="belongs to another act; choose a new id"):
            project.record(Act(act.id, "anna", "label", {"text": 1, "labels": ["printing"]}))
    with Project.open(path) as project:
        assert project.record(act) == first
        assert len(list(project.acts())) == 1


def test_a_wrong_act_leaves_no_trace(path):
    with make(path) as project:
        for act, message in [
            (label(9), "there is no text 9"),
            (label(0, "other"), "none of the classes"),
            (
                Act(new_id(), "anna", "mark", {"text": 3, "start": 0, "end": 4, "label": "network"}),
                "has 3 characters; .* ends at 4",
            ),
        ]:
            with pytest.raises(ActError, match=message):
                project.record(act)
        assert len(project.state.acts) == 0
        assert list(project.acts()) == []


WRITER = """
import sys
from textmargin.desk.acts import Act
from textmargin.desk.project import Project

project = Project.open(sys.argv[1])
for number in range(100_000):
    act = Act(f"{sys.argv[2]}-{number}", "anna", "label", {"text": number % 4, "labels": ["printing"]})
    project.record(act)
    print(act.id, flush=True)  # acknowledged
"""


def test_killed_at_ten_moments_nothing_acknowledged_is_lost(path):
    make(path).close()
    chance = random.Random(0)
    acknowledged: list[str] = []
    for turn in range(10):
        writer = python(WRITER, path, turn)
        own = [writer.stdout.readline().split()[0].decode()]
        timer = threading.Timer(chance.uniform(0, 0.1), writer.kill)
        timer.start()
        own += [line.strip().decode() for line in writer.stdout if line.endswith(b"\n")]
        timer.join()
        assert writer.wait() == -signal.SIGKILL
        writer.stderr.close()
        writer.stdout.close()
        acknowledged += own
        with Project.open(path) as project:
            stored = [act.id for act in project.acts()]
            assert [act.number for act in project.acts()] == list(range(1, len(stored) + 1))
            assert held(State.replay(project.header, project.acts())) == held(project.state)
        assert set(acknowledged) <= set(stored)
        # at most one a turn was stored and not yet acknowledged
        assert len(stored) <= len(acknowledged) + turn + 1
    assert len(acknowledged) >= 10


HOLDER = """
import sys
from textmargin.desk.project import Project

project = Project.open(sys.argv[1])
project.claim("http://127.0.0.1:8123")
print("ready", flush=True)
sys.stdin.read()
"""


def test_two_processes_one_writes_and_the_other_is_told_who(path):
    make(path).close()
    holder = python(HOLDER, path, stdin=subprocess.PIPE)
    assert holder.stdout.readline() == b"ready\n"
    with Project.open(path) as project:  # reading is free
        assert project.texts == TEXTS
        with pytest.raises(DeskError, match=r"open at another desk, http://127\.0\.0\.1:8123\. Work"):
            project.record(label(0))
        link = path.with_name("link.desk")
        link.symlink_to(path)
        with Project.open(link) as other, pytest.raises(DeskError, match="Work there, or stop it first"):
            other.claim()
        holder.kill()  # the lock ends with the process, however that ends
        holder.communicate()
        assert project.record(label(0)).number == 1


def test_a_reader_that_comes_to_write_first_hears_what_others_wrote(path):
    first = make(path)
    second = Project.open(path)
    act = first.record(label(0))
    assert len(second.state.acts) == 0
    first.close()
    assert second.record(label(1)).number == 2
    assert second.state.answers() == {0: ("printing",), 1: ("printing",)}
    assert second.record(act) == act
    second.close()


def test_threads_record_at_once(path):
    with make(path) as project:
        acts = [label(k % 4, who=f"reader {k % 5}") for k in range(60)]
        threads = [
            threading.Thread(target=lambda own: [project.record(act) for act in own], args=(acts[k::6],))
            for k in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {act.id for act in project.acts()} == {act.id for act in acts}
        assert [act.number for act in project.acts()] == list(range(1, 61))
        assert held(State.replay(project.header, project.acts())) == held(project.state)


FULL = """
import json, resource, sys
from pathlib import Path
from textmargin.desk.acts import Act
from textmargin.desk.project import Project
from textmargin.errors import DeskError

def act(number, size):
    costs = {str(k): {"hit": 1, "false_alarm": -1, "miss": 0} for k in range(size)}
    return Act(str(number), "anna", "costs", {"costs": costs})

path = Path(sys.argv[1])
with Project.open(path) as project:
    project.record(Act("yes", "anna", "skip", {"text": 0}))
    there = max(one.stat().st_size for one in path.parent.iterdir())
    whole = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (there + 100_000, whole[1]))
    said, stored = [], []
    for number in range(12):
        try:
            project.record(act(number, 800))
            stored.append(str(number))
        except DeskError as error:
            said.append(str(error))
    held = len(project.state.acts)
    resource.setrlimit(resource.RLIMIT_FSIZE, whole)
    project.record(act("after", 800))
    print(json.dumps({"said": said, "stored": stored, "held": held}))
"""


def test_a_full_disk_refuses_the_act_and_the_file_stays_whole(path):
    make(path, classes=[str(k) for k in range(800)]).close()
    writer = python(FULL, path)
    out, error = writer.communicate()
    assert writer.returncode == 0, error.decode()
    result = json.loads(out)
    assert result["said"]
    assert "nothing of the act was stored" in result["said"][0]
    assert "Make room on the disk, and do it again" in result["said"][0]
    assert result["held"] == 1 + len(result["stored"])
    with Project.open(path) as project:
        assert [act.id for act in project.acts()] == ["yes", *result["stored"], "after"]


def test_a_project_that_does_not_fit_is_not_left_half_made(path):
    code = """
import resource, sys
from textmargin.desk.project import Project
from textmargin.errors import DeskError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    Project.create(sys.argv[1], [str(k) * 50 for k in range(9999)])
except DeskError as error:
    print(error)
"""
    out, _ = python(code, path).communicate()
    assert b"cannot be made" in out
    assert list(path.parent.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20_000  # the limit was the other process's


def whole(path, n_texts=3000):
    chance = random.Random(0)
    with make(path, ["".join(chance.choices("abcdefgh ", k=200)) for _ in range(n_texts)]) as project:
        for k in range(20):
            project.record(label(k))
    return path.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(path, share):
    content = whole(path)
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DeskError, match=r"damaged|no project|cannot be read"):
        Project.open(path)


def test_a_file_with_other_bytes_in_its_texts_is_refused(path):
    content = bytearray(whole(path))
    for place in range(len(content) // 2, len(content) // 2 + 2000):
        content[place] ^= 0x5A
    path.write_bytes(content)
    with pytest.raises(DeskError, match=r"damaged|cannot be read"):
        Project.open(path)


def test_somebody_elses_file_is_refused_and_stays_as_it_was(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE own (a)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DeskError, match="is no project of the reading desk, but another program's file"):
        Project.open(path)
    assert path.read_bytes() == before
    path.write_text("text,label\nhello,a\n" * 100)
    with pytest.raises(DeskError, match="cannot be read: file is not a database"):
        Project.open(path)
    with pytest.raises(DeskError, match="There is no project"):
        Project.open(path.parent / "nothing.desk")


def test_a_project_of_a_later_version_is_refused(path):
    make(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE header SET value = '99' WHERE name = 'version'")
    connection.close()
    with pytest.raises(DeskError, match="is of version 99, and this textmargin reads 1"):
        Project.open(path)


def test_differences_are_said_in_words(path):
    given = [("printing",), None, None, None]
    with make(path, given=given) as project:
        assert project.difference(TEXTS, given) is None
        assert project.difference(TEXTS[:3], given[:3]) == "it has 3 texts, the project 4"
        changed = [*TEXTS[:2], "other", "vpn"]
        assert project.difference(changed, given) == "text 3 or its label is another one"
        assert project.difference(TEXTS) == "text 1 or its label is another one"


def test_undo_works_over_restarts(path):
    with make(path) as project:
        first, second = project.record(label(0)), project.record(label(1))
    for expected in ({0: ("printing",)}, {}):
        with Project.open(path) as project:
            last = project.state.last("anna")
            assert last.id == (second if expected else first).id
            project.record(Act(new_id(), "anna", "undo", {"act": last.id}))
            assert project.state.answers() == expected


def test_the_file_alone_is_the_project_once_it_is_closed(path, tmp_path):
    with make(path) as project:
        project.record(label(0))
    copy = tmp_path / "copy.desk"
    copy.write_bytes(path.read_bytes())
    with Project.open(copy) as project:
        assert project.state.answers() == {0: ("printing",)}
    assert not Path(f"{path}-wal").exists()


def test_a_project_that_may_only_be_read_can_be(path, monkeypatch):
    whole(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere, whatever the file says
    with Project.open(path) as project:
        assert len(project.state.answers()) == 20
        with pytest.raises(
            DeskError, match="nothing of the act was stored: attempt to write a readonly database"
        ):
            project.record(label(0))
        assert len(list(project.acts())) == 20
