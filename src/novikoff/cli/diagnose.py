"""`novikoff diagnose`: can these files be learned, how hard is it, and how should it be done?"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.inputs import open_data, read_problem_of
from novikoff.cli.options import Options, UsageError
from novikoff.cli.parser import command
from novikoff.cli.paths import check_writable

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source
    from novikoff.theory.diagnosis import Diagnosis

Where = Callable[[int], str]

PICTURES = (".png", ".svg", ".pdf")


@command(
    opt.LABELLED,
    groups={
        "Options": (
            opt.file_option("plot", "Draw the findings: a .png, .svg or .pdf file."),
            opt.file_option("html", "Write a self-contained page with tables and pictures."),
        ),
        "Mistakes and margins": opt.DECISIONS,
        "Search": ("n_orders", "time_limit", "random_state"),
        **opt.ROWS,
        "Output": opt.OUTPUT,
    },
)
def diagnose(options: Options) -> int:
    """Report whether the rows can be separated, how hard they are to learn, and how best to learn them.

    For example: novikoff diagnose train.svm --html findings.html

    All rows are read into memory. Ctrl-C ends the search and shows what has been found by then.
    """
    from novikoff.theory.diagnosis import diagnose_problem

    plot, html, quiet = options.plot, options.html, options.quiet or options.json
    for path, flag, suffixes in ((plot, "--plot", PICTURES), (html, "--html", (".html", ".htm"))):
        if path is not None:
            if path.suffix.lower() not in suffixes:
                raise UsageError(f"{str(path)!r} does not end in one of {', '.join(suffixes)}.", flag)
            check_writable(path, flag)
    if plot is not None:
        from novikoff.plots.style import need_matplotlib

        need_matplotlib()
    if options.classes == "grow":
        raise UsageError("a diagnosis reads all rows first, so classes cannot grow.", "--classes")
    source = open_data(options.data, **opt.row_options(options))
    with progress.bar(not quiet) as watch:
        problem, where = read_problem_of(source, options, watch)
    with progress.by_fraction(not quiet) as by_fraction:
        found = diagnose_problem(
            problem,
            intercept_scaling=options.intercept_scaling,
            ties=options.ties,
            n_orders=options.n_orders,
            random_state=options.random_state,
            time_limit=options.time_limit,
            features=source.features,
            watch=by_fraction,
        )
    _save(found, plot, html)
    _show(found, source, where, plot, html, options.json)
    if not found.interrupted:
        return DONE
    output.note("interrupted; these are the findings so far.")
    return INTERRUPTED


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
    found: Diagnosis, source: Source, where: Where, plot: Path | None, html: Path | None, as_json: bool
) -> None:
    saved = {name: str(path) for name, path in (("plot", plot), ("html", html)) if path is not None}
    first = found.contradictions.first if found.contradictions is not None else None
    places = [] if first is None else [where(row) for row in first]
    if as_json:
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
