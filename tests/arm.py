"""The core compiled for 64-bit ARM, and its tests run by a Python of that machine, emulated: `make arm`.

    python tests/arm.py                                     # compile, then the tests of TESTS
    python tests/arm.py tests/test_core.py -k levels        # or what is named, with pytest's options

Needs Debian's aarch64-linux-gnu-g++ and qemu-aarch64, and what it fetches into build/arm: Debian's Python
3.11 for arm64, and wheels for aarch64 of what the package needs. Nothing is installed on this machine. What
takes half a minute here takes some there.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "arm"
SYSTEM, SITE, PACKAGE = FOLDER / "root", FOLDER / "site", FOLDER / "package"
TOOLS = {
    "aarch64-linux-gnu-g++": "apt-get install g++-aarch64-linux-gnu",
    "qemu-aarch64": "apt-get install qemu-user",
    "apt-get": "only Debian and its like have it",
    "dpkg-deb": "only Debian and its like have it",
    "cmake": "pip install cmake",
}
DEBIAN = (
    "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libpython3.11-dev", "libc6",
    "libstdc++6", "libgcc-s1", "zlib1g", "libexpat1", "libssl3", "libffi8", "libbz2-1.0", "liblzma5",
    "libsqlite3-0", "libuuid1",
)  # fmt: skip
TESTS = ("tests/test_core.py", "tests/representations/test_strings.py", "tests/learners/test_batch.py")


def main(arguments):
    if missing := [
        f"{tool} is not here: {step}" for tool, step in TOOLS.items() if shutil.which(tool) is None
    ]:
        sys.exit("\n".join(missing))
    fetch_system()
    fetch_packages()
    build()
    shown = python(
        "-c",
        "import platform, numpy; from textmargin import core; print(platform.machine(), "
        "numpy.__version__, core.levels())",
    )
    if shown:
        return shown
    named = arguments and not arguments[0].startswith("-")
    return python(
        "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *(() if named else TESTS), *arguments
    )


def fetch_system():
    """Python and its libraries, unpacked into a folder; lists of packages of our own, so that the machine's
    stay as they are.
    """
    if (SYSTEM / "usr" / "bin" / "python3.11").exists():
        return
    debs, lists = FOLDER / "debs", FOLDER / "lists"
    for folder in (SYSTEM, debs, lists / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        "-o",
        f"Dir::State::Lists={lists}",
        "-o",
        "APT::Architectures=arm64",
        "-o",
        "APT::Architecture=arm64",
    ]
    options += ["-o", "APT::Sandbox::User=root", "-qq"]
    run("apt-get", *options, "update")
    run("apt-get", *options, "download", *(f"{name}:arm64" for name in DEBIAN), cwd=debs)
    for deb in debs.glob("*.deb"):
        run("dpkg-deb", "-x", deb, SYSTEM)


def fetch_packages():
    """Wheels for that machine, of what the package and these tests need."""
    if SITE.exists():
        return
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    platforms = [
        f"--platform={name}_aarch64"
        for name in ("manylinux_2_28", "manylinux_2_27", "manylinux2014", "manylinux_2_17")
    ]
    target = [*platforms, "--python-version=3.11", "--implementation=cp", "--only-binary=:all:", "--quiet"]
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        *target,
        f"--target={SITE}",
        *needed,
        "pytest",
        "hypothesis",
        stderr=subprocess.DEVNULL,
    )


def build():
    """The core beside a copy of the package."""
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    )
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        # where Debian's headers look for those of the machine
        "CMAKE_CXX_FLAGS": f"-march=armv8-a -I{SYSTEM}/usr/include",
        "CMAKE_BUILD_TYPE": "Release",
        "TEXTMARGIN_WARNINGS_ARE_ERRORS": "ON",
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": SYSTEM / "usr" / "include" / "python3.11",
        "nanobind_DIR": nanobind.stdout.strip(),
    }
    run(
        "cmake",
        "-S",
        ROOT,
        "-B",
        FOLDER / "core",
        *(f"-D{key}={value}" for key, value in settings.items()),
        stdout=subprocess.DEVNULL,
    )
    run("cmake", "--build", FOLDER / "core", "--target", "core", "--parallel", str(os.cpu_count()))
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(
        ROOT / "src" / "textmargin",
        PACKAGE / "textmargin",
        ignore=shutil.ignore_patterns("core*.so", "__pycache__"),
    )
    (core,) = (FOLDER / "core").glob("core*.so")  # named after this machine
    shutil.copy(core, PACKAGE / "textmargin" / "core.so")


def python(*words):
    """Run the emulated Python; its exit code."""
    paths = os.pathsep.join(map(str, (PACKAGE, SITE, ROOT / "tests")))
    environment = os.environ | {
        "PYTHONPATH": paths,
        "PYTHONHOME": str(SYSTEM / "usr"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = ["qemu-aarch64", "-L", SYSTEM, SYSTEM / "usr" / "bin" / "python3.11", *words]
    return subprocess.run([str(word) for word in command], cwd=ROOT, env=environment).returncode


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
