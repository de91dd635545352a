"""Sentences as feature numbers, ready for native code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sentences whose tokens have features.

    Sentence s is tokens ``starts[s]:starts[s + 1]``, and token t has the features
    ``ids[indptr[t]:indptr[t + 1]]``.
    """

    starts: npt.NDArray[np.int64]
    indptr: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64] | None = None  # None: every value is 1
