"""How fast is the subsequence kernel? Beside strkernels, on the 470 Reuters documents of the paper (Lodhi et
al. 2002).

    python -m benchmarks.bench_ssk                      # all of it, about 20 minutes on two cores
    python -m benchmarks.bench_ssk peers scaling words  # or some parts of it
    python -m benchmarks.bench_ssk peers --engine X.so  # void ssk_gram(codes, starts, n, decay, K)

A cell is a pair of positions with all its levels; GCUPS are 10⁹ cells a second, and a kernel matrix of texts
with themselves has (Σ length)²/2 cells. strkernels computes Σ K_i of all lengths up to n, so that is what it
is compared with. It takes half an hour for the 470 documents and is timed on 20 of them, at even ranks of
length; it gives 32 rows to a thread, so that is one thread, and ours gets one as well. It saves half of the
work only where both arguments are the same object; "(X, Y)" is without. Errors are the largest relative ones,
single against double precision and double against the plain recurrence, and the largest difference between
normalised values and the peer's.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import sys
import time
from itertools import pairwise

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from textmargin import SubsequenceKernel, core, load_dataset
from textmargin.experiments.table import published
from textmargin.representations._backends import Diagonal, KernelSpec
from textmargin.representations._cpu import Cpu
from textmargin.representations.encode import Sequences, encode

from .measure import describe, peak_megabytes, seconds

# 380 + 90
N_DRAWN = {topic: row["train"] + row["test"] for topic, row in published("strings", "documents").items()}
SETTINGS = [(3, 0.5), (4, 0.5), (5, 0.5), (6, 0.5), (7, 0.5), (5, 0.1), (5, 0.3), (5, 0.7), (5, 0.9)]


def clean(text: str) -> str:
    """As in the paper: lower case, without punctuation and stop words, single spaces."""
    return " ".join(word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in ENGLISH_STOP_WORDS)


def papers_documents(seed: int = 0) -> list[str]:
    """A draw of the paper's size from each of its four topics."""
    rng = np.random.default_rng(seed)
    train = load_dataset("reuters21578").part("train")
    columns = zip(N_DRAWN.values(), train.indicator(list(N_DRAWN))[0].T, strict=True)
    rows = [row for n, y in columns for row in rng.choice(np.flatnonzero(y), n, replace=False)]
    return [clean(train.texts[row]) for row in rows]


def representative(texts: list[str], n: int) -> list[str]:
    """n texts at even ranks of length."""
    by_length = sorted(texts, key=len)
    return [by_length[int((k + 0.5) * len(texts) / n)] for k in range(n)]


def spec(length: int, decay: float, n_symbols: int, summed: bool) -> KernelSpec:
    """Of the kernel as its user would have it, raw."""
    kernel = SubsequenceKernel(length, decay, weights=[1.0] * length if summed else None)
    return kernel._spec([None] * n_symbols)[0]


def gram(backend: Cpu, what: KernelSpec, X: Sequences) -> np.ndarray:
    """The raw kernel matrix."""
    return backend.gram(what, X, None, (Diagonal.none(), Diagonal.none()), 1.0)


def worst(K: np.ndarray, exact: np.ndarray) -> float:
    """The largest relative error."""
    return float(np.max(np.abs(K - exact) / np.where(exact > 0, exact, 1)))


def peers(engine: str | None) -> None:
    """Lengths, decays and vector levels beside strkernels."""
    from strkernels import SubsequenceStringKernel

    texts = papers_documents()
    (X,), symbols = encode("char", texts)
    sample, (part,) = representative(texts, 20), encode("char", representative(texts, 94))[0]
    cells, part_cells, sample_cells = (
        X.codes.size**2 / 2,
        part.codes.size**2 / 2,
        sum(map(len, sample)) ** 2 / 2,
    )
    widest, *others = core.levels()
    print(describe("textmargin", "strkernels", "numpy"))
    print(
        f"{len(X)} documents of {X.lengths.mean():.0f} characters, {cells / 1e9:.1f}·10⁹ cells; widest "
        f"level: {widest}\n"
    )
    print(
        f"{'':7}{'one thread each, GCUPS of sums, and times strkernels':>{38 + 16 * len(others)}}"
        f"{'all cores':>15}{'errors':>20}"
    )
    print(
        f"{'n':>2}{'λ':>5}{'strkernels':>12}{'(X, Y)':>8}{widest:>9}{'':>9}"
        + "".join(f"{level:>9}{'':>7}" for level in others),
        end="",
    )
    print(f"{'K_n':>8}{'sum':>7}{'engine':>8}{'single':>10}{'double':>10}{'from peer':>11}")
    for length, decay in SETTINGS:
        one, total = (spec(length, decay, len(symbols), summed) for summed in (False, True))
        peer = SubsequenceStringKernel(maxlen=length, ssk_lambda=decay)
        candidates = {
            "peer": lambda peer=peer: peer(sample, sample),
            "peer, both triangles": lambda peer=peer: peer(sample, list(sample)),
            widest: lambda total=total: gram(Cpu(n_jobs=1), total, X),
            "one": lambda one=one: gram(Cpu(), one, X),
            "sum": lambda total=total: gram(Cpu(), total, X),
        }
        if engine and length == 5:
            candidates["engine"] = lambda decay=decay: other_engine(engine, X, decay)
        times = seconds(candidates, rounds=3)
        for level in others:
            times |= seconds(
                {level: lambda level=level, total=total: gram(Cpu(level=level, n_jobs=1), total, part)},
                rounds=1,
            )
        work = {
            name: sample_cells if "peer" in name else part_cells if name in others else cells
            for name in times
        }
        speed = {name: work[name] / statistics.median(t) / 1e9 for name, t in times.items()}
        line = f"{length:>2}{decay:>5}{speed['peer']:>12.4f}{speed['peer, both triangles']:>8.4f}"
        line += f"{speed[widest]:>9.2f}{speed[widest] / speed['peer']:>5.0f}/"
        line += f"{speed[widest] / speed['peer, both triangles']:<3.0f}"
        line += "".join(f"{speed[level]:>9.2f}{speed[level] / speed['peer']:>7.0f}" for level in others)
        line += f"{speed['one']:>8.2f}{speed['sum']:>7.2f}{speed.get('engine', np.nan):>8.2f}"
        line += f"{worst(gram(Cpu(), one, X), gram(Cpu(double=True), one, X)):>10.1e}"
        line += f"{worst(*plain_and_lanes(sample, length, decay)):>10.1e}"
        ours = SubsequenceKernel(length, decay, weights=[1.0] * length)(sample)
        print(line + f"{np.abs(ours - peer(sample, sample)).max():>11.1e}", flush=True)


