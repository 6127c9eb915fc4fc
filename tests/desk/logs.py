"""Acts one after the other, as a project records them, and any that people could do."""

from contextlib import suppress
from copy import deepcopy

from hypothesis import strategies as st

from textmargin.desk.acts import Act
from textmargin.desk.state import State
from textmargin.errors import ActError

HEADER = {"classes": ["a", "b", "c"], "multilabel": False, "n_texts": 6, "given": []}
SEVERAL = {**HEADER, "multilabel": True}
GIVEN = {**HEADER, "given": [("a",), None, ("b",), None, None, None]}


def held(state):
    """All that holds, in its order, to be compared."""
    aside = ("header", "changes", "acts", "version", "_act_of", "_undone", "_given")
    own = {name: value for name, value in vars(state).items() if name not in aside}
    return {name: _in_order(value) for name, value in deepcopy(own).items()}


def _in_order(value):
    return [(key, _in_order(own)) for key, own in value.items()] if isinstance(value, dict) else value


class Log:
    """Acts one after the other, as a project records them."""

    def __init__(self, header=HEADER):
        self.header, self.state, self.acts = header, State(header), []

    def do(self, who, kind, **content):
        number = len(self.acts) + 1
        act = Act(f"act-{number}", who, kind, content).normal()
        self.state.check(act)
        act = Act(act.id, act.annotator, act.kind, act.content, "", number)
        self.state.apply(act)
        self.acts.append(act)
        return act.id

    def label(self, who, text, *labels, source="list", seconds=None):
        return self.do(who, "label", text=text, labels=list(labels), source=source, seconds=seconds)

    def undo(self, who, act):
        return self.do(who, "undo", act=act)


names, texts, who = st.sampled_from("abcd"), st.integers(0, 5), st.sampled_from(["anna", "ben"])
sources = st.sampled_from(["random", "tie", "list"])
COSTS = {"hit": 1, "false_alarm": -1, "miss": 0}
contents = st.one_of(
    st.tuples(
        st.just("label"),
        st.fixed_dictionaries({"text": texts, "labels": st.lists(names, max_size=2), "source": sources}),
    ),
    st.tuples(st.just("skip"), st.fixed_dictionaries({"text": texts})),
    st.tuples(
        st.just("mark"),
        st.fixed_dictionaries({"text": texts, "start": st.integers(0, 2), "end": st.just(4), "label": names}),
    ),
    st.tuples(
        st.just("unmark"),
        st.fixed_dictionaries({"text": texts, "start": st.integers(0, 2), "end": st.just(4), "label": names}),
    ),
    st.tuples(
        st.just("keyword"),
        st.fixed_dictionaries(
            {"label": names, "word": st.sampled_from("xy"), "weight": st.sampled_from([1, -1, 0, None])}
        ),
    ),
    st.tuples(st.just("class"), st.fixed_dictionaries({"name": names})),
    st.tuples(st.just("rename"), st.fixed_dictionaries({"name": names, "to": names})),
    st.tuples(
        st.just("costs"),
        st.fixed_dictionaries(
            {"costs": st.dictionaries(st.sampled_from("abcd*"), st.just(COSTS), max_size=2)}
        ),
    ),
    st.tuples(
        st.just("settle"), st.fixed_dictionaries({"text": texts, "labels": st.lists(names, max_size=2)})
    ),
    st.tuples(st.just("undo"), st.integers(0, 40)),
)


def played(header, steps):
    """A log after each of those steps that fit, undos by the place of the act."""
    log = Log(header)
    for name, (kind, content) in steps:
        if kind == "undo":
            if not log.acts:
                continue
            content = {"act": log.acts[content % len(log.acts)].id}
        with suppress(ActError):
            log.do(name, kind, **content)
        yield log
