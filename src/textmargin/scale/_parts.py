"""Whatever a user partitions texts, labels and weights with, as one task per part."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.bag as db
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from distributed import Future

from ..errors import NotTextError, TextmarginError
from ..representations.texts import as_texts
from ._blocks import Blocks


def is_partitioned(values: Any) -> bool:
    """Whether something is a Dask collection."""
    return hasattr(values, "__dask_graph__")


def text_parts(texts: Any) -> list[Delayed]:
    """The texts of each part as a list of strings, from a Dask bag, a Dask Series or a frame of one column."""
    if getattr(texts, "ndim", 1) == 2 and hasattr(texts, "columns"):
        if len(texts.columns) != 1:
            raise NotTextError(
                f"Expected one column of texts, got a table with {len(texts.columns)} columns: {list(texts.columns)[:8]}; "
                f"choose one."
            )
        texts = texts[texts.columns[0]]
    if not isinstance(texts, db.Bag) and not _is_series(texts):
        raise NotTextError(
            f"Expected a Dask bag or a text column of a Dask dataframe, got {type(texts).__name__}; "
            f"make one with dask.bag.from_sequence or dask.dataframe.read_parquet."
        )
    read = delayed(_as_texts, pure=False)
    return [read(part, i) for i, part in enumerate(_delay(texts))]


def align_parts(values: Any, blocks: Blocks, name: str) -> list[Any]:
    """One array per part of a matrix: from a Dask collection, a list with one array per part, or one array for all rows."""
    if is_partitioned(values) and not isinstance(values, Delayed):
        parts = _delay(values)
        if isinstance(values, da.Array) and values.ndim == 2 and values.numblocks[1] > 1:
            raise TextmarginError(f"{name} is cut in {values.numblocks[1]} by columns; rechunk it: {name}.rechunk({{1: -1}}).")
        return _as_many(parts, blocks, name)
    if isinstance(values, list | tuple) and len(values) == len(blocks) and all(_is_part(value) for value in values):
        return list(values)
    whole = values.tocsr() if sp.issparse(values) else np.asarray(values)
    sizes = blocks.sizes
    if sizes is None:
        raise TextmarginError(
            f"{name} is one array, but the rows of each part are not known yet; give X.persist(), or {name} in parts."
        )
    if whole.shape[0] != sum(sizes):
        raise TextmarginError(f"{name} has {whole.shape[0]} rows but X has {sum(sizes)}.")
    ends = np.cumsum(sizes).tolist()
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _delay(values: Any) -> list[Delayed]:
    """One task per part. Of a dataframe, the parts as they are: Dask's optimiser would join the small parts of narrow columns."""
    if hasattr(values, "simplify"):
        return list(values.simplify().to_delayed(optimize_graph=False))
    parts = values.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)


def _as_many(parts: list[Any], blocks: Blocks, name: str) -> list[Any]:
    if len(parts) != len(blocks):
        raise TextmarginError(f"{name} has {len(parts)} parts but X has {len(blocks)}; both must be cut at the same texts.")
    return parts


def _is_part(value: Any) -> bool:
    return isinstance(value, Delayed | Future | np.ndarray) or sp.issparse(value) or hasattr(value, "iloc")


def _is_series(values: Any) -> bool:
    return (
        is_partitioned(values)
        and hasattr(values, "to_delayed")
        and getattr(values, "ndim", 0) == 1
        and hasattr(values, "map_partitions")
    )


def _as_texts(part: Any, i: int) -> list[str]:
    try:
        return as_texts(part)
    except NotTextError as error:
        raise NotTextError(f"Part {i}: {error}") from error
