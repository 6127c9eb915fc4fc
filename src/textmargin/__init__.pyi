from .check.agreement import Agreement
from .check.data_check import check_data
from .check.findings import DataCheck, Finding
from .classifier import TextClassifier
from .config import ModelConfig
from .datasets.corpus import Corpus
from .datasets.loading import load_dataset
from .decider import Decider, load_decider
from .decisions.budget import Budget
from .decisions.calibration import Calibration
from .decisions.estimate import Estimate
from .decisions.mix import MixEstimate
from .decisions.rules import (
    BetaGamma,
    ThresholdInterval,
    UtilityCurve,
    beta_gamma_threshold,
    retrofit_beta,
    select_beta_gamma,
    threshold_interval,
    utility_curve,
)
from .decisions.scores import HeldOutScores
from .decisions.setting import RankedTexts
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
from .feedback.retune import RetuneResult, retune
from .feedback.store import Feedback, FeedbackStore
from .knowledge.contrasts import RationaleContrasts
from .knowledge.gaze import GazePrior
from .knowledge.keywords import KeywordPrior
from .knowledge.passages import RationalePrior
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

__all__ = [
    "SVM2K",
    "T10SU",
    "T10U",
    "T11SU",
    "AdaptResult",
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
    "Estimate",
    "Explanation",
    "FBeta",
    "Feedback",
    "FeedbackStore",
    "Finding",
    "GazePrior",
    "HeldOutScores",
    "KernelExplanation",
    "KernelLandmarks",
    "KernelSVC",
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
    "read_table",
    "reading_measures",
    "retrofit_beta",
    "retune",
    "save",
    "select_beta_gamma",
    "suggest",
    "summarise",
    "threshold_interval",
    "token_rows",
    "tune",
    "utility_curve",
    "utility_score",
    "utility_scorer",
    "write_report",
]
__version__: str
