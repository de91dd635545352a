"""Files as sources of rows, for a new model or an existing one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli.options import COLUMNS, READING, Options, UsageError, defaults, flag_of, row_options
from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.parameter import parameters_from_file

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming
    from novikoff.data.sources.block import Block
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.proof.problem import Problem
    from novikoff.training.row_model import RowModel

SPOOLED = 1 << 26  # bytes of standard input that are kept in memory


def open_data(data: list[str], **options: Any) -> Source:
    """`open_source`, but an option that the format does not have is a usage error."""
    from novikoff.data.sources.formats import UnknownOption, open_source

    try:
        return open_source(data, **options)
    except UnknownOption as error:
        has = ", ".join(flag_of(name) for name in error.known if name in FILE_PARAMETERS)
        why = f"whose options are {has}"
        if error.name == "label" and error.format in ("libsvm", "vw"):
            why = "in which each line begins with its label"
        raise UsageError(
            f"is not an option of the format '{error.format}', {why}.", flag_of(error.name)
        ) from None


def spooled(data: list[Any]) -> list[Any]:
    """The files, with standard input copied so that it can be read more than once."""
    import shutil
    from tempfile import SpooledTemporaryFile

    class Spooled(SpooledTemporaryFile[bytes]):
        """Standard input that can be read again: in memory, or in a temporary file if it is large."""

        name = "standard input"

        def __del__(self) -> None:  # it belongs to a source, which nothing closes
            self.close()

    out = list(data)
    for k, each in enumerate(data):
        if each == "-":
            out[k] = Spooled(SPOOLED)
            shutil.copyfileobj(sys.stdin.buffer, out[k], 1 << 20)
            out[k].seek(0)
    return out


def open_to_learn(options: Options, *, labelled: bool = True) -> Source:
    """The files of a command that learns; `--cache` keeps a copy that later passes read."""
    from novikoff.cli.columns import read_schema

    given = row_options(options)
    if (path := getattr(options, "schema", None)) is not None:
        given["schema"] = read_schema(path)
    source = open_data(options.data, labelled=labelled, **given)
    if options.cache or options.cache_path:
        from novikoff.data.sources.cache import cached

        source = cached(source, None if options.cache_path is None else Path(options.cache_path))
    return source


def open_for_model(
    model: RowModel, data: list[str], given: dict[str, Any], *, labelled: bool = True
) -> Source:
    """The files as a source of rows for the model; `given` are the reading options that were changed.

    Other options are those that the model was trained with, if the format is the same; so is the format, if
    the file names do not determine it.
    """
    from novikoff.data.sources.formats import format_by_name

    given = dict(given)
    format = given.pop("format", None) or format_by_name(data)
    made = model.parameters.get("format")
    if format is None or format == made:
        format = made
        given = reading_of_model(model.parameters) | given
    elif made == "jsonl" and format in ("csv", "tsv", "parquet", "arrow"):  # whose columns have these names
        kept = reading_of_model(model.parameters)
        given = {name: kept[name] for name in ("label",) if name in kept} | given
    return open_data(data, format=format, features=model.features, labelled=labelled, **given)


def check_places(model: Path, data: list[str]) -> None:
    """Refuse data in the place of the model, if a model is among the data."""
    from novikoff.modelfile.container import kind_of_file

    if not model.is_file() or kind_of_file(model) is not None:
        return
    found = next((path for path in data if Path(path).is_file() and kind_of_file(path) is not None), None)
    if found is not None:
        raise UsageError(f"{model} is not a model, but {found} is: the model comes first.", "MODEL")


def open_labelled(
    path: Path, data: list[str], given: dict[str, Any], relabel: dict[str, str] | None = None
) -> tuple[RowModel, Source, Renaming]:
    """A saved model, files to compare it with, and the renaming of their labels."""
    from novikoff.loading import load_classifier

    model = load_classifier(path)
    return model, open_for_model(model, data, given), renaming_for_model(model, relabel or {})


def reading_of_model(parameters: dict[str, Any]) -> dict[str, Any]:
    """The reading options with which a model was trained, where they differ from the defaults.

    Limits of a single call (length of lines, expansion of files, threads) are left out.
    """
    usual = defaults(name for name in (*READING, *COLUMNS) if name not in SAVED_ELSEWHERE)
    kept = parameters_from_file(parameters, usual)
    return {name: value for name, value in kept.items() if value != usual[name]}


SAVED_ELSEWHERE = {"format", "skip_bad_lines", "n_features", "seed", "hash_bits", "zero_based", "max_columns"}


def renaming_for_model(model: RowModel, first: dict[str, str]) -> Renaming:
    """The renaming that maps labels to the model's classes; `first` is applied first."""
    from novikoff.data.labels import Renaming

    made, positive = model.parameters.get("relabel"), model.parameters.get("positive")
    then: dict[str, str] = made if isinstance(made, dict) else {}
    return Renaming(then | {old: then.get(new, new) for old, new in first.items()}, positive)


