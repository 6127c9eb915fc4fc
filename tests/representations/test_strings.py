"""The subsequence kernel: worked values, its definition, limits, and scikit-learn around it."""

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import WORKED, ssk_by_definition
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from strkernels import SubsequenceStringKernel

from textmargin import SpectrumKernel, SubsequenceKernel, TextClassifier, core
from textmargin.errors import NotTextError, TooLargeError
from textmargin.representations._backends import SHORTEN_BELOW, Cpu, Diagonal
from textmargin.representations._encode import encode

# Every way to the same values: vector level, precision, whole or shortened texts.
WAYS = [
    Cpu(level=level, double=double, shorten=shorten)
    for level, double, shorten in itertools.product(core.levels(), (False, True), (False, True))
]
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.level}-{'double' if way.double else 'single'}-{way.shorten}")
texts = st.lists(st.text(alphabet="abß語🙂\ud800", max_size=9), min_size=1, max_size=6)
token_lists = st.lists(st.lists(st.sampled_from(["a", "b", 1, 2.5, ("a", 1)]), max_size=8), min_size=1, max_size=6)


class OneWay(SubsequenceKernel):
    """The kernel by one of its ways."""

    def __init__(self, way, **options):
        super().__init__(**options)
        self.way = way

    def _backend(self, symbols, *corpora):
        return self.way


def tolerance(way):
    return 1e-12 if way.double else 1e-5


@ways
@pytest.mark.parametrize(("pair", "length", "decay", "value", "normalised"), WORKED)
def test_values_worked_out_by_hand(way, pair, length, decay, value, normalised):
    s, t = pair
    raw = OneWay(way, length=length, decay=decay, normalize=False)([s], [t])
    assert raw.item() == pytest.approx(value, rel=1e-9 if way.double else 1e-6)
    assert OneWay(way, length=length, decay=decay)([s], [t]).item() == pytest.approx(normalised, rel=1e-9 if way.double else 1e-6)


@ways
@settings(max_examples=40)
@given(X=texts, Y=texts, length=st.integers(1, 5), decay=st.floats(0.01, 1.0))
def test_equals_its_definition_on_unicode(way, X, Y, length, decay):
    K = OneWay(way, length=length, decay=decay, normalize=False)(X, Y)
    expected = [[ssk_by_definition(s, t, length, decay) for t in Y] for s in X]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


@ways
@settings(max_examples=40)
@given(
    X=token_lists,
    length=st.integers(1, 4),
    decay=st.floats(0.01, 1.0),
    weights=st.lists(st.floats(0.1, 9), min_size=4, max_size=4),
)
def test_weighted_sum_of_lengths_is_one_pass_over_tokens(way, X, length, decay, weights):
    weights = weights[:length]
    K = OneWay(way, length=length, decay=decay, weights=weights, normalize=False)(X)
    expected = [[sum(w * ssk_by_definition(s, t, i + 1, decay) for i, w in enumerate(weights)) for t in X] for s in X]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


@ways
@settings(max_examples=40)
@given(X=texts, gaps=st.dictionaries(st.sampled_from("abß"), st.floats(0.05, 1.0)), length=st.integers(1, 4))
def test_skipping_some_tokens_may_cost_less(way, X, gaps, length):
    K = OneWay(way, length=length, decay=0.5, gap_decay=gaps, normalize=False)(X)
    expected = [[ssk_by_definition(s, t, length, 0.5, lambda symbol: gaps.get(symbol, 0.5)) for t in X] for s in X]
    np.testing.assert_allclose(K, expected, rtol=tolerance(way), atol=1e-30)


def test_one_gap_decay_for_all_tokens():
    expected = ssk_by_definition("abcab", "acbab", 3, 0.5, 0.8)
    assert SubsequenceKernel(3, 0.5, gap_decay=0.8, normalize=False)(["abcab"], ["acbab"]).item() == pytest.approx(expected)


