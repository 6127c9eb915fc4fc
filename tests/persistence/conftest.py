"""Files of models, and how they are refused."""

import pytest
from model_files import outcome
from samples import TOPICS, corpus

from textmargin import KeywordPrior, TextClassifier, ThresholdClassifier, load, save
from textmargin.decider import load_decider
from textmargin.errors import ModelFileError

TEXTS, LABELS = corpus(80)
NEW = corpus(30, seed=1)[0]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A model's file, and what the model says."""
    path = tmp_path_factory.mktemp("sample") / "model.tmm"
    model = TextClassifier(knowledge=KeywordPrior(TOPICS), decision=ThresholdClassifier()).fit(
        TEXTS[:20], LABELS[:20]
    )
    save(model, path)
    return path.read_bytes(), outcome(model, NEW)


@pytest.fixture
def refuses(tmp_path):
    """That a file is refused, in words that name it; by who loads it to decide and nothing else in the same
    words.
    """

    def check(content, message=None):
        path = tmp_path / "model.tmm"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert str(caught.value).endswith(".")
        with pytest.raises(ModelFileError) as other:
            load_decider(path)
        assert str(other.value) == str(caught.value)

    return check


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Files of models with three labels, two, and several a text."""
    folder, found = tmp_path_factory.mktemp("fitted"), {}
    several = [
        (label, "long") if len(text) > 45 else (label,)
        for text, label in zip(TEXTS, LABELS.tolist(), strict=True)
    ]
    for name, labels in (("three", LABELS), ("two", LABELS == "oil"), ("several", several)):
        TextClassifier().fit(TEXTS, labels).save(folder / name)
        found[name] = (folder / name).read_bytes()
    return found
