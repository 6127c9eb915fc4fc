"""The numerical tests as other machines would run them: `make machines`.

A machine is a BLAS kernel with so many threads, a level of the compiled core, and the vector instructions
that numpy may use. A machine whose instructions this processor lacks is skipped, with a remark.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = ["test_ties.py", "test_core.py", "test_classifier.py", "test_reuters.py"]
TESTS += ["learners", "decisions", "knowledge", "representations"]
# OpenBLAS's kernel, threads, the core's level, and the bytes of numpy's widest vectors.
MACHINES = [
    ("SkylakeX", 1, "avx512", 64),
    ("SkylakeX", 2, "avx512", 64),
    ("Haswell", 1, "avx2", 32),
    ("Haswell", 2, "avx2", 32),
    ("Sandybridge", 2, "baseline", 16),
    ("Nehalem", 1, "baseline", 16),
]
LOOK = """
import json, numpy, scipy.linalg, sklearn.svm, threadpoolctl
from numpy._core import _multiarray_umath as umath
from textmargin import core
print(json.dumps({
    "kernels": sorted({str(one.get("architecture")) for one in threadpoolctl.threadpool_info()
                       if one["user_api"] == "blas"}),
    "levels": core.levels(),
    "features": [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]],
}))
"""


def look(environment: dict[str, str]) -> dict[str, list[str]]:
    """What a process with these variables computes with."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def width(feature: str) -> int:
    """The bytes of a vector for which numpy has code under this name."""
    if "512" in feature or feature == "X86_V4":
        return 64
    return 32 if feature.startswith(("AVX", "FMA", "F16C")) or feature == "X86_V3" else 16


def main(options: list[str]) -> int:
    """A line for each machine; 1 if a test failed on one of them."""
    tests = [str(Path(__file__).parent / test) for test in TESTS]
    here = look(dict(os.environ))
    failed = False
    for kernel, n_threads, level, n_bytes in MACHINES:
        name = f"{kernel:<12} threads {n_threads}  core {level:<9} numpy {8 * n_bytes} bits "
        if level not in here["levels"]:
            print(f"{name} skipped: this processor does not have {level}", flush=True)
            continue
        environment = {
            **os.environ,
            "OPENBLAS_CORETYPE": kernel,
            "OPENBLAS_NUM_THREADS": str(n_threads),
            "TEXTMARGIN_LEVEL": level,
            "NPY_DISABLE_CPU_FEATURES": " ".join(
                feature for feature in here["features"] if width(feature) > n_bytes
            ),
        }
        if look(environment)["kernels"] != [kernel]:
            print(f"{name} skipped: this BLAS does not have the kernel", flush=True)
            continue
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rf", *options, *tests]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        lines = done.stdout.strip().splitlines() or [done.stderr]
        print(f"{name} {lines[-1]}", flush=True)
        if done.returncode:
            failed = True
            print(
                "\n".join(f"    {line}" for line in lines if line.startswith(("FAILED", "ERROR"))), flush=True
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
