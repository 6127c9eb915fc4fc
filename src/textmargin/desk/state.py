"""What holds now: the fold, in their order, of all acts that are not undone.

An act is undone while an undo of it holds; an undo is an act too, so that undoing it brings the act back. An
undo takes back the acts from the one that is undone on and folds those that hold again: it costs what was
done since, whatever came before. It is refused where a later act of somebody would hang in the air without
the one that is undone: a label of a class that would not be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from ..errors import ActError, nearest
from ._history import History
from .acts import OTHERS, Act
from .contents import Contents, Label, Mark

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
    changes : list of int, texts whose labels changed, in the order of the changes; it only grows
    n_acts : int, all that were recorded, undone ones too
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
        self._history = History()
        self.multilabel: bool = header["multilabel"]
        self.n_texts: int = header["n_texts"]

    @classmethod
    def replay(cls, header: Mapping[str, Any], acts: Iterable[Act]) -> Self:
        """What holds after some acts, which were recorded in this order."""
        state = cls(header)
        for act in acts:
            state._history.add(act)
        state._fold_from(0)
        return state

    def apply(self, act: Act) -> None:
        """Take in one more act, which was checked and recorded."""
        self._history.add(act)
        if act.kind == "undo":
            self._fold_from(self._history.root(act))
            return
        self._fold(len(self._history.acts) - 1, act)

    def check(self, act: Act) -> None:
        """ActError where an act, in its normal form, does not fit what was done before."""
        if act.kind == "undo":
            self._check_undo(act)
            return
        self._check_names(act)
        text: int = act.content.get("text", 0)
        if text >= self.n_texts:
            raise ActError(f"there is no text {text}; they are numbered 0 to {self.n_texts - 1}.")
        if act.kind == "unmark" and Mark(
            *(act.content[name] for name in ("start", "end", "label"))
        ) not in self.marks.get(text, []):
            place = f"{act.content['start']} to {act.content['end']}"
            raise ActError(f"text {text} has no passage {place} that is marked for {act.content['label']!r}.")
        if act.kind == "costs":
            self._check_costs(act.content["costs"])
        if act.kind in ("label", "settle") and not self.multilabel and len(act.content["labels"]) != 1:
            raise ActError(
                f"a text of this project has one label; got {act.content['labels']!r:.60}. Choose one, or "
                "skip the text."
            )

    def last_undo(self, annotator: str) -> Act | None:
        """What one step forth undoes: the last undo of an annotator that holds, where nothing else was done
        since.
        """
        return self._history.last_undo(annotator)

    def act(self, act_id: str) -> Act | None:
        """The act of this id, undone or not."""
        return self._history.find(act_id)

    def holds(self, act_id: str) -> bool:
        """Whether an act is not undone."""
        return self._history.holds(act_id)

    def acts(self) -> list[Act]:
        """All that were recorded, in their order; with `replay` the same state again, which nobody
        changes.
        """
        return list(self._history.acts)

    @property
    def n_acts(self) -> int:
        """How many were recorded."""
        return len(self._history.acts)

    @property
    def version(self) -> int:
        """The number of the last act."""
        return self._history.acts[-1].number if self._history.acts else 0

    def _twin(self, name: str, renamed: str | None) -> str | None:
        """The class that is called so, capitals aside; one that is renamed may change its own."""
        others = (one for one in self.classes if one != renamed or one == name)
        return next((one for one in others if one.casefold() == name.casefold()), None)

    def _check_costs(self, costs: Mapping[str, Any]) -> None:
        """That costs say something of every class; of two it may be one."""
        missing = [name for name in self.classes if name not in costs]
        of_two = not self.multilabel and len(self.classes) == 2 and len(missing) == 1
        if costs and missing and OTHERS not in costs and not of_two:
            raise ActError(
                f"costs say nothing of {missing[0]!r:.60}; give its own, or those of all other classes "
                f"({OTHERS!r})."
            )

    def _fold_from(self, place: int, strict: bool = False) -> None:
        """Take back all acts from a place on, and fold those that hold; with `strict` ActError where one
        hangs in the air.
        """
        self._journal.roll_back(place)
        for at, act in self._history.active(place):
            if strict:
                try:
                    self._check_names(act)
                except ActError as error:
                    raise ActError(
                        f"it cannot be undone, for {act.annotator} built on it: {_summary(act)}. Undo "
                        "that first."
                    ) from error
            self._fold(at, act)

    def _check_undo(self, act: Act) -> None:
        target = self.act(act.content["act"])
        if target is None:
            raise ActError(f"there is no act {act.content['act']!r} to undo.")
        if target.annotator != act.annotator:
            raise ActError(
                f"this {target.kind!r} is {target.annotator}'s; only {target.annotator} can undo it."
            )
        if not self.holds(target.id):
            raise ActError(f"this {target.kind!r} is undone already; to bring it back, undo the undo.")
        if target.kind not in ("class", "rename", "undo"):
            return  # nothing can hang on it
        self._history.add(act)
        place = self._history.root(act)
        try:
            self._fold_from(place, strict=True)
        finally:
            self._history.drop_last()
            self._fold_from(place)

    def _check_names(self, act: Act) -> None:
        """That the classes that an act speaks of are there."""
        content = act.content
        names: list[str] = content.get("labels", [])
        if act.kind in ("mark", "unmark", "keyword"):
            names = [content["label"]]
        elif act.kind == "costs":
            names = [name for name in content["costs"] if name != OTHERS]
        elif act.kind == "rename":
            names = [content["name"]]
        stranger = next((name for name in names if name not in self.classes), None)
        if stranger is not None:
            near = nearest(stranger, self.classes)
            meant = "add it first" if near is None else f"did you mean {near!r}?"
            raise ActError(f"{stranger!r:.60} is none of the classes ({_listed(self.classes)}); {meant}")
        new = (
            content.get("name")
            if act.kind == "class"
            else content.get("to")
            if act.kind == "rename"
            else None
        )
        twin = None if new is None else self._twin(new, content["name"] if act.kind == "rename" else None)
        if twin is not None:
            alike = "" if twin == new else f", and {new!r:.60} differs from it in capitals alone"
            raise ActError(f"there is a class {twin!r:.60} already{alike}; choose another name.")


def _listed(names: list[str]) -> str:
    return (
        ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        if names
        else "there is none yet"
    )


def _summary(act: Act) -> str:
    shown = {
        name: value
        for name, value in act.content.items()
        if name in ("text", "labels", "label", "word", "name", "to")
    }
    return f"{act.kind} {', '.join(f'{name} {value!r:.40}' for name, value in shown.items())}".strip()
