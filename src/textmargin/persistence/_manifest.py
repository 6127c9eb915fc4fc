"""The manifest, `model.json`: versions, the table of arrays, and the values that the model is built from.

    {"format": 2, "textmargin": "0.2.0", "scikit-learn": "1.9.0", "arrays": {"arrays/0.npy": {…}}, "values":
    […]}

JSON in the strict sense: UTF-8, no NaN or infinity, no name twice, and no deeper than a model needs.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ._archive import Archive, skeleton
from ._arrays import described, npy, read_array
from ._encoding import DEEPEST
from ._seal import MANIFEST, Refused

FORMAT = 2
_DEEPEST = 2 * DEEPEST + 10  # a tuple in a tuple is two brackets
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_FIELDS = {"format", "textmargin", "scikit-learn", "arrays", "values"}


def write_manifest(values: list[Any], arrays: list[NDArray[Any]]) -> dict[str, bytes]:
    """All entries of a file, the manifest first."""
    table = {f"arrays/{k}.npy": described(array) for k, array in enumerate(arrays)}
    manifest = {"format": FORMAT, **versions_here(), "arrays": table, "values": values}
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":"))
    return {MANIFEST: text.encode("ascii"), **dict(zip(table, map(npy, arrays), strict=True))}


def versions_here() -> dict[str, str]:
    """What a file that is written now comes from."""
    import sklearn

    return {"textmargin": __version__, "scikit-learn": sklearn.__version__}


def read_manifest(archive: Archive, max_bytes: int) -> tuple[list[Any], list[NDArray[Any]], dict[str, str]]:
    """The values, the arrays, and the versions they come from."""
    manifest = _parsed(archive.content(MANIFEST), archive.packed(MANIFEST))
    _check_format(manifest)
    table, values = manifest["arrays"], manifest["values"]
    names = [f"arrays/{k}.npy" for k in range(len(table))]
    if list(table) != names or set(archive.sizes) != {MANIFEST, *names}:
        raise Refused("has arrays that its manifest does not know, or lacks some that it does")
    arrays = [read_array(archive, name, table[name], max_bytes) for name in names]
    return values, arrays, {name: manifest[name] for name in ("textmargin", "scikit-learn")}


def _parsed(content: bytes, packed: int) -> Any:
    _check_extent(content, packed)
    try:
        return json.loads(
            content.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_without_repetition,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(f"has a {MANIFEST} that is not JSON ({error})") from error


def _check_extent(content: bytes, packed: int) -> None:
    """Beforehand: every value takes memory, and the parser calls itself."""
    bare = skeleton(content, packed)
    if bare is None:
        raise Refused(f"has a {MANIFEST} of more values than a model of its size")
    brackets = np.frombuffer(bare.translate(None, _NO_BRACKETS), dtype=np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    if np.cumsum(np.where(opening, np.int8(1), np.int8(-1)), dtype=np.int32).max(initial=0) > _DEEPEST:
        raise Refused(f"has a {MANIFEST} nested more than {_DEEPEST} deep")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.20} is beyond the range of a float")
    return number


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _check_format(manifest: Any) -> None:
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise Refused(f"has a {MANIFEST} that does not tell its format")
    if manifest["format"] > FORMAT:
        raise Refused(
            f"has format {manifest['format']}, written by textmargin {manifest.get('textmargin')!r:.30}, "
            "while this textmargin, "
            f"{__version__}, reads format {FORMAT}",
            "pip install -U textmargin",
        )
    if manifest["format"] < FORMAT:
        raise Refused(
            f"has format {manifest['format']}, of a textmargin before {__version__}, which reads format "
            f"{FORMAT}",
            "train the model again",
        )
    versions = (manifest.get("textmargin"), manifest.get("scikit-learn"))
    if set(manifest) != _FIELDS or not all(isinstance(version, str) for version in versions):
        raise Refused(f"has a {MANIFEST} whose fields are not those of format {FORMAT}")
    if not isinstance(manifest["arrays"], dict) or not isinstance(manifest["values"], list):
        raise Refused(f"has a {MANIFEST} without a table of arrays or values")
