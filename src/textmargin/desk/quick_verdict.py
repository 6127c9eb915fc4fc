"""What labelled texts say of the keywords of a class within a blink, until a round of slow work has weighed
them all.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..labels import Indicator
from ..learners.evidence import Verdict
from ..learners.primal import PriorSVC
from .answers import LabelledTexts
from .corpus import TextColumns
from .keywords import NAMED, KeywordPriors

_FEW_FOR_VERDICT = 4  # labelled texts


def quick_verdict(
    texts: TextColumns, answers: LabelledTexts, knowledge: KeywordPriors, name: str
) -> Verdict | None:
    """On the named words of a class by itself, without unlabelled texts; None where no labelled text can
    speak.
    """
    if len(answers) < _FEW_FOR_VERDICT or not knowledge.priors.size:
        return None
    labels = answers.labels
    problem = 0 if labels.kind == "binary" else labels.index(name)
    positive = answers.signs[:, problem] > 0
    prior = knowledge.priors[problem, NAMED]
    if positive.all() or not positive.any() or not prior.any():
        return None
    rows = texts.X[answers.rows]
    columns = np.flatnonzero((np.bincount(rows.indices, minlength=rows.shape[1]) > 0) | (prior != 0))
    learner = PriorSVC(prior=prior[columns][None, None, :], tol=1e-3, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(rows[:, columns], Indicator(positive[:, None].astype(np.uint8), np.array([0])))
    return next(iter(learner.verdict_), None)
