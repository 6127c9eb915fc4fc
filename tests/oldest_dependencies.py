"""The tests with the oldest packages that pyproject.toml names: `make oldest`.

Every `>=` of what the package needs, and of its extras, becomes a `==`; what these packages need themselves,
and the tools that developers use, is as new as it can be. The package is built from a copy of the tree in an
environment of its own, with the oldest Python that is named. A bound that does not hold is to be raised to
the lowest version that does.

    python tests/oldest_dependencies.py                       # all tests
    python tests/oldest_dependencies.py tests/tables -n 2     # these, with options of pytest
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_PINNED = {"dev", "docs", "cuda"}  # extras: tools for developers, and what other machines have


def requirements():
    """Those of the package and of its extras, by name."""
    extras = PROJECT["optional-dependencies"]
    lines = [line for extra, own in extras.items() if extra not in NOT_PINNED for line in own]
    return {one.name: one for one in map(Requirement, [*PROJECT["dependencies"], *lines])}


def main(options):
    python = f"python{PROJECT['requires-python'].removeprefix('>=')}"
    pins = [f"{name}=={next(iter(one.specifier)).version}" for name, one in requirements().items()]
    with tempfile.TemporaryDirectory(prefix="textmargin-oldest-") as folder:
        tree, environment, bounds = (Path(folder, name) for name in ("tree", "environment", "bounds.txt"))
        tree.mkdir()
        bounds.write_text("\n".join(pins))
        subprocess.run(f"git ls-files -z | xargs -0 cp --parents -t {tree}", shell=True, cwd=ROOT, check=True)
        subprocess.run([python, "-m", "venv", environment], check=True)
        own = environment / "bin" / "python"
        subprocess.run([own, "-m", "pip", "install", "--quiet", "--upgrade", "pip"], check=True)
        install = ["install", "--quiet", "--constraint", bounds, "--editable", f"{tree}[dev]"]
        subprocess.run([own, "-m", "pip", *install], check=True)
        command = [own, "-m", "pytest", "-rf", *(options or ["-n", "2", "--dist", "worksteal"])]
        return subprocess.run(command, cwd=tree).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
