"""The six points of the CMU lecture."""

import numpy as np

SIX = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
SIX_Y = np.array([-1, 1, 1, -1, -1, 1])
