"""The same models when the corpus no longer fits one machine: names of the in-memory classes, on Dask collections."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..errors import install_hint

if TYPE_CHECKING:
    from ._client import connect
    from .blocks import Blocks
    from .bow import BagOfWords
    from .maps import KernelLandmarks, SubsequenceFeatures
    from .primal import PriorSVC
    from .tables import predict_parquet
    from .texts import TextFiles, TextLists, TextRows
    from .threshold import ThresholdClassifier
    from .tiles import fill, gram

# Where each name lives; loaded when first asked for, as in the package above.
_HOMES = {
    "BagOfWords": "bow",
    "Blocks": "blocks",
    "KernelLandmarks": "maps",
    "PriorSVC": "primal",
    "SubsequenceFeatures": "maps",
    "TextFiles": "texts",
    "TextLists": "texts",
    "TextRows": "texts",
    "ThresholdClassifier": "threshold",
    "connect": "_client",
    "fill": "tiles",
    "gram": "tiles",
    "predict_parquet": "tables",
}

__all__ = [
    "BagOfWords",
    "Blocks",
    "KernelLandmarks",
    "PriorSVC",
    "SubsequenceFeatures",
    "TextFiles",
    "TextLists",
    "TextRows",
    "ThresholdClassifier",
    "connect",
    "fill",
    "gram",
    "predict_parquet",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    except ModuleNotFoundError as error:
        needed = {"dask": ("Dask", "scale"), "distributed": ("Dask", "scale"), "pyarrow": ("PyArrow", "parquet")}
        if (missing := (error.name or "").split(".")[0]) not in needed:
            raise
        package, extra = needed[missing]
        raise ImportError(f"scale.{name} needs {package}, which is not installed: {install_hint(extra)}.") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
