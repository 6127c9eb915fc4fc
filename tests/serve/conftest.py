"""A model in this process, and a place for feedback; tests of the service as a process have a model file
instead.
"""

import pytest
from serve.services import fitted

from textmargin.feedback.store import FeedbackStore


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture
def store(tmp_path):
    with FeedbackStore(tmp_path / "judged.sqlite") as store:
        yield store
