"""Values converted for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def to_json_value(value: Any, not_finite: Callable[[float], Any] = lambda value: None) -> Any:
    """The value with NumPy's types converted to Python's; `not_finite` replaces NaN and infinity.

    >>> import numpy as np
    >>> to_json_value({"counts": np.array([1, 2]), "margin": np.float32(0.5), "gap": (np.inf, 0.0)})
    {'counts': [1, 2], 'margin': 0.5, 'gap': [None, 0.0]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    match value:
        case float():
            return value if math.isfinite(value) else not_finite(value)
        case dict():
            return {key: to_json_value(item, not_finite) for key, item in value.items()}
        case list() | tuple():
            return [to_json_value(item, not_finite) for item in value]
    return value
