"""Every benchmark imports: what it takes from the package is there, and bears the name that the benchmark knows it by."""

from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("bench_*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_imports(path):
    import_module(f"benchmarks.{path.stem}")
