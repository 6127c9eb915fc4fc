"""Texts as the GPU meets them: one corpus as a stream of rows, the other as tiles of columns, and jobs of
both.

See ssk.cu for what the numbers mean. Texts are in the order of their lengths, so that neighbours have much
the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..errors import TooLargeError
from ._backends import KernelSpec
from ._layout import LANES, Layout
from .encode import Sequences

FIRST, CONTINUED, LAST = 1, 2, 4  # of a lane
NO_SYMBOL = np.iinfo(np.int32).min  # of a column: like none of the rows
# steps of a stream, and lanes of all tiles: ssk.cu numbers them by ints
MOST_PLACES = np.iinfo(np.int32).max - 2 * LANES

Ints = NDArray[np.int32]
JOB = np.dtype(
    [
        (name, "<i4")
        for name in ("first_tile", "n_tiles", "first_step", "last_step", "first_text", "last_text")
    ]
)


@dataclass(frozen=True)
class PackedRows:
    """Texts one after another, two symbols a step, each text ended by a row that empties all states."""

    stream: NDArray[Any]  # of layout.row, with a tile's width of empty rows before and after
    starts: NDArray[np.int64]  # the first step of each text, and one after the last
    rank: Ints  # of each text of the corpus, in this order

    @property
    def longest(self) -> int:
        """Steps of the longest text."""
        return int(np.diff(self.starts).max(initial=0))

    @classmethod
    def of(cls, X: Sequences, spec: KernelSpec, layout: Layout, halve: int) -> PackedRows:
        """Every text of X."""
        order, rank = by_length(X)
        texts = X.take(order)
        starts = LANES + np.concatenate([[0], np.cumsum(texts.lengths // 2 + 1)])
        _check_places(starts[-1], X)
        at = np.repeat(2 * starts[:-1] - texts.starts[:-1], texts.lengths) + np.arange(texts.codes.size)
        symbol = np.full(2 * (starts[-1] + LANES), -1, dtype=np.int32)
        symbol[at] = texts.codes
        ends = 2 * starts[1:] - 1
        symbol[ends] = -2 - np.arange(len(texts), dtype=np.int32)
        stream = np.empty(symbol.size // 2, dtype=layout.row)
        stream["symbol"] = symbol.reshape(-1, 2)
        if layout.uniform:
            gap = layout.round_gaps(spec.gap[:1], symbol.size)
        else:
            of_row = np.ones(symbol.size)
            of_row[at] = spec.gap[texts.codes]
            stream["q"] = (np.ldexp(spec.match, -halve) / of_row).reshape(-1, 2)
            gap = layout.round_gaps(of_row, symbol.size)
        gap[ends] = 0
        stream["gap"] = gap.reshape(-1, 2)
        return cls(stream, starts, rank)


@dataclass(frozen=True)
class PackedColumns:
    """Texts side by side in lanes, 32 to a tile; a run of tiles, in which texts may go on from tile to tile,
    is one job's.
    """

    symbol: Ints  # (tile, column, lane)
    c: NDArray[Any]
    inverse: NDArray[Any]
    past: NDArray[Any]  # (tile, group, lane)
    lane: Ints  # (tile, lane, 2): rank of the text, and FIRST, CONTINUED, LAST
    runs: NDArray[np.int64]  # the first tile of each run, and one after the last
    ranks: NDArray[np.int64]  # the first text of each run, and one after the last
    rank: Ints  # of each text of the corpus, in this order

    @classmethod
    def of(cls, Y: Sequences, spec: KernelSpec, layout: Layout, tiles_of_run: int) -> PackedColumns:
        """Every text of Y."""
        order, rank = by_length(Y)
        texts = Y.take(order)
        n_lanes = -(-texts.lengths // layout.columns)
        ranks, firsts = _runs(n_lanes, tiles_of_run * LANES)
        run_lanes = (
            np.add.reduceat(np.append(n_lanes, 0), ranks[:-1]) if ranks.size > 1 else np.empty(0, np.int64)
        )
        runs = np.concatenate([[0], np.cumsum(-(-run_lanes // LANES))]).astype(np.int64)
        start = firsts + np.repeat(runs[:-1] * LANES, np.diff(ranks))  # the first lane of each text
        total = int(runs[-1]) * LANES
        _check_places(total, Y)

        symbol = np.full((total, layout.columns), NO_SYMBOL, dtype=np.int32)
        within = np.arange(texts.codes.size) - np.repeat(texts.starts[:-1], texts.lengths)
        at = (np.repeat(start, texts.lengths) + within // layout.columns, within % layout.columns)
        symbol[at] = texts.codes

        lane = np.zeros((total, 2), dtype=np.int32)
        lane[:, 0] = -1
        used = (
            np.repeat(start, n_lanes)
            + np.arange(n_lanes.sum())
            - np.repeat(np.cumsum(n_lanes) - n_lanes, n_lanes)
        )
        lane[used, 0] = np.repeat(np.arange(len(texts)), n_lanes)
        filled = n_lanes > 0
        lane[start[filled], 1] |= FIRST
        lane[(start + n_lanes - 1)[filled], 1] |= LAST
        begun = np.repeat(start // LANES, n_lanes) < used // LANES
        lane[used[begun], 1] |= CONTINUED
        lane[used[(used % LANES == LANES - 1)], 1] |= LAST  # what goes on is handed over there
        lane[lane[:, 0] < 0, 1] = FIRST

        c, inverse, past = layout.column_weights(spec, symbol, at)
        return cls(_by_tile(symbol), _by_tile(c), _by_tile(inverse), _by_tile(past), lane, runs, ranks, rank)

    @cached_property
    def n_tiles(self) -> NDArray[np.int64]:
        """Of each run."""
        return np.diff(self.runs)


def by_length(X: Sequences) -> tuple[NDArray[np.intp], Ints]:
    """The texts from the shortest to the longest, and the rank of each."""
    order = np.argsort(X.lengths, kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return order, rank


def jobs(
    rows: PackedRows, columns: PackedColumns, wanted: str, steps_of_job: int
) -> tuple[NDArray[Any], Floats]:
    """Runs of tiles against stretches of the stream, the largest first, and the cells that are done after
    each.

    Parameters
    ----------
    rows, columns : the two corpora
    wanted : "all"; "half", texts of the same corpus up to the column's own rank; "same", each text with
        itself
    steps_of_job : int, about how many steps a stretch is to have
    """
    n_texts = rows.starts.size - 1
    cuts = np.searchsorted(rows.starts, np.arange(rows.starts[0], rows.starts[-1], steps_of_job)).clip(
        max=n_texts - 1
    )
    stretches = np.append(np.unique(cuts), n_texts)
    first, end = columns.ranks[:-1], columns.ranks[1:]
    last = np.full(end.size, n_texts) if wanted == "all" else end
    # stretches that begin before
    n_jobs = np.ones_like(end) if wanted == "same" else np.searchsorted(stretches[:-1], last)
    n_jobs = np.where(columns.n_tiles > 0, n_jobs, 0)
    run = np.repeat(np.arange(end.size), n_jobs)
    k = np.arange(run.size) - np.repeat(np.cumsum(n_jobs) - n_jobs, n_jobs)
    all_jobs = np.empty(run.size, dtype=JOB)
    all_jobs["first_tile"], all_jobs["n_tiles"] = columns.runs[run], columns.n_tiles[run]
    all_jobs["first_text"] = first[run] if wanted == "same" else stretches[k]
    all_jobs["last_text"] = end[run] if wanted == "same" else np.minimum(stretches[k + 1], last[run])
    all_jobs["first_step"], all_jobs["last_step"] = (
        rows.starts[all_jobs["first_text"]],
        rows.starts[all_jobs["last_text"]],
    )
    work = all_jobs["n_tiles"] * (all_jobs["last_step"] - all_jobs["first_step"] + LANES - 1.0)
    order = np.argsort(-work, kind="stable")
    return all_jobs[order], np.cumsum(work[order])


def _runs(n_lanes: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first text of each run, and one after the last; and of each text its first lane within its run."""
    ranks, firsts, used = [0], np.empty(n_lanes.size, dtype=np.int64), 0
    for text, n in enumerate(n_lanes.tolist()):
        if used and used + n > most:
            ranks.append(text)
            used = 0
        firsts[text] = used
        used += n
    return np.array([*ranks, n_lanes.size] if n_lanes.size else [0], dtype=np.int64), firsts


def _check_places(n: int, X: Sequences) -> None:
    if n > MOST_PLACES:
        raise TooLargeError(
            f"{len(X):,} texts with {X.codes.size:,} symbols are more than a GPU can number; compare "
            "fewer texts at a time."
        )


def _by_tile(of_lane: NDArray[Any]) -> NDArray[Any]:
    """(tile, anything, lane), so that lanes read side by side."""
    n_lanes, width = of_lane.shape
    return np.ascontiguousarray(of_lane.reshape(n_lanes // LANES, LANES, width).transpose(0, 2, 1))
