"""What commands write: outcomes to standard output, notes to standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from novikoff.cli.visible import breaks_lines, in_line, visible

if TYPE_CHECKING:
    from novikoff.data.sources.source import Skipped
    from novikoff.evaluation import Evaluation
    from novikoff.kernel.model import KernelModel
    from novikoff.parameters.parameter import Parameter
    from novikoff.training.report import Report

FULL_MATRIX = 12  # the most classes whose whole confusion matrix is shown
SHOWN = 3  # skipped lines


def note(text: str) -> None:
    """Write a note, which is not part of the outcome."""
    say([f"novikoff: {text}"], err=True)


def say(lines: Iterable[str], err: bool = False) -> None:
    """Write lines of text: each stays one line, whatever names and labels it contains."""
    if not (text := "\n".join(map(in_line, lines))):
        return
    print(text, file=sys.stderr if err else sys.stdout, flush=True)


def write_json(value: dict[str, Any]) -> None:
    """Write one object on one line; NaN and infinity, which JSON lacks, become null."""
    print(json_line(_finite(value)), flush=True)


def json_line(value: Any) -> str:
    """One line of JSON, without characters that end a line or control a terminal."""
    return visible(json.dumps(value, ensure_ascii=False))


def check_labels(names: Iterable[str], instead: str, what: str = "label") -> None:
    """Refuse labels that would break the lines of a text, before the first of them is written."""
    for name in names:
        if breaks_lines(name):
            raise ValueError(
                f"the {what} {name!r} contains a line break, tab or other control character, which a line of "
                f"text cannot hold: {instead}"
            )


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "item"):  # a NumPy scalar
        return _finite(value.item())
    return value


def kernel_facts(model: KernelModel) -> list[tuple[str, str]]:
    """The facts of a kernel model that are not in its report: kernel, supports, prediction."""
    from novikoff.kernel.dual_model import DualModel
    from novikoff.kernel.settings import way_of

    dual, way = model.dual, way_of(model.dual, model.predict_with)
    ways = {"voted": "the votes of all hypotheses", "averaged": "their mean", "last": "the last one"}
    kept = f"{len(dual.support):,} of {dual.n_rows:,} rows"
    if not isinstance(dual, DualModel):
        ways |= {"averaged": "the mean of the coefficients", "last": "the last coefficients"}
        kept += f", at most {dual.budget:,} ({dual.policy})"
    return [
        ("kernel", f"{dual.kernel}{', with a bias' if dual.kernel.offset else ''}"),
        ("supports", f"{kept}, used in {dual.n_updates:,} updates"),
        ("predicts", f"by {ways[way]}"),
    ]


def made_with(parameters: dict[str, Any], table: Mapping[str, Parameter]) -> str:
    """The parameters of a model that differ from the defaults, and its format and epochs."""

    def shown(name: str, value: Any) -> bool:
        known = table.get(name)
        usual = known is not None and (value == known.default or value in ([], {}, None))
        return name in ("format", "max_epochs") or not usual

    made = sorted(parameters.items())
    return ", ".join(f"{name}={value}" for name, value in made if shown(name, value)) or "the defaults"


def size_of(path: str | os.PathLike[str]) -> str:
    """The size of a file, for people."""
    size = float(os.path.getsize(path))  # noqa: PTH202
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if unit != "bytes" else f"{size:.0f} bytes"
        size /= 1000
    return f"{size:.3g} GB"


def skipped_lines(skipped: Skipped) -> list[str]:
    """The lines that were skipped: their count and the first few."""
    if not skipped.count:
        return []
    lines = [f"  {'skipped':<10} {skipped.count:,} malformed line(s):"]
    lines += [f"             {message}" for message in skipped.first[:SHOWN]]
    if skipped.count > SHOWN:
        lines.append(f"             and {skipped.count - SHOWN:,} more")
    return lines


def report_lines(report: Report, *, verbose: bool = False) -> list[str]:
    """A report in the words of the command line; `verbose`: with what is proved."""
    from novikoff.cli.errors import as_options

    advice = as_options(report.advice).replace("`", "")
    shown = report.in_full() if verbose else str(report)
    return [advice.join(line.split(report.advice)) if advice else line for line in shown.split("\n")]


def headline(evaluation: Evaluation) -> str:
    """Accuracy in one line."""
    from novikoff.training.report import score_text

    return score_text(evaluation.score)


def evaluation_lines(evaluation: Evaluation) -> list[str]:
    """All figures of an evaluation."""
    lines = [headline(evaluation)]
    if evaluation.unknown:
        most = ", ".join(f"{label!r} ({n:,})" for label, n in evaluation.unknown.most_common(5))
        lines.append(f"labels that the model does not know, counted as errors: {most}; --relabel renames")
    names = evaluation.classes
    wide = min(max(map(len, [*names, "class"])), 24)
    lines += ["", f"{'class':<{wide}} {'rows':>10} {'precision':>10} {'recall':>8} {'F1':>8}"]
    for name, figures in zip(names, evaluation.by_class(), strict=True):
        shares = (figures[key] for key in ("precision", "recall", "f1"))
        precision, recall, f1 = ("-" if share is None else f"{share:.4f}" for share in shares)
        lines.append(f"{_cut(name, wide):<{wide}} {figures['rows']:>10,} {precision:>10} {recall:>8} {f1:>8}")
    if len(names) <= FULL_MATRIX:
        across = [
            max(len(_cut(name, 10)), len(f"{column.max():,}"))
            for name, column in zip(names, evaluation.confusion.T, strict=True)
        ]
        lines += ["", "rows of each class, and the classes predicted for them:"]
        cells = "  ".join(f"{_cut(name, 10):>{w}}" for name, w in zip(names, across, strict=True))
        lines.append(f"{'':<{wide}}  {cells}")
        for name, counts in zip(names, evaluation.confusion.tolist(), strict=True):
            cells = "  ".join(f"{n:>{w},}" for n, w in zip(counts, across, strict=True))
            lines.append(f"{_cut(name, wide):<{wide}}  {cells}")
    elif confused := evaluation.confused(10):
        lines += ["", "most frequent mistakes:"]
        lines += [f"{n:>8,}  {true} taken for {taken}" for true, taken, n in confused]
    return lines


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
