"""Several kinds of knowledge at once: each is weighed by itself, and verdicts, explanations and files say
which is meant.
"""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from textmargin import KeywordPrior, ModelPrior, PriorSVC, RationalePrior, TextClassifier, load, load_dataset

pytestmark = pytest.mark.filterwarnings("ignore::textmargin.errors.UnknownTermWarning")

DESK = load_dataset("desk")
TRAIN, TEST = DESK.part("train"), DESK.part("test")
NAMES = sorted(DESK.keywords)
RIGHT = KeywordPrior(DESK.keywords)
WRONG = KeywordPrior(
    {name: DESK.keywords[other] for name, other in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)},
    file_name="w.toml",
)
MARKED = RationalePrior([("wheat rose", [(0, 5, "grain")]), ("the bank rose", [(4, 8, "money")])])
TEXTS = [
    "wheat and corn harvest",
    "corn exports fell",
    "bank raises rates",
    "rates and the dollar",
    "corn rates",
    "wheat bank",
]
TOPICS = ["grain", "grain", "money", "money", "grain", "money"]
WORDS = {"grain": ["wheat", "corn"], "money": ["bank"]}


def earlier():
    return ModelPrior(
        TextClassifier().fit(
            ["old corn", "old bank", "wheat", "dollar"], ["grain", "money", "grain", "money"]
        )
    )


def used(model):
    return {one.knowledge for one in model.verdict_ if one.status in ("supported", "adopted")}


def test_of_two_classes_each_kind_has_as_many_priors_as_it_would_have_alone():
    kinds = [WORDS, MARKED, earlier(), {"corn": 1.0}]
    model = TextClassifier(knowledge=kinds).fit(TEXTS, TOPICS)
    assert model.knowledge_ == ["keywords"] * 2 + ["marked passages"] * 2 + ["earlier model", "weights"]
    alone = [
        TextClassifier(model.representation_, knowledge=kind).fit(TEXTS, TOPICS).learner_.prior_
        for kind in kinds
    ]
    np.testing.assert_array_equal(model.learner_.prior_, np.concatenate(alone, axis=1))
    assert {one.knowledge for one in model.verdict_} == {*model.knowledge_}


def test_of_any_number_of_labels_a_text_kinds_are_weighed_as_well():
    labels = [
        (topic, "rise") if "rates" in text else (topic,) for text, topic in zip(TEXTS, TOPICS, strict=True)
    ]
    model = TextClassifier(knowledge=(WORDS, {"rise": ["rates"]})).fit(TEXTS, labels)
    assert {(one.target, one.knowledge) for one in model.verdict_} == {
        ("grain", "keywords 1"),
        ("money", "keywords 1"),
        ("rise", "keywords 2"),
    }


def test_a_wrong_kind_beside_a_right_one_is_refused_and_changes_nothing():
    right = TextClassifier(knowledge=RIGHT).fit(TRAIN.texts, TRAIN.labels)
    both = TextClassifier(knowledge=[WRONG, RIGHT]).fit(TRAIN.texts, TRAIN.labels)
    assert used(both) == {"keywords"}
    assert {one.status for one in both.verdict_ if one.knowledge == "keywords in w.toml"} <= {
        "contradicted",
        "dropped",
    }
    np.testing.assert_allclose(
        both.decision_function(TEST.texts), right.decision_function(TEST.texts), atol=1e-3
    )


def test_words_of_all_kinds_are_terms_whatever_the_texts_have():
    model = TextClassifier(knowledge=[{"grain": ["barley"]}, {"money": ["yen"]}]).fit(TEXTS, TOPICS)
    assert {"barley", "yen"} <= {*model.representation_.get_feature_names_out()}


def test_an_explanation_names_the_kinds():
    model = TextClassifier(knowledge=[WORDS, earlier()], learner=PriorSVC(trust="fixed")).fit(TEXTS, TOPICS)
    found = model.explain("corn", "grain")
    assert found.knowledge == ("keywords", "keywords", "earlier model")
    (corn,) = found.contributions()
    assert [*corn.from_knowledge] == ["keywords", "earlier model"]
    assert sum(corn.from_knowledge.values()) == pytest.approx(corn.from_prior)
    assert f"keywords {corn.from_knowledge['keywords']:+.3f}, earlier model" in repr(found)
    alone = (
        TextClassifier(knowledge=WORDS, learner=PriorSVC(trust="fixed"))
        .fit(TEXTS, TOPICS)
        .explain("corn", "grain")
    )
    assert alone.contributions()[0].from_knowledge == {}


def test_a_file_has_the_kinds(tmp_path):
    model = TextClassifier(knowledge=(WORDS, MARKED, earlier())).fit(TEXTS, TOPICS)
    model.save(tmp_path / "model.tmm")
    again = load(tmp_path / "model.tmm")
    assert again.verdict_ == model.verdict_
    assert again.knowledge_ == model.knowledge_
    assert [type(kind) for kind in again.knowledge] == [dict, RationalePrior, ModelPrior]


def test_a_search_over_kinds():
    kinds = [None, [WORDS], [WORDS, {"corn": 1.0}]]
    search = GridSearchCV(TextClassifier(), {"knowledge": kinds}, cv=2).fit(TEXTS, TOPICS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["knowledge"] in kinds
