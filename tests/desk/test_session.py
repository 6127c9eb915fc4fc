"""The desk at work: acts in, state and questions out."""

from __future__ import annotations

import json
import threading

import pytest
from desk.logs import held

from textmargin.desk.project import Project
from textmargin.desk.session import Desk
from textmargin.desk.state import State

from .tickets import CLASSES, COSTS, KEYWORDS, TRAIN, act, label, project, read


@pytest.fixture
def desk(tmp_path):
    with project(tmp_path) as work, Desk(work, n_jobs=1) as found:
        yield found
        found.wait()
        assert found.engine.work.error is None


def name_keywords(desk, n=3):
    for name, words in KEYWORDS.items():
        for word in list(words)[:n]:
            act(desk, "keyword", {"label": name, "word": word, "weight": 1, "source": "list"})


def rightness(desk):
    return sum(desk.text(k, "anna")["predicted"] == [TRAIN.labels[k]] for k in range(100)) / 100


def test_nobody_reads_a_text_twice_and_all_sources_come_up(desk):
    name_keywords(desk)
    question, numbers, sources = desk.next("anna"), [], set()
    while len(numbers) < 30:
        if question["kind"] == "word":
            question = act(
                desk,
                "keyword",
                {"label": question["label"], "word": question["word"], "weight": 0, "source": "queue"},
            )["next"]
            continue
        numbers.append(question["text"])
        sources.add(question["source"])
        question = label(desk, question)["next"]
    assert len(set(numbers)) == len(numbers)
    assert sources == {"tie", "balanced", "random"}


def test_a_question_stays_until_it_is_answered(desk):
    first = desk.next("anna")
    assert desk.next("anna")["text"] == first["text"]
    assert desk.next("ben")["text"] != first["text"]  # who reads at the same time reads another
    following = act(desk, "skip", {"text": first["text"], "source": first["source"], "seconds": None})["next"]
    assert following["text"] != first["text"]


def test_undo_brings_the_text_back_and_its_label_away(desk):
    first = desk.next("anna")
    label(desk, first)
    back = act(desk, "undo", {"act": desk.state("anna")["undo"]["act"]})
    assert back["next"]["text"] == first["text"]
    assert back["next"]["labels"] is None
    assert back["state"]["project"]["n_labelled"] == 0
    assert desk.next("anna")["text"] == first["text"]
    assert desk.state("anna")["undo"] is None


def test_a_tenth_is_read_by_two_people(desk):
    read(desk, 20, "anna")
    read(desk, 20, "ben")
    both = [text for text, own in desk.project.state.labels.items() if {"anna", "ben"} <= {*own}]
    assert 1 <= len(both) <= 3
    assert desk.state("anna")["agreement"][0]["n_both"] == len(both)


def test_a_keyword_has_its_verdict_once_it_is_weighed(desk):
    read(desk, 40)
    desk.wait()
    before = {one["name"]: one for one in desk.state("anna")["classes"]}
    act(desk, "keyword", {"label": "printing", "word": "printer", "weight": 1, "source": "text"})
    desk.wait()
    own = next(one for one in desk.state("anna")["classes"] if one["name"] == "printing")
    (word,) = own["keywords"]
    assert before["printing"]["keywords"] == []
    assert word["n_texts"] > 5
    assert word["status"] in ("supported", "adopted")
    state = act(desk, "keyword", {"label": "printing", "word": "unheard", "weight": 1, "source": "text"})[
        "state"
    ]
    own = next(one for one in state["classes"] if one["name"] == "printing")
    assert own["keywords"][1]["status"] == "absent"


def test_a_word_that_labelled_texts_speak_against_is_contradicted(tmp_path):
    # the same texts whatever the machine does
    with project(tmp_path) as work, Desk(work, n_jobs=1, in_background=False) as desk:
        name_keywords(desk, 2)
        for number in desk.engine.queue.order[:80].tolist():
            label(desk, {"text": number, "source": "random"})
        act(desk, "keyword", {"label": "phishing", "word": "printer", "weight": 1, "source": "text"})
        desk.wait()
        own = next(one for one in desk.state("anna")["classes"] if one["name"] == "phishing")
        assert own["keywords"][-1]["word"] == "printer"
        assert own["keywords"][-1]["status"] == "contradicted"


def test_a_number_or_stop_word_can_be_a_keyword(tmp_path):
    texts = ["error 404 at login", "error 404 again", "the mouse is dead", "the mouse has no light"]
    with (
        Project.create(tmp_path / "w.desk", texts, classes=["web", "mouse"]) as work,
        Desk(work, n_jobs=1) as desk,
    ):
        state = act(desk, "keyword", {"label": "web", "word": "404", "weight": 1, "source": "text"})["state"]
        assert state["classes"][0]["keywords"][0]["n_texts"] == 2
        act(desk, "keyword", {"label": "mouse", "word": "mouse", "weight": 1, "source": "text"})
        desk.wait()
        assert [desk.text(k, "anna")["predicted"] for k in range(4)] == [
            ["web"],
            ["web"],
            ["mouse"],
            ["mouse"],
        ]


