"""Acts in their order, and which of them hold: an act is undone while an undo of it holds, and an undo is an act too."""

from __future__ import annotations

from collections.abc import Iterator

from .acts import Act

STEPS = ("label", "skip", "mark", "unmark", "keyword", "class", "rename", "costs", "settle")  # that stepping back undoes


class History:
    """All acts that were recorded.

    Attributes
    ----------
    acts : list of Act
    """

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self._places: dict[str, int] = {}  # id → place among the acts
        self._undos: dict[str, list[str]] = {}  # id → ids of the undos of it

    def add(self, act: Act) -> None:
        """One more."""
        self._places[act.id] = len(self.acts)
        self.acts.append(act)
        if act.kind == "undo":
            self._undos.setdefault(act.content["act"], []).append(act.id)

    def find(self, act_id: str) -> Act | None:
        """The act of this id, undone or not."""
        place = self._places.get(act_id)
        return None if place is None else self.acts[place]

    def holds(self, act_id: str) -> bool:
        """Whether an act is not undone."""
        chain = [act_id]
        results: dict[str, bool] = {}
        while chain:  # by hand: an undo of an undo of … may be nested deeper than calls may
            undos = self._undos.get(chain[-1], [])
            unknown = next((undo for undo in undos if undo not in results), None)
            if unknown is not None:
                chain.append(unknown)
            else:
                own = chain.pop()
                results[own] = not any(results[undo] for undo in undos)
        return results[act_id]

    def active(self) -> Iterator[Act]:
        """Those that hold, undos aside."""
        undone = {target for target in self._undos if not self.holds(target)}
        return (act for act in self.acts if act.kind != "undo" and act.id not in undone)

    def last(self, annotator: str) -> Act | None:
        """The last step of an annotator that holds."""
        own = (act for act in reversed(self.acts) if act.annotator == annotator and act.kind in STEPS)
        return next((act for act in own if self.holds(act.id)), None)

    def last_undo(self, annotator: str) -> Act | None:
        """The last undo of a step by an annotator that holds, where no step was taken since."""
        for act in reversed(self.acts):
            target = self.find(act.content["act"]) if act.kind == "undo" else None
            brings_back = target is not None and target.kind == "undo"
            if act.annotator == annotator and act.kind in ("undo", *STEPS) and not brings_back and self.holds(act.id):
                return act if act.kind == "undo" else None
        return None
