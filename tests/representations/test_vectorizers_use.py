"""Compiled vectorisers as guests: they stop when asked, and take no more memory than they must."""

import signal
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

from textmargin import core
from textmargin.representations._characters import character_table
from textmargin.representations.linear_scores import TermWeights

STOP = """
import time
from textmargin import TfidfVectorizer
text = " ".join(f"word{i}" for i in range(20_000))
words = TfidfVectorizer(ngram_range=(1, 2), n_jobs=%d)
texts = [text] * 20_000  # minutes of work
words.fit(texts[:5])
print("ready", flush=True)
words.%s(texts)
"""


@pytest.mark.parametrize("method", ["fit", "transform"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_stops_within_a_second_of_ctrl_c(method, n_jobs):
    process = subprocess.Popen(
        [sys.executable, "-c", STOP % (n_jobs, method)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in error
    assert time.monotonic() - start < 3  # a second, and what it takes to leave Python on a busy machine


MORE = """
import resource
from textmargin import CountVectorizer
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
CountVectorizer().fit(["Grüße und wheat"])
%s
"""


def kilobytes(script):
    """By how much a script, which prints it, raises the peak of a process of its own."""
    return int(
        subprocess.run(
            [sys.executable, "-c", MORE % script], capture_output=True, text=True, check=True
        ).stdout
    )


def test_all_texts_in_utf_8_were_copied():
    """Of texts that are not ASCII portions are encoded, which are let go of again; Python would have kept
    them with the texts.
    """
    script = """
texts = ["Grüße " * 50_000 for _ in range(100)]  # each a string of its own: 30 MB, and 35 in UTF-8
before = peak()
CountVectorizer(n_jobs=1).fit_transform(texts)
print(peak() - before)
"""
    assert kilobytes(script) < 15_000


def test_a_generator_was_taken_into_memory():
    script = """
before = peak()
CountVectorizer().fit("wheat and corn " * 100 + str(i % 7) for i in range(80_000))  # 120 MB in all
print(peak() - before)
"""
    assert kilobytes(script) < 70_000


def test_a_text_had_no_row_where_two_threads_met_high_counts_at_once():
    weights = TermWeights(np.positive, np.ones(1), unit=False)

    def work(tf):
        weights.up_to(5000)  # as another thread does meanwhile
        return tf.size > 2000, 2000

    assert weights.apply(work)


def test_the_table_of_characters_was_freed_while_another_thread_read_it():
    tables = []

    def characters():
        if not tables:  # the other thread comes in between
            tables.append(None)
            terms.add(["Größe"], 1)
        table = character_table(True).copy()
        tables.append(weakref.ref(table))
        return table

    terms = core.Terms("pattern", True, True, True, 2, 1, 1, False, [], [], characters)
    terms.add(["Größe"], 1)
    assert tables[1]() is not None
