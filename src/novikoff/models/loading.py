"""From a model file to the model in it, of whichever kind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from novikoff.models.linear import LinearModel
from novikoff.models.modelfile import kind_of_file, read_file

if TYPE_CHECKING:
    from novikoff.models.kernel import KernelModel
    from novikoff.structured.tagger import Tagger


def load_model(path: str | os.PathLike[str]) -> LinearModel | KernelModel | Tagger:
    """The model in a file that `save` wrote. Runs no code from the file; checks all of it.

    Raises
    ------
    ValueError
        In one line, when the file is damaged, does not fit together, or comes from a newer novikoff.
    """
    if kind_of_file(path) != "tagger":
        return load_classifier(path)
    from novikoff.structured.tagger import Tagger

    return Tagger.load(path)


def load_classifier(path: str | os.PathLike[str]) -> LinearModel | KernelModel:
    """The model in a file, which must be one of rows."""
    if kind_of_file(path) == "tagger":
        raise ValueError(
            f"{os.fspath(path)}: holds a sequence tagger, which labels the tokens of sentences, not "
            "rows: `novikoff tag` uses it."
        )
    facts, arrays = read_file(path, "model")
    try:
        if "dual" not in facts:
            return LinearModel.from_state(facts, arrays)
        from novikoff.models.kernel import KernelModel  # here: it needs scipy, which linear models do not

        return KernelModel.from_state(facts, arrays)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def load_linear(path: str | os.PathLike[str]) -> LinearModel:
    """The model in a file, which must be a linear one."""
    model = load_classifier(path)
    if not isinstance(model, LinearModel):
        raise ValueError(
            f"{os.fspath(path)}: holds a kernel model, which has no weights; expected a linear one."
        )
    return model