def test_a_curve_of_other_costs_is_said_to_be_old_and_keeps_its_own_unit(tmp_path):
    with project(tmp_path) as work, Desk(work, n_jobs=1, in_background=False) as desk:
        for number in desk.engine.queue.order[:40].tolist():
            label(desk, {"text": number, "source": "random"})
        desk.wait()
        state = desk.state("anna")
        assert (state["outdated"]["curve"], state["curve_of"]) == (False, "accuracy")
        values = [one["value"] for one in state["curve"]]
        assert values
        assert max(values) <= 1
        state = act(desk, "costs", {"costs": COSTS})["state"]
        assert (state["outdated"]["curve"], state["curve_of"]) == (True, "accuracy")
        assert [one["value"] for one in state["curve"]] == values
        assert "being computed for the new costs" in state["worth"]["text"]
        assert (state["worth"]["gain"], state["worth"]["stop"]) == (None, False)
        desk.wait()
        state = desk.state("anna")
        assert state["outdated"] == {"curve": False, "decisions": False, "classes": False}
        assert state["curve_of"] == "utility"
        assert [one["value"] for one in state["curve"]] != values


def test_costs_move_decisions_at_once(desk):
    name_keywords(desk)
    read(desk, 80)
    desk.wait()
    plain = desk.state("anna")
    assert plain["quality"]["accuracy"] is not None
    assert plain["quality"]["utility_per_1000"] is None
    costs = {"*": {"hit": 1.0, "false_alarm": -20.0, "miss": 0.0, "ask": -0.1}}
    content = {"costs": costs, "minute": 0.5, "currency": "€", "budget": 5}
    state = act(desk, "costs", content)["state"]
    assert state["decisions"]["unsure"] > plain["decisions"]["unsure"]
    assert state["decisions"]["over_budget"] == max(state["decisions"]["unsure"] - 5, 0)
    assert state["quality"]["utility_per_1000"] is not None
    assert all(one["threshold"] is not None for one in state["classes"])
    back = act(desk, "undo", {"act": state["undo"]["act"]})
    assert back["state"]["quality"]["utility_per_1000"] is None


def test_a_repeated_log_gives_the_same_labels_words_and_thresholds(tmp_path):
    with project(tmp_path) as work, Desk(work, n_jobs=1) as desk:
        name_keywords(desk, 2)
        read(desk, 45)
        act(desk, "costs", {"costs": {"*": {"hit": 5.0, "false_alarm": -2.0, "miss": -1.0}}, "minute": None})
        desk.wait()
        first = desk.state("anna")
        assert held(State.replay(work.header, work.acts())) == held(work.state)
    with Project.open(tmp_path / "work.desk") as work, Desk(work, n_jobs=1) as desk:
        desk.wait()
        second = desk.state("anna")
    assert [one["keywords"] for one in second["classes"]] == [one["keywords"] for one in first["classes"]]
    thresholds = [[one["threshold"] for one in state["classes"]] for state in (first, second)]
    assert thresholds[1] == pytest.approx(thresholds[0])
    assert second["worth"] == first["worth"]
    assert [one["n_labels"] for one in second["classes"]] == [one["n_labels"] for one in first["classes"]]


def test_disagreements_find_a_label_that_was_slipped(desk):
    name_keywords(desk, 5)
    read(desk, 60)
    pairs = enumerate(zip(TRAIN.texts, TRAIN.labels, strict=True))
    text = next(i for i, (content, label) in pairs if label == "printing" and "printer" in content.lower())
    act(desk, "label", {"text": text, "labels": ["phishing"], "source": "list", "seconds": None})
    desk.wait()
    found = desk.state("anna")["disagreements"]
    assert text in [one["text"] for one in found[:5]]
    one = next(one for one in found if one["text"] == text)
    assert (one["label"], one["predicted"]) == (["phishing"], ["printing"])


def test_classes_can_be_added_and_renamed(desk):
    read(desk, 10)
    act(desk, "class", {"name": "catering"})
    state = act(desk, "rename", {"name": CLASSES[0], "to": "access"})["state"]
    assert [one["name"] for one in state["classes"]] == ["access", *CLASSES[1:], "catering"]
    assert desk.next("anna")["kind"] in ("text", "word")
    desk.wait()
    assert {one["name"] for one in desk.text(0, "anna")["scores"]} == {"access", *CLASSES[1:], "catering"}


def test_a_desk_without_classes_can_be_opened(tmp_path):
    with Project.create(tmp_path / "w.desk", ["one text", "two texts"]) as work, Desk(work, n_jobs=1) as desk:
        assert desk.next("anna")["kind"] == "text"
        desk.wait()
        act(desk, "class", {"name": "a"})
        act(desk, "class", {"name": "b"})
        act(desk, "label", {"text": 0, "labels": ["a"], "source": "list"})
        act(desk, "label", {"text": 1, "labels": ["b"], "source": "list"})
        desk.wait()
        assert desk.text(0, "anna")["predicted"] == ["a"]
        assert desk.next("anna")["kind"] == "done"


def test_several_labels_a_text(tmp_path):
    texts = TRAIN.texts[:120]
    with (
        Project.create(tmp_path / "w.desk", texts, classes=CLASSES, multilabel=True) as work,
        Desk(work, n_jobs=1) as desk,
    ):
        name_keywords(desk, 2)
        for k in range(40):
            labels = [TRAIN.labels[k]] if k % 5 else []
            act(desk, "label", {"text": k, "labels": labels, "source": "random", "seconds": 2.0})
        act(desk, "costs", {"costs": {"*": {"hit": 2.0, "false_alarm": -1.0, "miss": 0.0}}})
        desk.wait()
        assert desk.engine.work.error is None
        json.dumps(desk.state("anna"), allow_nan=False)
        assert desk.next("anna")["kind"] in ("text", "word")


def test_two_threads_lose_nothing(desk):
    def work(who):
        read(desk, 15, who)

    threads = [threading.Thread(target=work, args=(who,)) for who in ("anna", "ben")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    desk.wait()
    assert desk.engine.work.error is None
    people = {one["name"]: one["n_labels"] for one in desk.state("anna")["people"]}
    assert people == {"anna": 15, "ben": 15}
