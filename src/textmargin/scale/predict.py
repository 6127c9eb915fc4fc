"""Decisions from Parquet to Parquet: every file is read, decided on and written by a worker, and nothing is
gathered.

    out/_started.json     first: which model, settings and files, so that a run that stopped goes on
    out/NAME.parquet      the decisions on NAME.parquet, put in place when it is whole
    out/_complete.json    last: without it the folder is not complete

Names that begin with _ or a dot are left out by those who read a folder of Parquet files. Workers must see
the files under the same names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import hash as fingerprint

from .._system.writing import put_whole, write_whole
from ..errors import TableError, TextmarginError
from ..tables.columns import no_column
from ..tables.decision_columns import CONFIDENCE, GUESS, LABEL, SCORE, decision_columns, free_names
from ..tables.parts import pyarrow
from ..tables.paths import files_of, refuse_address
from .dask import current_client, share

if TYPE_CHECKING:
    from ..classifier import TextClassifier

pa, pq = pyarrow()
STARTED, COMPLETE = "_started.json", "_complete.json"
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class PredictionSummary:
    """What came of it: all texts and files, files that an earlier run had written, and the new columns."""

    n_texts: int
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
    progress: Callable[[int, int], None] | None = None,
) -> PredictionSummary:
    """Decide on the texts of Parquet files; a file of decisions for each, with the same rows in the same
    order.

    The columns of all files are checked before anything is written. A run that stopped goes on where it was
    if
    it is started again; files that are new or have changed since are decided on (again). A text that is null
    gets a decision that is null.

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
    progress : function of two numbers, default=None
        Called with the files that are done and all files.
    """
    if not hasattr(model, "labels_"):
        raise TextmarginError(f"model must be a fitted TextClassifier; got {type(model).__name__}.")
    refuse_address(target)
    light = copy(model)  # without the scores that its thresholds were set on: as many as training texts
    light.model_ = model.model_.without_held_out() if model.has_held_out else copy(model.model_)
    folder = Path(target).absolute()  # workers were started elsewhere
    paths = files_of(source, [".parquet"])
    common = Path(os.path.commonpath([path.parent for path in paths]))
    files = {path.relative_to(common).as_posix(): path for path in paths}
    columns = {name: _columns(path, text) for name, path in files.items()}
    new = _schema(light, scores, {name for own in columns.values() for name in own})
    about = {"model": fingerprint(light), "text": text, "scores": scores, "naming": new.names}
    done = _open_folder(folder, about, files)
    client = current_client()
    shared = share(client, light)
    tasks = [
        client.submit(_decide_file, shared, path, folder / name, columns[name], text, new, scores, pure=False)
        for name, path in files.items()
        if name not in done
    ]
    try:
        for number, task in enumerate(tasks, start=len(done) + 1):
            task.result()
            if progress is not None:
                progress(number, len(files))
    finally:
        client.cancel(tasks)
    n_texts = sum(pq.read_metadata(folder / name).num_rows for name in files)
    write_whole({folder / COMPLETE: json.dumps({"n_texts": n_texts, "parts": list(files)}).encode()})
    return PredictionSummary(n_texts, len(files), len(done), tuple(new.names))


def _columns(path: Path, text: str) -> list[str]:
    """The columns of a file that are taken over; it must have one of texts."""
    schema = read_schema(path)
    if text not in schema.names:
        raise TableError(no_column(text, schema.names, path, "text"))
    return [name for name in schema.names if name != text]


def read_schema(path: Path) -> Any:
    """The columns of a file."""
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as Parquet, so nothing was begun: {error}.") from error


def _open_folder(folder: Path, about: dict[str, Any], files: dict[str, Path]) -> set[str]:
    """The files that an earlier run with the same settings wrote, of sources that have not changed since."""
    if any((folder / name).resolve() == path.resolve() for name, path in files.items()):
        raise TableError(f"{folder} holds the texts themselves; choose another folder for the decisions.")
    started, earlier = folder / STARTED, {**about, "files": {}}
    if started.exists():
        earlier = json.loads(started.read_bytes())
    elif folder.exists() and (not folder.is_dir() or any(one.suffix != ".part" for one in folder.iterdir())):
        raise TableError(f"{folder} is not empty, and was not written by predict; choose another folder.")
    other = [name for name, value in about.items() if earlier.get(name) != value]
    if other:
        raise TableError(
            f"{folder} holds decisions of an earlier run with another {other[0]}; choose another folder, or "
            "delete that one."
        )
    stats = {name: path.stat() for name, path in files.items()}
    wanted = {name: [str(files[name]), stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}
    written: dict[str, Any] = earlier["files"]
    done = {name for name in files if written.get(name) == wanted[name] and (folder / name).exists()}
    (folder / COMPLETE).unlink(missing_ok=True)  # before anything else goes
    for path in [folder / name for name in written.keys() - done] + [*folder.rglob(".*.part")]:
        path.unlink(missing_ok=True)
    write_whole({started: json.dumps({**about, "files": wanted}, indent=1).encode()})
    return done


def _decide_file(
    model: TextClassifier, path: Path, target: Path, columns: list[str], text: str, new: Any, scores: bool
) -> None:
    """Write the decisions on one file."""
    try:
        with pq.ParquetFile(path) as file, put_whole(target) as temporary:
            schema = pa.schema([*(file.schema_arrow.field(name) for name in columns), *new])
            with pq.ParquetWriter(temporary, schema) as writer:
                for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(dict.fromkeys([*columns, text]))):
                    decided = _decisions(model, batch.column(text).to_pylist(), scores, new.types)
                    kept = [batch.column(name) for name in columns]
                    writer.write_batch(pa.record_batch([*kept, *decided], schema=schema))
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be decided on, or {target} not be written: {error}.") from error


def _decisions(
    model: TextClassifier, texts: list[str | None], scores: bool, types: Sequence[Any]
) -> list[Any]:
    """Columns of decisions; null where a text is."""
    decisions = model.decide([text for text in texts if text is not None], probabilities=model.has_held_out)
    columns = decision_columns(decisions, multilabel=model.labels_.multilabel, scores=scores)
    rows = [iter(column) for column in columns.values()]
    whole = ([None if text is None else next(row) for text in texts] for row in rows)
    return [pa.array(column, kind) for column, kind in zip(whole, types, strict=True)]


def _schema(model: TextClassifier, scores: bool, taken: Collection[str]) -> Any:
    """The columns that are new."""
    label = pa.list_(pa.string()) if model.labels_.multilabel else pa.string()
    numbers = [SCORE, CONFIDENCE] if model.has_held_out else [SCORE]
    numbers += [f"score of {name}" for name in model.labels_.text_names] if scores else []
    names = free_names([LABEL, GUESS, *numbers], taken)
    return pa.schema(
        [(names[LABEL], label), (names[GUESS], label), *((names[name], pa.float64()) for name in numbers)]
    )
