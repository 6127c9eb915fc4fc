"""Every benchmark imports: what it takes from the package is there, and bears the name that the benchmark
knows it by.
"""

from importlib import import_module
from pathlib import Path

import pytest
from samples import needs_corpora

BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("bench_*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_imports(path):
    import_module(f"benchmarks.{path.stem}")


def test_decisions_in_short(capsys):
    """`bench_decisions --quick` runs through: all three ways to decide have a utility, and floors and prices
    are there.
    """
    import_module("benchmarks.bench_decisions").main(["--quick"])
    shown = capsys.readouterr().out
    for name in ("argmax", "one against rest", "together", "(1, −20)", "min_precision=0.9", "asking"):
        assert name in shown
    assert "nan" not in shown


def test_estimates_in_short(capsys):
    """`bench_estimate --quick` runs through: accuracy and utility have a coverage."""
    import_module("benchmarks.bench_estimate").main(["--quick"])
    shown = capsys.readouterr().out
    assert shown.count("accuracy") == 3
    assert shown.count("utility") == 2
    assert "nan" not in shown


@needs_corpora
def test_training_from_a_file_in_short(capsys):
    """`bench_train_file --quick` runs through: every part that it times is still there, and takes time."""
    import_module("benchmarks.bench_train_file").main(["--quick"])
    shown = capsys.readouterr().out
    assert shown.count("words to columns") == 2
    assert shown.count("whole") == 2
    assert "nan" not in shown


def test_words_in_short(capsys):
    """`bench_words --quick` runs through: every corpus, and every kind of terms, gives the same as
    scikit-learn.
    """
    words = import_module("benchmarks.bench_words")
    words.main(["--quick", "German", "Chinese", "emoji"])
    shown = capsys.readouterr().out
    assert shown.count("fit_transform") == 3 * (len(words.SETTINGS) + 1)
    assert "nan" not in shown


@needs_corpora
def test_linear_solvers_in_short(capsys):
    """`bench_primal topics --quick` runs through: every solver comes as close to its optimum as it is asked
    to.
    """
    import_module("benchmarks.bench_primal").main(["topics", "--quick"])
    shown = capsys.readouterr().out.splitlines()
    solvers = [line for line in shown if line.startswith(("PriorSVC", "LinearSVC"))]
    assert len(solvers) == 4 * 4  # two gaps, with and without intercept
    goals = [1e-4] * 4 + [1e-6] * 4
    assert all(float(line[26:].split()[1]) <= goal for line, goal in zip(solvers, goals + goals, strict=True))