@pytest.mark.parametrize(("length", "decay"), [(2, 0.5), (4, 0.3), (5, 0.9)])
def test_equals_strkernels_which_sums_lengths_on_ascii(length, decay):
    X = ["science is organized knowledge", "wisdom is organized life", "abracadabra", "card"]
    expected = SubsequenceStringKernel(maxlen=length, ssk_lambda=decay)(X, X)
    np.testing.assert_allclose(SubsequenceKernel(length, decay, weights=[1.0] * length)(X), expected, rtol=1e-6)


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
def test_single_precision_holds_on_long_texts(options):
    """Or double is taken where single has not the range."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcdefghij "), size)) for size in (2000, 2000, 300)]
    X += ["b" * 12 + "a" * 51 + "b" + "aaaa", "a" * 61 + "baaa", "b" * 3 + "a" * 60 + "b" + "aaaa"]
    exact = SubsequenceKernel(**options, precision="double")(X)
    np.testing.assert_allclose(SubsequenceKernel(**options)(X), exact, rtol=1e-5, atol=1e-20)
    assert np.array_equal(np.diag(exact), [len(x) >= options["length"] for x in X])


@pytest.mark.parametrize("decay", [0.99, 0.998, 0.9995])
def test_thousands_of_gaps_do_not_add_up_their_rounding(decay):
    X = ["a" + "x" * 2500 + "b", "ab"] + ["x" * 30 + "ab"] * 12
    exact = SubsequenceKernel(2, decay, precision="double")(X)
    np.testing.assert_allclose(SubsequenceKernel(2, decay)(X), exact, rtol=1e-5)


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
    np.testing.assert_allclose(K, SubsequenceKernel(length, decay, precision="double")(X, list(X)), rtol=1e-12)
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
    assert SubsequenceKernel(1, 0.5, "word", normalize=False)([s], [t]).item() == pytest.approx(4 * 0.25)  # case is kept
    lower = SubsequenceKernel(1, 0.5, lambda text: text.lower().split(), normalize=False)
    assert lower([s], [t.replace(":", "").replace("!", "")]).item() == pytest.approx(1.25)


def test_a_function_may_return_a_string_whose_characters_are_meant():
    shout = SubsequenceKernel(2, tokens=str.upper)
    np.testing.assert_array_equal(shout(["Car", "cat"]), SubsequenceKernel(2)(["CAR", "CAT"]))


def test_the_automatic_choice_shortens_words_and_not_characters():
    rng = np.random.default_rng(0)
    words = [list(rng.integers(0, 5000, 80)) for _ in range(40)]
    characters = ["".join(rng.choice(list("abcdefghij "), 80)) for _ in range(40)]
    recipe = core.Recipe(2, np.full(6000, 0.5), np.ones(6000), np.empty(0))
    for corpus, shortened in ((words, True), (characters, False)):
        (X,), _ = encode("char", corpus)
        assert (core.share_of_common_cells(recipe, X.codes, X.starts, X.codes, X.starts) < SHORTEN_BELOW) == shortened
        values = [Cpu(shorten=way).gram(recipe, X, None, (Diagonal.none(),) * 2, 1.0) for way in (None, True, False)]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-5, atol=1e-30)
        np.testing.assert_allclose(values[0], values[2], rtol=1e-5, atol=1e-30)


MESSAGES = ["cheap pills now", "cheap pils nw", "chep pills", "meeting at noon", "meetng at nine", "lunch at noon"]
SPAM = [1, 1, 1, 0, 0, 0]


def test_kernel_inside_svc_equals_precomputed():
    kernel = SubsequenceKernel(2)
    inside = SVC(kernel=kernel).fit(MESSAGES, SPAM)
    outside = SVC(kernel="precomputed").fit(kernel(MESSAGES), SPAM)
    new = ["cheap pill", "lunch meeting"]
    np.testing.assert_allclose(inside.decision_function(new), outside.decision_function(kernel(new, MESSAGES)))
    assert inside.predict(new).tolist() == [1, 0]


def test_grid_search_over_decay_and_length():
    search = GridSearchCV(SVC(kernel=SubsequenceKernel()), {"kernel__decay": [0.2, 0.8], "kernel__length": [1, 2]}, cv=3)
    search.fit(MESSAGES, SPAM)
    assert search.best_score_ == 1.0
    assert search.best_estimator_.kernel.get_params()["length"] == search.best_params_["kernel__length"]


def test_cross_validation_and_cloning():
    model = SVC(kernel=SubsequenceKernel(2, gap_decay={"a": 0.9}))
    assert cross_val_score(model, MESSAGES, SPAM, cv=3).mean() == 1.0
    copy = clone(model).kernel
    assert copy is not model.kernel
    assert copy.get_params() == model.kernel.get_params()


def test_kernel_as_a_step_before_precomputed_learners():
    kernel = SubsequenceKernel(2)
    places = make_pipeline(kernel, KernelPCA(2, kernel="precomputed")).fit_transform(MESSAGES)
    expected = KernelPCA(2, kernel="precomputed").fit_transform(kernel(MESSAGES))
    np.testing.assert_allclose(abs(places), abs(expected), atol=1e-9)
    model = TextClassifier(kernel, learner=SVC(kernel="precomputed")).fit(MESSAGES, SPAM)
    assert model.predict(["cheap pill", "lunch meeting"]).tolist() == [1, 0]


@pytest.mark.parametrize("kind", [np.array, tuple, iter])
def test_any_container_of_texts(kind):
    np.testing.assert_array_equal(SubsequenceKernel(2)(kind(MESSAGES)), SubsequenceKernel(2)(MESSAGES))


def test_progress_is_told_and_can_be_switched_off(capfd):
    shares = []
    X = ["abcdefghij" * 200] * 24
    SubsequenceKernel(9, precision="double", n_jobs=1, progress=shares.append)(X)
    assert shares
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    SubsequenceKernel(progress=False)(X)
    assert capfd.readouterr() == ("", "")


LONG_RUN = """
import sys
from textmargin import SubsequenceKernel
X = ["the cat sat on the mat " * 300] * 64
print("started", flush=True)
try:
    SubsequenceKernel(progress={progress})(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(SubsequenceKernel(2)(["car"], ["cat"]).item(), flush=True)
"""


def test_ctrl_c_returns_within_a_second_and_leaves_a_usable_prompt():
    command = [sys.executable, "-c", LONG_RUN.format(progress=False)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 1.0
        assert float(process.stdout.readline()) == pytest.approx(4 / 9, rel=1e-6)
    assert process.returncode == 0


def test_a_bar_appears_on_a_terminal_when_it_takes_long():
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", LONG_RUN.format(progress=True)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(follower)
        shown = b""
        deadline = time.monotonic() + 60
        while b"%" not in shown and time.monotonic() < deadline:
            shown += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(10)
    os.close(leader)
    assert "Comparing 64 × 64 texts" in shown.decode(errors="replace")


def test_a_failing_progress_function_stops_the_work_with_its_error():
    def fail(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SubsequenceKernel(progress=fail)(["the cat sat on the mat " * 300] * 64)


@pytest.mark.parametrize(
    ("options", "X", "error", "message"),
    [
        ({}, [], NotTextError, "no texts to compare"),
        ({}, "a single string", NotTextError, "put it in a list"),
        ({}, ["a", None], NotTextError, "Text number 1 is missing"),
        ({}, ["a", 3], NotTextError, "Text number 1 is not a string but int"),
        ({}, [3, 4], NotTextError, "Text number 0 is not a string but int"),
        ({}, ["a", ["b"]], NotTextError, "Text number 0 is a string, but number 1 is a list"),
        ({}, [["a", ["b"]]], NotTextError, "cannot be compared by hash: list"),
        ({"tokens": lambda text: [[text]]}, ["a"], NotTextError, "cannot be compared by hash"),
        ({}, np.eye(3), NotTextError, "table with 3 columns"),
        ({"decay": 0}, ["a"], ValueError, "'decay' parameter .* Got 0 instead"),
        ({"decay": 2}, ["a"], ValueError, "'decay' parameter .* Got 2 instead"),
        ({"decay": np.nan}, ["a"], ValueError, "'decay' parameter"),
        ({"length": 0}, ["a"], ValueError, "'length' parameter .* Got 0 instead"),
        ({"length": 2.5}, ["a"], ValueError, "'length' parameter"),
        ({"tokens": "sentence"}, ["a"], ValueError, "'tokens' parameter"),
        ({"precision": "half"}, ["a"], ValueError, "'precision' parameter"),
        ({"weights": [1, 1]}, ["a"], ValueError, "one number for each length from 1 to length=5; got 2"),
        ({"length": 2, "weights": [0, 0]}, ["a"], ValueError, "not all 0"),
        ({"length": 2, "weights": [-1, 1]}, ["a"], ValueError, "not negative"),
        ({"gap_decay": {"a": 0}}, ["a"], ValueError, r"gap_decay\['a'\] must be a number from 1e-06 to 1; got 0"),
        ({"length": 200, "decay": 0.01, "normalize": False}, ["a" * 300], TooLargeError, "use normalize=True"),
        ({"length": 120, "decay": 1.0, "normalize": False}, ["a" * 1500], TooLargeError, "beyond the range"),
        ({}, ["a" * 10_000_000], TooLargeError, r"10,000,000 symbols; .* takes \d+\.\d GB"),
    ],
)
def test_bad_input_says_what_is_wrong(options, X, error, message):
    with pytest.raises(error, match=message):
        SubsequenceKernel(**options)(X)


def test_a_matrix_that_does_not_fit_the_machine_is_refused_before_any_work():
    with pytest.raises(TooLargeError, match="compare fewer texts"):
        SubsequenceKernel(2, normalize=False)(["ab"] * 3_000_000)


def test_a_document_of_ten_million_characters_against_short_ones():
    """Memory goes by the shorter text, so that this is done and not refused."""
    K = SubsequenceKernel(2, 0.5, normalize=False)(["ab" * 5_000_000], ["ab", "zz"])
    assert K[0, 1] == 0
    one = sum(0.5 ** (2 * k) for k in range(1, 60))  # a…b over 1, 3, 5, … gaps: each pair of places counts 0.5^(stretch + 2)
    assert K[0, 0] == pytest.approx(0.25 * one * 5_000_000, rel=1e-4)


@pytest.mark.parametrize("normalize", [True, False])
def test_empty_texts_and_texts_shorter_than_the_kernel_are_like_no_other(normalize):
    X = ["", "abcd", "abcdef", "abcde"]
    K = SubsequenceKernel(5, normalize=normalize)(X)
    assert not K[:2].any()
    assert not K[:, :2].any()
    assert (K[2:, 2:] > 0).all()
    assert not SubsequenceKernel(5)(["", "a"]).any()


def test_lone_surrogates_are_symbols_like_any_other():
    K = SubsequenceKernel(2, precision="double")(["\ud800x\udfff", "\ud800x", "x\ud800"])
    np.testing.assert_allclose(K[0, 1], SubsequenceKernel(2, precision="double")(["axb"], ["ax"]).item())
    assert K[1, 2] == 0


def test_tokens_of_different_types_differ_unless_equal():
    K = SubsequenceKernel(1, normalize=False, decay=1.0)([[1, "1", (1,)]], [["1"], [1.0], [True], [(1,)], [2]])
    assert K.tolist() == [[1, 1, 1, 1, 0]]
