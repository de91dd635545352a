"""From a model file to the model in it, of whichever kind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from novikoff.models.linear import LinearModel
from novikoff.models.modelfile import read_file

if TYPE_CHECKING:
    from novikoff.models.kernel import KernelModel


def load_model(path: str | os.PathLike[str]) -> LinearModel | KernelModel:
    """The model in a file that `save` wrote. Runs no code from the file; checks all of it.

    Raises
    ------
    ValueError
        In one line, when the file is damaged, does not fit together, or comes from a newer novikoff.
    """
    facts, arrays = read_file(path, "model")
    try:
        if not facts.keys() & {"dual", "budgeted"}:
            return LinearModel.from_state(facts, arrays)
        from novikoff.models.kernel import KernelModel  # here: it needs scipy, which linear models do not

        return KernelModel.from_state(facts, arrays)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def load_linear(path: str | os.PathLike[str]) -> LinearModel:
    """The model in a file, which must be a linear one."""
    model = load_model(path)
    if not isinstance(model, LinearModel):
        raise ValueError(
            f"{os.fspath(path)}: holds a kernel model, which has no weights; expected a linear one."
        )
    return model
