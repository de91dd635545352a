"""Common code of the batch classifiers: reading X and y, weights, predicting."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import (
    _check_feature_names,
    _get_feature_names,
    check_array,
    check_is_fitted,
    column_or_1d,
)

from novikoff.data.arrays import check_mapped, exact_rows, in_memory_order, is_readable, with_one_index_width
from novikoff.data.labels import Classes, check_labels, number
from novikoff.data.named_rows import NamedRows, encoded_frame, is_records, rows_by_name
from novikoff.data.rounding import Rounding
from novikoff.data.sources.block import Csr
from novikoff.data.sources.features import Features, NamedFeatures, NumberedFeatures
from novikoff.data.targets import label_array, read_weights
from novikoff.data.text_labels import taken
from novikoff.estimator import BaseEstimator, ClassifierMixin
from novikoff.parameters.parameter import check_parameters
from novikoff.training.weights import Floats, Ints


class RowClassifier(ClassifierMixin, BaseEstimator):
    """Abstract: a classifier with parameters from `novikoff.parameters`; it reads X and y for the core."""

    _classes: Classes
    features_: Features

    def _check_parameters(self) -> None:
        check_parameters(self)

    # -- reading -------------------------------------------------------------------------------------
    def _read(self, X: Any, *, reset: bool) -> Any:
        """`X` ready for the core: X itself if it can be read in place, else one copy."""
        if isinstance(X, NamedRows):
            X = X.X
        elif not reset:
            X = self._by_name(X)
        check_mapped(X)
        if (
            not reset
            and not isinstance(X, Csr)
            and not (type(X) is np.ndarray and "feature_names_in_" not in vars(self))
        ):
            _check_feature_names(self, X, reset=False)
        if isinstance(X, Csr):
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        if not is_readable(X) or 0 in X.shape:
            rounding = Rounding(self.rounding)
            X = exact_rows(X, rounding)
            rounding.warn(4)
            X = check_array(
                X,
                accept_sparse="csr",
                accept_large_sparse=True,
                dtype=[np.float64, np.float32] if sp.issparse(X) else [np.float64, np.float32, np.uint8],
                order="C",
                ensure_all_finite=False,
                estimator=self,
                input_name="X",
            )
            X = with_one_index_width(X) if sp.issparse(X) else in_memory_order(X)
        if not reset and X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _to_learn(self, X: Any, *, begun: bool = False) -> Any:
        """Rows to learn from: a frame with columns that are not numbers as its features and their rows."""
        return X if begun else encoded_frame(X, self.rounding)

    def _by_name(self, X: Any) -> Any:
        """Frames and dicts as rows over the columns of the model, matched by name; others unchanged."""
        features = vars(self).get("features_")
        if features is None and (is_records(X) or "feature_names_in_" in vars(self)):
            features = self._features(self.n_features_in_)
        return X if features is None else rows_by_name(X, features, self.rounding)

    def _set_features(self, raw: Any, X: Any) -> None:
        if hasattr(self, "features_"):  # from an earlier fit on a source
            del self.features_
        self.n_features_in_ = X.shape[1]
        if isinstance(raw, NamedRows):
            self.features_ = raw.features
            self.feature_names_in_ = np.array(raw.features.names(range(X.shape[1])), dtype=object)
            return
        names = _get_feature_names(raw)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _set_source(self, features: Features, n_features: int, classes: Any) -> None:
        """Take over the features and classes that a fit found in a source."""
        self.features_ = features
        self.features_.fixed = True
        self.n_features_in_ = n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._set_classes(Classes(classes))

    def _features(self, n_features: int) -> Features:
        """The features of the columns, as a model file stores them."""
        names = vars(self).get("feature_names_in_")
        features: Features
        if "features_" in vars(self):
            features = self.features_
        elif names is None:
            features = NumberedFeatures(n_features, fixed=True)
        else:
            features = NamedFeatures()
            features.place([str(name) for name in names])
            if features.n_columns != n_features:
                raise ValueError(
                    "feature_names_in_ has repeated names: a model file needs a unique name per column."
                )
            features.fixed = True
        return features

    def _read_labels(self, X: Any, y: Any) -> Any:
        labels = read_labels(y)
        if len(labels) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows, but y has {len(labels)} labels: they must have the same length."
            )
        return labels

    def _meet(
        self, y: Any, classes: Any, *, begun: bool, grow: bool = False, alone: bool = True
    ) -> tuple[Classes, Ints]:
        """The classes known after these labels of `partial_fit`, and each label's index among them.

        With `alone` one class is enough if none are declared: the second may come later.
        """
        if begun:
            if classes is not None:
                self._classes.check_same(classes)
            known, labels = self._classes.meet(y, grow=grow)
        elif classes is not None:
            known, labels = Classes(np.unique(np.asarray(classes))).meet(y, grow=False)
        else:
            found, labels = number(y)
            known = Classes(found)
        if len(known.labels) < 2 and (classes is not None or not alone):
            raise ValueError(
                f"partial_fit needs two classes to begin with, but there is only one class: "
                f"{known.labels.tolist()[0]!r}. Declare them with classes=[...]."
            )
        return known, labels

    def _read_weights(self, sample_weight: Any, X: Any) -> Floats | None:
        return None if sample_weight is None else read_weights(sample_weight, X.shape[0])

    def _weights(self, classes: Any, labels: Ints, sample_weight: Floats | None) -> Floats | None:
        """The factor on each row's step: its own weight times its class weight."""
        if getattr(self, "class_weight", None) is None:
            return sample_weight
        if isinstance(self.class_weight, dict):
            by_class = np.array([float(self.class_weight.get(c, 1.0)) for c in classes.tolist()])
        else:
            used = labels if sample_weight is None else labels[sample_weight > 0]
            by_class = compute_class_weight("balanced", classes=classes, y=classes[used])
        weights: Floats = by_class[labels]
        return weights if sample_weight is None else weights * sample_weight

    def _check_class_weight(self, classes: Any) -> None:
        weight = getattr(self, "class_weight", None)
        unknown = [c for c in weight if c not in classes.tolist()] if isinstance(weight, dict) else []
        if unknown:
            raise ValueError(
                f"class_weight names classes that y does not have: {unknown}; known are {list(classes)}."
            )

    def _turned(self, known: Classes) -> bool:
        """Whether the only class of earlier chunks has turned out to be the second of two."""
        return "_classes" in vars(self) and known.turned(self._classes)

    def _set_classes(self, classes: Classes) -> None:
        self._classes, self.classes_ = classes, classes.labels

    def _read_all(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Ints, Floats | None]:
        """(X, classes, labels, weights) for a fit from scratch, checked except for the values of X."""
        self._check_parameters()
        X = self._read(X, reset=True)
        y = self._read_labels(X, y)
        weights = self._read_weights(sample_weight, X)
        kept = slice(None) if weights is None else weights > 0
        classes, found = number(y[kept])
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in y, "
                f"but there is only one class: {classes.tolist()[0]!r}."
            )
        labels = found
        if weights is not None:  # labels of rows without weight are never used
            labels = np.zeros(len(y), dtype=np.int32)
            labels[kept] = found
        self._check_class_weight(classes)
        return X, classes, labels, self._weights(classes, labels, weights)

    # -- using ---------------------------------------------------------------------------------------
    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X and y."""

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """The class of each row."""

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _label(self, places: Any) -> Any:
        """The labels at these indices; while only one class is known, it is the only answer."""
        return taken(self.classes_, places if len(self.classes_) > 1 else np.zeros_like(places))

    def _score(self, scores: Floats) -> Floats:
        """These scores; all 0 while only one class is known."""
        return scores if len(self.classes_) > 1 else np.zeros_like(scores)

    def _check_two(self) -> None:
        """Refuse to export a model of one class: the second class may change all of it."""
        if len(self.classes_) == 1:
            raise ValueError(
                f"a model needs two classes, but so far there is only {self.classes_[0]!r}: learn from rows "
                "of another class, or declare all classes in the first call of partial_fit."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def read_labels(y: Any) -> Any:
    """`y` as a one-dimensional array of class labels."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    y = label_array(y)
    if y.ndim != 1:
        y = np.asarray(column_or_1d(y, warn=True))
    return check_labels(y)


def names_of(features: Features) -> Any:
    """The names of the columns, as an estimator has them; None if they have none."""
    if features.kind == "numbered" or features.hashed:  # hashed columns have no names
        return None
    return np.array(features.names(range(features.n_columns)), dtype=object)
