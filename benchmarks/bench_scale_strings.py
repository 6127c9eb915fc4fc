"""String kernels on a cluster: tiles of a kernel matrix, and explicit maps part by part, with one and with
two workers.

    python -m benchmarks.bench_scale_strings                 # all of it, some minutes on two cores
    python -m benchmarks.bench_scale_strings tiles maps      # or some parts of it
    python -m benchmarks.bench_scale_strings --quick         # few texts and one worker: whether it works

Workers are processes of one thread on this machine. Texts are those of Reuters-21578; more are had by
repeating them with a number at the end. `CPU s` is that of the busiest worker: on a machine with other work
to do it tells more than the time by the clock. `pairs per CPU s` and `ms per text` go by the CPU seconds of
all workers.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.bag as db
from dask import delayed

from textmargin import (
    KernelLandmarks,
    KernelStore,
    SubsequenceFeatures,
    SubsequenceKernel,
    load_dataset,
    scale,
)

from .bench_ssk import clean
from .measure import describe

PART = 500  # texts
_TEXTS: list[str] = []  # of this process


def texts_from(start: int, n: int) -> list[str]:
    """Made where it is called, as a part of a file would be read there."""
    if not _TEXTS:
        _TEXTS.extend(clean(text) for text in load_dataset("reuters21578").part("train").texts)
    return [f"{_TEXTS[i % len(_TEXTS)]} {i}" for i in range(start, start + n)]


def timed(client: Any, work: Callable[[], Any]) -> tuple[Any, float, list[float]]:
    """What some work gives, its seconds, and the CPU seconds of each worker."""
    before, start = client.run(_cpu_seconds), time.perf_counter()
    result = work()
    seconds, after = time.perf_counter() - start, client.run(_cpu_seconds)
    return result, seconds, [after[worker] - before[worker] for worker in before]


def tiles(quick: bool) -> None:
    """One kernel matrix into an empty store, again from the full one, and read back."""
    texts, kernel = texts_from(0, 160 if quick else 800), SubsequenceKernel(5, progress=False)
    columns = f"{'tasks':>7}{'fill s':>9}{'CPU s':>8}{'again s':>9}{'read s':>8}{'pairs per CPU s':>17}"
    print(f"\n{f'kernel of {len(texts)} texts':20}{columns}")
    for n in (1,) if quick else (1, 2):
        with (
            scale.connect(workers=n) as client,
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as other,
        ):
            store, warm = KernelStore(folder), KernelStore(other)
            scale.fill(warm, kernel, texts[:140])  # workers have imported what they need
            summary, seconds, cpu = timed(
                client, lambda store=store: scale.fill(store, kernel, texts, progress=False)
            )
            _, again, _ = timed(client, lambda store=store: scale.fill(store, kernel, texts, progress=False))
            _, read, _ = timed(client, lambda store=store: store.gram(kernel, texts))
        rate = summary.n_computed / sum(cpu)
        print(
            f"{n} workers{summary.n_tasks:>18}{seconds:>9.1f}{max(cpu):>8.1f}{again:>9.1f}"
            f"{read:>8.1f}{rate:>17,.0f}",
            flush=True,
        )


def maps(quick: bool) -> None:
    """Fitting and mapping, by texts in all."""
    candidates = {
        "200 substrings of 3": lambda: SubsequenceFeatures(3, n_features=200),
        "50 landmarks": lambda: KernelLandmarks(SubsequenceKernel(4), 50, random_state=0),
    }
    columns = f"{'workers':>8}{'texts':>8}{'parts':>7}{'fit s':>7}{'CPU s':>7}{'map s':>7}{'CPU s':>7}"
    print(f"\n{'map':20}{columns}{'ms per text':>13}{'peak MB':>9}")
    for name, make in candidates.items():
        for n_workers, n_texts in ((1, 2 * PART),) if quick else ((1, 2000), (2, 2000), (2, 4000), (2, 8000)):
            with scale.connect(workers=n_workers) as client:
                bag = db.from_delayed([delayed(texts_from)(start, PART) for start in range(0, n_texts, PART)])
                client.run(_reset_peak)
                model, fit, fit_cpu = timed(client, lambda make=make, bag=bag: make().fit(bag))
                X, mapped, cpu = timed(client, lambda model=model, bag=bag: model.transform(bag))
                peak = max(client.run(_peak_megabytes).values())
            assert X.shape[0] == n_texts
            print(
                f"{name:20}{n_workers:>8}{n_texts:>8,}{n_texts // PART:>7}"
                f"{fit:>7.1f}{max(fit_cpu):>7.1f}{mapped:>7.1f}",
                end="",
            )
            print(f"{max(cpu):>7.1f}{1000 * sum(cpu) / n_texts:>13.2f}{peak:>9.0f}", flush=True)


def _cpu_seconds() -> float:
    return sum(os.times()[:2])


def _reset_peak() -> None:
    texts_from(0, 1)
    Path("/proc/self/clear_refs").write_text("5")


def _peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1000


def main() -> None:
    """The parts that were asked for."""
    parts = {"tiles": tiles, "maps": maps}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(parts)}")
    parser.add_argument("--quick", action="store_true", help="few texts and one worker")
    arguments = parser.parse_args()
    print(describe("textmargin", "dask", "distributed", "numpy"))
    for part in arguments.parts or parts:
        parts[part](arguments.quick)


if __name__ == "__main__":
    main()
