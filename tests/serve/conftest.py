"""A model in this process, its file, and a place for feedback."""

import pytest
from serve.services import fitted

from textmargin.feedback.store import FeedbackStore


@pytest.fixture(scope="session")
def model():
    return fitted()


@pytest.fixture(scope="session")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.tmm"
    model.save(path)
    return path


@pytest.fixture
def store(tmp_path):
    with FeedbackStore(tmp_path / "judged.sqlite") as store:
        yield store
