"""Loading a model of any kind from its file."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from novikoff.linear.model import LinearModel
from novikoff.modelfile.container import is_of_kernels, kind_of_file, read_model

if TYPE_CHECKING:
    from novikoff.kernel.online import OnlineKernelPerceptron
    from novikoff.linear.online import OnlinePerceptron
    from novikoff.structured.model import StructuredModel
    from novikoff.tagging.tagger import Tagger
    from novikoff.training.row_model import RowModel

ROWS = ("voted perceptron", "Winnow")  # whose input is rows, as that of a "model"
# What reads each other kind of file; loaded only for such a file.
HOMES = {
    "voted perceptron": ("novikoff.linear.voted_model", "VotedModel"),
    "Winnow": ("novikoff.linear.winnow_model", "WinnowModel"),
    "online": ("novikoff.linear.online", "OnlinePerceptron"),
    "online kernel": ("novikoff.kernel.online", "OnlineKernelPerceptron"),
    "tagger": ("novikoff.tagging.tagger", "Tagger"),
    "structured": ("novikoff.structured.model", "StructuredModel"),
}


def load_model(
    path: str | os.PathLike[str], *, problem: Any = None, trust_patterns: bool = False
) -> RowModel | OnlinePerceptron | OnlineKernelPerceptron | Tagger | StructuredModel:
    """Load the model that `save` or the command line wrote, of any estimator; scikit-learn is not needed.

    Every model has `predict`, `predict_one`, `scores` and a repr of one line, and `top_features` and
    `explain` where it has a weight per feature. The whole file is checked, and no code from it is run.

    Parameters
    ----------
    path : path of the file
    problem : object, optional
        For a structured perceptron with a user-defined problem: that problem.
    trust_patterns : bool, default False
        For a tagger: accept regular expressions in its templates that may take very long to match. By default
        a file is refused unless all of them are known to match in linear time (`novikoff.tagging.patterns`).

    Raises
    ------
    ValueError
        In one line, when the file is damaged, does not fit together, or comes from a newer novikoff.

    Examples
    --------
    >>> import tempfile, novikoff
    >>> mail = novikoff.OnlinePerceptron()
    >>> mail.learn_many([({"subject": "lottery"}, "spam"), ({"subject": "lunch"}, "ham")] * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mail.save(f"{folder}/mail.novikoff")
    ...     model = novikoff.load_model(f"{folder}/mail.novikoff")
    >>> model.predict_one({"subject": "lottery"})
    'spam'
    """
    kind = kind_of_file(path)
    how: dict[str, Any] = {}
    if kind == "tagger":
        how["trust_patterns"] = trust_patterns
    elif kind == "structured":
        how["problem"] = problem
    elif kind is None or kind not in HOMES:
        return load_classifier(path)
    model: RowModel | OnlinePerceptron | OnlineKernelPerceptron | Tagger | StructuredModel
    model = _home(kind).load(path, **how)
    return model


def load_classifier(path: str | os.PathLike[str]) -> RowModel:
    """Load a model whose input is rows: linear, kernel, voted, or Winnow."""
    kind = kind_of_file(path)
    if kind is not None and kind in ROWS:
        model: RowModel = _home(kind).load(path)
        return model
    facts, _ = content = read_model(path)
    if not is_of_kernels(facts):
        return LinearModel.read(path, content)
    from novikoff.kernel.model import KernelModel  # here: it needs SciPy, linear models do not

    return KernelModel.read(path, content)


def _home(kind: str) -> Any:
    module, name = HOMES[kind]
    return getattr(import_module(module), name)
