"""A model to serve, and the service in a process of its own."""

import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

from fastapi import testclient
from samples import corpus

from textmargin.config import ModelConfig
from textmargin.datasets.corpus import Corpus
from textmargin.decisions.utility import T10U

TestClient = partial(testclient.TestClient, base_url="http://localhost")


def fitted(**settings):
    texts, topics = corpus(120)
    return ModelConfig(**{"utility": T10U, **settings}).fit(
        Corpus("made up", list(texts), [str(topic) for topic in topics])
    )


def any_labels():
    """Texts and their labels, some with two and some with none."""
    texts, topics = corpus(120)
    return list(texts), [(str(topic), "late")[: row % 3] for row, topic in enumerate(topics)]


@contextmanager
def service(model, *options, port=0):
    """The process and its URL, once it listens."""
    command = [
        sys.executable,
        "-m",
        "textmargin",
        "serve",
        str(model),
        "--port",
        str(port),
        *map(str, options),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r"listening on (http://\S+)", line)
        assert found, line + process.stderr.read()
        yield process, found[1]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
