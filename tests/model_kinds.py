"""A model of every kind that a file can hold, and the texts and labels they are fitted on."""

import numpy as np
from samples import TOPICS, corpus
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
    strip_accents_unicode,
)
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, chi2, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import textmargin
from textmargin import (
    SVM2K,
    T11SU,
    BagOfWords,
    FBeta,
    KernelLandmarks,
    KernelSVC,
    KeywordPrior,
    ModelPrior,
    PriorSVC,
    RationalePrior,
    Rocchio,
    SpectrumKernel,
    SubsequenceFeatures,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
    beta_gamma_threshold,
)

TEXTS, LABELS = corpus(80)
NEW = [*corpus(30, seed=1)[0], "", "unheard of"]
TWO = np.where(LABELS == "oil", "oil", "other")
MULTILABEL = np.column_stack([LABELS == "oil", np.char.find(TEXTS, "bank") >= 0, LABELS != "money"]).astype(
    int
)
MARKED = [
    ("corn prices rose", [(0, 4, "grain")]),
    ("the bank rose", [(4, 8, "money")]),
    ("crude oil", [(0, 5, "oil")]),
]
EARLIER = TextClassifier().fit(*corpus(30, seed=4))
ABOUT_OIL = TextClassifier().fit(TEXTS, TWO == "oil")


def words(*parts, **slots):
    return TextClassifier(make_pipeline(*parts), **slots)


MODELS = {
    "default": TextClassifier(),
    "log-tf-idf": TextClassifier(
        BagOfWords("log-tf-idf", ngram_range=(1, 2), stop_words=["and"]), learner=PriorSVC(C=0.3)
    ),
    "balanced": TextClassifier(
        learner=PriorSVC(class_weight="balanced", margins=(1.0, 0.5), fit_intercept=False)
    ),
    "costs": TextClassifier(learner=PriorSVC(class_weight={"oil": 3.0})),
    "compiled tf-idf": TextClassifier(textmargin.TfidfVectorizer(ngram_range=(1, 2)), learner=LinearSVC()),
    "compiled counts": TextClassifier(textmargin.CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))),
    "subsequences": TextClassifier(SubsequenceKernel(3)),
    "subsequences, raw": TextClassifier(
        SubsequenceKernel(2, normalize=False, precision="double", weights=[0.5, 1])
    ),
    "subsequences of words": TextClassifier(SubsequenceKernel(1, tokens="word", gap_decay={"oil": 0.9})),
    "spectrum": TextClassifier(SpectrumKernel(2)),
    "own tokens": TextClassifier(learner=KernelSVC(SpectrumKernel(1, tokens=str.split), C=10.0)),
    "kernel and thresholds": TextClassifier(SpectrumKernel(3), decision=ThresholdClassifier(scores="cv")),
    "kernel as columns": TextClassifier(SubsequenceKernel(2), learner=LinearSVC()),
    "spectrum as columns": TextClassifier(SpectrumKernel(2), learner=PriorSVC()),
    "landmarks": TextClassifier(KernelLandmarks(SubsequenceKernel(2), n_landmarks=20, random_state=0)),
    "features": TextClassifier(SubsequenceFeatures(n_features=50)),
    "features of words": TextClassifier(SubsequenceFeatures(1, tokens="word", sparse_output=True)),
    "kernel by name": TextClassifier(learner=KernelSVC("rbf", kernel_params={"gamma": 0.5})),
    "prior scores": KernelSVC(SpectrumKernel(2), prior_scores=EARLIER.decision_function, trust="fixed"),
    "prior scores by class": KernelSVC(SpectrumKernel(2), prior_scores={"oil": ABOUT_OIL.decision_function}),
    "thresholds": TextClassifier(decision=ThresholdClassifier(utility=T11SU)),
    "thresholds by class": TextClassifier(
        decision=ThresholdClassifier(utility={"oil": Utility(5), "grain": FBeta(2.0), "*": T11SU})
    ),
    "thresholds by function": TextClassifier(decision=ThresholdClassifier(rule=beta_gamma_threshold)),
    "thresholds with floors": TextClassifier(decision=ThresholdClassifier(rule="best", min_recall=0.5)),
    "frozen": ThresholdClassifier(FrozenEstimator(EARLIER), scores="train"),
    "rocchio": TextClassifier(learner=Rocchio()),
    "two views": TextClassifier(learner=SVM2K()),
    "two views, rbf": TextClassifier(learner=SVM2K(kernel="rbf")),
    "keywords": TextClassifier(knowledge=KeywordPrior({**TOPICS, "oil": {"crude": 2.0, "/ban./": -1}})),
    "mapping": TextClassifier(
        knowledge={"grain": {"corn": 1.0}}, learner=PriorSVC(trust="ridge", trust_strength=2.0)
    ),
    "marked passages": TextClassifier(knowledge=RationalePrior(MARKED)),
    "marked passages, own analyzer": TextClassifier(
        knowledge=RationalePrior(MARKED, analyzer=BagOfWords().build_analyzer())
    ),
    "earlier model": TextClassifier(knowledge=ModelPrior(EARLIER), learner=PriorSVC(trust="nonneg")),
    "tf-idf": TextClassifier(TfidfVectorizer(), learner=LinearSVC()),
    "hashing": TextClassifier(
        HashingVectorizer(n_features=256), learner=SGDClassifier(average=True, random_state=0)
    ),
    "svd": words(
        CountVectorizer(max_features=50),
        TfidfTransformer(),
        TruncatedSVD(5, random_state=0),
        StandardScaler(),
        learner=RidgeClassifier(),
    ),
    "union": TextClassifier(
        make_union(CountVectorizer(), BagOfWords(analyzer="char", ngram_range=(2, 2), stop_words=None)),
        learner=OneVsRestClassifier(LogisticRegression()),
    ),
    "selection": words(
        CountVectorizer(), SelectKBest(chi2, k=10), MaxAbsScaler(), Normalizer(), learner=MultinomialNB()
    ),
    "shares": words(
        *(
            CountVectorizer(strip_accents=strip_accents_unicode),
            SelectPercentile(f_classif, percentile=50),
            VarianceThreshold(),
        ),
        *(Binarizer(),),
        learner=BernoulliNB(),
    ),
    "pipeline": make_pipeline(TfidfVectorizer(preprocessor=str.lower), ComplementNB()),
    "scaled": make_pipeline(SubsequenceFeatures(), MinMaxScaler(), DummyClassifier()),
}
