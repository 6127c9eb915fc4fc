"""The subsequence kernel in use: inside scikit-learn, watched, interrupted, and given bad input."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from textmargin import SubsequenceKernel, TextClassifier, core
from textmargin.errors import DeviceError, NotTextError, TooLargeError

MESSAGES = [
    "cheap pills now",
    "cheap pils nw",
    "chep pills",
    "meeting at noon",
    "meetng at nine",
    "lunch at noon",
]
SPAM = [1, 1, 1, 0, 0, 0]


def test_kernel_inside_svc_equals_precomputed():
    kernel = SubsequenceKernel(2)
    inside = SVC(kernel=kernel).fit(MESSAGES, SPAM)
    outside = SVC(kernel="precomputed").fit(kernel(MESSAGES), SPAM)
    new = ["cheap pill", "lunch meeting"]
    np.testing.assert_allclose(
        inside.decision_function(new), outside.decision_function(kernel(new, MESSAGES))
    )
    assert inside.predict(new).tolist() == [1, 0]


def test_grid_search_over_decay_and_length():
    search = GridSearchCV(
        SVC(kernel=SubsequenceKernel()), {"kernel__decay": [0.2, 0.8], "kernel__length": [1, 2]}, cv=3
    )
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
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=follower, env={**os.environ, "TERM": "xterm"}
    ) as process:
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
        (
            {"gap_decay": {"a": 0}},
            ["a"],
            ValueError,
            r"gap_decay\['a'\] must be a number from 1e-06 to 1; got 0",
        ),
        (
            {"length": 200, "decay": 0.01, "normalize": False},
            ["a" * 300],
            TooLargeError,
            "use normalize=True",
        ),
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
    # a…b over 1, 3, 5, … gaps: each pair of places counts 0.5^(stretch + 2)
    one = sum(0.5 ** (2 * k) for k in range(1, 60))
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
    K = SubsequenceKernel(1, normalize=False, decay=1.0)(
        [[1, "1", (1,)]], [["1"], [1.0], [True], [(1,)], [2]]
    )
    assert K.tolist() == [[1, 1, 1, 1, 0]]


@pytest.mark.parametrize("level", core.levels())
def test_the_environment_chooses_the_level_of_the_core(level, monkeypatch):
    texts = ["science is organized knowledge", "wisdom is organized life"] * 3
    expected = SubsequenceKernel(3)(texts)
    monkeypatch.setenv("TEXTMARGIN_LEVEL", level)
    np.testing.assert_allclose(SubsequenceKernel(3)(texts), expected, rtol=1e-5)
    monkeypatch.setenv("TEXTMARGIN_LEVEL", "avx1024")
    with pytest.raises(
        DeviceError, match=r"TEXTMARGIN_LEVEL is 'avx1024', but this processor has .*baseline"
    ):
        SubsequenceKernel(3)(texts)
