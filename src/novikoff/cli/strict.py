"""What commands refuse: options without effect, labels that do not exist, and test files that cannot be read.

Everything that can be known before learning is checked before, and the rest before anything is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from novikoff.cli.options import READING, TABLE, Options, UsageError, flag_of, row_options
from novikoff.parameters.files import OTHER

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming, StreamClasses
    from novikoff.data.sources.source import Source
    from novikoff.training.row_model import RowModel

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
    continues = getattr(options, "continue_from", None) is not None  # the new files need not have all labels
    if options.positive is not None and not continues:
        _check("--positive", [options.positive], renamed, "the labels of the files")
    if whole_test:
        _check("--relabel", options.relabel, rename.met, "the labels of the files")


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
def check_test(options: Options, source: Source, rename: Renaming, model: RowModel | None = None) -> bool:
    """Read the first rows of the test files, or all if they are small; return whether all were read.

    What is malformed is an error now, rather than after training. Files of another format than the training
    files are read with the columns of a table; otherwise the model's features have to be known first.
    `model`: the one to go on from, which reads all of them.
    """
    from novikoff.cli.inputs import open_data, open_for_model
    from novikoff.data.sources.columns import TableFeatures
    from novikoff.data.sources.formats import format_by_name

    if "-" in options.test:
        return False
    if model is not None:
        test = open_for_model(model, options.test, row_options(options, READING))
    elif format_by_name(options.test) in (None, source.format):
        test = open_data(options.test, **row_options(options) | {"format": source.format})
    elif isinstance(source.features, TableFeatures):
        known = TableFeatures.from_state(*source.features.state())  # fixed, and apart from those to learn
        test = open_data(options.test, features=known, **row_options(options, READING))
    elif "libsvm" in (format := format_by_name(options.test), source.format):
        raise ValueError(
            f"{options.test[0]}: the format is {format}, but that of the training files {source.format}: "
            "numbered columns do not match names."
        )
    else:
        return False
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
