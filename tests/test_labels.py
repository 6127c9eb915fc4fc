"""Labels in every form people have them: what is learnt, what comes back, and what is refused in words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from textmargin import T10U, PriorSVC, TextClassifier, ThresholdClassifier, Utility, load
from textmargin._label_forms import decode, describe, encode
from textmargin.decisions.class_utilities import measures_by_class, measures_of
from textmargin.errors import LabelError

TEXTS = [
    "wheat and corn",
    "corn exports",
    "bank rates",
    "rates and the dollar",
    "oil prices",
    "oil and the dollar",
] * 3
NAMES = ["grain", "grain", "money", "money", "oil", "oil"] * 3
SETS = [("grain",), ("grain", "trade"), ("money",), ("money",), ("oil",), ("money", "oil")] * 3
COLUMNS = ["grain", "money", "oil", "trade"]
MATRIX = np.array([[name in own for name in COLUMNS] for own in SETS], dtype=int)


def plain(values):
    return [
        tuple(own) if isinstance(own, list | tuple | set | frozenset | np.ndarray) else own for own in values
    ]


@pytest.mark.parametrize(
    "wrap", [list, tuple, np.array, pd.Series, pl.Series, lambda y: np.array(y, dtype=object), pd.Categorical]
)
def test_names_come_back_as_names(wrap):
    model = TextClassifier().fit(TEXTS, wrap(NAMES))
    assert model.classes_.tolist() == ["grain", "money", "oil"]
    assert model.predict(TEXTS).tolist() == NAMES


@pytest.mark.parametrize(
    "names", [[3, 1, 2], [0, 1], [True, False], [-1, 1], [2.0, 5.0], ["b", "a"], ["10", "9"]]
)
def test_numbers_and_truth_values_come_back_as_what_they_were(names):
    words = ["harvest", "interest", "barrel"][: len(names)]
    model = TextClassifier(learner=PriorSVC(C=1e6)).fit(words * 6, names * 6)
    decided = model.predict(words)
    assert decided.tolist() == names
    assert {type(one) for one in decided.tolist()} == {type(names[0])}


@pytest.mark.parametrize("own", [list, tuple, set, frozenset])
@pytest.mark.parametrize("wrap", [list, pd.Series, lambda y: np.array([*y, None], dtype=object)[:-1]])
def test_sets_of_names_come_back_as_tuples(own, wrap):
    model = TextClassifier(learner=PriorSVC(C=1e6)).fit(TEXTS, wrap([own(one) for one in SETS]))
    assert model.classes_.tolist() == COLUMNS
    assert model.predict(TEXTS).tolist() == SETS
    assert model.score(TEXTS, SETS) == 1.0


@pytest.mark.parametrize(
    "wrap",
    [
        np.array,
        lambda y: np.array(y).tolist(),
        lambda y: np.array(y, dtype=bool),
        sp.csr_matrix,
        sp.csr_array,
        pd.DataFrame,
    ],
)
def test_an_indicator_comes_back_as_an_indicator(wrap):
    model = TextClassifier(learner=PriorSVC(C=1e6), classes=COLUMNS).fit(TEXTS, wrap(MATRIX))
    assert model.classes_.tolist() == COLUMNS
    np.testing.assert_array_equal(model.predict(TEXTS), MATRIX)
    assert model.score(TEXTS, wrap(MATRIX)) == 1.0
    assert TextClassifier().fit(TEXTS, wrap(MATRIX)).classes_.tolist() == [0, 1, 2, 3]


def test_a_data_frame_names_its_columns():
    frame = pd.DataFrame(MATRIX, columns=COLUMNS)
    assert TextClassifier().fit(TEXTS, frame).classes_.tolist() == COLUMNS
    learner = PriorSVC(class_weight={"oil": 3.0}).fit(np.eye(len(TEXTS)), frame)
    assert learner.classes_.tolist() == COLUMNS
    with pytest.raises(
        LabelError, match="class_weight names 'gas', which is not among the classes: 'grain', 'money'"
    ):
        PriorSVC(class_weight={"gas": 3.0}).fit(np.eye(len(TEXTS)), frame)


def test_one_label_that_a_text_has_or_not():
    own = [("grain",) if "corn" in text else () for text in TEXTS]
    model = TextClassifier().fit(TEXTS, own)
    assert model.classes_.tolist() == ["grain"]
    assert model.predict(["corn", "bank rates"]).tolist() == [("grain",), ()]
    assert model.decision_function(["corn"]).shape == (1, 1)
    assert model.explain("corn").target == "grain"


def test_names_reach_every_slot_whatever_the_form():
    """Costs, class weights and knowledge speak of labels by name, and so do verdicts and explanations."""
    utility = {"grain": Utility(tp=5), "*": T10U}
    for labels in (NAMES, SETS):
        decision = ThresholdClassifier(utility=utility)
        learner = PriorSVC(class_weight={"oil": 2.0})
        model = TextClassifier(
            knowledge={"oil": ["oil"], "money": {"bank": 1.0}}, learner=learner, decision=decision
        )
        model.fit(TEXTS, labels)
        assert {verdict.target for verdict in model.learner_.verdict_} == {"oil", "money"}
        assert model.model_.classes_.tolist() == model.learner_.classes_.tolist() == model.classes_.tolist()
        assert model.explain("oil and corn", "oil").target == "oil"
        assert model.with_utility({"oil": Utility(tp=9), "*": T10U}).thresholds_.shape == model.classes_.shape


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([*NAMES[:-1], 3], "Labels mix names and numbers, 'grain' and 3"),
        ([*NAMES[:-1], ""], "Text number 17 has the label '', which is blank"),
        ([*NAMES[:-1], "  "], "which is blank"),
        ([*NAMES[:-1], b"oil"], "Text number 17 has a label of type bytes, b'oil'"),
        ([*NAMES[:-1], {"oil": 1}], "has a label of type dict"),
        (
            [*NAMES[:-1], ("oil",)],
            r"Text number 0 has 'grain', others a list of labels; give every text a list or tuple",
        ),
        ([*SETS[:-1], "oil"], "Text number 17 has 'oil', others a list of labels"),
        ([*SETS[:-1], (None,)], r"Text number 17 has no label \(None\)"),
        ([*SETS[:-1], ("oil", 3)], "Labels mix names and numbers"),
        ([()] * len(TEXTS), "None of 18 texts has a label"),
        ([1.5, 2.5] * 9, "Unknown label type: continuous"),
        ([1.0, float("inf")] * 9, "has the label inf"),
        (np.where(MATRIX, 2, 0), "must be 0 or 1; row 0, column 0 has"),
        (np.where(MATRIX, "yes", "no"), "must be 0 or 1; row 0, column 0 has"),
        ("grain", "Labels must be a list or column with the labels of each text; got 'grain'"),
        (None, "None of 18 texts has a label"),
        (["grain"] * len(TEXTS), "only one class: grain"),
        (NAMES[:-1], "There are 18 texts but 17 labels"),
    ],
)
def test_labels_that_cannot_be_learnt_are_named(labels, message):
    with pytest.raises(LabelError, match=message):
        TextClassifier().fit(TEXTS, labels)


@pytest.mark.parametrize(
    ("classes", "labels", "message"),
    [
        (["grain", "money"], NAMES, "There is no label 'oil'; there are 'grain', 'money'"),
        (["grain", "money", "oil", "tin"], NAMES, "No text has the label 'tin' of classes"),
        (["grian", "money", "oil"], NAMES, "There is no label 'grain'.*Did you mean 'grian'"),
        (["grain", "money"], MATRIX, "classes must name the 4 columns"),
        (["a", "b", "b", "c"], MATRIX, "classes names 'b' twice"),
        ("abcd", MATRIX, "'classes' parameter of TextClassifier must be"),
    ],
)
def test_classes_that_do_not_fit_are_named(classes, labels, message):
    with pytest.raises((LabelError, ValueError), match=message):
        TextClassifier(classes=classes).fit(TEXTS, labels)


def test_a_thousand_labels_are_learnt():
    letters = "abcdefghij"
    names = [f"{a}{b}{c}" for a in letters for b in letters for c in letters]
    texts = [f"x{name}x" for name in names] * 2
    model = TextClassifier().fit(texts, names * 2)
    assert model.score(texts, names * 2) == 1.0


@pytest.mark.parametrize(
    ("labels", "positive", "wanted"),
    [
        ([0, 0, 1], None, 1),
        ([0, 1, 1], None, 1),
        ([False, True, True], None, True),
        ([-1, 1, 1], None, 1),
        (["ham", "ham", "spam"], None, "spam"),
        (["a-spam", "b-ham", "b-ham"], None, "a-spam"),
        (["a", "b"], None, "b"),
        (["ham", "ham", "spam"], "ham", "ham"),
        ([2, 2, 3], 2, 2),
    ],
)
def test_which_of_two_classes_is_looked_for(labels, positive, wanted):
    found = describe(labels, positive=positive)
    assert found.names.tolist()[found.positive] == wanted


@pytest.mark.parametrize("positive", ["ham", "spam"])
@pytest.mark.parametrize("rule", ["best", "parameter-free"])
def test_a_threshold_of_the_first_class_is_that_of_a_second_with_another_name(positive, rule):
    """What is looked for, and not how it is spelled, decides where the threshold lies."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["win", "cash", "lunch", "noon", "now"], 4)) for _ in range(150)]
    spam = np.array([("win" in text) + ("cash" in text) > rng.random() * 1.5 for text in texts])
    own = np.where(spam, "spam", "ham")
    utility = Utility(tp=1, fp=-4)
    decision = ThresholdClassifier(utility=utility, rule=rule)
    model = TextClassifier(decision=decision, positive=positive).fit(texts, own)
    same = TextClassifier(decision=decision).fit(texts, (own == positive).astype(int))
    np.testing.assert_allclose(model.model_.thresholds_, same.model_.thresholds_, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(texts) == positive, same.predict(texts) == 1)
    sign = 1 if positive == "spam" else -1
    np.testing.assert_allclose(
        model.decision_function(texts), sign * same.decision_function(texts), rtol=1e-9, atol=1e-9
    )


