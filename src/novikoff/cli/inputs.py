"""Files as sources: new ones, and those read for a model that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from novikoff.cli.options import Columns, Reading, default, flag_of
from novikoff.parameters.table import FILE_PARAMETERS, said_by_file

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel


def open_data(data: list[str], **options: Any) -> Source:
    """`open_source`, with an option that the format does not have as an error of usage."""
    from novikoff.data.sources.formats import UnknownOption, open_source

    try:
        return open_source(data, **options)
    except UnknownOption as error:
        has = ", ".join(flag_of(name) for name in error.known if name in FILE_PARAMETERS)
        raise typer.BadParameter(
            f"is not for files of the format '{error.format}', which have {has}.",
            param_hint=flag_of(error.name),
        ) from None


def source_for(
    model: LinearModel | KernelModel, data: list[str], reading: Reading, *, labelled: bool = True
) -> Source:
    """The files as a source of rows for the model.

    What is not given is remembered from how the model was made, where the format is the same; so is the
    format, where the names of the files do not tell it.
    """
    from novikoff.data.sources.formats import format_by_name

    given = reading.given()
    format = given.pop("format", None) or format_by_name(data)
    made = model.parameters.get("format")
    if format is None or format == made:
        format = made
        given = remembered(model.parameters) | given
    return open_data(data, format=format, features=model.features, labelled=labelled, **given)


def remembered(parameters: dict[str, Any]) -> dict[str, Any]:
    """The options of reading with which a model was made, as far as they are not the usual ones.

    Not those that say what a call may use: length of lines, expansion of files, threads.
    """
    names = {*Reading.__dataclass_fields__, *Columns.__dataclass_fields__} - SAID_ELSEWHERE
    kept = said_by_file(parameters, names)
    return {name: value for name, value in kept.items() if value != default(name) and value != []}


SAID_ELSEWHERE = {"format", "skip_bad_lines", "n_features", "seed", "hash_bits", "zero_based", "max_columns"}


def renaming(model: LinearModel | KernelModel, first: dict[str, str]) -> Renaming:
    """What is done to labels before they are compared with the model's classes, `first` being done first."""
    from novikoff.data.labels import Renaming

    made, positive = model.parameters.get("relabel"), model.parameters.get("positive")
    then: dict[str, str] = made if isinstance(made, dict) else {}
    return Renaming(then | {old: then.get(new, new) for old, new in first.items()}, positive)
