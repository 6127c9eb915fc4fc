"""The tests with the oldest packages that pyproject.toml names: `make oldest`.

Every `>=` of what the package needs, and of its extras, becomes a `==`; what these packages need themselves,
and the tools that developers use, is as new as it can be. The package is built from a copy of the tree in an
environment of its own, both outside the tree, with the oldest Python that is named. A bound that does not
hold is to be raised to the lowest version that does.

    python tests/oldest_dependencies.py                       # all tests
    python tests/oldest_dependencies.py tests/tables -n 2     # these, with options of pytest
    python tests/oldest_dependencies.py --list                # the versions
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = {"dev", "docs"}  # extras for developers: any version will do
ELSEWHERE = {"cuda"}  # extras for other machines
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,.-]+\])?(?P<bounds>[^;]*)(?P<marker>;.*)?")


def requirements() -> dict[str, list[str]]:
    """Those of the package under "", and those of each of its extras, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return {
        "": project["dependencies"],
        **{extra: lines for extra, lines in extras.items() if extra not in TOOLS},
    }


def oldest_python() -> str:
    """As `requires-python` has it: 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["requires-python"]).removeprefix(">=")


def lower_bound(requirement: str) -> tuple[str, str]:
    """A package and its oldest version."""
    found = REQUIREMENT.fullmatch(requirement.replace(" ", ""))
    bound = found and re.search(r">=([\w.]+)", found["bounds"])
    if not found or not bound:
        raise ValueError(
            f"{requirement!r} in pyproject.toml has no lower bound; write >= and the oldest version that "
            "works."
        )
    return found["name"], bound[1]


def constraints() -> dict[str, str]:
    """The oldest version of each package, by its name."""
    lines = [
        line for extra, of_extra in requirements().items() if extra not in ELSEWHERE for line in of_extra
    ]
    return dict(lower_bound(line) for line in lines)


def install(folder: Path, python: str) -> Path:
    """An environment with the oldest packages, and this one built from a copy of the tree; the copy."""
    tree, environment = folder / "tree", folder / "environment"
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, names.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    (folder / "constraints.txt").write_text(
        "".join(f"{name}=={version}\n" for name, version in constraints().items())
    )
    subprocess.run([python, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    subprocess.run(
        [*pip, "--constraint", folder / "constraints.txt", "--editable", f"{tree}[dev]"], check=True
    )
    return tree


def main(options: list[str]) -> int:
    """1 where the packages cannot be installed or a test fails."""
    if options == ["--list"]:
        print("\n".join(f"{name}=={version}" for name, version in constraints().items()))
        return 0
    python = shutil.which(f"python{oldest_python()}")
    if python is None:
        print(
            f"There is no python{oldest_python()} on the path, which is the oldest that pyproject.toml "
            "names.",
            file=sys.stderr,
        )
        return 1
    folder = Path(tempfile.mkdtemp(prefix="textmargin-oldest-"))
    try:
        tree = install(folder, python)
        own = folder / "environment" / "bin" / "python"
        subprocess.run([own, "-m", "pip", "freeze", "--exclude-editable"], check=True)
        command = [
            own,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-rf",
            *(options or ["-n", "2", "--dist", "worksteal"]),
        ]
        return subprocess.run(
            command, cwd=tree, env={**os.environ, "VIRTUAL_ENV": str(folder / "environment")}
        ).returncode
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd))} ended with {error.returncode}.", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
