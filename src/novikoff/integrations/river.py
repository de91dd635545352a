"""OnlinePerceptron inside river: import this module once, and river accepts it as a classifier.

This registers the class with river's abstract classes and adds the few members that river's pipelines,
metrics and progressive validation require of a classifier. Calls still go directly to the core.

Examples
--------
>>> import novikoff.integrations.river
>>> from novikoff.linear.online import OnlinePerceptron
>>> from river import datasets, evaluate, metrics, preprocessing
>>> model = preprocessing.StandardScaler() | OnlinePerceptron(average=True)
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
Accuracy: 88.63%
"""

from __future__ import annotations

from typing import Any

try:
    from river import base
except ImportError as error:
    raise ImportError("novikoff.integrations.river needs river: pip install river") from error

from novikoff.linear.online import OnlinePerceptron


def _clone(
    self: OnlinePerceptron, new_params: dict[str, Any] | None = None, include_attributes: bool = False
) -> OnlinePerceptron:
    """A model with the same parameters and, on request, the same trained state."""
    fresh = type(self)(**{**self.get_params(), **(new_params or {})})
    if include_attributes:
        fresh._set_state(self._get_state())
    return fresh


def _no_probabilities(self: OnlinePerceptron, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
    raise NotImplementedError("a perceptron has scores, not probabilities: use a metric that takes labels")


# The members that would be inherited from river's Estimator and Classifier.
_MEMBERS: dict[str, Any] = {
    "_supervised": True,
    "_multiclass": True,
    "_is_stochastic": False,
    "_tags": frozenset(),
    "_mutable_attributes": frozenset(),
    "_get_params": OnlinePerceptron.get_params,
    "_unit_test_params": classmethod(lambda cls: iter([{}])),
    "_unit_test_skips": lambda self: set(),
    "_raw_memory_usage": property(lambda self: self._memory()),
    "_memory_usage": base.Base._memory_usage,
    "clone": _clone,
    "mutate": base.Base.mutate,
    "predict_proba_one": _no_probabilities,
    "__or__": base.Estimator.__or__,
    "__ror__": base.Estimator.__ror__,
}

for _name, _member in _MEMBERS.items():
    setattr(OnlinePerceptron, _name, _member)
base.Classifier.register(OnlinePerceptron)
