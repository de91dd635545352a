"""The common parts of the files of streaming models: parameters, labels and feature names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from novikoff.modelfile.checks import array, fact, refuse_unknown
from novikoff.modelfile.container import Arrays, Facts, pack_text, unpack_text
from novikoff.parameters.parameter import parameters_of

PLAIN = (str, int, float, bool)


def plain_parameters(params: dict[str, Any], classes: Iterable[Any]) -> Facts:
    """The parameters as facts; a ValueError if a label, declared or seen, is neither a number nor text."""
    for label in [*classes, *(params["classes"] or [])]:
        if type(label) not in PLAIN:
            kind = type(label).__name__
            raise ValueError(f"a model file holds labels that are numbers or text, not {kind}: {label!r}")
    return params | {"classes": None if params["classes"] is None else list(params["classes"])}


def parameters_from_state(facts: Facts, model: type[Any]) -> Facts:
    """The parameters of a model of this class; others are refused.

    A parameter that is missing, because the file is older, keeps its default.
    """
    params: Facts = fact(facts, "parameters", dict)
    refuse_unknown(params, parameters_of(model), f"parameters of {model.__name__}")
    return params


def labels_from_state(facts: Facts, declared: Sequence[Any] | None) -> list[Any]:
    """The labels seen, each once; they must equal the declared ones, if any."""
    labels: list[Any] = fact(facts, "classes", list)
    if not all(type(label) in PLAIN for label in labels) or len(set(labels)) != len(labels):
        raise ValueError("some labels are repeated, or neither numbers nor text")
    if declared is not None and labels != list(declared):
        raise ValueError("the labels differ from the declared ones")
    return labels


def names_state(names: Iterable[str]) -> Arrays:
    """Names of features, in the order of their columns."""
    content, offsets = pack_text(names)
    return {"names": content, "name_offsets": offsets}


def names_from_state(arrays: Arrays, hash_bits: int | None) -> list[str]:
    """The names stored by `names_state`; none if features are hashed."""
    names = unpack_text(
        array(arrays, "names", np.uint8, (None,)), array(arrays, "name_offsets", np.int64, (None,))
    )
    if len(set(names)) != len(names) or (names and hash_bits is not None):
        raise ValueError("some names of features are repeated, or there are names where hashes are expected")
    return names
