"""Arrays that go from one process of this machine to another through memory arrive as they were, or the
network is used.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import make_texts
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textmargin import PriorSVC
from textmargin.scale import ClusterBlocks, _holding, _shared_memory, cluster_blocks
from textmargin.scale._shared_memory import Inbox, Message, Outbox

arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.bool_]), hnp.array_shapes(max_dims=3, max_side=60)
)
values = st.recursive(
    arrays | st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner),
)


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.fixture(scope="module")
def boxes():
    return Outbox(), Inbox()


@given(value=values, least=st.sampled_from([0, 1 << 14]))
def test_what_is_written_is_read(boxes, value, least):
    """Whatever was written before it, and however large that was."""
    outbox, inbox = boxes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_shared_memory, "_LEAST", least)
        assert same(value, inbox.read(outbox.write(value)))


def test_an_array_that_is_there_twice_is_written_once():
    array = np.arange(1e5)
    message = Outbox().write([(array, 1), (array, 2)])
    assert message.size < 1.5 * array.nbytes


def test_another_process_reads_it():
    outbox = Outbox()
    message = outbox.write(np.arange(1e5))
    code = (
        "import sys; from textmargin.scale._shared_memory import Inbox, Message, _Place\n"
        "process, file, secret, size, start = sys.argv[1:]\n"
        "message = Message(int(process), int(file), secret, int(size), _Place(int(start), '<f8', "
        "(100000,)))\n"
        "print(Inbox().read(message).sum())"
    )
    words = [message.process, message.file, message.secret, message.size, message.value.start]
    answer = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True
    )
    assert float(answer.stdout) == np.arange(1e5).sum()


def test_memory_of_somebody_else_under_the_same_number_is_not_read():
    """As on another machine, where a process of this number may have a file of this number."""
    outbox, stranger = Outbox(), Outbox()
    message = outbox.write(np.ones(10_000))
    stranger.write(np.zeros(10_000))
    with pytest.raises(OSError, match="another process"):
        Inbox().read(Message(os.getpid(), stranger._file, message.secret, message.size, message.value))
    with pytest.raises(OSError, match="No such file"):
        Inbox().read(Message(2**22 + 1, 3, message.secret, message.size, message.value))


def test_nothing_is_left_open():
    def n_open():
        return len([*Path("/proc/self/fd").iterdir()])

    before = n_open()
    for _ in range(20):
        outbox = Outbox()
        Inbox().read(outbox.write(np.ones(10_000)))
        del outbox
    assert n_open() == before


def fit(n_parts=4):
    X, y = make_texts()[:2]
    blocks = ClusterBlocks.split(X, n_parts)
    return blocks, PriorSVC().fit(blocks, y).coef_


def test_workers_of_this_machine_are_asked_through_memory(client):
    assert all(share.inbox is not None for share in fit()[0]._shares)


def test_a_worker_that_cannot_read_this_memory_is_sent_arrays(client, monkeypatch):
    """The model is the same to the bit."""
    _, shared = fit()
    monkeypatch.setattr(cluster_blocks, "make_outbox", lambda: None)
    blocks, sent = fit()
    assert all(share.inbox is None for share in blocks._shares)
    np.testing.assert_array_equal(shared, sent)


def test_a_holding_elsewhere_says_that_it_cannot_read():
    holding = object.__new__(_holding.Holding)
    holding._inbox, holding._outboxes = Inbox(), {}
    message = Outbox().write(np.ones(10_000))
    assert holding.greet(Message(2**22 + 1, 3, message.secret, message.size, message.value)) is None


def test_several_threads_may_ask_for_rows_at_once(client):
    """As leave-one-out scores of several classes do."""
    X, _ = make_texts()[:2]
    Y = np.array([np.roll(np.arange(X.shape[0]) % 3 == 0, k) for k in range(6)]).T.astype(int)
    blocks = ClusterBlocks.split(X, 4)
    one, many = (PriorSVC(n_jobs=n).fit(blocks, Y).loo_decision_function() for n in (1, 6))
    np.testing.assert_array_equal(one, many)


def test_a_system_that_allows_no_files_without_a_name_sends_arrays(client, monkeypatch):
    def refuse(*_):
        raise PermissionError("not allowed")

    _, shared = fit()
    monkeypatch.setattr(os, "memfd_create", refuse)
    blocks, sent = fit()
    assert all(share.inbox is None for share in blocks._shares)
    np.testing.assert_array_equal(shared, sent)
