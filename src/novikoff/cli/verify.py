"""`novikoff verify`: whether a certificate is true of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output
from novikoff.cli.certify import loaded, opened, rows_and_labels
from novikoff.cli.options import Columns, Labelling, Output, Reading

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source

PLAIN = {"format", "label", "header", "n_jobs", "max_line", "max_columns", "max_expansion"}
PACKED = (".gz", ".bz2", ".xz", ".zst")


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="A certificate file.", show_default=False)
    ],
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="The files it is about, or - for standard input.", show_default=False
        ),
    ],
    *,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="The model that the certificate was made with, when its features have names, which "
            "number the columns. Its weights are not looked at.",
        ),
    ] = None,
    max_work: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="STEPS",
            help="Steps that the check may take: products of whole numbers of 64 bits. [default: 200000000]",
            show_default=False,
        ),
    ] = None,
    labelling: Labelling,
    reading: Reading,
    columns: Columns,
    out: Output,
) -> None:
    """Check every claim of a certificate against the data, exactly.

    For example: novikoff verify train.json train.svm

    The checker is one small file, novikoff/checker.py, which trusts nothing else of novikoff. It reads plain
    LIBSVM text and CSV files of numbers by itself; other files, and packed ones, are converted first, which
    is said. Exit code 0 when all claims are verified, 1 when one is refused, with the reason, or could not be
    decided within --max-work.
    """
    from novikoff import checker

    why, facts = "", {"certificate": str(certificate)}
    try:
        content = checker.read_certificate(certificate)
        rows, why = _rows(data, model, reading, columns, labelling)
        said = checker.verify(content, rows, checker.MAX_WORK if max_work is None else max_work)
    except checker.Refused as refused:
        undecided = isinstance(refused, checker.TooMuchWork)
        if out.json:
            verified = None if undecided else False
            output.write_json(facts | {"verified": verified, "reason": str(refused), "converted": why})
        else:
            output.say([f"{'not decided' if undecided else 'refused'}: {refused}"])
        raise typer.Exit(1) from None
    if why and not (out.quiet or out.json):
        output.note(f"the data were converted by novikoff before the checker saw them: {why}.")
    if out.json:
        output.write_json(facts | {"verified": True, "claims": said, "converted": why})
    elif not out.quiet:
        title = "verified, each number in the file read as the nearest double:"
        output.say([title, *(f"  {claim}" for claim in said)])


def _rows(
    data: list[str], model: Path | None, reading: Reading, columns: Columns, labelling: Labelling
) -> tuple[Any, str]:
    """Rows and labels, and why they were not read by the checker itself, if so."""
    from novikoff import checker

    linear = loaded(model)
    source, relabel = opened(data, linear, reading, columns, labelling)
    why = _not_plain(source, reading.given() | columns.given(), linear)
    if not why:
        try:
            y: Any
            X, y = checker.read_data(source.files[0], reading.label or "", reading.header)
            if relabel.replace or relabel.positive is not None:
                import numpy as np

                y = relabel(np.array(y))
            return (X, y), ""
        except checker.Refused as error:
            why = str(error)
    from novikoff.data.arrays import read_matrix

    X, y = rows_and_labels(source, relabel)
    return (read_matrix(X), y), why


def _not_plain(source: Source, given: dict[str, Any], linear: Any) -> str:
    """What there is besides one plain file of numbers."""
    if source.format not in ("libsvm", "csv"):
        return f"their format is {source.format}"
    if len(source.files) != 1:
        return "they are not one file"
    suffix = Path(source.files[0]).suffix
    if suffix in PACKED:
        return f"the file is packed ({suffix})"
    if (suffix == ".csv") != (source.format == "csv"):
        return f"the file holds {source.format}, but is named {Path(source.files[0]).name}"
    if linear is not None and linear.features.kind != "numbered":
        return "their columns are those of the model"
    if linear is not None and linear.parameters.get("zero_based"):
        return "their columns count from 0"
    beyond = sorted(set(given) - PLAIN)
    return f"the checker knows no {', '.join(beyond)}" if beyond else ""
