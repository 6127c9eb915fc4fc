"""Parts that are whole, but not what their class says of them, do not come in."""

import numpy as np
import pytest
import scipy.sparse as sp
from model_files import changed, forge, kept, set_of
from samples import corpus
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, MultiLabelBinarizer

from textmargin import (
    T10U,
    BagOfWords,
    KernelSVC,
    KeywordPrior,
    PriorSVC,
    SpectrumKernel,
    SubsequenceFeatures,
    SubsequenceKernel,
    TextClassifier,
    ThresholdClassifier,
    load,
)
from textmargin.errors import ModelFileError
from textmargin.representations._vocabulary import Vocabulary

TEXTS, LABELS = corpus(80)

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.TextmarginWarning")


@pytest.mark.parametrize(
    ("block", "ends", "message"),
    [
        (b"corn", [[1, 4]], "no vector of int64"),
        (b"corn", [1.0, 4.0], "no vector of int64"),
        (b"corn", [3, 2, 4], "do not end one after the other"),
        (b"corn", [-1, 4], "do not end one after the other"),
        (b"corn", [2, 3], "do not end one after the other"),
        (b"corn", [2, 2**62], "do not end one after the other"),
        (b"", [], None),
        (b"corn\xff", [4, 5], "not UTF-8"),
        ("\ud800oat".encode("utf-8", "surrogatepass"), [3, 6], None),
        ("köln".encode(), [2, 5], "end within a character"),
        (b"cornoatcorn", [4, 7, 11], "stands twice"),
        (b"a\0a", [2, 3], None),
        (b"corn", [0, 0, 4], "stands twice"),
    ],
)
def test_vocabulary_that_is_no_list_of_terms(block, ends, message, tmp_path):
    ends = np.array(ends, dtype=None if ends else np.int64)
    model = BagOfWords()
    model._vocabulary = Vocabulary(np.frombuffer(block, dtype=np.uint8), ends)
    forge(model, tmp_path / "model.tmm")
    if message is None:
        assert [*load(tmp_path / "model.tmm").vocabulary_.values()] == [*range(len(ends))]
    else:
        with pytest.raises(ModelFileError, match=f"has a BagOfWords with a vocabulary .*{message}"):
            load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (
            "estimator",
            None,
            "has a ThresholdClassifier that cannot be: The 'estimator' parameter of ThresholdClassifier "
            "must be",
        ),
        ("utility", SpectrumKernel(2), "has a ThresholdClassifier whose utility is a SpectrumKernel"),
    ],
)
def test_settings_of_a_fitted_threshold_classifier_failed_when_costs_came(setting, value, message, tmp_path):
    model = TextClassifier(decision=ThresholdClassifier()).fit(TEXTS[:20], LABELS[:20])
    setattr(model.model_, setting, value)
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("rule", np.float32, "rule is the type float32"),
        ("rule", T10U, "rule is Utility.* sets no threshold"),
        ("rule", chi2, "rule is chi2, which sets no threshold"),
        ("random_state", -1, "random_state"),
        ("utility", chi2, "utility is a function"),
    ],
)
def test_rules_that_cannot_set_a_threshold_failed_when_costs_came(setting, value, message, tmp_path):
    test_settings_of_a_fitted_threshold_classifier_failed_when_costs_came(setting, value, message, tmp_path)


