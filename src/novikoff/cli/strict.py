"""What commands refuse: options without effect, labels that do not exist, and test files that cannot be read.

Everything that can be known before learning is checked before, and the rest before anything is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from novikoff.cli.options import TABLE, Options, UsageError, flag_of, row_options
from novikoff.parameters.files import OTHER

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming, StreamClasses
    from novikoff.data.sources.source import Source

WITH_C = ("pa1", "pa2", "arow", "scw", "second-order")
NEEDED: dict[str, tuple[str, tuple[Any, ...]]] = {  # options that have an effect only with others
    "margin": ("rule", ("margin",)),
    "C": ("rule", WITH_C),
    "eta": ("rule", ("scw",)),
    "intercept_scaling": ("fit_intercept", (True,)),
    "validation_fraction": ("early_stopping", (True,)),
    "n_epochs_no_change": ("early_stopping", (True,)),
    "every": ("checkpoint", ()),
    "resume": ("checkpoint", ()),
    "ngrams": ("text", ()),
    "seed": ("hash_bits", ()),
}
TEST_BYTES = 1 << 24  # a test file up to this size is read as a whole before training, of others a part


def check_effects(options: Options) -> None:
    """Refuse options that were given although they have no effect with the others."""
    for name, (other, values) in NEEDED.items():
        if name not in options.given:
            continue
        value = vars(options)[other]
        if (value not in values) if values else not value:
            if other == "rule":
                choices = [choice for choice in values if choice in TABLE["rule"].choices]
                needed = f"--rule {' or '.join(choices)}; the rule is {value}"
            else:
                needed = {"fit_intercept": "a bias"}.get(other, flag_of(other))
            raise UsageError(f"has an effect only with {needed}.", flag_of(name))


# ---- labels --------------------------------------------------------------------------------------------
def check_declared(options: Options) -> None:
    """Refuse labels that are not among those that the options declare."""
    declared: list[str] | None = options.classes if isinstance(options.classes, list) else None
    if declared is None and options.positive is not None:
        declared = [options.positive, OTHER]
    if declared is None:
        return
    if isinstance(options.class_weight, dict):
        _check("--class-weight", options.class_weight, declared, "the declared classes")
    if options.positive is not None and isinstance(options.classes, list):
        _check("--positive", [options.positive], declared, "the declared classes")


def check_met(options: Options, classes: StreamClasses, *, whole_test: bool) -> None:
    """Refuse labels that no row had. Those to rename may be in test files, if these were read wholly."""
    from novikoff.data.labels import as_text

    rename: Renaming = classes.rename
    labels = [as_text(label) for label in classes.labels.tolist()]
    if isinstance(options.class_weight, dict):
        _check("--class-weight", options.class_weight, labels, "the labels of the files")
    renamed = {rename.replace.get(label, label) for label in rename.met}
    if options.positive is not None:
        _check("--positive", [options.positive], renamed, "the labels of the files")
    if whole_test:
        _check("--relabel", rename.replace, rename.met, "the labels of the files")


def check_renamed(given: dict[str, str], rename: Renaming) -> None:
    """Refuse labels to rename that no row had."""
    _check("--relabel", given, rename.met, "the labels of the files")


def _check(flag: str, given: Iterable[str], known: Collection[str], what: str) -> None:
    from novikoff.data.sources.columns import listed, nearest

    for label in given:
        if label not in known:
            names = sorted(known)
            raise UsageError(f"{label!r} is not one of {what}{nearest(label, names)}: {listed(names)}.", flag)


# ---- test files ----------------------------------------------------------------------------------------
def check_test(options: Options, source: Source, rename: Renaming) -> bool:
    """Read the first rows of the test files, or all if they are small; return whether all were read.

    What is malformed is an error now, rather than after training.
    """
    from novikoff.cli.inputs import open_data
    from novikoff.data.sources.columns import TableFeatures
    from novikoff.data.sources.formats import format_by_name

    if "-" in options.test:
        return False
    format = format_by_name(options.test) or source.format
    if (format == "libsvm") != (source.format == "libsvm"):
        raise ValueError(
            f"{options.test[0]}: the format is {format}, and that of the training files {source.format}: "
            "numbered columns do not match columns with names."
        )
    given = row_options(options) if format == source.format else row_options(options, ("label",))
    test = open_data(options.test, **given | {"format": format})
    if isinstance(test.features, TableFeatures) and isinstance(source.features, TableFeatures):
        names = [column.name for column in test.features.columns]
        try:
            source.features.match(names, test.features.has_names, label_optional=False)
        except ValueError as error:
            raise ValueError(f"{test.name}: {error}.") from None
    whole = test.size is not None and test.size <= TEST_BYTES
    for block in test.blocks(reuse=True):
        if block.labels is None:
            raise ValueError(f"{block.where(0)}: there is no label to compare with.")
        rename(block.labels)
        if not whole:
            break
    return whole
