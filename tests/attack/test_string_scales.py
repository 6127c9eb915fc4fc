"""String kernels in single precision, as `string_scales.py` attacks them. TEXTMARGIN_ATTACK_SECONDS looks
further.
"""

import os
import time

import numpy as np
import pytest
from attack.string_scales import LEVELS, company, random_texts, tiny_values

from textmargin import SubsequenceKernel

SHORT = 40


def rounds(first):
    """Seeds: a few, or as many as the seconds asked for allow."""
    seconds = float(os.environ.get("TEXTMARGIN_ATTACK_SECONDS", 0))
    start = int(np.random.default_rng().integers(10_000, 2**31)) if seconds else first
    end = time.monotonic() + seconds
    seed = start
    while seed < start + SHORT or time.monotonic() < end:
        yield seed
        seed += 1
    print(f"\nseeds {start} to {seed}")


def test_tiny_values_were_lost_or_off_in_single_precision():
    for seed in rounds(0):
        tiny_values(seed)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("double", [False, True])
def test_what_a_pair_has_hung_on_what_else_was_compared(level, double):
    for seed in rounds(0):
        company(seed, level, double)


def test_the_kernel_of_two_texts_is_the_same_in_every_batch():
    """Normalised, by the kernel as users have it."""
    rng = np.random.default_rng(0)
    texts = random_texts(rng, 30, 120, "the quick brown fox")
    kernel = SubsequenceKernel(length=4, decay=0.4)
    K = kernel(texts)
    for i, j in rng.integers(0, 30, (20, 2)):
        if i != j:
            assert kernel([texts[i]], [texts[j]])[0, 0] == kernel([texts[j]], [texts[i]])[0, 0] == K[i, j]
