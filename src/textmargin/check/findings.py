"""What a check gives: findings, each of a kind, about some rows; plain data, turned into text, a page or a
list elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from .agreement import Agreement


class Kind(NamedTuple):
    """A kind of finding: its name in files, a heading, and what to do about it."""

    name: str
    title: str
    advice: str


# In the order in which they are shown: what makes labels or figures wrong first.
KINDS = [
    Kind(
        "doubtful-label",
        "Labels that held-out scores doubt",
        "Read the first ones again; stop where most labels are right.",
    ),
    Kind(
        "contradiction",
        "The same or nearly the same text under different labels",
        "Decide on one label for each group.",
    ),
    Kind(
        "disagreement",
        "Texts that annotators label differently",
        "Decide together; add what you agreed on to the guidelines.",
    ),
    Kind("annotator", "Annotators who differ from the others", "Look at their texts together with them."),
    Kind(
        "leak",
        "Texts of the test file that are in the training file",
        "Take them out of one of the two; figures flatter.",
    ),
    Kind(
        "giveaway-column",
        "Columns that give the label away",
        "Do not train on them; ask how they came to be filled.",
    ),
    Kind(
        "giveaway-word", "Words that give the label away", "Strip them unless new texts will have them too."
    ),
    Kind("unlabelled", "Texts without a label", "Label some; train learns from the others where that helps."),
    Kind("label-spelling", "Labels that may be one label", "Spell them alike."),
    Kind(
        "few-texts", "Labels with very few texts", "Label more texts of them, or join them to another label."
    ),
    Kind("empty", "Empty texts", "Leave them out."),
    Kind("repeated", "Repeated texts", "Keep one of each."),
    Kind("near-duplicate", "Nearly the same texts", "Keep one of each, or split training and test by group."),
    Kind(
        "mojibake",
        "Characters that were read in a wrong encoding",
        "Export again as UTF-8, or name the file's encoding.",
    ),
    Kind("markup", "HTML in texts", "Take the tags out, also of new texts."),
]
_BEGINNING = 80  # characters of a text in a row
_ORDER = {kind.name: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class Finding:
    """Something that is odd about some rows.

    Attributes
    ----------
    kind : str, a name of `KINDS`
    rows : tuple of int
        The texts it is about, from 0, the first being the one that stands for all.
    label : str
        The label in question; of several they are joined by " | ".
    suggestion : str
        What it might be instead; "" where there is none.
    score : float or None
        How sure that is, or how similar the texts are, 0 to 1, by the kind.
    reason : str, a phrase
    test_rows : tuple of int, rows of the test texts it is about
    """

    kind: str
    rows: tuple[int, ...] = ()
    label: str = ""
    suggestion: str = ""
    score: float | None = None
    reason: str = ""
    test_rows: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class DataCheck:
    """What `check_data` found.

    Attributes
    ----------
    name : str, of the corpus
    n_texts : int
    label_counts : dict, texts of each label
    findings : list of Finding
        By kind, in the order of `KINDS`; within a kind the most telling first.
    noise : float or None
        The estimated share of wrong labels, where texts have one label; see `doubts.py`.
    agreement : Agreement or None, of several annotators
    notes : list of str, what could not be looked for, and why
    ids, test_ids : lists of str, what to call each row: numbers of lines, where texts come from a file
    row_ids : list of str, the user's own ids of the rows; empty where there are none
    texts, test_texts : lists of str, the texts themselves
    """

    name: str
    n_texts: int
    label_counts: dict[str, int]
    findings: list[Finding]
    noise: float | None = None
    agreement: Agreement | None = None
    notes: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    test_ids: list[str] = field(default_factory=list)
    row_ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    test_texts: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind that there are any of."""
        counts = Counter(one.kind for one in self.findings)
        return {kind.name: counts[kind.name] for kind in KINDS if counts[kind.name]}

    def of_kind(self, kind: str) -> list[Finding]:
        """The findings of a kind."""
        return [one for one in self.findings if one.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; rows as `ids` call them, under `lines`."""
        return {
            "corpus": self.name,
            "n_texts": self.n_texts,
            "labels": self.label_counts,
            "counts": self.counts,
            "estimated_noise": self.noise,
            "findings": [self._plain(one) for one in self.findings],
            "agreement": None if self.agreement is None else asdict(self.agreement),
            "notes": self.notes,
        }

    def _plain(self, one: Finding) -> dict[str, Any]:
        plain = {"kind": one.kind, "lines": [self.ids[row] for row in one.rows], **asdict(one)}
        del plain["rows"], plain["test_rows"]
        if self.row_ids:
            plain["ids"] = [self.row_ids[row] for row in one.rows]
        return (
            {**plain, "test_lines": [self.test_ids[row] for row in one.test_rows]} if one.test_rows else plain
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each text of each finding: line, id, kind, label, suggestion, score, reason, text and
        group.

        The text is its beginning, on one line; the group is the finding's first line, which its rows have in
        common.
        """
        rows = []
        for one in self.findings:
            about = {
                "label": one.label,
                "suggestion": one.suggestion,
                "score": one.score,
                "reason": one.reason,
            }
            places = [
                (self.ids[row], self.row_ids[row] if self.row_ids else "", self.texts[row])
                for row in one.rows
            ]
            places += [(f"test {self.test_ids[row]}", "", self.test_texts[row]) for row in one.test_rows]
            group = places[0][0] if places else ""
            for line, own, text in places or [("", "", "")]:
                line_of_text = " ".join(text.split())
                beginning = line_of_text[:_BEGINNING] + "…" * (len(line_of_text) > _BEGINNING)
                rows.append(
                    {"line": line, "id": own, "kind": one.kind, **about, "text": beginning, "group": group}
                )
        return rows

    def __repr__(self) -> str:
        found = ", ".join(f"{n:,} {kind}" for kind, n in self.counts.items())
        return f"DataCheck({self.name!r}: {self.n_texts:,} texts; {found or 'no findings'})"


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By kind; within one as they come."""
    return sorted(findings, key=lambda one: _ORDER[one.kind])
