"""Numbers in docs are those of the stored results, and papers' numbers those of `published.toml`."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from textmargin.experiments import keywords
from textmargin.experiments._recordings import SETS
from textmargin.experiments.reproduce import load_result
from textmargin.experiments.table import published
from textmargin.experiments.thresholds import DEFAULT, ORACLE, ZERO

ROOT = Path(__file__).parents[2]
TOPICS = list(published("strings", "documents"))


@cache
def rows_of(name):
    """Row → column → value of a stored result."""
    return load_result(name, ROOT / "docs" / "results").table.rows


def numbers_of(name):
    """Row → column → our number of a stored result."""
    return {
        row: {column: value.ours for column, value in values.items()} for row, values in rows_of(name).items()
    }


def short(number, decimals=3):
    """.925 for 0.925."""
    return f"{number:.{decimals}f}".removeprefix("0")


def table_after(page, heading):
    """The first table behind some words: head, then the first cell of a row → the other cells, without bold
    type.
    """
    text = (ROOT / page).read_text()
    lines = text[text.index(heading) :].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    cells = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip() for cell in line.replace("**", "").strip("|").split("|")])
    head, _, *rows = cells
    return head[1:], {row[0]: row[1:] for row in rows}


def test_measured_page_on_keywords():
    sizes, rows = table_after("docs/measured.md", "## What keywords do")
    columns = ("plain", "free", "auto", "wrong keywords, auto")
    assert sizes == list(map(str, keywords.SIZES))
    for (name, cells), column in zip(rows.items(), columns, strict=True):
        assert cells == [short(rows_of("reading-keywords")[size][column].ours) for size in sizes], name


def test_knowledge_page_on_keywords():
    _, rows = table_after("docs/knowledge.md", "## Do keywords help?")
    columns = ("plain", "prior alone", "free", "nonneg", "ridge", "fixed", "auto", "wrong keywords, auto")
    for size, cells in rows.items():
        assert cells == [short(rows_of("reading-keywords")[size][column].ours) for column in columns], size


def test_knowledge_page_on_reading():
    _, rows = table_after("docs/knowledge.md", "## From reading to weights")
    prior, classifiers = rows_of("reading-3"), rows_of("reading-4")
    trusts = load_result("reading-4", ROOT / "docs" / "results").table.details["other trusts"]
    for name, cells in zip(SETS, rows.values(), strict=True):
        row = f"{name}: mean"
        one, two = (
            {column: value.ours for column, value in table[row].items()} for table in (prior, classifiers)
        )
        numbers = {**two, **trusts[row], "free": two["prior SVM"]}
        pairs = [(one["prior"], one["length and idf"])]
        pairs += [
            (numbers[trust], numbers[f"length and idf: {trust}"])
            for trust in ("free", "ridge", "fixed", "auto")
        ]
        singles = [one["chance"], numbers["plain SVM"], numbers["SVM-2K"]]
        assert cells == [f"{number:.1f}" for number in singles] + [f"{a:.1f} / {b:.1f}" for a, b in pairs], (
            name
        )


@pytest.mark.parametrize(
    ("row", "claims", "costs"),
    [
        ("threshold 0", ZERO, None),
        ("parameter-free on leave-one-out scores (default)", DEFAULT, "thresholds, leave-one-out scores"),
        (
            "parameter-free on training scores (the paper's way)",
            "parameter-free, training scores",
            "thresholds, training scores",
        ),
        ("oracle", ORACLE, None),
        ("asymmetric costs, 8 factors × 5 folds", None, "asymmetric costs"),
        ("asymmetric costs and parameter-free", None, "both"),
    ],
)
def test_measured_page_on_thresholds(row, claims, costs):
    head, rows = table_after("docs/measured.md", "## What thresholds do")
    cells = dict(zip(head, rows[row], strict=True))
    for values in (rows_of("thresholds-claims").get(claims, {}), rows_of("thresholds-costs").get(costs, {})):
        for column in ("T11SU", "macro F1", "micro F1"):
            assert column not in values or cells[column] == short(values[column].ours)
        if "topics not hurt" in values:
            assert cells["topics not hurt"] == f"{values['topics not hurt'].ours:.0%}".replace("%", " %")
        if "seconds" in values:
            seconds = values["seconds"].ours
            assert cells["seconds beyond training"] == f"{seconds:.{0 if seconds > 10 else 1}f}"


def test_measured_page_on_string_kernels():
    head, rows = table_after("docs/measured.md", "## What string kernels do")
    assert head == TOPICS
    for row, cells in rows.items():
        measure, name = row.split(", ")
        values = [
            rows_of("strings-2")[f"{topic}, {'W-K' if name == 'words' else '5 S-K'}"][measure]
            for topic in TOPICS
        ]
        decimals = 3 if measure == "F1" else 0
        assert cells == [
            f"{short(value.ours, decimals)} ({short(value.published, decimals)})" for value in values
        ], row
    ours, theirs = (
        [rows[f"{topic}, W-K"]["F1"] - rows[f"{topic}, 5 S-K"]["F1"] for topic in TOPICS]
        for rows in (numbers_of("strings-2"), published("strings", "2"))
    )
    ahead = min(ours) > 0 > max(theirs)
    claim = "Words are ahead on all four topics here, where the paper has subsequences ahead"
    assert (claim in (ROOT / "docs/measured.md").read_text()) == ahead


def test_measured_page_on_the_whole_split():
    text = " ".join((ROOT / "docs/measured.md").read_text().split())
    mean = {
        column: (short(value.ours), value.published)
        for column, value in rows_of("strings-modapte")["mean of these"].items()
    }
    match = re.search(
        r"largest topics (\S+), its approximation by 3,000 substrings (\S+) \(published: (\S+)\), 4-grams "
        r"(\S+) \((\S+)\), "
        r"words (\S+) \((\S+)\);",
        text,
    )
    expected = [mean["exact SSK"][0]]
    for column in ("approximate SSK", "4-grams", "words"):
        expected += [mean[column][0], short(mean[column][1])]
    assert list(match.groups()) == expected


def test_measured_page_on_maps_has_the_papers_means():
    head, rows = table_after("docs/measured.md", "Maps for linear learners")
    assert head[-1] == "published mean"
    theirs = published("strings", "modapte").values()
    mean = {
        name: short(np.mean([row[name] for row in theirs]))
        for name in ("words", "4-grams", "approximate SSK")
    }
    assert rows["words"][-1] == mean["words"]
    assert (
        rows["3,000 substrings of 5, gaps allowed"][-1]
        == f"{mean['approximate SSK']} (approximate), {mean['4-grams']} (4-grams)"
    )
