"""Types of arrays that metrics take and give."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Clusters = npt.NDArray[np.generic]
