"""Names of array types that signatures everywhere use, and whether something from outside is such an array."""

from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]


def is_floats(array: Any, *shape: int) -> TypeGuard[Floats]:
    """Whether this is an array of floats of this shape."""
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
