"""The core compiled with every warning an error, by GCC and by Clang: `make warnings`.

    python tests/compiler_warnings.py            # all that are here
    python tests/compiler_warnings.py clang++    # or those named

Builds go to build/warnings-*; a compiler that is not here is left out with a line, and named it is an error.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILERS = ("g++", "clang++")


def main(named):
    failed = []
    for compiler in named or COMPILERS:
        if shutil.which(compiler) is None:
            print(f"{compiler} is not here, and is left out")
            failed += [compiler] if named else []
        elif not builds(compiler):
            failed.append(compiler)
        else:
            print(f"{compiler}: no warning")
    return bool(failed)


def builds(compiler):
    """Whether the core, its own sources alone held to it, compiles without a warning."""
    folder = ROOT / "build" / f"warnings-{compiler.replace('+', 'x')}"
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    )
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER": compiler,
        "TEXTMARGIN_WARNINGS_ARE_ERRORS": "ON",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.stdout.strip(),
    }
    command = ["cmake", "-S", ROOT, "-B", folder, *(f"-D{key}={value}" for key, value in settings.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    build = ["cmake", "--build", folder, "--target", "core", "--parallel", str(os.cpu_count())]
    return subprocess.run(build).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
