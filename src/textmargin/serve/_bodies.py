"""What requests hold and what answers look like; the OpenAPI schema is made of these."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field


def _whole(text: str) -> str:
    """JSON can spell half of a character, which nothing else can say."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate is no text") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
Id = Annotated[
    str, Field(pattern=r"^[!-~]{1,200}$", description="Chosen by the client: sent again, it is stored once.")
]
Finite = Annotated[float, Field(allow_inf_nan=False)]
MOST_LABELS = 10_000
Names = Annotated[list[Text], Field(max_length=MOST_LABELS)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Texts(_Body):
    """Texts to decide on."""

    texts: Annotated[list[Text], FailFast()]  # one mistake is enough; to tell a million takes seconds


class OneDecision(BaseModel):
    """The labels of a text, those left to a person, and the score of every class; 0 is the decision.

    `confidence` and `probabilities` are there where the model has held-out scores: the probability of what is
    given (or of the guess), and that of every class.
    """

    labels: list[str]
    unsure: list[str]
    scores: dict[str, float]
    confidence: float | None = None
    probabilities: dict[str, float] | None = None


class DecisionsBody(BaseModel):
    """A decision per text, in their order."""

    decisions: list[OneDecision]


class Question(_Body):
    """A text, and for which label contributions are wanted: by default for the one it gets."""

    text: Text
    label: Text | None = None
    n: Annotated[int, Field(ge=1, le=1000)] = 10


class OneContribution(BaseModel):
    """A word or shared subsequence, by how much it moved the score, and what of that comes from prior
    knowledge.

    `from_knowledge` has what comes from each kind of knowledge, where the model has several.
    """

    feature: str
    contribution: float
    from_prior: float
    from_knowledge: dict[str, float]


class ExplanationBody(BaseModel):
    """The largest contributions first; they and the rest add up to the score."""

    labels: list[str]
    label: str
    score: float
    contributions: list[OneContribution]
    rest: float


class FeedbackBody(_Body):
    """What was predicted for a text, and the correct labels, or only whether it was correct."""

    text: Text
    predicted: Names
    correct: bool | Names
    scores: Annotated[dict[Text, Finite], Field(max_length=MOST_LABELS)] = {}
    id: Id | None = None


class Stored(BaseModel):
    """The feedback is on the disk; `new` is false where it was there before."""

    id: str
    new: bool


class ErrorBody(BaseModel):
    """What was wrong with a request."""

    detail: str
