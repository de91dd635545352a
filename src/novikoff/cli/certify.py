"""`novikoff certify`: what can be proved about files, as a certificate that anyone can check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.inputs import labelled_rows, model_of, open_for_certificate
from novikoff.cli.options import Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.paths import check_writable

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.proof.certificates import Certificate

BEGIN = b'{"novikoff-certificate"'


@command(
    opt.LABELLED,
    groups={
        **opt.ROWS,
        "What to prove": (
            opt.file_option("model", "Certify this model's errors, and whether it separates.", "MODEL"),
            opt.flag(
                "run",
                "Certify a run of the perceptron over the rows in order, and that it respects its bound.",
            ),
            opt.option("time_limit", default=None, help="How long to search for a proof."),
        ),
        "Mistakes and margins": opt.DECISIONS,
        "Reporting": opt.OUTPUT,
        "Writing": (opt.file_option("output", "Where to save the certificate.", required=True),),
    },
    examples=("novikoff certify examples/data/wine-train.svm -o wine.json",),
)
def certify(options: Options) -> int:
    """Prove what can be proved about labelled rows, and save the proof.

    The claim is that the rows are separable, with a margin between two numbers, or that they are not; with
    --model it is what the model does on them. The weights of rows do not matter. Ctrl-C ends the search and
    saves what has been proved by then.
    """
    if options.run and options.model is not None:
        raise UsageError("certifies a run of a new perceptron: leave out --model.", "--run")
    path = options.output
    _check_writable(path)
    model = model_of(options.model)
    source, relabel = open_for_certificate(options, model)
    with progress.by_fraction(not (options.quiet or options.json)) as watch:
        certificate = _prove(source, relabel, model, options, watch)
    certificate.save(path)
    if options.json:
        facts = {"claims": certificate.said, "digest": certificate.digest}
        output.write_json({"certificate": str(path)} | facts | {"interrupted": certificate.interrupted})
    else:
        lines = [*certificate.said, *output.skipped_lines(source.skipped)]
        output.say([*lines, f"  {'saved':<10} {path} ({output.size_of(path)})"])
    if not certificate.interrupted:
        return DONE
    output.note(f"interrupted; the proofs found so far are saved in {path}.")
    return INTERRUPTED


def _prove(
    source: Source, relabel: Renaming, model: LinearModel | KernelModel | None, options: Options, watch: Any
) -> Certificate:
    from novikoff.proof.certificates import certify

    X, y = labelled_rows(source, relabel)
    settings: dict[str, Any] = {name: vars(options)[name] for name in opt.DECISIONS}
    time_limit = options.time_limit
    if model is not None:
        X, of_one_width = _of_one_width(X, model)
        return certify(X, y, of_one_width, **settings, watch=watch)
    if not options.run:
        return certify(X, y, **settings, time_limit=time_limit, watch=watch)
    from novikoff.proof.maxmargin import max_margin
    from novikoff.proof.separability import Separable, separability
    from novikoff.theory.trace import trace

    verdict = separability(X, y, **settings, time_limit=time_limit, watch=watch)
    if not isinstance(verdict, Separable):
        raise ValueError(f"a run has a bound only if the rows are separable, but they are {verdict}.")
    lift = {name: settings[name] for name in ("fit_intercept", "intercept_scaling")}
    best = max_margin(  # the larger the margin of u, the sharper the bound
        X, y, gap=1e-3, **lift, time_limit=time_limit, start=verdict, watch=watch
    )
    u = best.u if best.lower > verdict.margin else verdict.u
    return certify(X, y, trace=trace(X, y, u, **settings), watch=watch)


def _of_one_width(
    X: Any, model: LinearModel | KernelModel
) -> tuple[Any, LinearModel | KernelModel | _Padded]:
    """Rows and weights of the same width: LIBSVM text, also the model's, is as wide as its largest index."""
    import numpy as np

    from novikoff.data.sources.block import Csr
    from novikoff.linear.model import LinearModel

    here, there = X.shape[1], model.features.n_columns
    if here < there and isinstance(X, Csr):
        return X._replace(shape=(X.shape[0], there)), model
    if (
        here > there
        and isinstance(model, LinearModel)
        and model.features.kind == "numbered"
        and model.scaling is None
    ):
        coef, intercept = model.weights()
        wide = np.zeros((len(coef), here))
        wide[:, :there] = coef
        return X, _Padded(wide, intercept, model.classes)
    return X, model


@dataclass
class _Padded:
    """A model's weights, with zeros for the columns it never saw."""

    coef_: Any
    intercept_: Any
    classes_: Any


def _check_writable(path: Path) -> None:
    """Before any work, refuse a path that cannot be written or would overwrite something else."""
    check_writable(path, "--output")
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(BEGIN)) not in (b"", BEGIN):
                raise ValueError(f"{path} exists and is not a certificate, so it is not overwritten.")
