"""Ctrl-C ends a long fit soon."""

import signal
import subprocess
import sys
import time

import pytest

LINEAR = """
import numpy as np, scipy.sparse as sp
from textmargin import PriorSVC
rng = np.random.default_rng(0)
X = sp.random(4000, 3000, density=0.02, format="csr", random_state=0)
Y = rng.integers(0, 2, (4000, 200))
def fit():
    PriorSVC(C=100.0, tol=1e-7).fit(X, Y)
"""
KERNEL = """
import numpy as np
from textmargin import KernelSVC
rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 50))
K, Y = X @ X.T, rng.integers(0, 2, (3000, 30))
def fit():
    KernelSVC(C=100.0, kernel="precomputed").fit(K, Y)
"""
FOREVER = """
print("fits", flush=True)
while True:
    fit()
"""


@pytest.mark.parametrize("program", [LINEAR, KERNEL], ids=["linear", "kernel"])
def test_ctrl_c_ends_a_fit(program):
    child = subprocess.Popen(
        [sys.executable, "-c", program + FOREVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "fits\n"
        time.sleep(1)
        assert child.poll() is None, child.stderr.read()
        child.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, errors = child.communicate(timeout=20)
        assert "KeyboardInterrupt" in errors
        assert time.monotonic() - start < 5  # a tenth of it on an idle machine
    finally:
        child.kill()
