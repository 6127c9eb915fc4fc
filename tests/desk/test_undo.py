"""Undo takes back what was done since, and no more: it is the fold of all acts that hold, whichever acts
these are.
"""

import time

import numpy as np
from desk.logs import GIVEN, HEADER, SEVERAL, Log, contents, held, played, who
from hypothesis import given, settings
from hypothesis import strategies as st

from textmargin.desk.acts import FILE
from textmargin.desk.answers import AnswerTable
from textmargin.desk.state import State

steps = st.lists(st.tuples(who, contents), max_size=40)
headers = st.sampled_from([HEADER, SEVERAL, GIVEN])
ORDER = np.array([3, 1, 5, 0, 2, 4])


def holding(acts):
    """The acts that hold, by the definition: an act is undone while an undo of it holds."""
    undone = set()
    for act in reversed(acts):
        if act.kind == "undo" and act.id not in undone:
            undone.add(act.content["act"])
    return [act for act in acts if act.kind != "undo" and act.id not in undone]


@settings(max_examples=80, deadline=None)
@given(steps=steps, header=headers)
def test_an_undo_at_any_point_is_the_fold_from_the_start(steps, header):
    for log in played(header, steps):
        acts = log.state.acts
        assert held(log.state) == held(State.replay(header, acts))
        assert held(log.state) == held(State.replay(header, holding(acts)))
        for name in ("anna", "ben"):
            assert log.state.last(name) == State.replay(header, acts).last(name)
        assert log.state.version == len(log.acts)


@settings(max_examples=80, deadline=None)
@given(steps=steps, header=headers)
def test_answers_are_what_their_definition_says_after_each_act(steps, header):
    table = None
    for log in played(header, steps):
        state = log.state
        table = table or AnswerTable(state, ORDER)
        now = table.now()
        expected = {}
        for text in range(6):
            agreed = {frozenset(label.labels) for label in state.labels.get(text, {}).values()}
            if text in state.settled or len(agreed) == 1:
                expected[text] = {*state.settled[text]} if text in state.settled else {*next(iter(agreed))}
        assert {text: {*own} for text, own in state.answers().items()} == expected
        first = {
            text: min((one.number for one in state.labels.get(text, {}).values()), default=0)
            for text in expected
        }
        assert now.rows.tolist() == sorted(expected, key=lambda text: (first[text], text))
        assert now.labels.names.tolist() == state.classes
        assert [{state.classes[k] for k in np.flatnonzero(row)} for row in now.member] == [
            expected[row] for row in now.rows.tolist()
        ]
        assert now.given.tolist() == [{*state.labels.get(row, ())} == {FILE} for row in now.rows.tolist()]
        last = max((ORDER.tolist().index(text) for text in state.random_texts()), default=-1)
        assert now.sample.tolist() == [ORDER.tolist().index(row) <= last for row in now.rows.tolist()]


def test_undo_with_a_hundred_thousand_given_labels_is_soon_done():
    """It took a third of a second when each label was laid down anew."""
    header = {**HEADER, "n_texts": 100_000, "given": [("a",)] * 100_000}
    log, order = Log(header), np.arange(100_000)
    table = AnswerTable(log.state, order)
    table.now()
    times = []
    for _ in range(5):
        act = log.label("anna", 7, "b")
        log.label("ben", 8, "b")
        begin = time.perf_counter()
        log.undo("anna", act)
        now = table.now()
        times.append(time.perf_counter() - begin)
        assert len(now) == 99_999
        assert 8 not in now.rows
    assert min(times) < 0.15