def test_costs_of_one_of_three_labels_are_an_error_that_names_another():
    """The others were left at T10U in silence, and euros were added to its points."""
    labels = describe(NAMES)
    with pytest.raises(LabelError, match=r"says nothing of 'grain', 'oil'; add a line for each, or '\*'"):
        measures_of({"money": Utility(tp=5)}, labels)
    with pytest.raises(LabelError, match="names 'gold', which is not among the classes"):
        measures_of({"gold": Utility(tp=5)}, labels)
    measures = measures_of({"money": Utility(tp=5), "*": T10U}, labels)
    assert [measure.tp for measure in measures] == [2.0, 5, 2.0]
    assert set(measures_by_class(None, labels).values()) == {None}


@pytest.mark.parametrize(
    "labels",
    [NAMES, [k % 3 for k in range(18)], [k % 2 == 0 for k in range(18)], SETS, MATRIX, [("grain",), ()] * 9],
)
def test_a_file_gives_back_labels_in_the_same_form(labels, tmp_path):
    model = TextClassifier(decision=ThresholdClassifier()).fit(TEXTS, labels)
    model.save(tmp_path / "model.tmm")
    same = load(tmp_path / "model.tmm")
    assert plain(same.predict(TEXTS).tolist()) == plain(model.predict(TEXTS).tolist())
    assert same.classes_.tolist() == model.classes_.tolist()
    assert same.metadata_ == model.metadata_


