"""Every table that can be computed, in the order of the papers."""

from __future__ import annotations

from ..errors import TextmarginError, nearest
from .run import Experiment

# name, title, module and function of this folder, minutes on two cores, datasets
_TABLES = """
strings-1 | Table 1: earn by kernel | string_kernels:table_1 | 3 | reuters21578
strings-2 | Table 2: four categories | string_kernels:table_2 | 2 | reuters21578
strings-3 | Table 3: two Medline queries | medline:table_3 | 5 | medline
strings-length | Journal: F1 by length | string_kernels:lengths | 6 | reuters21578
strings-decay | Journal: F1 by decay | string_kernels:decays | 6 | reuters21578
strings-margin | What C and an intercept change | string_kernels:margins | 3 | reuters21578
strings-modapte | Journal: the whole ModApte split | whole_corpus:table | 90 | reuters21578
thresholds-claims | Threshold 0 and beta-gamma | thresholds:claims | 1 | reuters21578
thresholds-positives | T11SU by positives | thresholds:by_positives | 1 | reuters21578
thresholds-costs | Beside asymmetric costs | thresholds:costs | 3 | reuters21578
reading-1 | Table 1: the documents | reading_priors:table_1 | 0.1 | wikipedia25 webqamgaze
reading-2 | Table 2: error of weights | reading_priors:table_2 | 5 | webqamgaze zuco
reading-3 | Table 3: the prior alone | reading_priors:table_3 | 5 | webqamgaze zuco
reading-4 | Table 4: classifiers | reading_priors:table_4 | 5 | webqamgaze zuco
reading-keywords | Keywords in place of gaze | keywords:curve | 5 | wikipedia25
"""


def _experiment(line: str) -> Experiment:
    name, title, function, minutes, data = line.split(" | ")
    paper = "keywords" if name == "reading-keywords" else name.split("-")[0]
    return Experiment(name, paper, title, function, float(minutes), tuple(data.split()))


EXPERIMENTS = {one.name: one for one in map(_experiment, _TABLES.strip().splitlines())}


def experiment(name: str) -> Experiment:
    """One of them by its name."""
    if name not in EXPERIMENTS:
        near = nearest(name, EXPERIMENTS)
        hint = "" if near is None else f" Nearest: {near}."
        raise TextmarginError(f"There is no table {name!r}.{hint} There are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
