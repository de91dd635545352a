"""From a model file to the model in it, of whichever kind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from novikoff.models.linear import LinearModel
from novikoff.models.modelfile import Arrays, Facts, read_file

if TYPE_CHECKING:
    from novikoff.models.kernel import KernelModel
    from novikoff.structured.model import StructuredModel


def load_model(
    path: str | os.PathLike[str], *, problem: Any = None
) -> LinearModel | KernelModel | StructuredModel:
    """The model in a file that `save` wrote. Runs no code from the file; checks all of it.

    Parameters
    ----------
    path : path of the file
    problem : object, for a structured perceptron that was learned with a problem of your own

    Raises
    ------
    ValueError
        In one line, when the file is damaged, does not fit together, or comes from a newer novikoff.
    """
    return _made(path, *read_file(path, "model"), problem)


def _made(
    path: str | os.PathLike[str], facts: Facts, arrays: Arrays, problem: Any
) -> LinearModel | KernelModel | StructuredModel:
    try:
        if "structured" in facts:
            from novikoff.structured.model import StructuredModel

            return StructuredModel.from_state(facts, arrays, problem)
        if "dual" not in facts:
            return LinearModel.from_state(facts, arrays)
        from novikoff.models.kernel import KernelModel  # here: it needs scipy, which linear models do not

        return KernelModel.from_state(facts, arrays)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def load_row_model(path: str | os.PathLike[str]) -> LinearModel | KernelModel:
    """The model in a file, which must be one that predicts rows: linear or of a kernel."""
    facts, arrays = read_file(path, "model")
    if "structured" in facts:
        raise ValueError(
            f"{os.fspath(path)}: holds a structured perceptron; expected a model of rows. Use "
            "novikoff.load_model(path) for it."
        )
    return cast("LinearModel | KernelModel", _made(path, facts, arrays, None))


def load_linear(path: str | os.PathLike[str]) -> LinearModel:
    """The model in a file, which must be a linear one."""
    model = load_row_model(path)
    if not isinstance(model, LinearModel):
        raise ValueError(
            f"{os.fspath(path)}: holds a kernel model, which has no weights; expected a linear one."
        )
    return model
