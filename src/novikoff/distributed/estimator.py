"""The base of the estimators on a cluster. A client is a connection that can be shared, but not copied."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone

from novikoff.estimator import BaseEstimator


class OnCluster(BaseEstimator):
    """Abstract: an estimator with the parameter `client`, which is never copied or saved."""

    client: Any

    def __sklearn_clone__(self) -> Self:
        params = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**params)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": self._address()}

    def _address(self) -> str | None:
        """The client as text: an address, or None."""
        return self.client if isinstance(self.client, str) else None
