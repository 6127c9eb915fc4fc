"""The tests of the compiled core under sanitizers: `make sanitize`.

    python tests/sanitize.py                               # builds into build/sanitize-*, then runs all
    python tests/sanitize.py memory tests/test_core.py -x  # or one of them, with pytest's options
    python tests/sanitize.py thread

*memory* is AddressSanitizer and UndefinedBehaviorSanitizer: the first read or write out of bounds, use after
free, signed overflow, shift too far or misaligned access ends the run with a report. Memory that is never
freed is not looked for: Python itself leaves much of it to the end of the process. *thread* is
ThreadSanitizer on the tests whose work the core shares out among threads: two that touch the same memory, one
of them writing, with nothing between them that orders it.

Reports go to files, because pytest keeps what a test writes to itself, and any report at all is a failure.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# An editable install finds the package before any path does.
RUN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])


class NoPolars:  # whose import ends in a segmentation fault under ThreadSanitizer
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "polars":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, NoPolars())
import pytest
from textmargin import core
if not core.__file__.startswith(sys.argv[1]):
    sys.exit(f"{core.__file__} is not the core that was built here")
sys.exit(pytest.main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Sanitizer:
    """Flags of the compiler, libraries to load first, settings, and the tests that are worth their while."""

    flags: str
    libraries: tuple[str, ...]
    options: dict[str, str]  # by variable; where reports go is added
    settings: dict[str, str]
    tests: tuple[str, ...]
    prefix: tuple[str, ...] = ()


SANITIZERS = {
    "memory": Sanitizer(
        "-fsanitize=address,undefined -fno-sanitize-recover=all",
        ("libasan.so", "libstdc++.so"),
        {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
        {},
        ("tests/test_core.py", "tests/representations", "tests/tables", "tests/cli/test_records.py",
         "tests/learners"),
    ),
    "thread": Sanitizer(
        "-fsanitize=thread",
        ("libtsan.so", "libstdc++.so"),
        # BLAS is not compiled with it: threads of its own are not looked at, and must not disturb.
        {"TSAN_OPTIONS": "halt_on_error=0 exitcode=66 second_deadlock_stack=1 "
                         f"suppressions={ROOT}/tests/sanitize_thread.txt"},
        {"OPENBLAS_NUM_THREADS": "1"},
        ("tests/test_core_threads.py", "tests/test_core.py", "tests/representations/test_strings.py",
         "tests/representations/test_words.py", "tests/representations/test_bow.py",
         "tests/learners/test_batch.py", "tests/learners/test_kernel.py",
         "tests/tables/test_chunks.py", "tests/cli/test_records.py"),
        ("setarch", "-R"),  # its map of memory has no room for addresses that are drawn by lot from many
    ),
}  # fmt: skip


def main(arguments):
    chosen = [arguments[0]] if arguments and arguments[0] in SANITIZERS else list(SANITIZERS)
    tests = arguments[1:] if arguments and arguments[0] in SANITIZERS else arguments
    return max([run(name, tests) for name in chosen])


def run(name, tests):
    sanitizer, package = SANITIZERS[name], build(name)
    compiler = os.environ.get("CXX", "c++")
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={one}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for one in sanitizer.libraries
    ]
    reports = package.parent / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    options = {
        variable: f"{text} log_path={reports / 'report'}" for variable, text in sanitizer.options.items()
    }
    environment = (
        os.environ
        | sanitizer.settings
        | options
        | {"LD_PRELOAD": " ".join(libraries), "PYTHONPATH": str(package)}
    )
    # What is compiled for an emulated GPU is no part of the core.
    own = list(tests or sanitizer.tests)
    command = [
        *sanitizer.prefix,
        sys.executable,
        "-c",
        RUN,
        str(package),
        "-p",
        "no:xdist",
        "--ignore-glob=*test_cuda*",
        *own,
    ]
    print(f"{name}: {' '.join(own)}", flush=True)
    code = abs(subprocess.run(command, cwd=ROOT, env=environment).returncode)
    found = sorted(reports.iterdir())
    for report in found:
        print(f"{report}:\n{report.read_text(errors='replace')[:4000]}", flush=True)
    print(f"{name}: {len(found)} reports, pytest ended with {code}", flush=True)
    return code or min(len(found), 1)


def build(name):
    """The core with a sanitizer, in a copy of the package; its folder."""
    folder = ROOT / "build" / f"sanitize-{name}"
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    )
    settings = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_FLAGS": f"{SANITIZERS[name].flags} -fno-omit-frame-pointer",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.stdout.strip(),
    }
    command = ["cmake", "-S", ROOT, "-B", folder, *(f"-D{key}={value}" for key, value in settings.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["cmake", "--build", folder, "--target", "core", "--parallel", str(os.cpu_count())], check=True
    )
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        ROOT / "src" / "textmargin",
        package / "textmargin",
        ignore=shutil.ignore_patterns("core*.so", "__pycache__"),
    )
    for core in folder.glob("core*.so"):
        shutil.copy(core, package / "textmargin")
    return package


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
