"""The page of all stored results, and the plots on it."""

from __future__ import annotations

import math
import os
from io import BytesIO
from pathlib import Path

from .._system.writing import write_whole
from ..errors import ResultError, install_hint
from .rendering import to_markdown
from .reproduce import load_results
from .result import Result

_OPENING = """# The papers' tables, next to ours

Generated from stored results in `{results}` by `textmargin reproduce`; nothing here is typed by hand. \
A gap is
ours less the paper's. `textmargin reproduce` lists the tables, `textmargin reproduce NAME` computes one.
"""


def write_page(results: str | os.PathLike[str], page: str | os.PathLike[str]) -> list[Path]:
    """Write all stored results to a Markdown page, plots as SVG files beside it; the files that were
    written.
    """
    page, all_results = Path(page), load_results(results)
    if not all_results:
        raise ResultError(
            f"There are no stored results in {Path(results)}; compute some first: textmargin reproduce NAME."
        )
    sections = [_OPENING.format(results=Path(results), page=page)]
    contents: dict[Path, bytes] = {}
    for result in all_results:
        sections.append(to_markdown(result))
        if result.name in _PLOTS:
            picture = page.with_name(f"{result.name}.svg")
            contents[picture] = plot(result)
            sections.append(f"![{result.title}]({picture.name})\n")
    contents[page] = "\n".join(sections).encode()
    try:
        write_whole(contents)
    except OSError as error:
        raise ResultError(f"{page} could not be written: {error.strerror}. Nothing was changed.") from error
    return list(contents)


def plot(result: Result) -> bytes:
    """F1 by length or decay, ours as lines, the paper's as dashes, as SVG."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ResultError(f"The page has plots, which need matplotlib: {install_hint('plot')}.") from error

    prefix, label = _PLOTS[result.name]
    rows = {
        float(name.removeprefix(prefix)): row
        for name, row in result.table.rows.items()
        if _is_number(name.removeprefix(prefix))
    }
    places = range(len(rows))
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for number, topic in enumerate(result.table.columns):
        values = [row[topic] for row in rows.values()]
        axes.errorbar(
            places,
            [_or_nan(v.ours) for v in values],
            [v.spread or 0 for v in values],
            color=f"C{number}",
            marker="o",
            ms=4,
            capsize=2,
            label=topic,
        )
        axes.plot(
            places, [_or_nan(v.published) for v in values], color=f"C{number}", linestyle="--", linewidth=1
        )
    axes.set_xticks(places, [f"{value:g}" for value in rows])
    axes.set(xlabel=label, ylabel="F1", title=f"{result.title}: ours (lines) and the paper's (dashes)")
    axes.legend(fontsize="small")
    drawn = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "textmargin"}):  # the same result gives the same file
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


_PLOTS = {"strings-length": ("SSK ", "length k"), "strings-decay": ("", "decay λ; 0: n-grams")}


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
