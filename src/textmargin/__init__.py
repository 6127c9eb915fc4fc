"""Text classification with support vector machines that use what people know, what a mistake costs, and text as it is."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check.data_check import check_data
    from .check.findings import DataCheck
    from .classifier import TextClassifier
    from .config import ModelConfig
    from .datasets.corpus import Corpus
    from .datasets.loading import load_dataset
    from .decisions.baselines import pcut, rcut, scut, select_cost_factors, uneven_margin_threshold
    from .decisions.bootstrap import threshold_interval
    from .decisions.budget import Budget
    from .decisions.drift import DriftMonitor
    from .decisions.rules import beta_gamma_threshold, retrofit_beta, select_beta_gamma, utility_curve
    from .decisions.stream_budget import StreamBudget
    from .decisions.threshold import ThresholdClassifier
    from .decisions.utility import T10SU, T10U, T11SU, FBeta, Utility, macro_average, micro_average, utility_score, utility_scorer
    from .feedback.adapt import adapt
    from .feedback.adaptive_filter import AdaptiveFilter
    from .gram.store import KernelStore
    from .knowledge.contrasts import RationaleContrasts
    from .knowledge.gaze import GazePrior
    from .knowledge.keywords import KeywordPrior
    from .knowledge.rationales import RationalePrior
    from .knowledge.reading import fixations_from_events, reading_measures
    from .knowledge.transfer import ModelPrior
    from .learners.contrasts import Contrasts
    from .learners.cross_fitting import PriorFolds
    from .learners.kernel import KernelSVC
    from .learners.primal import PriorSVC
    from .learners.rocchio import Rocchio
    from .learners.two_view import SVM2K
    from .persistence import load, save
    from .persistence.onnx import export_onnx, token_rows
    from .report.displays import UtilityCurveDisplay
    from .report.html import write_report
    from .report.prior_display import PriorDisplay
    from .representations.bow import BagOfWords
    from .representations.features import KernelLandmarks, SubsequenceFeatures, kernel_alignment
    from .representations.spectrum import SpectrumKernel
    from .representations.strings import SubsequenceKernel
    from .representations.vectorizers import CountVectorizer, TfidfVectorizer
    from .suggestions.findings import Suggestions
    from .suggestions.suggest import suggest

# Where each public name lives. Loaded when first asked for: the command line starts at once, and what needs neither
# scikit-learn nor the compiled core works without them.
_HOMES = {
    "AdaptiveFilter": "feedback.adaptive_filter",
    "BagOfWords": "representations.bow",
    "Budget": "decisions.budget",
    "Contrasts": "learners.contrasts",
    "Corpus": "datasets.corpus",
    "CountVectorizer": "representations.vectorizers",
    "DataCheck": "check.findings",
    "DriftMonitor": "decisions.drift",
    "FBeta": "decisions.utility",
    "GazePrior": "knowledge.gaze",
    "KernelLandmarks": "representations.features",
    "KernelSVC": "learners.kernel",
    "KernelStore": "gram.store",
    "KeywordPrior": "knowledge.keywords",
    "ModelConfig": "config",
    "ModelPrior": "knowledge.transfer",
    "PriorDisplay": "report.prior_display",
    "PriorFolds": "learners.cross_fitting",
    "PriorSVC": "learners.primal",
    "RationaleContrasts": "knowledge.contrasts",
    "RationalePrior": "knowledge.rationales",
    "Rocchio": "learners.rocchio",
    "SVM2K": "learners.two_view",
    "SpectrumKernel": "representations.spectrum",
    "StreamBudget": "decisions.stream_budget",
    "SubsequenceFeatures": "representations.features",
    "SubsequenceKernel": "representations.strings",
    "Suggestions": "suggestions.findings",
    "T10SU": "decisions.utility",
    "T10U": "decisions.utility",
    "T11SU": "decisions.utility",
    "TextClassifier": "classifier",
    "TfidfVectorizer": "representations.vectorizers",
    "ThresholdClassifier": "decisions.threshold",
    "Utility": "decisions.utility",
    "UtilityCurveDisplay": "report.displays",
    "adapt": "feedback.adapt",
    "beta_gamma_threshold": "decisions.rules",
    "check_data": "check.data_check",
    "export_onnx": "persistence.onnx",
    "fixations_from_events": "knowledge.reading",
    "kernel_alignment": "representations.features",
    "load": "persistence",
    "load_dataset": "datasets.loading",
    "macro_average": "decisions.utility",
    "micro_average": "decisions.utility",
    "pcut": "decisions.baselines",
    "rcut": "decisions.baselines",
    "reading_measures": "knowledge.reading",
    "retrofit_beta": "decisions.rules",
    "save": "persistence",
    "scut": "decisions.baselines",
    "select_beta_gamma": "decisions.rules",
    "select_cost_factors": "decisions.baselines",
    "suggest": "suggestions.suggest",
    "threshold_interval": "decisions.bootstrap",
    "token_rows": "persistence.onnx",
    "uneven_margin_threshold": "decisions.baselines",
    "utility_curve": "decisions.rules",
    "utility_score": "decisions.utility",
    "utility_scorer": "decisions.utility",
    "write_report": "report.html",
}

__all__ = [
    "SVM2K",
    "T10SU",
    "T10U",
    "T11SU",
    "AdaptiveFilter",
    "BagOfWords",
    "Budget",
    "Contrasts",
    "Corpus",
    "CountVectorizer",
    "DataCheck",
    "DriftMonitor",
    "FBeta",
    "GazePrior",
    "KernelLandmarks",
    "KernelSVC",
    "KernelStore",
    "KeywordPrior",
    "ModelConfig",
    "ModelPrior",
    "PriorDisplay",
    "PriorFolds",
    "PriorSVC",
    "RationaleContrasts",
    "RationalePrior",
    "Rocchio",
    "SpectrumKernel",
    "StreamBudget",
    "SubsequenceFeatures",
    "SubsequenceKernel",
    "Suggestions",
    "TextClassifier",
    "TfidfVectorizer",
    "ThresholdClassifier",
    "Utility",
    "UtilityCurveDisplay",
    "adapt",
    "beta_gamma_threshold",
    "check_data",
    "export_onnx",
    "fixations_from_events",
    "kernel_alignment",
    "load",
    "load_dataset",
    "macro_average",
    "micro_average",
    "pcut",
    "rcut",
    "reading_measures",
    "retrofit_beta",
    "save",
    "scut",
    "select_beta_gamma",
    "select_cost_factors",
    "suggest",
    "threshold_interval",
    "token_rows",
    "uneven_margin_threshold",
    "utility_curve",
    "utility_score",
    "utility_scorer",
    "write_report",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
