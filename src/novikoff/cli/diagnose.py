"""`novikoff diagnose`: can these files be learned, how hard is it, and how should it be done?"""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.inputs import open_data, read_problem_of
from novikoff.cli.options import Options, UsageError, flag_of, typed_words
from novikoff.cli.parser import command
from novikoff.cli.paths import check_writable
from novikoff.theory.words import Words

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source
    from novikoff.theory.findings import Diagnosis

Where = Callable[[int], str]

PICTURES = (".png", ".svg", ".pdf")


@command(
    opt.LABELLED,
    groups={
        **opt.ROWS,
        "Mistakes and margins": opt.DECISIONS,
        "How to search": ("n_orders", "time_limit", "random_state"),
        "Reporting": opt.OUTPUT,
        "Writing": (
            opt.file_option("plot", "Draw the findings: a .png, .svg or .pdf file."),
            opt.file_option("html", "Write a self-contained page with tables and pictures."),
        ),
    },
    examples=("novikoff diagnose examples/data/wine.parquet --html wine.html",),
)
def diagnose(options: Options) -> int:
    """Report whether rows can be separated, and how best to learn them.

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
            words=CommandWords(options, source.name, where),
        )
    _save(found, plot, html)
    _show(found, source, where, plot, html, options.json)
    if not found.interrupted:
        return DONE
    output.note("interrupted; these are the findings so far.")
    return INTERRUPTED


class CommandWords(Words):
    """The words of the command line: flags, and the places of rows in their files."""

    pocket = widest = ""  # only Python has these
    kernel = "--kernel rbf"

    def __init__(self, options: Options, data: str, where: Where) -> None:
        self.data, self._where, self._files = data, where, options.data
        self.command = shlex.join(
            ["novikoff", "diagnose", *options.data, *typed_words(options, diagnose.options)]
        )
        kept = {*opt.LABELS, *opt.READING, *opt.COLUMNS, *opt.DECISIONS}  # what `fit` takes as well
        self._kept = typed_words(options, [each for each in diagnose.options if each.name in kept])

    def pair(self, i: int, j: int) -> str:
        first, second = self._where(i), self._where(j)
        (file, _, place), (same, _, other) = first.rpartition(", "), second.rpartition(", ")
        return f"{place} and {other} of {file}" if file and file == same else f"{first}, and {second}"

    def name(self, parameter: str) -> str:
        return flag_of(parameter)

    def setting(self, parameter: str, value: Any) -> str:
        return " ".join(_as_words({parameter: value}))

    def learner(self, **parameters: Any) -> str:
        return " ".join(_as_words(parameters))

    def next(self, **parameters: Any) -> str:
        return shlex.join(["novikoff", "fit", *self._files, *self._kept, *_as_words(parameters)])


def _as_words(parameters: dict[str, Any]) -> list[str]:
    """Parameters as options."""
    words: list[str] = []
    for name, value in parameters.items():
        flag = flag_of(name)
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [
                flag,
                "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value),
            ]
    return words


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
    lines += output.skipped_lines(source.skipped)
    lines += [f"  {'saved':<10} {path} ({output.size_of(path)})" for path in saved.values()]
    output.say(lines)
