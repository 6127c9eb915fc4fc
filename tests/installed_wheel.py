"""A wheel as a user has it: installed into a new environment, no compiler and no source tree in reach. `make
check-wheel`.

    python tests/installed_wheel.py dist/textmargin-*.whl                              # install, demo, desk
    python tests/installed_wheel.py dist/textmargin-*.whl --python python3.13          # into another Python
    python tests/installed_wheel.py dist/textmargin-*.whl --tests tests/test_core.py   # and these tests
    python tests/installed_wheel.py dist/textmargin-*.whl --tests tests -n 2           # or all of them

Tests are copied to a folder of their own, with the pages and scripts that they read, and without src/. What
looks at the source tree itself is left out, by name (`SOURCE_TESTS`).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILERS = re.compile(
    r"(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|c89|c99|ld|as|make|gmake|cmake|ninja|ccache)(-[\w.]+)?"
)
SOURCE_TESTS = {
    "tests/test_architecture.py": "reads src/",
    "tests/test_conventions.py": "reads src/ and every page",
    "tests/test_readme.py": "its pages link to src/",
}
COPIES = ("tests", "docs", "benchmarks", "examples")
PATIENCE = 180  # seconds for a service to start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("-n", type=int, default=0, help="processes for the tests")
    parser.add_argument("--folder", type=Path, help="where to work, instead of a temporary folder; it stays")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="wheel-") as temporary:
        user = User(arguments.folder or Path(temporary), arguments.python)
        user.install(arguments.wheel.resolve())
        user.demo()
        user.service()
        user.desk()
        return user.test(arguments.tests, arguments.n, options) if arguments.tests else 0


class User:
    """An environment, a folder to work in, and a PATH without compilers."""

    def __init__(self, folder, python):
        self.work, self.venv, tools = folder / "work", folder / "venv", folder / "tools"
        for one in (self.work, tools):
            one.mkdir(parents=True, exist_ok=True)
        subprocess.run([python, "-m", "venv", self.venv], check=True)
        self.bin = self.venv / ("Scripts" if os.name == "nt" else "bin")
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV", "TEXTMARGIN_"))
        } | {"PATH": str(self.bin), "CC": "/bin/false", "CXX": "/bin/false"}
        self.tools = self._link_tools(tools) if os.name == "posix" else os.environ["PATH"]

    def _link_tools(self, folder):
        """Every program of the system but those that compile."""
        for place in os.environ["PATH"].split(os.pathsep):
            for program in Path(place).glob("*") if "shims" not in place else ():
                if not COMPILERS.fullmatch(program.name) and not (folder / program.name).is_symlink():
                    (folder / program.name).symlink_to(program)
        for compiler in ("cc", "gcc", "g++", "clang", "cmake", "ninja"):
            if shutil.which(compiler, path=f"{self.bin}{os.pathsep}{folder}"):
                sys.exit(f"{compiler} is in reach")
        return f"{self.bin}{os.pathsep}{folder}"

    def run(self, *command, **options):
        return subprocess.run(
            [str(word) for word in command], cwd=self.work, env=self.environment, check=True, **options
        )

    def install(self, wheel):
        """The wheel and what it needs, nothing of it built here."""
        pip = (self.bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        self.run(*pip, "--only-binary", ":all:", f"{wheel}[serve]", stderr=subprocess.DEVNULL)
        code = (
            "import sys, textmargin.core as core; print(sys.version.split()[0], core.__file__, "
            "*core.levels())"
        )
        found = self.run(self.bin / "python", "-c", code, stdout=subprocess.PIPE, text=True).stdout.strip()
        if str(self.venv) not in found:
            sys.exit(f"textmargin was imported from elsewhere: {found}")
        print(f"installed: {wheel.name} for Python {found}", flush=True)

    def demo(self):
        shown = self.run(
            self.bin / "textmargin", "demo", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ).stdout
        print(f"textmargin demo: {len(shown.splitlines())} lines", flush=True)

    def service(self):
        self.run(self.bin / "textmargin", "data", "export", "desk", stdout=subprocess.DEVNULL)
        self.run(
            self.bin / "textmargin",
            "train",
            "desk-train.csv",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with self._started("serve", "model.tmm", "--port", "0") as address:
            body = json.dumps({"texts": ["my printer is out of toner"]}).encode()
            request = urllib.request.Request(f"{address}/predict", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                found = json.load(answer)
        print(f"textmargin serve: POST /predict says {json.dumps(found)[:100]}", flush=True)

    def desk(self):
        with (
            self._started(
                "desk", "desk-unlabelled.csv", "--keywords", "desk-keywords.toml", "--no-browser"
            ) as address,
            urllib.request.urlopen(address, timeout=PATIENCE) as answer,
        ):
            page = answer.read().decode()
        if "<html" not in page:
            sys.exit(f"the desk answered {page[:100]!r}")
        print(f"textmargin desk: a page of {len(page):,} characters", flush=True)

    @contextmanager
    def _started(self, *words):
        """The address of a command that serves on loopback, which is ended afterwards."""
        log = self.work / f"{words[0]}.log"
        with log.open("w") as stream:
            command = [str(self.bin / "textmargin"), *words]
            process = subprocess.Popen(
                command, cwd=self.work, env=self.environment, stdout=stream, stderr=subprocess.STDOUT
            )
        try:
            end = time.monotonic() + PATIENCE
            while not (found := re.search(r"http://[^\s]+", log.read_text())):
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"textmargin {words[0]} did not start: {log.read_text()}")
                time.sleep(0.2)
            yield found[0].rstrip(".,)")
        finally:
            process.terminate()
            process.wait(PATIENCE)

    def test(self, tests, n_processes, options):
        """Run tests from outside the tree; their exit code."""
        pip = (
            self.bin / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--prefer-binary",
        )
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        extras = project["project"]["optional-dependencies"]
        # A pure Python package without a wheel may be built; one that needs a compiler fails.
        own = [one for extra, needed in extras.items() if extra != "cuda" for one in needed]
        self.environment["PATH"] = self.tools
        self.run(*pip, *(one for one in own if not one.startswith("textmargin")), stderr=subprocess.DEVNULL)
        for name in COPIES:
            shutil.copytree(
                ROOT / name,
                self.work / name,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        for page in [*ROOT.glob("*.md"), ROOT / "CITATION.cff"]:
            shutil.copy(page, self.work)
        own = project["tool"]["pytest"]["ini_options"] | {"testpaths": ["tests"]}
        lines = [f"{key} = {json.dumps(value)}" for key, value in own.items()]
        (self.work / "pyproject.toml").write_text(
            "\n".join(["[tool.pytest.ini_options]", *lines]), encoding="utf-8"
        )
        freeze = self.run(
            *pip[:3], "freeze", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ).stdout
        (self.work / "freeze.txt").write_text(freeze, encoding="utf-8")
        print(
            " ".join(re.findall(r"^(?:numpy|scipy|scikit-learn|pandas|joblib)==.*$", freeze, re.M)),
            flush=True,
        )
        left_out = {
            name: why for name, why in SOURCE_TESTS.items() if any(name.startswith(test) for test in tests)
        }
        for name, why in left_out.items():
            print(f"left out: {name}, which {why}", flush=True)
        if data := os.environ.get("TEXTMARGIN_DATA"):
            self.environment["TEXTMARGIN_DATA"] = data
        command = [
            self.bin / "python",
            "-m",
            "pytest",
            *tests,
            *(f"--ignore={name}" for name in left_out),
            *options,
        ]
        command += ["-n", str(n_processes), "--dist", "worksteal"] if n_processes else []
        return subprocess.run([str(word) for word in command], cwd=self.work, env=self.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