names = st.one_of(st.integers(-5, 5), st.sampled_from(["a", "b", "c", "d e"]))


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=4, unique=True), min_size=1, max_size=20))
def test_decode_undoes_encode_for_sets(own):
    if not any(own):
        return
    labels = describe([tuple(one) for one in own])
    assert decode(labels, encode(labels, [tuple(one) for one in own])).tolist() == [
        tuple(sorted(one)) for one in own
    ]


@given(
    st.lists(st.one_of(st.integers(-5, 5)), min_size=2, max_size=20)
    | st.lists(st.sampled_from("abc"), min_size=2)
)
def test_decode_undoes_encode_for_names(own):
    if len(set(own)) < 2:
        return
    labels = describe(own)
    assert decode(labels, encode(labels, own)).tolist() == own
    assert labels.names.tolist() == sorted(set(own))


def test_what_is_known_of_one_of_two_classes_was_told_of_the_other():
    """The learner scores the class that is second in the alphabet; the one that is looked for need not be
    that one.
    """
    texts = [
        "a quote for wheat",
        "a quote please",
        "bank rates",
        "oil and corn",
        "rates of banks",
        "oil prices",
    ] * 4
    for wanted, other in (("lead", "no"), ("no", "lead")):
        labels = [wanted if "quote" in text else other for text in texts]
        model = TextClassifier(knowledge={wanted: ["quote"], other: ["please"]}).fit(texts, labels)
        assert {verdict.target for verdict in model.verdict_} == {wanted}
        told = {one.term: one for one in model.disagreements()}
        assert told["please"].target == wanted
        assert told["please"].known < 0 < told["please"].data
