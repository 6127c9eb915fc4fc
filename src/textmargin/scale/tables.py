"""Decisions from Parquet to Parquet: every part is read, decided on and written by a worker, and nothing is
gathered.

    out/_started.json     first: which model and files, so that a run that stopped goes on, no other
    out/NAME.parquet      the decisions on NAME.parquet, put in place when it is whole
    out/_complete.json    last: how many texts each part has; without it the folder is not complete

Names that begin with _ or a dot are left out by those who read a folder of Parquet files. Workers must see
the files under the same names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from distributed import as_completed
from joblib import hash as fingerprint

from .._system.writing import put_whole, write_whole
from ..errors import TableError, TextmarginError
from ..tables.decision_columns import CONFIDENCE, GUESS, LABEL, SCORE, decision_columns, free_names
from ..tables.paths import files_of
from ..tables.remote import is_remote
from ._client import broadcast_pickled, client
from ._footers import ParquetFile, check_parts, column_names
from ._tasks import gather_each

if TYPE_CHECKING:
    from ..classifier import TextClassifier

STARTED, COMPLETE = "_started.json", "_complete.json"
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class PredictionSummary:
    """What came of it: all texts, those that were null, parts, those that an earlier run had written, and the
    new columns.
    """

    n_texts: int
    n_null: int
    n_parts: int
    n_earlier: int
    columns: tuple[str, ...]


def predict_parquet(
    model: TextClassifier,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    text: str = "text",
    scores: bool = False,
    keep: Sequence[str] | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PredictionSummary:
    """Decide on the texts of Parquet files; a file of decisions for each, with the same rows in the same
    order.

    Footers and columns of all files are checked before anything is written. A run that stopped goes on where
    it was if it is started again; files that are new or have changed since are decided on (again). A text
    that is null gets a decision that is null.

    Columns are those of the source; `label`, null where the model is unsure (a list where a text may have
    several labels); `guess`, what the text is then best taken for (the labels that are open); `score`; and,
    where the model has held-out scores, `confidence`, both as `Decisions` has them. Where a file has a column
    of that name already, `label` is `predicted_label` in all of them, and so on.

    Parameters
    ----------
    model : TextClassifier, fitted
    source : a Parquet file, a folder of them, or a pattern such as `texts/*.parquet`
    target : the folder of the results; new, empty, or of an earlier run with the same model and settings
    text : str, default="text"
        The column of the texts.
    scores : bool, default=False
        Whether to write the score of every class as well, in columns `score of NAME`.
    keep : names of columns, default=None
        Those to take over; all but the text by default.
    overwrite : bool, default=False
        Remove what an earlier run left in `target`, whatever it was about.
    progress : function of two numbers, default=None
        Called with the parts that are done and all parts.
    """
    decider = _light(model)
    for name, place in (("source", source), ("target", target)):
        if is_remote(place):
            raise TableError(
                f"{name} {place} is an address; name files and a folder of a file system that all workers "
                "see."
            )
    folder = Path(target).absolute()  # workers were started elsewhere
    parts = check_parts(files_of(source, [".parquet"]), text, keep)
    new = _schema(decider, scores, {name for part in parts for name in part.columns})
    about = {
        "model": fingerprint(decider),
        "text": text,
        "scores": scores,
        "keep": None if keep is None else list(keep),
    }
    about["naming"] = new.names
    done = _open_folder(folder, about, parts, overwrite)
    n_null = dict(
        zip(done, gather_each(_null_decisions, [folder / name for name in done], new.names[:2]), strict=True)
    )
    remaining = [part for part in parts if part.name not in done]
    cluster = client()
    shared = broadcast_pickled(decider) if remaining else None
    tasks = [
        cluster.submit(_decide_part, shared, part, folder, text, new, about, pure=False) for part in remaining
    ]
    try:
        names = {task.key: part.name for task, part in zip(tasks, remaining, strict=True)}
        completed: Any = as_completed  # which carries no types
        for number, (task, n_null_here) in enumerate(
            completed(tasks, with_results=True), start=len(done) + 1
        ):
            n_null[names[task.key]] = n_null_here
            if progress is not None:
                progress(number, len(parts))
    finally:
        cluster.cancel(tasks)
    sizes = {part.name: part.n_rows for part in parts}
    write_whole({folder / COMPLETE: _as_json({"n_texts": sum(sizes.values()), "parts": sizes})})
    return PredictionSummary(
        sum(sizes.values()), sum(n_null.values()), len(parts), len(done), tuple(new.names)
    )


def _light(model: TextClassifier) -> TextClassifier:
    """The model without the scores that its thresholds were set on: these are as many as training texts."""
    if not hasattr(model, "labels_"):
        raise TextmarginError(f"model must be a fitted TextClassifier; got {type(model).__name__}.")
    light = copy(model)
    light.model_ = model.model_.without_held_out() if model.has_held_out else copy(model.model_)
    return light


def first_columns(source: str | os.PathLike[str]) -> list[str]:
    """The columns of the first of the files."""
    return column_names(files_of(source, [".parquet"])[0])


def _open_folder(
    folder: Path, about: Mapping[str, Any], parts: Sequence[ParquetFile], overwrite: bool
) -> set[str]:
    """The parts that an earlier run with the same settings wrote, of files that have not changed since;
    others are removed.
    """
    if folder.exists() and not folder.is_dir():
        raise TableError(
            f"{folder} is a file; decisions are written to a folder, a file for each one that is read."
        )
    if any((folder / part.name).resolve() == part.path.resolve() for part in parts):
        raise TableError(f"{folder} holds the texts themselves; choose another folder for the decisions.")
    started = folder / STARTED
    if folder.exists() and not started.exists() and any(one.suffix != ".part" for one in folder.iterdir()):
        raise TableError(
            f"{folder} is not empty, and what is in it was not written by predict; choose another folder."
        )
    earlier: dict[str, Any] = _read(started) if started.exists() else {**about, "parts": {}}
    other = _others(earlier, about)
    if other and not overwrite:
        raise TableError(
            f"{folder} holds decisions of an earlier run with another {other[0]}; choose another folder, or "
            f"overwrite them (overwrite=True)."
        )
    wanted = {part.name: [str(part.path), part.n_bytes, part.mtime_ns] for part in parts}
    earlier_parts = {} if overwrite else earlier["parts"]
    done = {
        name for name, own in earlier_parts.items() if wanted.get(name) == own and (folder / name).exists()
    }
    (folder / COMPLETE).unlink(missing_ok=True)  # before anything else goes
    for name in earlier["parts"].keys() - done:
        (folder / name).unlink(missing_ok=True)
    for half in folder.rglob(".*.part"):
        half.unlink(missing_ok=True)
    write_whole({started: _as_json({**about, "parts": wanted})})
    return done


def _others(earlier: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    """The settings in which two runs differ."""
    return [name for name, value in about.items() if earlier[name] != value]


def _decide_part(
    model: TextClassifier,
    part: ParquetFile,
    folder: Path,
    text: str,
    new: pa.Schema,
    about: Mapping[str, Any],
) -> int:
    """Write the decisions on one file; how many texts are null."""
    n_null = 0
    target = folder / part.name
    try:
        with pq.ParquetFile(part.path) as file, put_whole(target) as temporary:
            if file.metadata.num_rows != part.n_rows:
                raise TableError(f"{part.path} has changed since it was looked at; start again.")
            schema = pa.schema([*(file.schema_arrow.field(name) for name in part.columns), *new])
            with pq.ParquetWriter(temporary, schema) as writer:
                for batch in file.iter_batches(
                    _ROWS_AT_ONCE, columns=list(dict.fromkeys([*part.columns, text]))
                ):
                    texts = batch.column(text)
                    columns = _decisions(model, texts.to_pylist(), about["scores"], new.types)
                    n_null += texts.null_count
                    writer.write_batch(
                        pa.record_batch(
                            [*(batch.column(name) for name in part.columns), *columns], schema=schema
                        )
                    )
            # A worker that was given up may still be at it when the folder belongs to another run.
            if _others(_read(folder / STARTED), about):
                raise TableError(f"{folder} was overwritten by another run; this one ends.")
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{part.path} cannot be decided on, or {target} not be written: {error}.") from error
    return n_null


def _decisions(
    model: TextClassifier, texts: list[str | None], scores: bool, types: Sequence[Any]
) -> list[Any]:
    """Columns of decisions; null where a text is."""
    decisions = model.decide([text for text in texts if text is not None], probabilities=model.has_held_out)
    columns = decision_columns(decisions, multilabel=model.labels_.multilabel, scores=scores)
    rows = [iter(column) for column in columns.values()]
    whole = ([None if text is None else next(row) for text in texts] for row in rows)
    return [pa.array(column, kind) for column, kind in zip(whole, types, strict=True)]


def _schema(model: TextClassifier, scores: bool, taken: Collection[str]) -> pa.Schema:
    """The columns that are new."""
    label = pa.list_(pa.string()) if model.labels_.multilabel else pa.string()
    numbers = [SCORE, CONFIDENCE] if model.has_held_out else [SCORE]
    numbers += [f"score of {name}" for name in model.labels_.text_names] if scores else []
    names = free_names([LABEL, GUESS, *numbers], taken)
    return pa.schema(
        [(names[LABEL], label), (names[GUESS], label), *((names[name], pa.float64()) for name in numbers)]
    )


def _null_decisions(path: Path, names: Sequence[str]) -> int:
    """Texts that are null: without a decision and without a guess."""
    with pq.ParquetFile(path) as file:
        both = (batch.to_pylist() for batch in file.iter_batches(columns=list(names)))
        return sum(all(row[name] is None for name in names) for rows in both for row in rows)


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        if not {"model", "text", "scores", "keep", "naming", "parts"} <= content.keys():
            raise ValueError("not what predict writes")
    except (OSError, ValueError, AttributeError) as error:
        raise TableError(f"{path} cannot be read ({error}); remove its folder, or choose another.") from error
    return content


def _as_json(data: Any) -> bytes:
    return json.dumps(data, indent=1, ensure_ascii=False).encode()
