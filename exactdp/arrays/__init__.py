"""numpy as ``np``; where numpy is missing, as in browsers, the part that the accountant needs.

Modules that compute with arrays of one dimension import from here: then they answer in both places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]
    Complexes = NDArray[np.complex128]

    HAS_NUMPY: bool
else:
    # types at run time: to import numpy.typing takes longer than a short question
    Floats = Integers = Booleans = Complexes = Any
    try:
        import numpy as np
    except ModuleNotFoundError:
        from exactdp.arrays import lists as np

    HAS_NUMPY = np.__name__ == "numpy"

__all__ = ["HAS_NUMPY", "Booleans", "Complexes", "Floats", "Integers", "np"]
