"""What decisions on each class are worth: one measure for all, a mapping class → measure, or a list.

Of two classes a decision for one is a decision against the other, so that there is one problem: that of the
positive class. A mapping may name either of them, or both; then the worth of a decision is what both say,
added up.

A mapping that leaves a class out is an error, unless it has a measure under "*", which is for all that are
not named: nobody should find euros added to the points of a default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import LabelError
from ..labels import ClassLabels, listed, shorten
from .utility import Measure, Utility

OTHERS = "*"


def named_positive(utility: Any, labels: ClassLabels) -> Any:
    """Of two classes the only one that a mapping names; None where there is no such."""
    if labels.kind != "binary" or not isinstance(utility, Mapping) or OTHERS in utility:
        return None
    known = [name for name in labels.names.tolist() if name in utility]
    return known[0] if len(known) == 1 else None


def measures_of(
    utility: Measure | Mapping[Any, Measure] | Sequence[Measure], labels: ClassLabels
) -> list[Measure]:
    """A measure per problem, of two classes that of the positive one."""
    if isinstance(utility, Mapping):
        for name, measure in utility.items():
            if not callable(measure):
                raise LabelError(
                    f"The utility of {name!r} is {measure!r:.60}; give a Utility, such as Utility(tp=5, "
                    "fp=-1)."
                )
        return (
            _of_two(utility, labels) if labels.kind == "binary" else list(_of_each(utility, labels).values())
        )
    if callable(utility):
        return [utility] * labels.n_problems
    if len(utility) != labels.n_problems:
        raise LabelError(
            f"utility has {len(utility)} measures, but there are {labels.n_problems} thresholds to set."
        )
    return list(utility)


def measures_by_class(utility: Any, labels: ClassLabels) -> dict[Any, Measure | None]:
    """The measure of each class, for reports; None where nothing is said of one."""
    names = labels.names.tolist()
    if utility is None:
        return dict.fromkeys(names)
    if isinstance(utility, Mapping):
        if labels.kind == "binary":
            _require_known(utility, labels)
            return {name: utility.get(name, utility.get(OTHERS)) for name in names}
        return dict(_of_each(utility, labels))
    measures = measures_of(utility, labels)
    if labels.kind == "binary":
        return {name: measures[0] if k == labels.positive else None for k, name in enumerate(names)}
    return dict(zip(names, measures, strict=True))


def _of_each(utility: Mapping[Any, Measure], labels: ClassLabels) -> dict[Any, Measure]:
    _require_known(utility, labels)
    names = labels.names.tolist()
    missing = [name for name in names if name not in utility]
    if missing and OTHERS not in utility:
        raise LabelError(
            f"The utility (costs) says nothing of {shorten(missing, 3)}; add a line for each, or "
            f"{OTHERS!r} for all that are not "
            f"named."
        )
    return {name: utility[name] if name in utility else utility[OTHERS] for name in names}


def _of_two(utility: Mapping[Any, Measure], labels: ClassLabels) -> list[Measure]:
    _require_known(utility, labels)
    names = labels.names.tolist()
    own, other = (utility.get(names[k], utility.get(OTHERS)) for k in (labels.positive, 1 - labels.positive))
    if isinstance(other, Utility):  # who is not accepted for the positive class is accepted for the other
        turned = Utility(tp=other.tn, fp=other.fn, fn=other.fp, tn=other.tp, ask=other.ask)
        if own is None:
            return [turned]
        if isinstance(own, Utility):
            prices = [one.ask for one in (own, turned) if one.ask is not None]  # one look tells of both
            ask = min(prices) if prices else None
            return [
                Utility(own.tp + turned.tp, own.fp + turned.fp, own.fn + turned.fn, own.tn + turned.tn, ask)
            ]
    if own is None:
        raise LabelError(
            f"The utility names {names[1 - labels.positive]!r} alone, but {names[labels.positive]!r} is "
            f"looked for, and {other} "
            f"does not add up; name that one."
        )
    return [own]


def _require_known(utility: Mapping[Any, Measure], labels: ClassLabels) -> None:
    names = labels.names.tolist()
    unknown = [name for name in utility if name not in names and name != OTHERS]
    if unknown:
        raise LabelError(
            f"The utility (costs) names {unknown[0]!r}, which is not among the classes: "
            f"{listed(unknown[0], names)}"
        )
    if not utility:
        raise LabelError("The utility names no class.")
