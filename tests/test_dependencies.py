"""What pyproject.toml promises of other packages. `make oldest` runs the tests with the oldest of them."""

import re
from importlib import metadata

import pytest
from oldest_dependencies import constraints, lower_bound, oldest_python, requirements
from packaging.requirements import Requirement
from packaging.version import Version

LINES = [(extra, line) for extra, lines in requirements().items() for line in lines]


@pytest.mark.parametrize(("extra", "line"), LINES, ids=[f"{extra} {line}".strip() for extra, line in LINES])
def test_every_package_has_a_lower_bound_and_this_environment_keeps_it(extra, line):
    name, version = lower_bound(line)
    given = Requirement(line)
    # no upper bound: nobody knows what will break
    assert (name, str(given.specifier)) == (given.name, f">={version}")
    try:
        assert Version(metadata.version(name)) >= Version(version)
    except metadata.PackageNotFoundError:
        assert extra, f"{name} is needed, and not installed"


def test_a_package_that_two_extras_name_has_one_bound():
    bounds = {}
    for _, line in LINES:
        bounds.setdefault(Requirement(line).name, set()).add(lower_bound(line)[1])
    assert {name: versions for name, versions in bounds.items() if len(versions) > 1} == {}


def test_what_oldest_installs_is_what_is_named():
    assert constraints() == {
        Requirement(line).name: lower_bound(line)[1] for extra, line in LINES if extra != "cuda"
    }
    assert constraints()["numpy"] == next(
        re.sub("numpy>=", "", line) for _, line in LINES if line.startswith("numpy>=")
    )
    assert re.fullmatch(r"3\.\d+", oldest_python())


@pytest.mark.parametrize("line", ["numpy", "numpy<3", "numpy==2.0", "dask[dataframe]"])
def test_a_package_without_a_lower_bound_was_taken(line):
    with pytest.raises(ValueError, match="has no lower bound; write >="):
        lower_bound(line)
