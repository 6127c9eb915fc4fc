"""The model that answers, and the one that comes after it when its file is replaced.

A request is answered by the model that was there when it came: the next one is loaded beside it, checked, and
then asked by all requests that follow. Nobody waits, and for that time both are in memory. A file that is no
model is refused with a line in the log, and the model before goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..classifier import TextClassifier
from ..errors import ModelFileError
from ..labels import Decisions
from ..persistence import load_classifier
from ._batching import Batcher
from ._metrics import Metrics
from ._watch import Watch

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServedModel:
    """A model that answers requests.

    Attributes
    ----------
    classifier : TextClassifier
    digest : str, the first 16 digits of its file's SHA-256; empty where there is no file
    watch : Watch
    batcher : Batcher
    """

    classifier: TextClassifier
    digest: str
    watch: Watch
    batcher: Batcher

    @property
    def headers(self) -> dict[str, str]:
        """Which model answered."""
        return {"X-Model-Digest": self.digest} if self.digest else {}


def load_with_digest(path: str | os.PathLike[str]) -> tuple[TextClassifier, str]:
    """A model and the digest of the very file that it came from."""
    try:
        found = _load_other(path, "")
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    assert found is not None
    return found


def warm_up(model: TextClassifier) -> None:
    """Ask it once, so that what libraries look up at their first call is not looked up when descriptors or
    memory are short.
    """
    model.decide(["warm up"], probabilities=model.has_held_out)
    model.explain("warm up", None)


def _load_other(path: str | os.PathLike[str], digest: str) -> tuple[TextClassifier, str] | None:
    """The model of a file, unless the file is the one of this digest."""
    while True:
        before = _identity(path)
        with Path(path).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
        model = None if found == digest else load_classifier(path)
        if _identity(path) == before:
            return None if model is None else (model, found)


class Models:
    """The model of now, and how it is replaced.

    Parameters
    ----------
    classifier : TextClassifier, fitted
    digest : str
    threads : ThreadPoolExecutor, where models decide
    n_threads : int, how many of them
    max_batch : int, max_wait : float
        As in `Batcher`.
    metrics : Metrics
    """

    def __init__(
        self,
        classifier: TextClassifier,
        digest: str,
        *,
        threads: ThreadPoolExecutor,
        n_threads: int,
        max_batch: int,
        max_wait: float,
        metrics: Metrics,
    ) -> None:
        self._metrics = metrics

        def log(decisions: Decisions) -> None:
            metrics.n_texts += len(decisions)
            metrics.n_unsure += int(decisions.unsure.any(axis=1).sum())
            metrics.n_batches += 1

        def make(classifier: TextClassifier, digest: str) -> ServedModel:
            watch = Watch(classifier)
            return ServedModel(
                classifier, digest, watch, Batcher(watch.decide, threads, n_threads, max_batch, max_wait, log)
            )

        self._make: Callable[[TextClassifier, str], ServedModel] = make
        self.now = make(classifier, digest)
        metrics.model = digest

    def _replace(self, classifier: TextClassifier, digest: str) -> None:
        self.now = self._make(classifier, digest)
        self._metrics.model = digest
        self._metrics.n_models += 1
        _LOG.warning("the model's file was replaced: model %s answers from now on.", digest)

    async def follow(
        self,
        path: str | os.PathLike[str],
        seconds: float,
        threads: ThreadPoolExecutor,
    ) -> None:
        """Look every few seconds whether the file is another, for ever."""
        looked: object = None
        trouble = ""
        loop = asyncio.get_running_loop()
        while True:
            try:
                identity = _identity(path)
                if identity != looked:
                    found = await loop.run_in_executor(threads, _load_other, path, self.now.digest)
                    looked, trouble = identity, ""
                    if found is not None:
                        self._replace(*found)
            except (
                OSError,
                MemoryError,
                ModelFileError,
            ) as error:  # ModelFileError may be for want of memory or descriptors
                passing = not isinstance(error, ModelFileError) or isinstance(
                    error.__cause__, OSError | MemoryError
                )
                if not passing:
                    looked = identity
                if str(error) != trouble:
                    trouble = str(error)
                    self._metrics.n_refused_models += 1
                    _LOG.error(
                        "%s; model %s goes on.",
                        (trouble or type(error).__name__).rstrip("."),
                        self.now.digest,
                    )
            await asyncio.sleep(seconds)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int, int, int]:
    found = Path(path).stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
