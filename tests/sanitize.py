"""The tests of the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer: `make sanitize`.

    python tests/sanitize.py                          # builds into build/sanitize, some minutes, then runs TESTS
    python tests/sanitize.py tests/test_core.py -x    # or what is named, with pytest's options

The first read or write out of bounds, use after free, signed overflow, shift too far or misaligned access ends the run
with a report. Memory that is never freed is not looked for: Python itself leaves much of it to the end of the process.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize"
PACKAGE = BUILD / "package"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
TESTS = ["tests/test_core.py", "tests/representations", "tests/tables", "tests/cli/test_records.py", "tests/learners"]
# An editable install finds the package before any path does.
RUN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
import pytest
from textmargin import core
if not core.__file__.startswith(sys.argv[1]):
    sys.exit(f"{core.__file__} is not the core that was built here")
sys.exit(pytest.main(sys.argv[2:]))
"""


def main(arguments):
    build()
    compiler = os.environ.get("CXX", "c++")
    libraries = [
        subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(PACKAGE),
    }
    # What is compiled for an emulated GPU is no part of the core.
    command = [sys.executable, "-c", RUN, str(PACKAGE), "-p", "no:xdist", "--ignore-glob=*test_cuda*", *(arguments or TESTS)]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def build():
    """The core with both sanitizers, in a copy of the package."""
    nanobind = subprocess.run([sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True)
    settings = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_FLAGS": FLAGS,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.stdout.strip(),
    }
    command = ["cmake", "-S", ROOT, "-B", BUILD, *(f"-D{name}={value}" for name, value in settings.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "core", "--parallel", str(os.cpu_count())], check=True)
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "textmargin", PACKAGE / "textmargin", ignore=shutil.ignore_patterns("core*.so", "__pycache__"))
    for core in BUILD.glob("core*.so"):
        shutil.copy(core, PACKAGE / "textmargin")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
