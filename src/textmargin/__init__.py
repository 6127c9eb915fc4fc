"""Text classification with support vector machines that use what people know, what a mistake costs, and text as it is."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check.agreement import Agreement
    from .check.data_check import check_data
    from .check.findings import DataCheck, Finding
    from .classifier import TextClassifier
    from .config import ModelConfig
    from .datasets.corpus import Corpus
    from .datasets.loading import load_dataset
    from .decider import Decider, load_decider
    from .decisions.baselines import pcut, rcut, scut, select_cost_factors, uneven_margin_threshold
    from .decisions.bootstrap import ThresholdInterval, threshold_interval
    from .decisions.budget import Budget
    from .decisions.calibration import Calibration
    from .decisions.drift import DriftAlarm, DriftMonitor
    from .decisions.estimate import Estimate
    from .decisions.mix import MixEstimate
    from .decisions.rules import BetaGamma, UtilityCurve, beta_gamma_threshold, retrofit_beta, select_beta_gamma, utility_curve
    from .decisions.scores import HeldOutScores
    from .decisions.setting import RankedTexts
    from .decisions.stream_budget import StreamBudget
    from .decisions.threshold import ThresholdClassifier
    from .decisions.utility import (
        T10SU,
        T10U,
        T11SU,
        ClassAverage,
        FBeta,
        Utility,
        macro_average,
        micro_average,
        utility_score,
        utility_scorer,
    )
    from .feedback.adapt import AdaptResult, adapt
    from .feedback.adaptive_filter import AdaptiveFilter, FilterDecision
    from .feedback.retune import RetuneResult, retune
    from .feedback.store import Feedback, FeedbackStore
    from .gram.store import KernelStore
    from .knowledge.contrasts import RationaleContrasts
    from .knowledge.gaze import GazePrior
    from .knowledge.keywords import KeywordPrior
    from .knowledge.rationales import RationalePrior
    from .knowledge.reading import fixations_from_events, reading_measures
    from .knowledge.transfer import ModelPrior
    from .knowledge.vocabulary import VocabularyMatch
    from .labels import Decisions
    from .learners.contrasts import Contrasts
    from .learners.cross_fitting import PriorFolds
    from .learners.evidence import Disagreement, Verdict
    from .learners.explanation import Contribution, Explanation, KernelExplanation
    from .learners.kernel import KernelSVC
    from .learners.primal import PriorSVC
    from .learners.rocchio import Rocchio
    from .learners.two_view import SVM2K
    from .persistence import load, save
    from .persistence.onnx import export_onnx, token_rows
    from .report.content import Report
    from .report.displays import UtilityCurveDisplay
    from .report.html import write_report
    from .report.prior_display import PriorDisplay
    from .report.summary import Summary, summarise
    from .representations.bow import BagOfWords
    from .representations.features import KernelLandmarks, SubsequenceFeatures, kernel_alignment
    from .representations.spectrum import SpectrumKernel
    from .representations.strings import SubsequenceKernel
    from .representations.vectorizers import CountVectorizer, TfidfVectorizer
    from .suggestions.findings import Split, Strike, Suggestions, WordEvidence
    from .suggestions.suggest import suggest
    from .tables.reader import read_table
    from .tables.row_reader import LabelledTable
    from .tuning import Tuning, tune

# Where each public name lives. Loaded when first asked for: the command line starts at once, and what needs neither
# scikit-learn nor the compiled core works without them.
_HOMES = {
    "AdaptResult": "feedback.adapt",
    "AdaptiveFilter": "feedback.adaptive_filter",
    "Agreement": "check.agreement",
    "BagOfWords": "representations.bow",
    "BetaGamma": "decisions.rules",
    "Budget": "decisions.budget",
    "Calibration": "decisions.calibration",
    "ClassAverage": "decisions.utility",
    "Contrasts": "learners.contrasts",
    "Contribution": "learners.explanation",
    "Corpus": "datasets.corpus",
    "CountVectorizer": "representations.vectorizers",
    "DataCheck": "check.findings",
    "Decider": "decider",
    "Decisions": "labels",
    "Disagreement": "learners.evidence",
    "DriftAlarm": "decisions.drift",
    "DriftMonitor": "decisions.drift",
    "Estimate": "decisions.estimate",
    "Explanation": "learners.explanation",
    "FBeta": "decisions.utility",
    "Feedback": "feedback.store",
    "FeedbackStore": "feedback.store",
    "FilterDecision": "feedback.adaptive_filter",
    "Finding": "check.findings",
    "GazePrior": "knowledge.gaze",
    "HeldOutScores": "decisions.scores",
    "KernelExplanation": "learners.explanation",
    "KernelLandmarks": "representations.features",
    "KernelSVC": "learners.kernel",
    "KernelStore": "gram.store",
    "KeywordPrior": "knowledge.keywords",
    "LabelledTable": "tables.row_reader",
    "MixEstimate": "decisions.mix",
    "ModelConfig": "config",
    "ModelPrior": "knowledge.transfer",
    "PriorDisplay": "report.prior_display",
    "PriorFolds": "learners.cross_fitting",
    "PriorSVC": "learners.primal",
    "RankedTexts": "decisions.setting",
    "RationaleContrasts": "knowledge.contrasts",
    "RationalePrior": "knowledge.rationales",
    "Report": "report.content",
    "RetuneResult": "feedback.retune",
    "Rocchio": "learners.rocchio",
    "SVM2K": "learners.two_view",
    "SpectrumKernel": "representations.spectrum",
    "Split": "suggestions.findings",
    "StreamBudget": "decisions.stream_budget",
    "Strike": "suggestions.findings",
    "SubsequenceFeatures": "representations.features",
    "SubsequenceKernel": "representations.strings",
    "Suggestions": "suggestions.findings",
    "Summary": "report.summary",
    "T10SU": "decisions.utility",
    "T10U": "decisions.utility",
    "T11SU": "decisions.utility",
    "TextClassifier": "classifier",
    "TfidfVectorizer": "representations.vectorizers",
    "ThresholdClassifier": "decisions.threshold",
    "ThresholdInterval": "decisions.bootstrap",
    "Tuning": "tuning",
    "Utility": "decisions.utility",
    "UtilityCurve": "decisions.rules",
    "UtilityCurveDisplay": "report.displays",
    "Verdict": "learners.evidence",
    "VocabularyMatch": "knowledge.vocabulary",
    "WordEvidence": "suggestions.findings",
    "adapt": "feedback.adapt",
    "beta_gamma_threshold": "decisions.rules",
    "check_data": "check.data_check",
    "export_onnx": "persistence.onnx",
    "fixations_from_events": "knowledge.reading",
    "kernel_alignment": "representations.features",
    "load": "persistence",
    "load_dataset": "datasets.loading",
    "load_decider": "decider",
    "macro_average": "decisions.utility",
    "micro_average": "decisions.utility",
    "pcut": "decisions.baselines",
    "rcut": "decisions.baselines",
    "read_table": "tables.reader",
    "reading_measures": "knowledge.reading",
    "retrofit_beta": "decisions.rules",
    "retune": "feedback.retune",
    "save": "persistence",
    "scut": "decisions.baselines",
    "select_beta_gamma": "decisions.rules",
    "select_cost_factors": "decisions.baselines",
    "suggest": "suggestions.suggest",
    "summarise": "report.summary",
    "threshold_interval": "decisions.bootstrap",
    "token_rows": "persistence.onnx",
    "tune": "tuning",
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
    "AdaptResult",
    "AdaptiveFilter",
    "Agreement",
    "BagOfWords",
    "BetaGamma",
    "Budget",
    "Calibration",
    "ClassAverage",
    "Contrasts",
    "Contribution",
    "Corpus",
    "CountVectorizer",
    "DataCheck",
    "Decider",
    "Decisions",
    "Disagreement",
    "DriftAlarm",
    "DriftMonitor",
    "Estimate",
    "Explanation",
    "FBeta",
    "Feedback",
    "FeedbackStore",
    "FilterDecision",
    "Finding",
    "GazePrior",
    "HeldOutScores",
    "KernelExplanation",
    "KernelLandmarks",
    "KernelSVC",
    "KernelStore",
    "KeywordPrior",
    "LabelledTable",
    "MixEstimate",
    "ModelConfig",
    "ModelPrior",
    "PriorDisplay",
    "PriorFolds",
    "PriorSVC",
    "RankedTexts",
    "RationaleContrasts",
    "RationalePrior",
    "Report",
    "RetuneResult",
    "Rocchio",
    "SpectrumKernel",
    "Split",
    "StreamBudget",
    "Strike",
    "SubsequenceFeatures",
    "SubsequenceKernel",
    "Suggestions",
    "Summary",
    "TextClassifier",
    "TfidfVectorizer",
    "ThresholdClassifier",
    "ThresholdInterval",
    "Tuning",
    "Utility",
    "UtilityCurve",
    "UtilityCurveDisplay",
    "Verdict",
    "VocabularyMatch",
    "WordEvidence",
    "adapt",
    "beta_gamma_threshold",
    "check_data",
    "export_onnx",
    "fixations_from_events",
    "kernel_alignment",
    "load",
    "load_dataset",
    "load_decider",
    "macro_average",
    "micro_average",
    "pcut",
    "rcut",
    "read_table",
    "reading_measures",
    "retrofit_beta",
    "retune",
    "save",
    "scut",
    "select_beta_gamma",
    "select_cost_factors",
    "suggest",
    "summarise",
    "threshold_interval",
    "token_rows",
    "tune",
    "uneven_margin_threshold",
    "utility_curve",
    "utility_score",
    "utility_scorer",
    "write_report",
]
__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
