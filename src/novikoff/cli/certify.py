"""`novikoff certify`: what can be proved of files, as a certificate that anyone can check."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output, progress
from novikoff.cli.errors import INTERRUPTED
from novikoff.cli.inputs import open_data, renaming, source_for
from novikoff.cli.options import Columns, Labelling, Output, Reading, default, option, pairs

if TYPE_CHECKING:
    from novikoff.data.sources.block import Labels
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.proof.certificates import Certificate

BEGIN = b'{"novikoff-certificate"'


@dataclass
class Deciding:
    """What a margin and a mistake are."""

    fit_intercept: Annotated[bool, option("fit_intercept", "--intercept/--no-intercept")] = default(
        "fit_intercept"
    )
    intercept_scaling: Annotated[float, option("intercept_scaling")] = default("intercept_scaling")
    ties: Annotated[str, option("ties")] = default("ties")


def certify(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Files with labels, or - for standard input.", show_default=False
        ),
    ],
    saved_as: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="Where to save the certificate.", show_default=False
        ),
    ],
    *,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",  # some versions of typer take an undeclared name from the metavar
            metavar="MODEL",
            help="A model file: certify how many errors it makes, and whether it separates.",
        ),
    ] = None,
    run: Annotated[
        bool,
        typer.Option(
            "--run",
            help="Certify a run of the perceptron over the rows in their order, and that it kept its bound.",
        ),
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, metavar="SECONDS", help="How long to search for a proof.")
    ] = None,
    deciding: Deciding,
    labelling: Labelling,
    reading: Reading,
    columns: Columns,
    out: Output,
) -> None:
    """Prove what can be proved of labelled rows, and save the proof.

    For example: novikoff certify train.svm -o train.json; novikoff verify train.json train.svm

    The claim is that the rows are separable, with a margin between two numbers, or that they are not; with
    --model what the model does on them. Weights of rows do not matter to any of this. Ctrl-C ends the search,
    and what is proved by then is saved.
    """
    if run and model is not None:
        raise typer.BadParameter("is of a perceptron of its own: leave out --model.", param_hint="--run")
    check_writable(saved_as)
    quiet = out.quiet or out.json
    linear = loaded(model)
    source, relabel = opened(data, linear, reading, columns, labelling)
    with progress.told(not quiet) as watch:
        certificate = _certified(source, relabel, linear, run, deciding, time_limit, watch)
    certificate.save(saved_as)
    if out.json:
        said = {"claims": certificate.said, "digest": certificate.digest}
        output.write_json({"certificate": str(saved_as)} | said | {"interrupted": certificate.interrupted})
    else:
        lines = [*certificate.said, *output.skipped_lines(source.skipped)]
        output.say([*lines, f"  {'saved':<10} {saved_as} ({output.size_of(saved_as)})"])
    if certificate.interrupted:
        output.note(f"interrupted; what was proved by then is saved in {saved_as}.")
        raise typer.Exit(INTERRUPTED)


def _certified(
    source: Source,
    relabel: Any,
    linear: LinearModel | KernelModel | None,
    run: bool,
    deciding: Deciding,
    time_limit: float | None,
    watch: Any,
) -> Certificate:
    from novikoff.proof.certificates import certify

    X, y = rows_and_labels(source, relabel)
    settings = vars(deciding)
    if linear is not None:
        X, model = _fitted(X, linear)
        return certify(X, y, model, **settings, watch=watch)
    if not run:
        return certify(X, y, **settings, time_limit=time_limit, watch=watch)
    from novikoff.proof.maxmargin import max_margin
    from novikoff.proof.separability import Separable, separability
    from novikoff.theory.trace import trace

    verdict = separability(X, y, **settings, time_limit=time_limit, watch=watch)
    if not isinstance(verdict, Separable):
        raise ValueError(f"a run keeps a bound only where the rows are separable, but they are {verdict}.")
    lift = {name: settings[name] for name in ("fit_intercept", "intercept_scaling")}
    best = max_margin(  # the larger the margin of u, the sharper the bound
        X, y, gap=1e-3, **lift, time_limit=time_limit, start=verdict, watch=watch
    )
    u = best.u if best.lower > verdict.margin else verdict.u
    return certify(X, y, trace=trace(X, y, u, **settings), watch=watch)


def _fitted(X: Any, linear: LinearModel | KernelModel) -> tuple[Any, LinearModel | KernelModel | _Padded]:
    """Rows and weights of one width: LIBSVM text is as wide as its largest index, and so was the model's."""
    import numpy as np

    from novikoff.data.sources.block import Csr
    from novikoff.linear.model import LinearModel

    here, there = X.shape[1], linear.features.n_columns
    if here < there and isinstance(X, Csr):
        return X._replace(shape=(X.shape[0], there)), linear
    if (
        here > there
        and isinstance(linear, LinearModel)
        and linear.features.kind == "numbered"
        and linear.scaling is None
    ):
        coef, intercept = linear.weights()
        wide = np.zeros((len(coef), here))
        wide[:, :there] = coef
        return X, _Padded(wide, intercept, linear.classes)
    return X, linear


@dataclass
class _Padded:
    """A model's weights, with zeros for the columns it never saw."""

    coef_: Any
    intercept_: Any
    classes_: Any


def loaded(model: Path | None) -> LinearModel | KernelModel | None:
    """The model that the rows are read for, if any."""
    from novikoff.loading import load_classifier

    return None if model is None else load_classifier(model)


def opened(
    data: list[str],
    linear: LinearModel | KernelModel | None,
    reading: Reading,
    columns: Columns,
    labelling: Labelling,
) -> tuple[Source, Any]:
    """The files as a source, and what is done to their labels.

    Columns that have names are those of the model. Columns of LIBSVM text are taken as they come: a
    certificate is about all of them.
    """
    if linear is None:
        return open_data(data, **reading.given(), **columns.given()), labelling.renaming()
    relabel = renaming(linear, pairs(labelling.relabel))
    if linear.features.kind == "numbered":
        given = {"zero_based": linear.parameters.get("zero_based", False)} | reading.given()
        return open_data(data, **given), relabel
    return source_for(linear, data, reading), relabel


def rows_and_labels(source: Source, relabel: Any) -> tuple[Any, Labels]:
    """All rows of a source."""
    import numpy as np

    from novikoff.data.sources.block import Csr, gather

    blocks = list(source.blocks())
    if not sum(block.n_rows for block in blocks):
        raise ValueError(f"{source.name}: there are no rows.")
    block = gather(blocks)
    if block.labels is None:
        raise ValueError(f"{block.where(0)}: there is no label.")
    X = block.X
    missing = source.features.n_columns - X.shape[1]
    if missing > 0 and isinstance(X, Csr):
        X = X._replace(shape=(X.shape[0], source.features.n_columns))
    return X, np.asarray(relabel(block.labels))


def check_writable(path: Path) -> None:
    """Refuse, before any work, what could not be written or would overwrite something else."""
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}.", param_hint="--output")
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder, expected a file's name.", param_hint="--output")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(path.parent))
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(BEGIN)) not in (b"", BEGIN):
                raise ValueError(f"{path} exists and is no certificate, so it is not overwritten.")