def plain_and_lanes(texts: list[str], length: int, decay: float) -> tuple[np.ndarray, np.ndarray]:
    """Raw kernels of some texts, in double precision and by the plain recurrence."""
    (X,), symbols = encode("char", texts)
    K = decay ** (2 * length) * gram(Cpu(double=True), spec(length, decay, len(symbols), summed=False), X)
    parts = [X.codes[a:b] for a, b in pairwise(X.starts)]
    rows = range(0, len(parts), 4)
    return K[::4], np.array([[core.ssk(parts[i], t, length, decay) for t in parts] for i in rows])


def other_engine(path: str, X: Sequences, decay: float) -> np.ndarray:
    """The kernel matrix (length 5) by another engine, which wants texts sorted by length."""
    order = np.argsort(X.lengths, kind="stable")
    X = X.take(order)
    K = np.zeros((len(X), len(X)), dtype=np.float32)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (X.codes, X.starts))
    ctypes.CDLL(path).ssk_gram(
        *pointers, ctypes.c_int64(len(X)), ctypes.c_float(decay), ctypes.c_void_p(K.ctypes.data)
    )
    return K


def scaling() -> None:
    """Time a cell and memory beyond the matrix, from hundreds to thousands of documents."""
    rng = np.random.default_rng(0)
    texts = [clean(text) for text in load_dataset("reuters21578").part("train").texts]
    texts = [texts[row] for row in rng.permutation(len(texts))]
    print(f"\n{'documents':>10}{'seconds':>9}{'GCUPS':>7}{'time a cell':>13}{'memory beyond the matrix':>26}")
    first = None
    for n in (470, 1000, 2000, 4000):
        (X,), symbols = encode("char", texts[:n])
        what = spec(5, 0.5, len(symbols), summed=False)
        start = time.perf_counter()
        peak = peak_megabytes(lambda what=what, X=X: gram(Cpu(), what, X))
        taken = time.perf_counter() - start
        per_cell = taken / (X.codes.size**2 / 2)
        first = first or per_cell
        print(
            f"{n:>10}{taken:>9.1f}{1e-9 / per_cell:>7.2f}{per_cell / first:>13.2f}"
            f"{peak - 8e-6 * n * n:>23.1f} MB",
            flush=True,
        )


def words() -> None:
    """Word sequences: pairs shortened to what they have in common, beside whole texts, and the automatic
    choice.
    """
    rng = np.random.default_rng(0)
    texts = [clean(text) for text in load_dataset("reuters21578").part("train").texts]
    texts = [texts[row] for row in rng.permutation(len(texts))[:2000]]
    print(f"\n{'tokens':>10}{'n':>3}{'texts':>7}{'length':>8}", end="")
    print(f"{'whole s':>9}{'shortened s':>13}{'ratio':>7}{'automatic s':>13}{'differs':>10}")
    for tokens, length, n in (("word", 5, 2000), ("word", 3, 2000), ("word", 2, 2000), ("char", 5, 200)):
        (X,), symbols = encode(tokens, texts[:n])
        what = spec(length, 0.5, len(symbols), summed=False)
        ways = {"whole": Cpu(shorten=False), "shortened": Cpu(shorten=True), "automatic": Cpu()}
        times = seconds(
            {name: lambda way=way, what=what, X=X: gram(way, what, X) for name, way in ways.items()}, rounds=5
        )
        took = {name: statistics.median(t) for name, t in times.items()}
        exact = [gram(Cpu(double=True, shorten=shorten), what, X) for shorten in (False, True)]
        print(
            f"{tokens:>10}{length:>3}{n:>7}{X.lengths.mean():>8.0f}{took['whole']:>9.2f}{took['shortened']:>13.3f}"
            f"{took['whole'] / took['shortened']:>7.1f}{took['automatic']:>13.3f}"
            f"{worst(exact[1], exact[0]):>10.1e}",
            flush=True,
        )


def main() -> None:
    """The parts that were asked for."""
    arguments = sys.argv[1:]
    engine = arguments.pop(arguments.index("--engine") + 1) if "--engine" in arguments else None
    parts = [part for part in arguments if part != "--engine"] or ["peers", "scaling", "words"]
    for part in parts:
        {"peers": lambda: peers(engine), "scaling": scaling, "words": words}[part]()


if __name__ == "__main__":
    main()
