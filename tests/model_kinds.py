"""A model of every kind that a file can hold, and the texts and labels they are fitted on."""

import numpy as np
from samples import TOPICS, corpus

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
    RationaleContrasts,
    RationalePrior,
    Rocchio,
    SpectrumKernel,
    SubsequenceFeatures,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    Utility,
)

TEXTS, LABELS = corpus(80)
NEW = [*corpus(30, seed=1)[0], "", "unheard of", "corn \ud800 Öl İstanbul 1987 😡"]
TWO = np.where(LABELS == "oil", "oil", "other")
MULTILABEL = np.column_stack([LABELS == "oil", LABELS == "grain"]).astype(int)
FORMS = {
    "two": TWO,
    "two, the first rarer": np.where(np.arange(len(LABELS)) % 4 == 0, "early", "late"),
    "numbers": np.where(LABELS == "oil", 1, 0),
    "truth values": LABELS == "oil",
    "several": LABELS,
    "objects": LABELS.astype(object),
    "sets": [
        (label, "all") if label == "oil" else (label,) if row % 5 else () for row, label in enumerate(LABELS)
    ],
    "indicator": MULTILABEL,
}
MARKED = [(" ".join(words), [(0, len(words[0]), topic)]) for topic, words in TOPICS.items()]
EARLIER = TextClassifier().fit(*corpus(30, seed=4))
ASKING = ThresholdClassifier(utility=Utility(tp=1, fp=-4, fn=-2, ask=-0.4))
BY_CLASS = {"oil": Utility(5), "grain": FBeta(2.0), "*": T11SU}

# What decides by words and weights alone, and has a `decider_`.
LINEAR = {
    "default": TextClassifier(),
    "costs": TextClassifier(decision=ThresholdClassifier(utility=Utility(tp=3, fp=-1))),
    "asking": TextClassifier(decision=ASKING),
    "floors": TextClassifier(decision=ThresholdClassifier(rule="best", min_recall=0.5)),
    "tf-idf, no norm": TextClassifier(BagOfWords("tf-idf", norm=None)),
    "pairs": TextClassifier(BagOfWords("count", ngram_range=(1, 2), stop_words=["and"], numbers="exact")),
    "papers' words": TextClassifier(BagOfWords(analyzer="letters")),
    "characters": TextClassifier(BagOfWords(analyzer="char_wb", ngram_range=(2, 4))),
    "vocabulary": TextClassifier(BagOfWords(vocabulary=["corn", "oil", "bank", "exports fell"])),
    "rocchio": TextClassifier(learner=Rocchio()),
    "learner": TextClassifier(learner=PriorSVC(C=0.3, class_weight="balanced", margins=(1.0, 0.5))),
}
KNOWLEDGE = {
    "keywords": TextClassifier(knowledge=KeywordPrior({**TOPICS, "oil": {"crude": 2.0, "/ban./": -1}})),
    "weights": TextClassifier(knowledge={"grain": {"corn": 1.0}}, learner=PriorSVC(trust="ridge")),
    "passages": TextClassifier(knowledge=RationalePrior(MARKED, analyzer=BagOfWords())),
    "contrasts": TextClassifier(knowledge=[KeywordPrior(TOPICS), RationaleContrasts(MARKED)]),
    "earlier model": TextClassifier(knowledge=ModelPrior(EARLIER)),
    "costs by class": TextClassifier(decision=ThresholdClassifier(utility=BY_CLASS)),
}
OTHERS = {
    "sparse weights": TextClassifier(learner=PriorSVC(sparse_coef=True)),
    "subsequences": TextClassifier(SubsequenceKernel(3, progress=False)),
    "subsequences, raw": TextClassifier(
        SubsequenceKernel(2, normalize=False, precision="double", weights=[0.5, 1])
    ),
    "subsequences of words": TextClassifier(SubsequenceKernel(1, tokens="word", gap_decay={"oil": 0.9})),
    "spectrum, thresholds": TextClassifier(SpectrumKernel(3), decision=ThresholdClassifier(scores="cv")),
    "kernel as columns": TextClassifier(SpectrumKernel(2), learner=PriorSVC()),
    "landmarks": TextClassifier(KernelLandmarks(SubsequenceKernel(2), n_landmarks=20, random_state=0)),
    "features": TextClassifier(SubsequenceFeatures(n_features=50)),
    "features of words": TextClassifier(SubsequenceFeatures(1, tokens="word", sparse_output=True)),
    "kernel by name": TextClassifier(learner=KernelSVC("rbf", kernel_params={"gamma": 0.5})),
    "two views": TextClassifier(learner=SVM2K()),
    "two views, rbf": TextClassifier(learner=SVM2K(kernel="rbf")),
}
