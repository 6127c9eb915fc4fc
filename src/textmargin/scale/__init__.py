"""Texts in parts, and their matrices: on this machine's disk, or with the workers of a Dask cluster."""

from typing import Any

import lazy_loader

from ..representations.text_parts import TextParts, register_collections

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _read_collection(collection: Any) -> TextParts:
    from .dask import DaskTexts

    return DaskTexts(collection)


register_collections("__dask_graph__", _read_collection)
