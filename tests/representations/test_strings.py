"""The subsequence kernel: worked values, its definition and its limits."""

import itertools
import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import WORKED, ssk_by_definition, ssk_extended

from textmargin import SpectrumKernel, SubsequenceKernel, core
from textmargin.representations._backends import Diagonal, KernelSpec
from textmargin.representations._cpu import SHORTEN_BELOW, Cpu, _compile
from textmargin.representations._cuda import MOST_LENGTH, Cuda, missing
from textmargin.representations.encode import encode

# Every way to the same values: vector level, precision, whole or shortened texts; and a GPU, where there is
# one.
WAYS = [
    Cpu(level=level, double=double, shorten=shorten)
    for level, double, shorten in itertools.product(core.levels(), (False, True), (False, True))
]
needs_gpu = pytest.mark.skipif(missing() is not None, reason=str(missing()))
GPU = [pytest.param(Cuda(double=double), marks=needs_gpu) for double in (False, True)]
ways = pytest.mark.parametrize("way", [*WAYS, *GPU], ids=repr)
backends = pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=needs_gpu)])
# A GPU's code is compiled for each decay.
decays = st.floats(0.01, 1.0) if missing() else st.sampled_from([0.01, 0.3, 0.5, 0.7, 0.9, 1.0])
texts = st.lists(st.text(alphabet="abß語🙂\ud800", max_size=9), min_size=1, max_size=6)
token_lists = st.lists(
    st.lists(st.sampled_from(["a", "b", 1, 2.5, ("a", 1)]), max_size=8), min_size=1, max_size=6
)


class OneWay(SubsequenceKernel):
    """The kernel by one of its ways."""

    def __init__(self, way, **options):
        super().__init__(**options)
        self.way = way

    def _backend(self, spec, *corpora):
        return self.way


def tolerance(way):
    return 1e-12 if way.double else 1e-5


@ways
@pytest.mark.parametrize(("pair", "length", "decay", "value", "normalised"), WORKED)
def test_values_worked_out_by_hand(way, pair, length, decay, value, normalised):
    s, t = pair
    raw = OneWay(way, length=length, decay=decay, normalize=False)([s], [t])
    assert raw.item() == pytest.approx(value, rel=1e-9 if way.double else 1e-6)
    assert OneWay(way, length=length, decay=decay)([s], [t]).item() == pytest.approx(
        normalised, rel=1e-9 if way.double else 1e-6
    )


@ways
@settings(max_examples=40)
@given(X=texts, Y=texts, length=st.integers(1, 5), decay=decays)
def test_equals_its_definition_on_unicode(way, X, Y, length, decay):
    K = OneWay(way, length=length, decay=decay, normalize=False)(X, Y)
    expected = [[ssk_by_definition(s, t, length, decay) for t in Y] for s in X]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


@ways
@settings(max_examples=40)
@given(
    X=token_lists,
    length=st.integers(1, 4),
    decay=decays,
    weights=st.lists(st.floats(0.1, 9), min_size=4, max_size=4),
)
def test_weighted_sum_of_lengths_is_one_pass_over_tokens(way, X, length, decay, weights):
    weights = weights[:length]
    K = OneWay(way, length=length, decay=decay, weights=weights, normalize=False)(X)
    expected = [
        [sum(w * ssk_by_definition(s, t, i + 1, decay) for i, w in enumerate(weights)) for t in X] for s in X
    ]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


@ways
@settings(max_examples=40)
@given(X=texts, gaps=st.dictionaries(st.sampled_from("abß"), st.floats(0.05, 1.0)), length=st.integers(1, 4))
def test_skipping_some_tokens_may_cost_less(way, X, gaps, length):
    K = OneWay(way, length=length, decay=0.5, gap_decay=gaps, normalize=False)(X)
    expected = [
        [ssk_by_definition(s, t, length, 0.5, lambda symbol: gaps.get(symbol, 0.5)) for t in X] for s in X
    ]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


def test_one_gap_decay_for_all_tokens():
    expected = ssk_by_definition("abcab", "acbab", 3, 0.5, 0.8)
    assert SubsequenceKernel(3, 0.5, gap_decay=0.8, normalize=False)(
        ["abcab"], ["acbab"]
    ).item() == pytest.approx(expected)


