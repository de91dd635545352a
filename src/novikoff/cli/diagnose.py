"""`novikoff diagnose`: can these files be learned, how hard is it, and how should it be done?"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output, progress
from novikoff.cli.certify import Deciding
from novikoff.cli.errors import INTERRUPTED
from novikoff.cli.fit import classes_of
from novikoff.cli.inputs import open_data
from novikoff.cli.options import Columns, Labelling, Output, Reading, default, option

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Watch
    from novikoff.data.sources.source import Source
    from novikoff.proof.problem import Problem
    from novikoff.theory.diagnosis import Diagnosis

Where = Callable[[int], str]

PICTURES = (".png", ".svg", ".pdf")


@dataclass
class Asking:
    """How much is tried, and how long."""

    n_orders: Annotated[int, option("n_orders")] = default("n_orders")
    time_limit: Annotated[float, option("time_limit", metavar="SECONDS")] = default("time_limit")
    random_state: Annotated[int, option("random_state")] = default("random_state")


def diagnose(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Files with labels, one after the other; a pattern in quotes, or - for standard input.",
            show_default=False,
        ),
    ],
    *,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Draw the findings: a .png, .svg or .pdf file."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write a page with tables and pictures that needs no other file."),
    ] = None,
    deciding: Deciding,
    asking: Asking,
    labelling: Labelling,
    reading: Reading,
    columns: Columns,
    out: Output,
) -> None:
    """Say whether the rows can be separated, how hard they are to learn, and how to go about it.

    For example: novikoff diagnose train.svm --html findings.html

    All rows are read into memory. Ctrl-C ends the search and shows what is known by then.
    """
    from novikoff.theory.diagnosis import diagnose_problem

    _check(plot, "--plot", PICTURES)
    _check(html, "--html", (".html", ".htm"))
    if plot is not None:
        from novikoff.plots.style import need_matplotlib

        need_matplotlib()
    if labelling.grows:
        raise typer.BadParameter(
            "a diagnosis looks at all rows first: nothing grows.", param_hint="--classes"
        )
    quiet = out.quiet or out.json
    source = open_data(data, **reading.given(), **columns.given())
    with progress.shown(not quiet) as reads:
        problem, where = _read(source, labelling, deciding, reads)
    with progress.told(not quiet) as watch:
        found = diagnose_problem(
            problem,
            intercept_scaling=deciding.intercept_scaling,
            ties=deciding.ties,
            n_orders=asking.n_orders,
            random_state=asking.random_state,
            time_limit=asking.time_limit,
            features=source.features,
            watch=watch,
        )
    _save(found, plot, html)
    _show(found, source, where, plot, html, out)
    if found.interrupted:
        output.note("interrupted; the findings are what was known by then.")
        raise typer.Exit(INTERRUPTED)


def _check(path: Path | None, flag: str, suffixes: tuple[str, ...]) -> None:
    """Refuse, before any work, what could not be written."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"{str(path)!r} does not end as one of {', '.join(suffixes)}.", param_hint=flag
        )
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder, expected a file's name.", param_hint=flag)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}.", param_hint=flag)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(path.parent))


def _read(
    source: Source, labelling: Labelling, deciding: Deciding, watch: Watch | None
) -> tuple[Problem, Where]:
    """All rows, with the classes in the order that decides ties; and what to call a row."""
    from dataclasses import replace

    import numpy as np

    from novikoff.data.sources.block import Csr, gather
    from novikoff.proof.problem import read_problem
    from novikoff.training.streaming import SourceExamples

    classes = classes_of(labelling)
    examples = SourceExamples(source, classes, watch=watch)
    blocks = list(examples.watched("reading", reuse=False))
    if not sum(block.n_rows for block in blocks):
        raise ValueError(f"{source.name}: there are no rows.")
    block = gather(blocks)
    if block.labels is None:
        raise ValueError(f"{block.where(0)}: there is no label to learn from.")
    if classes.declared is None:
        classes.add(block.labels, block.where)
    labels = classes.find(block.labels, block.where)
    classes.check_two(source.name)
    X: Any = block.X
    if isinstance(X, Csr) and X.shape[1] < source.features.n_columns:
        X = X._replace(shape=(X.shape[0], source.features.n_columns))
    problem = read_problem(
        X,
        labels,
        fit_intercept=deciding.fit_intercept,
        intercept_scaling=deciding.intercept_scaling,
        sample_weight=block.weights,
    )
    problem = replace(problem, classes=classes.labels[np.asarray(problem.classes, dtype=np.int64)])
    if block.weights is None:
        return problem, block.where
    kept = np.flatnonzero(block.weights)  # rows of weight 0 are not among the problem's
    return problem, lambda row: block.where(int(kept[row]))


def _save(found: Diagnosis, plot: Path | None, html: Path | None) -> None:
    from novikoff.outfile import replacing

    if plot is not None:
        from novikoff.plots.panels import DiagnosisDisplay

        drawn = io.BytesIO()
        figure = DiagnosisDisplay.from_diagnosis(found).figure_
        figure.savefig(drawn, format=plot.suffix[1:].lower(), dpi=120)
        with replacing(plot) as file:
            file.write(drawn.getvalue())
    if html is not None:
        page = found.to_html().encode()
        with replacing(html) as file:
            file.write(page)


def _show(
    found: Diagnosis, source: Source, where: Where, plot: Path | None, html: Path | None, out: Output
) -> None:
    saved = {name: str(path) for name, path in (("plot", plot), ("html", html)) if path is not None}
    first = found.contradictions.first if found.contradictions is not None else None
    places = [] if first is None else [where(row) for row in first]
    if out.json:
        skipped = {"count": source.skipped.count, "first": source.skipped.first}
        output.write_json(
            {"data": source.name}
            | found.to_dict()
            | {"contradiction_at": places}
            | saved
            | {"skipped": skipped}
        )
        return
    lines = str(found).split("\n")
    if places:
        lines.append(f"  {'look at':<10} {places[0]}, and {places[1]}: equal, with different labels")
    lines += output.skipped_lines(source.skipped)
    lines += [f"  {'saved':<10} {path} ({output.size_of(path)})" for path in saved.values()]
    output.say(lines)
