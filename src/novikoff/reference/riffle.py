"""The order of `order="riffle"` in plain NumPy: the readable version of native/rows/riffle.h.

The rows 0 to n − 1 lie in a circle, which is cut at a random place and dealt into piles of neighbours, as
many for each pile as there are draws of its number. Visit t takes the next row of the pile that draw t names:
the shuffle of Gilbert, Shannon and Reeds with several piles. Every pile keeps its order, and every way to
interleave piles of any sizes has the same chance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def riffled(draws: npt.NDArray[np.uint8], piles: int, first: int) -> Counts:
    """The row of each visit: `draws` has one byte per visit, whose remainder by `piles` is the pile's number.

    >>> riffled(np.array([0, 1, 5, 1, 4], dtype=np.uint8), 4, first=3).tolist()
    [3, 0, 1, 2, 4]
    """
    pile = draws % piles
    order = np.empty(len(draws), dtype=np.int64)
    order[np.argsort(pile, kind="stable")] = (first + np.arange(len(draws))) % max(len(draws), 1)
    return order