@pytest.mark.parametrize(("length", "decay"), [(2, 0.5), (4, 0.3), (5, 0.9)])
def test_equals_strkernels_which_sums_lengths_on_ascii(length, decay):
    strkernels = pytest.importorskip("strkernels")
    X = ["science is organized knowledge", "wisdom is organized life", "abracadabra", "card"]
    expected = strkernels.SubsequenceStringKernel(maxlen=length, ssk_lambda=decay)(X, X)
    np.testing.assert_allclose(
        SubsequenceKernel(length, decay, weights=[1.0] * length)(X), expected, rtol=1e-6
    )


@ways
@pytest.mark.parametrize("length", [2, 5, 9, 16, 17, 20])
def test_equals_the_plain_recurrence_on_long_texts(way, length):
    """Several tiles of columns, groups that are not full, and lengths beyond those compiled one by one."""
    rng = np.random.default_rng(length)
    X = ["".join(rng.choice(list("abcde "), size)) for size in (0, 1, 40, 70, 130, 131, 200)]
    K = OneWay(way, length=length, decay=0.6, normalize=False)(X)
    (codes,), _ = encode("char", X)
    parts = [codes.codes[a:b] for a, b in itertools.pairwise(codes.starts)]
    expected = [[core.ssk(s, t, length, 0.6) for t in parts] for s in parts]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way))


@ways
@pytest.mark.parametrize("decay", [0.01, 0.1, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("length", [1, 5, 14])
def test_no_decay_or_length_overflows_underflows_or_gives_nan(way, decay, length):
    """A text of one symbol is as repetitive as texts get: K' is at its bound there."""
    X = ["a" * 700, "a" * 200, "the cat sat on the mat " * 10, "zzz"]
    K = OneWay(way, length=length, decay=decay)(X)
    assert np.isfinite(K).all()
    long_enough = np.array([len(text) >= length for text in X])
    assert np.array_equal(np.diag(K), long_enough.astype(float))
    assert K[0, 1] > 0
    assert (K >= 0).all()
    assert (K <= 1).all()
    exact = OneWay(Cpu(double=True), length=length, decay=decay)(X)
    np.testing.assert_allclose(K, exact, rtol=10 * tolerance(way) if way.double else 1e-5, atol=1e-20)


@backends
@pytest.mark.parametrize(
    "options",
    [
        {"length": 40, "decay": 0.99},
        {"length": 40, "decay": 0.01},
        {"length": 9, "gap_decay": {" ": 1.0}},
        {"length": 8, "decay": 0.3, "gap_decay": {" ": 0.999}},
        {"length": 14, "gap_decay": {" ": 1.0}, "weights": [1.0] * 14},
        {"length": 16, "decay": 1.0},
        {"length": 7, "decay": 1.0, "gap_decay": {"b": 0.01}, "weights": [1, 1e6, 1, 1e6, 1, 1e6, 1]},
        {"length": 5, "decay": 0.9, "weights": [1e6, 1, 1, 1, 1]},
        {"length": 6, "gap_decay": {"a": 1.0, "b": 1e-6}},
    ],
)
def test_single_precision_holds_on_long_texts(options, backend):
    """Or double is taken where single has not the range."""
    if backend == "cuda" and options["length"] > MOST_LENGTH:
        pytest.skip(f"{options['length']} symbols, and a GPU has {MOST_LENGTH} at most")
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcdefghij "), size)) for size in (2000, 2000, 300)]
    X += ["b" * 12 + "a" * 51 + "b" + "aaaa", "a" * 61 + "baaa", "b" * 3 + "a" * 60 + "b" + "aaaa"]
    exact = SubsequenceKernel(**options, precision="double", backend="cpu")(X)
    np.testing.assert_allclose(SubsequenceKernel(**options, backend=backend)(X), exact, rtol=1e-5, atol=1e-20)
    assert np.array_equal(np.diag(exact), [len(x) >= options["length"] for x in X])


@backends
@pytest.mark.parametrize("decay", [0.99, 0.998, 0.9995])
def test_thousands_of_gaps_do_not_add_up_their_rounding(decay, backend):
    X = ["a" + "x" * 2500 + "b", "ab"] + ["x" * 30 + "ab"] * 12
    exact = SubsequenceKernel(2, decay, precision="double", backend="cpu")(X)
    np.testing.assert_allclose(SubsequenceKernel(2, decay, backend=backend)(X), exact, rtol=1e-5)


@backends
def test_hundreds_of_thousands_of_row_sums_do_not_drift(backend):
    """Rows that are all alike are rounded the same way: in double precision their sum was off by 3e-12."""
    s, t = np.arange(3000) % 7, np.arange(5000) % 7
    value = SubsequenceKernel(2, 0.01, normalize=False, precision="double", backend=backend)(
        [list(s)], [list(t)]
    ).item()
    assert value == pytest.approx(float(ssk_extended(s, t, 2, 0.01)), rel=2e-13)


def test_distinct_tokens_have_the_binomial_number_of_subsequences():
    diagonal = SubsequenceKernel(14, 1.0, normalize=False).diag([list(range(6000))])
    assert diagonal.item() == pytest.approx(math.comb(6000, 14), rel=1e-9)


def test_several_threads_of_python_may_share_a_progress_function():
    def ignore(share):
        return None

    before = sys.getrefcount(ignore)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: SubsequenceKernel(2, progress=ignore)(["car"], ["cat"]).item(), range(400))
        assert len(set(found)) == 1
    assert sys.getrefcount(ignore) == before


@given(X=texts, length=st.integers(1, 4), decay=st.floats(0.05, 1.0))
def test_symmetric_and_positive_semi_definite(X, length, decay):
    K = SubsequenceKernel(length, decay, precision="double")(X)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(
        K, SubsequenceKernel(length, decay, precision="double")(X, list(X)), rtol=1e-12
    )
    assert np.linalg.eigvalsh(K).min() > -1e-10


@given(X=texts, length=st.integers(1, 4))
def test_without_gaps_it_is_the_spectrum_kernel(X, length):
    """λ → 0: the cosine of n-gram counts."""
    K = SubsequenceKernel(length, 1e-6, precision="double")(X)
    np.testing.assert_allclose(K, SpectrumKernel(length)(X), atol=1e-4)


@given(X=texts, length=st.integers(1, 4))
def test_where_gaps_cost_nothing_it_counts_embeddings(X, length):
    K = SubsequenceKernel(length, 1.0, normalize=False, precision="double")(X)
    assert np.array_equal(K, np.round(K))


@given(X=texts, length=st.integers(1, 4))
def test_diagonal_alone(X, length):
    for options in (
        {"normalize": False},
        {"normalize": True},
        {"weights": [1.0] * length},
        {"weights": [0.0, *[1.0] * length][:length] if length > 1 else [1.0]},
    ):
        kernel = SubsequenceKernel(length, 0.5, precision="double", **options)
        np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X)), rtol=1e-12)


