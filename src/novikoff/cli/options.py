"""Options that commands share. Names, defaults, help and checks come from the table of parameters."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.parameters.table import FILE_PARAMETERS, Parameter

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming
    from novikoff.training.weights import Settings


def default(name: str) -> Any:
    """What a parameter is when it is not given on the command line."""
    return FILE_PARAMETERS[name].default


def flag_of(name: str) -> str:
    """What a parameter is called on the command line."""
    return "--epochs" if name == "max_epochs" else f"--{name.replace('_', '-')}"


def option(
    name: str,
    *flags: str,
    metavar: str | None = None,
    shown_default: str = "",
    table: Mapping[str, Parameter] = FILE_PARAMETERS,
) -> Any:
    """The option for a parameter of the table; its value is checked there."""
    parameter = table[name]
    choices = parameter.choices
    flags = flags or (flag_of(name),)

    def checked(value: Any) -> Any:
        if value is None:  # not given
            return value
        try:
            parameter.check(read(name, value))
        except ValueError:
            expected = parameter.expected.removeprefix("None or ")
            raise typer.BadParameter(
                f"{_shown(value)} is not possible: expected {expected}.", param_hint=flags[0].split("/")[0]
            ) from None
        return value

    return typer.Option(
        *flags,
        help=re.sub(r"`(\w+)`", lambda match: flag_of(match[1]), parameter.help),
        metavar=metavar or ("|".join(choices) if choices else None),
        autocompletion=(lambda: list(choices)) if choices else None,
        callback=checked,
        show_default=shown_default or not isinstance(parameter.default, bool),
    )


def _shown(value: Any) -> str:
    return ", ".join(map(repr, value)) if isinstance(value, list | tuple) else repr(value)


def read(name: str, value: Any) -> Any:
    """The value as the table knows it."""
    match name:
        case "ignore" | "text" | "categorical":
            return [part for each in value or () for part in listed(each)]
        case "classes":
            return value if value in (None, "grow") else listed(value)
        case "class_weight":
            return class_weights(value)
        case "relabel":
            return pairs(value)
        case "gamma" if value not in ("scale", "auto"):
            return float(value)
        case "rules" if isinstance(value, str):
            return listed(value)
        case "averages" if value in AVERAGES:
            return AVERAGES[value]
        case "epochs" if isinstance(value, str):
            return [int(each) for each in listed(value)]
        case "scales" if isinstance(value, str):
            return [None if each == "none" else each for each in listed(value)]
        case "Cs" if isinstance(value, str):
            return [float(each) for each in listed(value)]
    return value


AVERAGES = {"both": [False, True], "yes": [True], "no": [False]}


def listed(text: str) -> list[str]:
    """The parts of a list with commas between; quotes protect a comma.

    >>> listed('ham, spam,"a,b"')
    ['ham', 'spam', 'a,b']
    """
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]


def pairs(texts: list[str] | tuple[str, ...] | None) -> dict[str, str]:
    r"""What OLD=NEW says, from several of them; \= is an = that belongs to a label.

    >>> pairs(["ham.=ham", r"<\=50K.=<\=50K"])
    {'ham.': 'ham', '<=50K.': '<=50K'}
    """
    found: dict[str, str] = {}
    for text in texts or ():
        parts = [part.replace("\\=", "=") for part in re.split(r"(?<!\\)=", text)]
        if len(parts) != 2 or not all(parts) or found.setdefault(parts[0], parts[1]) != parts[1]:
            raise ValueError(text)
    return found


def class_weights(text: str | None) -> dict[str, float] | str | None:
    """'balanced', or class=weight with commas between."""
    if text is None or text == "balanced":
        return text
    parts = [part.rpartition("=") for part in listed(text)]
    if not all(label for label, _, _ in parts):
        raise ValueError(text)
    return {label: float(weight) for label, _, weight in parts}


# ---- what several commands have ----------------------------------------------------------------------
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
SavedAs = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Where to save the model; a model that is there is replaced. Without it: the first file's "
        "name with .novikoff, in the current folder.",
    ),
]


@dataclass
class Reading:
    """How files are to be read."""

    format: Annotated[str | None, option("format")] = default("format")
    label: Annotated[str | None, option("label", metavar="COLUMN")] = default("label")
    header: Annotated[bool | None, option("header", "--header/--no-header")] = default("header")
    skip_lines: Annotated[int, option("skip_lines")] = default("skip_lines")
    delimiter: Annotated[str | None, option("delimiter", metavar="CHARACTER")] = default("delimiter")
    quote: Annotated[str | None, option("quote", metavar="CHARACTER")] = default("quote")
    skip_bad_lines: Annotated[bool, option("skip_bad_lines")] = default("skip_bad_lines")
    rounding: Annotated[str, option("rounding")] = default("rounding")
    max_line: Annotated[int, option("max_line", metavar="BYTES")] = default("max_line")
    max_columns: Annotated[int, option("max_columns")] = default("max_columns")
    max_expansion: Annotated[int, option("max_expansion", metavar="TIMES")] = default("max_expansion")
    n_jobs: Annotated[int, option("n_jobs")] = default("n_jobs")

    def given(self) -> dict[str, Any]:
        """What was asked for, as `open_source` takes it."""
        return _given(self)


@dataclass
class Columns:
    """What becomes of the columns."""

    weight: Annotated[str | None, option("weight", metavar="COLUMN")] = default("weight")
    ignore: Annotated[list[str] | None, option("ignore", metavar="COLUMNS")] = None
    text: Annotated[list[str] | None, option("text", metavar="COLUMNS")] = None
    ngrams: Annotated[int, option("ngrams")] = default("ngrams")
    categorical: Annotated[list[str] | None, option("categorical", metavar="COLUMNS")] = None
    zero_based: Annotated[bool, option("zero_based")] = default("zero_based")
    n_features: Annotated[int | None, option("n_features")] = default("n_features")
    hash_bits: Annotated[int | None, option("hash_bits")] = default("hash_bits")
    seed: Annotated[int, option("seed")] = default("seed")

    def given(self) -> dict[str, Any]:
        """What was asked for, as `open_source` takes it."""
        return _given(self)


@dataclass
class Labelling:
    """What the labels are."""

    classes: Annotated[str | None, option("classes", metavar="LABELS|grow")] = default("classes")
    positive: Annotated[str | None, option("positive", metavar="LABEL")] = default("positive")
    relabel: Annotated[list[str] | None, option("relabel", metavar="OLD=NEW")] = None

    @property
    def declared(self) -> list[str] | None:
        return None if self.classes in (None, "grow") else listed(self.classes)

    @property
    def grows(self) -> bool:
        return self.classes == "grow"

    def renaming(self) -> Renaming:
        from novikoff.data.labels import Renaming

        return Renaming(pairs(self.relabel), self.positive)


@dataclass
class Learning:
    """How to learn from a row."""

    rule: Annotated[str, option("rule")] = default("rule")
    average: Annotated[bool, option("average")] = default("average")
    fit_intercept: Annotated[bool, option("fit_intercept", "--intercept/--no-intercept")] = default(
        "fit_intercept"
    )
    intercept_scaling: Annotated[float, option("intercept_scaling")] = default("intercept_scaling")
    ties: Annotated[str, option("ties")] = default("ties")
    margin: Annotated[float, option("margin")] = default("margin")
    C: Annotated[float, option("C", "--C")] = default("C")
    multiclass: Annotated[str, option("multiclass")] = default("multiclass")
    class_weight: Annotated[str | None, option("class_weight", metavar="balanced|LABEL=WEIGHT,...")] = (
        default("class_weight")
    )
    scale: Annotated[str | None, option("scale")] = default("scale")

    def settings(self) -> Settings:
        from novikoff.training.weights import Settings

        return Settings(
            rule=self.rule,
            ties=self.ties,
            margin=self.margin,
            C=self.C,
            bias_square=self.intercept_scaling**2 if self.fit_intercept else 0.0,
            average=self.average,
            multiclass=self.multiclass,
        )


@dataclass
class Output:
    """What is shown."""

    quiet: Annotated[bool, option("quiet", "--quiet", "-q")] = default("quiet")
    json: Annotated[bool, option("json")] = default("json")


def given_on(ctx: typer.Context) -> set[str]:
    """The parameters that were given on the command line."""
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
    return {name for name, source in sources.items() if source is not None and source.name != "DEFAULT"}


def _given(group: Any) -> dict[str, Any]:
    """The options of a group that are not as they are by default."""
    values = {f.name: read(f.name, getattr(group, f.name)) for f in fields(group)}
    return {name: value for name, value in values.items() if value != default(name) and value != []}


def shaping(*groups: Any) -> dict[str, Any]:
    """All options of some groups as a model keeps them; without those that change no result."""
    said = {f.name: read(f.name, getattr(group, f.name)) for group in groups for f in fields(group)}
    return {name: value for name, value in said.items() if name not in CHANGE_NOTHING}


CHANGE_NOTHING = ("n_jobs", "max_line", "max_columns", "max_expansion", "quiet", "json", "format")
