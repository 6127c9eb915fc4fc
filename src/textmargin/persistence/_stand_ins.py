"""Values to stand-ins for a model's parts: no class of scikit-learn's kind is imported, which takes a second.

A stand-in has exactly the attributes that `save` writes of its class. What only classes can tell, and
whatever is wrong, is left to `Builder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from .. import __version__
from ._building import Builder
from ._making import stand_in
from ._seal import Refused

# Classes that need NumPy alone are built, here as there.
_LIGHT = ("Calibration", "ClassLabels", "FBeta", "HeldOutScores", "ScaledUtility", "Utility", "Verdict")

# Of the others: parameters, which all must be there, and what `fit` may add.
ATTRIBUTES = {
    "BagOfWords": (
        "weight norm stop_words language numbers lowercase strip_accents token_pattern ngram_range "
        "analyzer preprocessor "
        "tokenizer min_df max_df max_features vocabulary extra_terms n_jobs",
        "_analysis_values _term_block _term_ends fixed_vocabulary_ idf_ language_ n_texts_",
    ),
    "KeywordPrior": ("keywords lowercase file_name word_vectors", ""),
    "ModelPrior": ("model terms file_name", ""),
    "PriorSVC": (
        "C prior trust trust_strength class_weight margins fit_intercept tol max_iter warm_start "
        "sparse_coef n_jobs",
        "_anchors _training classes_ coef_ intercept_ multilabel_ n_features_in_ n_iter_ prior_ trust_ "
        "trust_mode_ verdict_",
    ),
    "RationalePrior": ("rationales analyzer min_count", ""),
    "Rocchio": ("positive negative", "classes_ coef_ intercept_ multilabel_ n_features_in_"),
    "TextClassifier": (
        "representation knowledge learner decision classes positive shares multilabel",
        "_shares _unlabelled _verdicts classes_ knowledge_ labels_ metadata_ model_ representation_ "
        "text_digests_",
    ),
    "ThresholdClassifier": (
        "estimator utility rule beta gamma scores n_folds few_positives min_precision min_recall "
        "always_answer unsure_label "
        "pos_label random_state n_jobs",
        "_calibration _held_out always_answer_ ask_thresholds_ beta_ classes_ estimator_ gamma_ "
        "multilabel_ n_features_in_ "
        "pos_label_ thresholds_",
    ),
}


def stand_in_of(values: list[Any], arrays: list[NDArray[Any]], versions: Mapping[str, str]) -> Any | None:
    """The stand-in for a model; None where it has to be built, if only to learn what is wrong with it."""
    if versions["textmargin"] != __version__:  # parameters may be missing
        return None
    try:
        return _StandInBuilder(values, arrays, versions).model()
    except Exception:
        return None


class _StandInBuilder(Builder):
    """From values and arrays to stand-ins; refuses what needs classes: functions, methods, sparse
    matrices.
    """

    def _check_object(self, name: Any, state: dict[str, Any]) -> None:
        if name in _LIGHT:
            super()._check_object(name, state)
            return
        parameters, learnt = (set(names.split()) for names in ATTRIBUTES[name])
        if not parameters <= state.keys() <= parameters | learnt:
            raise Refused(f"has a {name} with other attributes")

    def _object(self, name: str, state: dict[str, Any]) -> Any:
        return super()._object(name, state) if name in _LIGHT else stand_in(name, state)

    def _finish(self, model: Any) -> Any:
        return model

    def _sparse(self, kind: str, content: Any, shape: Any) -> Any:
        raise Refused("has a sparse matrix, which is SciPy's")

    _builders = {
        kind: build for kind, build in Builder._builders.items() if kind not in ("method", "analyzer")
    }
    _scalars = {kind: build for kind, build in Builder._scalars.items() if kind != "function"}