def open_for_certificate(
    options: Options, model: LinearModel | KernelModel | None
) -> tuple[Source, Renaming]:
    """The files that a certificate is about, and the renaming of their labels.

    Named columns are matched with those of the model. Columns of LIBSVM text are taken unchanged: a
    certificate covers all of them.
    """
    from novikoff.cli.learning import renaming_of

    if model is None:
        return open_data(options.data, **row_options(options)), renaming_of(options)
    relabel, given = renaming_for_model(model, options.relabel), row_options(options, READING)
    if model.features.kind == "numbered":
        given = {"zero_based": model.parameters.get("zero_based", False)} | given
        return open_data(options.data, **given), relabel
    return open_for_model(model, options.data, given), relabel


def model_of(path: Path | None) -> LinearModel | KernelModel | None:
    """The model in a file, if one is given."""
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.loading import load_classifier

    model = None if path is None else load_classifier(path)
    if model is not None and not isinstance(model, LinearModel | KernelModel):
        raise ValueError(f"{path} holds a {model.name}; only linear and kernel models are certified.")
    return model


def read_all(source: Source, blocks: list[Block] | None = None) -> Block:
    """All rows of a source, which must have labels, in the source's width."""
    from novikoff.data.sources.block import Csr, gather

    blocks = list(source.blocks()) if blocks is None else blocks
    if not sum(block.n_rows for block in blocks):
        raise ValueError(f"{source.name}: there are no rows.")
    block = gather(blocks)
    if block.labels is None:
        raise ValueError(f"{block.where(0)}: there is no label.")
    X = block.X
    if isinstance(X, Csr) and X.shape[1] < source.features.n_columns:
        block.X = X._replace(shape=(X.shape[0], source.features.n_columns))
    return block


def labelled_rows(source: Source, relabel: Renaming) -> tuple[Any, Any]:
    """All rows of a source, and their labels."""
    import numpy as np

    block = read_all(source)
    assert block.labels is not None
    return block.X, np.asarray(relabel(block.labels))


def read_problem_of(
    source: Source, options: Options, watch: Watch | None
) -> tuple[Problem, Callable[[int], str]]:
    """All rows, with the classes in the order that decides ties; and the place of each row."""
    from dataclasses import replace

    import numpy as np

    from novikoff.cli.learning import classes_of
    from novikoff.proof.problem import read_problem
    from novikoff.training.streaming import SourceExamples

    classes = classes_of(options)
    examples = SourceExamples(source, classes, watch=watch)
    block = read_all(source, list(examples.watched("reading", reuse=False)))
    assert block.labels is not None
    if classes.declared is None:
        classes.add(block.labels, block.where)
    labels = classes.find(block.labels, block.where)
    classes.check_two(source.name)
    problem = read_problem(
        block.X,
        labels,
        fit_intercept=options.fit_intercept,
        intercept_scaling=options.intercept_scaling,
        sample_weight=block.weights,
    )
    problem = replace(problem, classes=classes.labels[np.asarray(problem.classes, dtype=np.int64)])
    if block.weights is None:
        return problem, block.where
    kept = np.flatnonzero(block.weights)  # the problem leaves out rows of weight 0
    return problem, lambda row: block.where(int(kept[row]))
