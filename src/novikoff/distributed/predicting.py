"""Predictions on a cluster: lazily, one block or file at a time."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np

from novikoff.data.state import features_state
from novikoff.data.text_labels import of_many_rows
from novikoff.distributed import loading
from novikoff.distributed.blocks import is_array, is_frame
from novikoff.distributed.files import are_paths, file_names, predict_file


def predicted(estimator: Any, X: Any, what: str, options: dict[str, Any]) -> Any:
    """The lazy labels or scores of a dask collection or of files; None for any other X."""
    if not (is_array(X) or is_frame(X) or are_paths(X)):
        return None
    names = list(getattr(estimator, "feature_names_in_", ()))
    if is_frame(X) and names and list(X.columns) != names:
        raise ValueError(
            f"the columns of X are {list(X.columns)[:5]}…, but the model was fitted on {names[:5]}…."
        )
    if is_array(X) and X.ndim == 2 and X.numblocks[1] != 1:
        X = X.rechunk({1: -1})
    classes = of_many_rows(estimator.classes_)
    coef, intercept = estimator._pair("coef_")
    coef = coef.toarray() if hasattr(coef, "toarray") else coef
    predictor = loading.Predictor(coef, intercept, classes, getattr(estimator, "rounding", "never"))
    ready = dask.delayed(predictor, name=f"novikoff-model-{uuid4().hex}")
    if are_paths(X):
        state = dask.delayed(
            features_state(estimator._features(coef.shape[1])), name=f"novikoff-{uuid4().hex}"
        )
        task = dask.delayed(predict_file, pure=False)
        parts = [
            task(ready, state, path, {"n_jobs": 1, "rounding": estimator.rounding} | options, what)
            for path in file_names(X)
        ]
        sizes: Any = [np.nan] * len(parts)
    else:
        task = dask.delayed(getattr(loading, what), pure=False)
        blocks = list(X.to_delayed()) if is_frame(X) else X.to_delayed().ravel().tolist()
        parts = [task(ready, block) for block in blocks]
        sizes = [np.nan] * len(parts) if is_frame(X) else X.chunks[0]
    wide = () if what == "predict" or len(classes) == 2 else (len(classes),)
    dtype = classes.dtype if what == "predict" else np.dtype(np.float64)
    each = [
        da.from_delayed(part, (size, *wide), dtype=dtype) for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(each, allow_unknown_chunksizes=True)