def test_a_decision_that_is_none_failed_when_costs_came(tmp_path):
    model = TextClassifier(decision=ThresholdClassifier()).fit(TEXTS[:20], LABELS[:20])
    model.decision = model.learner_
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(
        ModelFileError, match="decision is a PriorSVC, where it decides by a ThresholdClassifier"
    ):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("analyzer", ["word", str.split])
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("strip_accents", np.float32, "strip_accents is the type float32"),
        ("strip_accents", T10U, "strip_accents is a Utility"),
        ("preprocessor", str.split, "preprocessor is split, which makes a list of a text"),
        ("preprocessor", chi2, "preprocessor is chi2, which fails on a text"),
        ("preprocessor", BagOfWords().build_analyzer(), "preprocessor is a partial"),
        ("tokenizer", chi2, "tokenizer is chi2, which fails on a text"),
        ("tokenizer", PriorSVC().predict, "tokenizer is a method"),
        ("tokenizer", 5, "tokenizer is a int"),
        ("analyzer", T10U, "analyzer is a Utility"),
    ],
)
def test_functions_of_something_else_failed_on_texts(setting, value, message, analyzer, tmp_path):
    words = BagOfWords(analyzer=analyzer).fit(TEXTS[:20])
    setattr(words, setting, value)
    forge(words, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a BagOfWords whose {message}"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("setting", ["tokenizer", "preprocessor", "analyzer"])
def test_a_method_in_the_place_of_a_tokenizer_was_called_when_loaded(setting, tmp_path):
    """Here it would make a folder that the file names."""
    letters = MultiLabelBinarizer().fit([list("Crème brûlée 12")])
    svm = KernelSVC("linear").fit(letters.transform(["abc"] * 10 + ["rem"] * 10), [0] * 10 + [1] * 10)
    svm.cache = str(tmp_path / "made")
    words = BagOfWords()
    setattr(words, setting, Pipeline([("letters", letters), ("svm", svm)]).decision_function)
    forge(words, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a BagOfWords whose {setting} is a method"):
        load(tmp_path / "model.tmm")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("tokenizer", [str.lower, str.split])
def test_functions_that_make_tokens_of_a_text_may_be_kept(tokenizer, tmp_path):
    model = CountVectorizer(tokenizer=tokenizer, token_pattern=None).fit(TEXTS)
    assert kept(model, tmp_path).vocabulary_ == model.vocabulary_


@pytest.mark.parametrize("progress", [T10U, "yes", 3])
@pytest.mark.parametrize("kind", [SubsequenceKernel, SpectrumKernel, SubsequenceFeatures])
def test_a_progress_that_nobody_can_be_told_failed_after_two_seconds(kind, progress, tmp_path):
    forge(kind(progress=progress), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a {kind.__name__} whose progress is a"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize(
    "classes", [np.array(["grain", "money"]), ["grain", "money", "oil"], np.array(["grain"] * 3)]
)
@pytest.mark.parametrize("learner", [ComplementNB(), LogisticRegression()])
def test_classes_of_scikit_learn_that_are_not_those_of_its_weights_failed_in_predict(
    learner, classes, tmp_path
):
    model = TextClassifier(learner=learner).fit(TEXTS, LABELS)
    model.model_.classes_ = classes
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(
        ModelFileError, match=f"has a {type(learner).__name__} whose .*(classes_|feature_log_prob_|coef_)"
    ):
        load(tmp_path / "model.tmm")


def test_a_union_that_says_yes_or_no_by_an_array_failed_in_explain(tmp_path):
    both = FeatureUnion(
        [("words", BagOfWords()), ("counts", CountVectorizer())], verbose_feature_names_out=np.arange(3)
    )
    forge(both, tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="has a FeatureUnion whose verbose_feature_names_out is a"):
        load(tmp_path / "model.tmm")


def test_a_part_of_a_pipeline_that_is_not_fitted_failed_in_explain(tmp_path):
    model = TextClassifier(make_pipeline(CountVectorizer(), Binarizer())).fit(TEXTS, LABELS)
    del model.representation_[-1].n_features_in_
    forge(model, tmp_path / "model.tmm")
    with pytest.raises(
        ModelFileError, match=r"cannot decide on a text .*This Binarizer instance is not fitted"
    ):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("n_jobs", [0, False])
def test_no_thread_at_all_failed_in_predict(n_jobs, tmp_path):
    forge(SubsequenceKernel(3, n_jobs=n_jobs), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match=f"has a SubsequenceKernel whose n_jobs is {n_jobs}"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_sparse_matrices_that_point_outside(part, tmp_path):
    X = sp.csr_matrix(np.eye(3))
    getattr(X, part)[-1] = 10**6
    forge(KeywordPrior(X), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="cannot be built"):
        load(tmp_path / "model.tmm")


def test_a_sparse_matrix_without_numbers_whose_rows_end_before_they_begin_crashed_the_process(tmp_path):
    """What scipy takes for empty, by the end of the last row, it does not look at further."""
    X = sp.csr_matrix(np.eye(3))
    X.indptr[1:] = 10**8, 2, 0
    forge(KeywordPrior(X), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="a sparse matrix whose rows end before they begin"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("n_features", [0, -5, 2**40])
def test_numbers_that_compiled_code_would_trip_over(n_features, tmp_path):
    forge(HashingVectorizer(n_features=n_features), tmp_path / "model.tmm")
    with pytest.raises(ModelFileError, match="The 'n_features' parameter of HashingVectorizer must be"):
        load(tmp_path / "model.tmm")


@pytest.mark.parametrize("value", [None, "1", {"tuple": [1, 2]}])
def test_utility_of_something_else_than_numbers(value, sample, refuses):
    refuses(
        changed(sample[0], set_of("Utility", "tp", value)), "has a Utility whose tp is a (NoneType|str|tuple)"
    )
