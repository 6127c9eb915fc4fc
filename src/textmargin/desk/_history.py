"""Acts in their order, and which of them hold: an act is undone while an undo of it holds, and an undo is an
act too.
"""

from __future__ import annotations

from collections.abc import Iterator

from .acts import Act

# that stepping back undoes
STEPS = ("label", "skip", "mark", "unmark", "keyword", "class", "rename", "costs", "settle")


class History:
    """All acts that were recorded.

    Attributes
    ----------
    acts : list of Act
    """

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self._places: dict[str, int] = {}  # id → place among the acts
        self._n_undos: dict[str, int] = {}  # id → how many undos of it hold

    def add(self, act: Act) -> None:
        """One more."""
        self._places[act.id] = len(self.acts)
        self.acts.append(act)
        if act.kind == "undo" and self.holds(act.id):
            self._count(act, 1)

    def drop_last(self) -> None:
        """Forget the last one."""
        act = self.acts.pop()
        del self._places[act.id]
        if act.kind == "undo" and self.holds(act.id):
            self._count(act, -1)

    def find(self, act_id: str) -> Act | None:
        """The act of this id, undone or not."""
        place = self._places.get(act_id)
        return None if place is None else self.acts[place]

    def holds(self, act_id: str) -> bool:
        """Whether an act is not undone."""
        return not self._n_undos.get(act_id)

    def root(self, act: Act) -> int:
        """The place of the act that an undo, or an undo of an undo, is about; that of the act itself where it
        is none.
        """
        while act.kind == "undo":
            target = self.find(act.content["act"])
            if target is None:
                return len(self.acts)
            act = target
        return self._places[act.id]

    def active(self, first: int = 0) -> Iterator[tuple[int, Act]]:
        """Those from a place on that hold, undos aside, each with its place."""
        for place in range(first, len(self.acts)):
            act = self.acts[place]
            if act.kind != "undo" and self.holds(act.id):
                yield place, act

    def last(self, annotator: str) -> Act | None:
        """The last step of an annotator that holds."""
        own = (act for act in reversed(self.acts) if act.annotator == annotator and act.kind in STEPS)
        return next((act for act in own if self.holds(act.id)), None)

    def last_undo(self, annotator: str) -> Act | None:
        """The last undo of a step by an annotator that holds, where no step was taken since."""
        for act in reversed(self.acts):
            target = self.find(act.content["act"]) if act.kind == "undo" else None
            brings_back = target is not None and target.kind == "undo"
            if (
                act.annotator == annotator
                and act.kind in ("undo", *STEPS)
                and not brings_back
                and self.holds(act.id)
            ):
                return act if act.kind == "undo" else None
        return None

    def _count(self, undo: Act, change: int) -> None:
        """An undo holds from now on (1), or no longer (−1), and so does, in turn, what its act undoes
        itself.
        """
        while True:
            target = undo.content["act"]
            before = self.holds(target)
            self._n_undos[target] = self._n_undos.get(target, 0) + change
            now, act = self.holds(target), self.find(target)
            if before == now or act is None or act.kind != "undo":
                return
            undo, change = act, 1 if now else -1
