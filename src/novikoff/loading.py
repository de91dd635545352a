"""Loading a model of any kind from its file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from novikoff.linear.model import LinearModel
from novikoff.modelfile.container import is_of_kernels, kind_of_file, read_model

if TYPE_CHECKING:
    from novikoff.kernel.model import KernelModel
    from novikoff.structured.model import StructuredModel
    from novikoff.tagging.tagger import Tagger


def load_model(
    path: str | os.PathLike[str], *, problem: Any = None, trust_patterns: bool = False
) -> LinearModel | KernelModel | Tagger | StructuredModel:
    """Load the model that `save` wrote, of any estimator except the online ones, which have their own `load`.

    The whole file is checked, and no code from it is run.

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
    """
    kind = kind_of_file(path)
    if kind == "tagger":
        from novikoff.tagging.tagger import Tagger

        return Tagger.load(path, trust_patterns=trust_patterns)
    if kind == "structured":
        from novikoff.structured.model import StructuredModel

        return StructuredModel.load(path, problem)
    return load_classifier(path)


def load_classifier(path: str | os.PathLike[str]) -> LinearModel | KernelModel:
    """Load the linear or kernel model in a file."""
    facts, _ = model = read_model(path)
    if not is_of_kernels(facts):
        return LinearModel.read(path, model)
    from novikoff.kernel.model import KernelModel  # here: it needs SciPy, linear models do not

    return KernelModel.read(path, model)
