"""Texts in parts, and their matrices: on this machine's disk, or with the workers of a Dask cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import install_hint
from ..representations.text_parts import TextParts, register_collections

if TYPE_CHECKING:
    from ._client import connect
    from .blocks import Blocks
    from .cluster_blocks import ClusterBlocks
    from .cluster_texts import ClusterTexts
    from .tables import predict_parquet
    from .texts import TextFiles, TextLists, TextRows
    from .tiles import fill, gram

# Where each name lives; loaded when first asked for, as in the package above.
_HOMES = {
    "Blocks": "blocks",
    "ClusterBlocks": "cluster_blocks",
    "ClusterTexts": "cluster_texts",
    "TextFiles": "texts",
    "TextLists": "texts",
    "TextRows": "texts",
    "connect": "_client",
    "fill": "tiles",
    "gram": "tiles",
    "predict_parquet": "tables",
}

__all__ = [
    "Blocks",
    "ClusterBlocks",
    "ClusterTexts",
    "TextFiles",
    "TextLists",
    "TextRows",
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
        needed = {
            "dask": ("Dask", "scale"),
            "distributed": ("Dask", "scale"),
            "pyarrow": ("PyArrow", "parquet"),
        }
        if (missing := (error.name or "").split(".")[0]) not in needed:
            raise
        package, extra = needed[missing]
        raise ImportError(
            f"scale.{name} needs {package}, which is not installed: {install_hint(extra)}."
        ) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _read_collection(collection: Any) -> TextParts:
    from .cluster_texts import ClusterTexts

    return ClusterTexts.of(collection)


register_collections("__dask_graph__", _read_collection)
