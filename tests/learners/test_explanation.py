"""An explanation prints as a small table."""

import numpy as np
import pytest

from textmargin import PriorSVC, TextClassifier
from textmargin.learners.explanation import Explanation

TEXTS = ["wheat and corn harvest", "corn exports fell", "bank raises rates", "rates and the dollar"]
TOPICS = ["grain", "grain", "money", "money"]


@pytest.fixture
def explanation():
    return Explanation(
        target="<b>grain</b>",
        score=0.75,
        intercept=0.25,
        terms=np.array(["<script>", "corn"]),
        data=np.array([-0.5, 0.5]),
        priors=np.array([[0.0, 0.5]]),
    )


def test_it_prints_as_a_small_table(explanation, capsys):
    print(explanation)
    head, *rows = capsys.readouterr().out.rstrip("\n").split("\n")
    assert head == "score of <b>grain</b>: +0.750"
    assert [row.split() for row in rows] == [
        ["corn", "+1.000", "prior", "+0.500"],
        ["<script>", "-0.500"],
        ["the", "rest,", "intercept", "and", "threshold", "+0.250"],
    ]
    assert (
        len(
            {
                row.index(number) + len(number)
                for row, number in zip(rows, ["+1.000", "-0.500", "+0.250"], strict=True)
            }
        )
        == 1
    )


def test_of_many_terms_the_largest_are_shown_and_the_rest_is_summed():
    model = TextClassifier(knowledge={"grain": ["wheat", "corn"]}, learner=PriorSVC(trust="fixed")).fit(
        TEXTS, TOPICS
    )
    found = model.explain(" ".join(TEXTS), "grain")
    data = found.to_dict(2)
    assert [one["feature"] for one in data["contributions"]] == [
        one.feature for one in found.contributions(2)
    ]
    assert sum(one["contribution"] for one in data["contributions"]) + data["rest"] == pytest.approx(
        found.score
    )
    assert any(one.from_prior for one in found.contributions())
