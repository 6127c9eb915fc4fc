"""A report as one page that works offline: its data, and a script that draws them.

Nothing of a text is ever markup. What stands in the page itself is escaped by the template; all else is in
one block of JSON, where `<`, `>` and `&` are written as numbers, and the script puts it into the page as
text. A policy in the page lets no other script run and nothing be fetched, whatever a text holds.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from .._system.writing import write_whole
from ..classifier import TextClassifier
from ..datasets.corpus import Corpus
from ..decisions.estimate import Estimate
from ..decisions.utility import Measure
from .content import Report, report_content

# Characters that could end a block of data, that scripts of old took for ends of lines, or that UTF-8 does
# not know.
_ESCAPES = {code: f"\\u{code:04x}" for code in (*map(ord, "<>&\u2028\u2029"), *range(0xD800, 0xE000))}
_NOT_IN_HTML = dict.fromkeys(
    [*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0xD800, 0xE000)], "\ufffd"
)


def write_report(
    model: TextClassifier,
    corpus: Corpus,
    path: str | os.PathLike[str],
    utility: Measure | Mapping[str, Measure] | None = None,
    **sizes: int,
) -> Report:
    """Write what a model does on a corpus, and why, as one HTML file that works offline; whole or not at all.

    Parameters
    ----------
    model : TextClassifier, fitted
    corpus : Corpus, with labels; texts that the model was not trained on
    path : where the page goes
    utility, **sizes : as in `report_content`

    Returns
    -------
    report : Report, what the page shows as plain data

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from textmargin import TextClassifier, load_dataset, write_report
    >>> desk = load_dataset("desk")
    >>> train = desk.part("train")
    >>> model = TextClassifier().fit(train.texts, train.labels)
    >>> with TemporaryDirectory() as folder:
    ...     report = write_report(model, desk.part("test"), Path(folder) / "report.html", n_bootstrap=0)
    >>> report.summary.n_texts == len(desk.part("test"))
    True
    """
    report = report_content(model, corpus, utility, **sizes)
    write_page(report, path)
    return report


def write_page(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page of a report, whole or not at all."""
    write_whole({Path(path): to_html(report).encode()})


def to_html(report: Report) -> str:
    """The page."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"share": _share, "number": _number, "plain": _plain, "expected": _expected}
    script = _own("page.js")
    return environment.from_string(_own("page.html.jinja")).render(
        report=report,
        data=as_block(report.to_dict()),
        style=_own("page.css"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
    )


def as_block(data: Any) -> str:
    """JSON that may stand inside a script element, whatever its strings hold; NaN and infinity are
    refused.
    """
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _own(name: str) -> str:
    return (files("textmargin.report") / name).read_text(encoding="utf-8")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:,.2f}"
    return shown.replace("-", "−")


def _expected(ends: tuple[float, float, float], estimate: Estimate, n_texts: int) -> str:
    """A utility of so many texts, with its interval, from one per 1,000, or from a mean over classes."""
    value, low, high = (_number(end * n_texts / 1000 if estimate.per_1000 else end) for end in ends)
    return f"{value} ({low} to {high})"


def _plain(text: str) -> str:
    """Without the control characters that HTML does not know."""
    return text.translate(_NOT_IN_HTML)
