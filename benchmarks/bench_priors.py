"""Do keywords help on Reuters-21578, and what does `trust="auto"` cost? Mean average precision by the number
of examples.

    python -m benchmarks.bench_priors                  # about 4 minutes on two cores
    python -m benchmarks.bench_priors --weight tf-idf

The ten largest topics with five keywords each, written down here before any result was seen, so many
positives of each topic and as many texts of none; 3,299 test texts. Ten draws, ± the standard error of their
mean. *Wrong* gives every topic the keywords of another one. C = 1. The same on Wikipedia articles is
`textmargin reproduce reading-keywords`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from textmargin import PriorSVC, load_dataset
from textmargin.experiments.keywords import COLUMNS, SIZES, Task

from .measure import describe

N_DRAWS = 10
KEYWORDS = {
    "earn": ["profit", "net", "dividend", "quarter", "shr"],
    "acq": ["acquire", "acquisition", "merger", "stake", "takeover"],
    "money-fx": ["currency", "dollar", "exchange", "intervention", "yen"],
    "grain": ["grain", "wheat", "corn", "crop", "tonnes"],
    "crude": ["oil", "crude", "barrel", "opec", "petroleum"],
    "trade": ["trade", "exports", "imports", "tariffs", "deficit"],
    "interest": ["interest", "rates", "rate", "prime", "discount"],
    "ship": ["ship", "shipping", "vessel", "port", "cargo"],
    "wheat": ["wheat", "flour", "durum", "winter", "bushels"],
    "corn": ["corn", "maize", "feed", "acres", "bushels"],
}


def drawn(Y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """So many positives of each topic, and as many texts of none."""
    positives = [rng.permutation(np.flatnonzero(y))[:size] for y in Y.T]
    neither = rng.permutation(np.flatnonzero(~Y.any(axis=1)))[: size * Y.shape[1]]
    return np.unique(np.concatenate([*positives, neither]))


def seconds(model: PriorSVC, task: Task, rows: np.ndarray) -> float:
    """Of one fit."""
    start = time.perf_counter()
    model.fit(task.X[rows], task.Y[rows])
    return time.perf_counter() - start


def main() -> None:
    """A line for each number of examples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weight", default="log-tf-idf", choices=["tf-idf", "log-tf-idf", "count"])
    print(describe("textmargin", "scikit-learn", "numpy"))
    task = Task.of(load_dataset("reuters21578"), KEYWORDS, parser.parse_args().weight)
    print(
        f"{'positives':>9}"
        + "".join(f"{name.replace(' keywords,', ''):>15}" for name in COLUMNS)
        + f"{'auto/plain s':>14}"
    )
    for size in SIZES:
        chosen = [drawn(task.Y, size, np.random.default_rng(seed)) for seed in range(N_DRAWS)]
        results = [task.average_precisions(rows) for rows in chosen]
        found = np.array([[result[name] for name in COLUMNS] for result in results])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(N_DRAWS)
        plain, auto = (
            sum(seconds(model, task, rows) for rows in chosen)
            for model in (PriorSVC(), PriorSVC(prior=task.V))
        )
        line = "".join(f"{m:.3f} ± {e:.3f}".rjust(15) for m, e in zip(mean, error, strict=True))
        print(f"{size:>9}{line}{auto / plain:>14.1f}", flush=True)


if __name__ == "__main__":
    main()
