"""What the columns of tables became; schemas as files; and `fit --dry-run`, which learns nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import output
from novikoff.cli.errors import as_options
from novikoff.cli.options import Options, UsageError, flag_of

if TYPE_CHECKING:
    from novikoff.data.sources.features import Features
    from novikoff.data.sources.source import Source

LONG_LABEL = 40  # characters of a label that are shown
SAMPLE = 1000  # rows of a dry run, and the rest of their block


def column_lines(features: Features) -> list[str]:
    """The kinds of a table's columns; nothing for formats whose features are not columns."""
    from novikoff.data.sources.columns import TableFeatures
    from novikoff.data.sources.facts import facts_of, lines_of

    if not isinstance(features, TableFeatures):
        return []
    lines = lines_of(facts_of(features))
    return [f"  {'' if k else 'columns':<10} {line}" for k, line in enumerate(lines)]


def column_facts(features: Features) -> list[dict[str, Any]] | None:
    """The same for JSON."""
    from novikoff.data.sources.columns import TableFeatures
    from novikoff.data.sources.facts import facts_of

    return [vars(fact) for fact in facts_of(features)] if isinstance(features, TableFeatures) else None


def note_doubts(source: Source) -> None:
    """Warn of columns that may be read other than they were meant."""
    for doubt in source.doubts():
        output.note(f"warning: {as_options(doubt)}.")


def _said(flag: str, value: Any) -> str:
    """An option as it is given.

    >>> _said("--average", False), _said("--epochs", 1)
    ('--no-average', '--epochs 1')
    """
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}"
    return f"{flag} {value}"


def _shortened(label: str) -> str:
    return label if len(label) <= LONG_LABEL else f"{label[:LONG_LABEL]}…"


# ---- schemas -------------------------------------------------------------------------------------------
def read_schema(path: Path) -> dict[str, str]:
    """The kinds of columns by name, from a JSON file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON ({error}).", "--schema") from None
    if not isinstance(found, dict) or not all(isinstance(kind, str) for kind in found.values()):
        raise UsageError(
            f'{path} is no schema: expected one JSON object such as {{"age": "number", "job": "category"}}.',
            "--schema",
        )
    return found


def write_schema(path: Path, source: Source) -> None:
    """Write the kinds of all columns to a JSON file, one column per line."""
    from novikoff.outfile import written

    facts = column_facts(source.features)
    if facts is None:
        raise UsageError(f"is for tables, not for the format '{source.format}'.", "--write-schema")
    lines = ",\n".join(f'  {output.json_line(fact["name"])}: "{fact["kind"]}"' for fact in facts)
    with written(path) as file:
        file.write(f"{{\n{lines}\n}}\n".encode())


# ---- dry runs ------------------------------------------------------------------------------------------
def dry_run(options: Options, source: Source, path: Path) -> None:
    """Read the first rows, and show what `fit` would read, learn and write."""
    from novikoff.cli.learning import renaming_of
    from novikoff.data.labels import as_text, counts_of
    from novikoff.training.tally import percent

    if not options.json:  # before reading, which may end in an error that they explain
        note_doubts(source)
    rename, counts, rows = renaming_of(options), Counter[str](), 0
    for block in source.blocks():
        rows += block.n_rows
        if block.labels is not None:
            counts.update({as_text(label): n for label, n in counts_of(rename(block.labels)).items()})
        if rows >= SAMPLE:
            break
    if options.write_schema is not None:
        write_schema(options.write_schema, source)
    n = counts.total()
    if options.json:
        facts = {"format": source.format, "rows": rows, "classes": dict(counts)}
        facts |= {"columns": column_facts(source.features), "doubts": source.doubts(), "model": str(path)}
        output.write_json(facts)
        return
    classes = ", ".join(f"{_shortened(label)} ({percent(k, n)})" for label, k in counts.most_common(10))
    more = f" and {len(counts) - 10:,} more" if len(counts) > 10 else ""
    of = ("kernel", "budget") if options.kernel else ("rule", "average", "scale")
    values = {flag_of(name): vars(options)[name] for name in (*of, "max_epochs", "order")}
    plan = [_said(flag, value) for flag, value in values.items() if value is not None]
    lines = [
        f"{source.name}: {source.format}, the first {rows:,} rows",
        *column_lines(source.features),
        f"  {'features':<10} {source.features.n_columns:,} so far",
        f"  {'classes':<10} {classes + more if counts else 'no label: name its column with --label'}",
        f"  {'plan':<10} {' '.join(plan)}",
        f"  {'model':<10} {path}, which this dry run has not written",
    ]
    output.say(lines)
