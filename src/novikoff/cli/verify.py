"""`novikoff verify`: check a certificate against files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import output
from novikoff.cli.errors import BAD_INPUT, DONE
from novikoff.cli.inputs import labelled_rows, model_of, open_for_certificate
from novikoff.cli.options import OUTPUT, ROWS, Argument, Options, file_option, row_options, value_option
from novikoff.cli.parser import command

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source

PLAIN = {"format", "label", "header", "n_jobs", "max_line", "max_columns", "max_expansion"}
PACKED = (".gz", ".bz2", ".xz", ".zst")


@command(
    Argument("certificate", "CERTIFICATE", "A certificate file.", Path),
    Argument("data", "DATA...", "The files it is about, or - for standard input."),
    groups={
        **ROWS,
        "How to check": (
            file_option(
                "model",
                "The model that the certificate was made with, if its features have names: they number the "
                "columns. Its weights are ignored.",
                "MODEL",
            ),
            value_option(
                "max_work",
                "The most steps that the check may take: products of 64-bit integers.",
                200_000_000,
                kind=int,
                metavar="STEPS",
            ),
        ),
        "Reporting": OUTPUT,
    },
    examples=("novikoff verify wine.json examples/data/wine-train.svm",),
)
def verify(options: Options) -> int:
    """Check every claim of a certificate against the data, exactly.

    The checker is one small file, novikoff/checker.py, which does not rely on the rest of novikoff. It reads
    plain LIBSVM text and CSV files of numbers; other and compressed files are converted first, with a note.
    The exit code is 0 if all claims are verified, and 1 if one is refused, with the reason, or could not be
    decided within --max-work.
    """
    from novikoff import checker

    why, facts = "", {"certificate": str(options.certificate)}
    try:
        content = checker.read_certificate(options.certificate)
        rows, why = _rows(options)
        claims = checker.verify(content, rows, options.max_work)
    except checker.Refused as refused:
        undecided = isinstance(refused, checker.TooMuchWork)
        if options.json:
            verified = None if undecided else False
            output.write_json(facts | {"verified": verified, "reason": str(refused), "converted": why})
        else:
            output.say([f"{'not decided' if undecided else 'refused'}: {refused}"])
        return BAD_INPUT
    if why and not (options.quiet or options.json):
        output.note(f"the data were converted by novikoff before the checker read them: {why}.")
    if options.json:
        output.write_json(facts | {"verified": True, "claims": claims, "converted": why})
    elif not options.quiet:
        title = "verified, each number in the file read as the nearest double:"
        output.say([title, *(f"  {claim}" for claim in claims)])
    return DONE


def _rows(options: Options) -> tuple[Any, str]:
    """Rows and labels, and the reason if the checker could not read them itself."""
    from novikoff import checker

    model = model_of(options.model)
    source, relabel = open_for_certificate(options, model)
    why = _not_plain(source, row_options(options), model)
    if not why:
        try:
            y: Any
            X, y = checker.read_data(source.files[0], options.label or "", options.header)
            if relabel.replace or relabel.positive is not None:
                import numpy as np

                y = relabel(np.array(y))
            return (X, y), ""
        except checker.Refused as error:
            why = str(error)
    from novikoff.data.arrays import read_matrix

    X, y = labelled_rows(source, relabel)
    return (read_matrix(X), y), why


def _not_plain(source: Source, given: dict[str, Any], model: Any) -> str:
    """Why the data are not one plain file of numbers; empty if they are."""
    if source.format not in ("libsvm", "csv"):
        return f"their format is {source.format}"
    if len(source.files) != 1:
        return "they are not one file"
    suffix = Path(source.files[0]).suffix
    if suffix in PACKED:
        return f"the file is compressed ({suffix})"
    if (suffix == ".csv") != (source.format == "csv"):
        return f"the file holds {source.format}, but is named {Path(source.files[0]).name}"
    if model is not None and model.features.kind != "numbered":
        return "their columns are numbered by the model"
    if model is not None and model.parameters.get("zero_based"):
        return "their columns count from 0"
    beyond = sorted(set(given) - PLAIN)
    return f"the checker does not know {', '.join(beyond)}" if beyond else ""
