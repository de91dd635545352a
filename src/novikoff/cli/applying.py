"""Files read for a model that exists: by its features, and as those that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.cli.options import Columns, Reading, default

if TYPE_CHECKING:
    from novikoff.labels import Renaming
    from novikoff.linear import LinearModel
    from novikoff.source import Source


def source_for(model: LinearModel, data: list[str], reading: Reading, *, labelled: bool = True) -> Source:
    """The files as a source of rows for the model.

    What is not given is remembered from how the model was made, where the format is the same.
    """
    from novikoff.sources import format_of, open_source

    given = reading.given()
    format = given.pop("format", None) or (None if "-" in data else format_of(data))
    made = model.parameters.get("format")
    if format is None or format == made:
        format = made
        given = remembered(model.parameters) | given
    if not labelled:
        given["labelled"] = False
    return open_source(data, format=format, features=model.features, **given)


def remembered(parameters: dict[str, Any]) -> dict[str, Any]:
    """The options of reading with which a model was made, as far as they are not the usual ones."""
    names = [*Reading.__dataclass_fields__, *Columns.__dataclass_fields__]
    kept = {name: parameters[name] for name in names if name in parameters and name != "format"}
    once = ("skip_bad_lines", "n_features", "seed")  # of one run, or said by the features
    return {
        name: value
        for name, value in kept.items()
        if name not in once and value != default(name) and value != []
    }


def renaming(model: LinearModel) -> Renaming:
    """What is done to labels before they are compared with the model's classes."""
    from novikoff.labels import Renaming

    relabel, positive = model.parameters.get("relabel"), model.parameters.get("positive")
    return Renaming(dict(relabel) if isinstance(relabel, dict) else {}, positive)
