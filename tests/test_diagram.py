"""In a notebook a classifier is scikit-learn's diagram of its slots."""

from textmargin import PriorSVC, TextClassifier, ThresholdClassifier


def test_the_diagram_names_the_slots_and_what_is_in_them():
    """Those left out are shown with their default."""
    page = TextClassifier()._repr_html_()
    assert "sk-container" in page
    for name in ("representation", "BagOfWords", "learner", "PriorSVC"):
        assert name in page
    assert "ThresholdClassifier" not in page


def test_the_diagram_shows_a_decision_and_what_was_fitted():
    model = TextClassifier(learner=PriorSVC(C=0.5), decision=ThresholdClassifier())
    assert "ThresholdClassifier" in model._repr_html_()
    fitted = model.fit(["corn", "wheat", "bank", "yen"] * 3, ["grain", "grain", "money", "money"] * 3)
    assert "sk-container" in fitted._repr_html_()
