"""What pyproject.toml promises of other packages. `make oldest` runs the tests with the oldest of them."""

from importlib import metadata

import pytest
from oldest_dependencies import requirements

KNOWN = requirements()


@pytest.mark.parametrize("name", KNOWN)
def test_a_package_has_a_lower_bound_alone_and_this_environment_keeps_it(name):
    """No upper bound: nobody knows what will break."""
    bound = KNOWN[name].specifier
    assert [one.operator for one in bound] == [">="]
    try:
        assert metadata.version(name) in bound
    except metadata.PackageNotFoundError:
        pytest.skip("an extra that is not installed")
