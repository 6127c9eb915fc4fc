"""Scores taken apart into shared subsequences."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import corpus

from textmargin import KernelSVC, SpectrumKernel, SubsequenceKernel
from textmargin.representations._matches import candidates, mark_gaps, tightest

KERNELS = [
    SubsequenceKernel(3, 0.6),
    SubsequenceKernel(2, 0.9, normalize=False),
    SubsequenceKernel(3, weights=[1.0, 0.0, 2.0]),
    SubsequenceKernel(2, gap_decay={"a": 0.9, " ": 1.0}),
    SubsequenceKernel(2, tokens="word"),
    SubsequenceKernel(2, tokens=str.split, gap_decay=1.0),
    SpectrumKernel(2),
    SpectrumKernel(3, weights=[1, 2, 3], normalize=False),
    SpectrumKernel(2, tokens="word"),
]
OTHERS = ["a cab at a bay", "cabbage bag", "", "bat and a cat", "q"]
COEFFICIENTS = np.array([1.0, -0.5, 2.0, -1.5, 0.3])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_all_shares_make_the_score(kernel):
    text = "bat and a cab"
    matches, rest = kernel.over(OTHERS).matches(text, COEFFICIENTS, 10**6)
    score = float(COEFFICIENTS @ kernel([text], OTHERS)[0])
    assert sum(match.value for match in matches) + rest == pytest.approx(score)
    assert rest == pytest.approx(0, abs=1e-6 * sum(abs(match.value) for match in matches))
    sizes = [abs(match.value) for match in matches]
    assert sizes == pytest.approx(sorted(sizes, reverse=True), rel=1e-11)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.tokens == "char" and k.weights is None], ids=repr)
def test_a_share_is_that_of_a_text_of_nothing_but_the_subsequence(kernel):
    text = "bat and a cab"
    raw = type(kernel)(**{**kernel.get_params(), "normalize": False})
    matches, _ = raw.over(OTHERS).matches(text, COEFFICIENTS, 5)
    for match in matches:
        u = match.symbols
        share = raw([text], [u])[0, 0] * (COEFFICIENTS @ raw(OTHERS, [u])[:, 0]) / raw([u])[0, 0]
        assert match.value == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_places_are_where_the_symbols_stand(kernel):
    text = "bat and a cab"
    matches, _ = kernel.over(OTHERS).matches(text, COEFFICIENTS, 30)
    assert matches
    for match in matches:
        for spelling, places, stretch in (
            (text, match.places, match.shown),
            (OTHERS[match.other], match.other_places, match.other_shown),
        ):
            symbols = spelling if kernel.tokens == "char" else spelling.split()
            assert [symbols[place] for place in places] == list(match.symbols)
            assert all(a < b for a, b in pairwise(places))
            assert stretch.replace("[", "").replace("]", "") in spelling
            if isinstance(kernel, SpectrumKernel):
                assert all(b == a + 1 for a, b in pairwise(places))


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=9),
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.data(),
)
def test_the_tightest_place_is_the_cheapest_of_all(codes, u, data):
    costs = np.array(data.draw(st.lists(st.floats(0.01, 2), min_size=3, max_size=3)))
    codes, u = np.array(codes, dtype=np.int32), np.array(u, dtype=np.int32)

    def cost(places):
        return sum(costs[codes[j]] for j in range(places[0], places[-1]) if j not in places)

    all_places = [
        places for places in combinations(range(codes.size), u.size) if (codes[list(places)] == u).all()
    ]
    found = tightest(codes, u, costs)
    if not all_places:
        assert found == ()
    else:
        assert found in all_places
        assert cost(found) == pytest.approx(min(map(cost, all_places)))


def test_short_texts_give_all_their_subsequences_and_long_ones_those_with_few_gaps():
    codes = np.array([0, 1, 2, 0, 1], dtype=np.int32)
    found, worth = candidates(codes, 3, 0.5)
    assert {tuple(u) for u in found.tolist()} == {tuple(u) for u in combinations(codes.tolist(), 3)}
    assert worth[found.tolist().index([0, 1, 1])] == 0.5**2
    assert {tuple(u) for u in candidates(codes, 3, 0.0)[0].tolist()} == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert candidates(codes, 6, 0.5)[0].shape == (0, 6)
    long = np.random.default_rng(0).integers(0, 20, 3000).astype(np.int32)
    assert 2_000 < len(candidates(long, 5, 0.5)[0]) <= 20_000


def test_what_is_skipped_stands_in_brackets():
    assert mark_gaps("custard", (0, 3, 4, 5, 6)) == "c[us]tard"
    assert mark_gaps(["interest", "rates", "were", "raised"], (0, 1, 3)) == "interest rates [were] raised"


def test_a_machine_names_its_support_vectors_by_their_number():
    texts, topics = corpus()
    model = KernelSVC(SubsequenceKernel(3)).fit(texts, topics)
    explanation = model.explain(texts[3], "oil")
    assert explanation.target == "oil"
    assert explanation.score == pytest.approx(
        model.decision_function(texts[3:4])[0, list(model.classes_).index("oil")]
    )
    assert explanation.score == pytest.approx(explanation.intercept + explanation.data.sum())
    assert explanation.score == pytest.approx(
        explanation.intercept + explanation.rest + sum(m.value for m in explanation.matches)
    )
    assert len(explanation.matches) == 20
    for match in explanation.matches:
        assert [texts[match.other][place] for place in match.other_places] == list(match.symbols)
        assert match.other in explanation.support
    number, share = explanation.support_texts(1)[0]
    assert abs(share) == pytest.approx(np.abs(explanation.data).max())
    assert number in model.support_


def test_of_two_classes_the_first_has_the_score_of_the_second_negated():
    texts, topics = corpus()
    model = KernelSVC(SubsequenceKernel(3)).fit(texts, topics == "oil")
    one, other = (model.explain(texts[3], target) for target in (True, False))
    assert one.score == pytest.approx(-other.score)
    assert [m.value for m in one.matches] == pytest.approx([-m.value for m in other.matches])
    with pytest.raises(ValueError, match="There is no class"):
        model.explain(texts[0], "corn")


def test_kernels_on_numbers_tell_support_vectors_only():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelSVC("rbf").fit(X, X[:, 0] > 0)
    explanation = model.explain(X[4])
    assert explanation.matches == []
    assert explanation.score == pytest.approx(model.decision_function(X[4:5])[0])
    assert explanation.score == pytest.approx(explanation.intercept + explanation.data.sum())


def test_texts_of_tokens_and_very_long_texts():
    lists = [["a", "b", "c"], ["b", "c", "d"], ["x", "y"], ["y", "x", "z"]]
    model = KernelSVC(SubsequenceKernel(2)).fit(lists, [1, 1, 0, 0])
    assert model.explain(np.array(["b", "c"])).matches[0].symbols == ("b", "c")
    texts, topics = corpus(60)
    for length, repeated in ((4, 4), (12, 1)):
        model = KernelSVC(SubsequenceKernel(length)).fit(texts, topics)
        explanation = model.explain(" ".join(texts * repeated))
        shares = sum(match.value for match in explanation.matches)
        assert explanation.score == pytest.approx(explanation.intercept + explanation.rest + shares)
