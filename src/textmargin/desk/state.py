"""What holds now: the fold, in their order, of all acts that are not undone.

An act is undone while an undo of it holds; an undo is an act too, so that undoing it brings the act back. An
undo folds all acts that hold anew. It is refused where a later act of somebody would hang in the air without
the one that is undone: a label of a class that would not be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from ..errors import ActError
from .acts import OTHERS, Act
from .contents import Contents, Label, Mark, mark_of

__all__ = ["Label", "Mark", "State"]


class State(Contents):
    """Labels, marks, keywords and costs that hold.

    Parameters
    ----------
    header : mapping
        `classes`, `multilabel`, `n_texts`, and `given`: the labels that came with the texts, a tuple, or None
        for a text without; empty where no text has any.

    Attributes
    ----------
    classes : list of str
    multilabel : bool, whether a text may have several labels, or none
    n_texts : int
    labels : dict text → annotator → Label
    settled : dict text → labels that were settled
    marks : dict text → list of Mark
    keywords : dict class → word → 1.0, -1.0, or 0.0 for one that says nothing
    costs : dict class or "*" → hit, false_alarm, miss and perhaps ask
    minute : float or None, what a minute of a reader costs
    currency : str
    budget : int or None, how many texts a day people can look at
    changes : list of int, texts whose labels may have changed, in the order of the changes; it only grows
    acts : list of Act, all that were recorded, undone ones too, in their order
    version : int, the number of the last one; 0 before the first

    Examples
    --------
    >>> from textmargin.desk.acts import Act
    >>> from textmargin.desk.state import State
    >>> state = State({"classes": ["ham", "spam"], "multilabel": False, "n_texts": 2, "given": []})
    >>> spam = {"text": 1, "labels": ["spam"], "source": "random", "seconds": 2.5}
    >>> ham = {"text": 1, "labels": ["ham"], "source": "tie", "seconds": None}
    >>> state.apply(Act("a", "anna", "label", spam, number=1))
    >>> state.apply(Act("b", "ben", "label", ham, number=2))
    >>> state.answer(1), state.conflicts(), sorted(state.random_texts())
    (None, [1], [1])
    >>> state.apply(Act("c", "ben", "undo", {"act": "b"}, number=3))
    >>> state.answers()
    {1: ('spam',)}
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        super().__init__(header)
        self.multilabel: bool = header["multilabel"]
        self.n_texts: int = header["n_texts"]
        self.acts: list[Act] = []
        self._act_of: dict[str, Act] = {}
        self._undone: set[str] = set()

    @classmethod
    def replay(cls, header: Mapping[str, Any], acts: Iterable[Act]) -> Self:
        """What holds after some acts, which were recorded in this order."""
        state = cls(header)
        state.acts = list(acts)
        state._act_of = {act.id: act for act in state.acts}
        state._fold_all()
        return state

    def apply(self, act: Act) -> None:
        """Take in one more act, which was checked and recorded."""
        self.acts.append(act)
        self._act_of[act.id] = act
        if act.kind == "undo":
            self._fold_all()
        else:
            self.fold(act)

    def check(self, act: Act) -> None:
        """ActError where an act, in its normal form, does not fit what was done before."""
        if act.kind == "undo":
            self._check_undo(act)
            return
        self.check_names(act)
        text: int = act.content.get("text", 0)
        if text >= self.n_texts:
            raise ActError(f"there is no text {text}; they are numbered 0 to {self.n_texts - 1}.")
        if act.kind == "unmark" and mark_of(act.content) not in self.marks.get(text, []):
            place = f"{act.content['start']} to {act.content['end']}"
            raise ActError(f"text {text} has no passage {place} that is marked for {act.content['label']!r}.")
        if act.kind == "costs":
            self._check_costs(act.content["costs"])
        if act.kind in ("label", "settle") and not self.multilabel and len(act.content["labels"]) != 1:
            raise ActError(
                f"a text of this project has one label; got {act.content['labels']!r:.60}. Choose one, or "
                "skip the text."
            )

    def act(self, act_id: str) -> Act | None:
        """The act of this id, undone or not."""
        return self._act_of.get(act_id)

    def last(self, annotator: str) -> Act | None:
        """What one step back undoes: the last act of an annotator that holds; undos are no steps."""
        own = (act for act in reversed(self.acts) if act.annotator == annotator and act.kind != "undo")
        return next((act for act in own if act.id not in self._undone), None)

    @property
    def version(self) -> int:
        """The number of the last act."""
        return self.acts[-1].number if self.acts else 0

    def _check_costs(self, costs: Mapping[str, Any]) -> None:
        """That costs say something of every class; of two it may be one."""
        missing = [name for name in self.classes if name not in costs]
        of_two = not self.multilabel and len(self.classes) == 2 and len(missing) == 1
        if costs and missing and OTHERS not in costs and not of_two:
            raise ActError(
                f"costs say nothing of {missing[0]!r:.60}; give its own, or those of all other classes "
                f"({OTHERS!r})."
            )

    def _fold_all(self) -> None:
        """Fold all acts that hold, from the first on."""
        labels, answers = self.labels, self._answers
        self._undone = _undone(self.acts)
        self._begin()
        for act in self.acts:
            if act.kind != "undo" and act.id not in self._undone:
                self.fold(act)
        self.changes += [
            text
            for text in labels.keys() | self.labels.keys()
            if labels.get(text) is not self.labels.get(text) or answers.get(text) != self._answers.get(text)
        ]

    def _check_undo(self, act: Act) -> None:
        target = self.act(act.content["act"])
        if target is None:
            raise ActError(f"there is no act {act.content['act']!r} to undo.")
        if target.annotator != act.annotator:
            raise ActError(
                f"this {target.kind!r} is {target.annotator}'s; only {target.annotator} can undo it."
            )
        if target.id in self._undone:
            raise ActError(f"this {target.kind!r} is undone already; to bring it back, undo the undo.")
        if target.kind not in ("class", "rename", "undo"):
            return  # nothing can hang on it
        trial, undone = Contents(self.header), _undone([*self.acts, act])
        for one in self.acts:
            if one.kind == "undo" or one.id in undone:
                continue
            try:
                trial.check_names(one)
            except ActError as error:
                built = f"{one.annotator} built on it: {one.summary}"
                raise ActError(f"it cannot be undone, for {built}. Undo that first.") from error
            trial.fold(one)


def _undone(acts: list[Act]) -> set[str]:
    """The ids of acts that do not hold; of two undos the later one is looked at first."""
    found: set[str] = set()
    for act in reversed(acts):
        if act.kind == "undo" and act.id not in found:
            found.add(act.content["act"])
    return found
