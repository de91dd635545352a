"""scikit-learn's base classes, with the types that mypy needs.

mypy finds no types in scikit-learn, and does not check calls of a class with an unknown base. Other type
checkers read scikit-learn's source, and ignore the name MYPY.
"""

from __future__ import annotations

from typing import Any, Self

MYPY = False

if MYPY:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __getattr__(self, name: str) -> Any: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["BaseEstimator", "ClassifierMixin"]