def test_words_are_runs_of_letters_and_digits():
    s, t = "the central bank raised interest rates", "Interest rates: were raised by the bank!"
    # case is kept
    assert SubsequenceKernel(1, 0.5, "word", normalize=False)([s], [t]).item() == pytest.approx(4 * 0.25)
    lower = SubsequenceKernel(1, 0.5, lambda text: text.lower().split(), normalize=False)
    assert lower([s], [t.replace(":", "").replace("!", "")]).item() == pytest.approx(1.25)


def test_a_function_may_return_a_string_whose_characters_are_meant():
    shout = SubsequenceKernel(2, tokens=str.upper)
    np.testing.assert_array_equal(shout(["Car", "cat"]), SubsequenceKernel(2)(["CAR", "CAT"]))


def test_the_automatic_choice_shortens_words_and_not_characters():
    rng = np.random.default_rng(0)
    words = [list(rng.integers(0, 5000, 80)) for _ in range(40)]
    characters = ["".join(rng.choice(list("abcdefghij "), 80)) for _ in range(40)]
    spec = KernelSpec(2, np.full(6000, 0.5), 1.0, np.empty(0))
    for corpus, shortened in ((words, True), (characters, False)):
        (X,), _ = encode("char", corpus)
        assert (
            core.share_of_common_cells(_compile(spec), X.codes, X.starts, X.codes, X.starts) < SHORTEN_BELOW
        ) == shortened
        values = [
            Cpu(shorten=way).gram(spec, X, None, (Diagonal.none(),) * 2, 1.0) for way in (None, True, False)
        ]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-5, atol=1e-30)
        np.testing.assert_allclose(values[0], values[2], rtol=1e-5, atol=1e-30)
