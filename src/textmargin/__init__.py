"""Text classification with support vector machines that use what people know, what a mistake costs, and text as it is."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .classifier import TextClassifier
    from .learners.primal import PriorSVC
    from .representations.bow import BagOfWords

# Where each public name lives. Loaded when first asked for: the command line starts at once, and what needs neither
# scikit-learn nor the compiled core works without them.
_HOMES = {
    "BagOfWords": "representations.bow",
    "PriorSVC": "learners.primal",
    "TextClassifier": "classifier",
}

__all__ = ["BagOfWords", "PriorSVC", "TextClassifier"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
