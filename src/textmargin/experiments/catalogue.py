"""Every table that can be computed, in the order of the papers."""

from __future__ import annotations

from ..errors import UnknownNameError, nearest
from .run import Experiment

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "strings-1", "strings", "Table 1: earn by kernel", "string_kernels:table_1", 3, ("reuters21578",)
        ),
        Experiment(
            "strings-2", "strings", "Table 2: four categories", "string_kernels:table_2", 2, ("reuters21578",)
        ),
        Experiment(
            "strings-3", "strings", "Table 3: two Medline queries", "medline:table_3", 5, ("medline",)
        ),
        Experiment(
            "strings-length",
            "strings",
            "Journal: F1 by length",
            "string_kernels:lengths",
            6,
            ("reuters21578",),
        ),
        Experiment(
            "strings-decay", "strings", "Journal: F1 by decay", "string_kernels:decays", 6, ("reuters21578",)
        ),
        Experiment(
            "strings-margin",
            "strings",
            "What C and an intercept change",
            "string_kernels:margins",
            3,
            ("reuters21578",),
        ),
        Experiment(
            "strings-modapte",
            "strings",
            "Journal: the whole ModApte split",
            "whole_corpus:table",
            90,
            ("reuters21578",),
        ),
        Experiment(
            "thresholds-claims",
            "thresholds",
            "Threshold 0 and beta-gamma",
            "thresholds:claims",
            1,
            ("reuters21578",),
        ),
        Experiment(
            "thresholds-positives",
            "thresholds",
            "T11SU by positives",
            "thresholds:by_positives",
            1,
            ("reuters21578",),
        ),
        Experiment(
            "thresholds-costs",
            "thresholds",
            "Beside asymmetric costs",
            "thresholds:costs",
            3,
            ("reuters21578",),
        ),
        Experiment(
            "reading-1",
            "reading",
            "Table 1: the documents",
            "reading_priors:table_1",
            0.1,
            ("wikipedia25", "webqamgaze"),
        ),
        Experiment(
            "reading-2",
            "reading",
            "Table 2: error of weights",
            "reading_priors:table_2",
            5,
            ("webqamgaze", "zuco"),
        ),
        Experiment(
            "reading-3",
            "reading",
            "Table 3: the prior alone",
            "reading_priors:table_3",
            5,
            ("webqamgaze", "zuco"),
        ),
        Experiment(
            "reading-4",
            "reading",
            "Table 4: classifiers",
            "reading_priors:table_4",
            5,
            ("webqamgaze", "zuco"),
        ),
        Experiment(
            "reading-keywords", "keywords", "Keywords in place of gaze", "keywords:curve", 5, ("wikipedia25",)
        ),
    )
}


def experiment(name: str) -> Experiment:
    """One of them by its name."""
    if name not in EXPERIMENTS:
        near = nearest(name, EXPERIMENTS)
        hint = "" if near is None else f" Nearest: {near}."
        raise UnknownNameError(f"There is no table {name!r}.{hint} There are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
