"""Names of array types that signatures everywhere use, and whether something from outside is such an
array.
"""

from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]


LARGEST = 1e75  # number in a model: of four the product is a float; weights of features of 1e-8 come to 1e16


def is_floats(array: Any, *shape: int) -> TypeGuard[Floats]:
    """Whether this is an array of floats of this shape, all of them such as a model has: finite, and not
    absurdly large.
    """
    right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    return bool(right and (not array.size or (array.min() >= -LARGEST and array.max() <= LARGEST)))
