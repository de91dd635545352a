"""The contents of a tagger's model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import output
from novikoff.cli.options import TAG_TABLE
from novikoff.cli.tag.inputs import templates_of

if TYPE_CHECKING:
    from novikoff.tagging.tagger import Tagger

MANY = 40  # the most labels that are listed with their features


def facts(tagger: Tagger, path: Path, top: int) -> dict[str, Any]:
    """The summary for JSON."""
    templates = templates_of(tagger)
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "name": tagger.name,
        "features": tagger.features.kind,
        "templates": None if templates is None else templates.text,
        "classes": tagger.classes.tolist(),
        "average": tagger.transition_sums is not None,
        "n_features": tagger.n_seen,
        "n_weights": len(tagger.pairs.w),
        "parameters": tagger.parameters,
        "report": None if tagger.report is None else tagger.report.to_dict(),
        "history": tagger.history,
        "top_features": [
            {"class": label, "features": [(f, w) for f, _, w in tagger.top_features(label, top)]}
            for label in tagger.classes.tolist()
        ],
        "top_transitions": tagger.top_transitions(top),
        "top_transitions_against": tagger.top_transitions(top, against=True),
    }


def lines(tagger: Tagger, path: Path, top: int, *, verbose: bool) -> list[str]:
    """The summary for people."""
    from novikoff.data.labels import as_text

    labels = tagger.classes.tolist()
    names = [as_text(label) for label in labels]
    more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
    bits, templates = tagger.features.hash_bits, templates_of(tagger)
    hashed = f", hashed to {bits} bits" if bits else ""
    known = {name: value for name, value in tagger.parameters.items() if name in TAG_TABLE}
    about = [
        ("file", f"{path} ({output.size_of(path)})"),
        ("labels", f"{len(names)}: {', '.join(names[:MANY])}{more}"),
        ("features", f"{tagger.n_seen:,} ({tagger.features.kind}{hashed})"),
        ("weights", f"{len(tagger.pairs.w):,} nonzero, {_which(tagger)}"),
        ("made with", output.made_with(known, TAG_TABLE)),
    ]
    report = tagger.report
    out = output.report_lines(report, verbose=verbose) if report is not None else [tagger.name]
    out += [f"  {name:<10} {text}" for name, text in about]
    if templates is not None:
        out += ["", "templates:", *(f"  {line}" for line in templates.text.splitlines())]
    if not top:
        return out
    for title, found in (
        ("label after label:", tagger.top_transitions(top)),
        ("evidence against each label:", tagger.top_transitions(top, against=True)),
    ):
        shown = [f"  {w:>12.6g}  {as_text(a)} {as_text(b)}" for a, b, w in found]
        out += ["", title, *(shown or ["  none"])]
    for label, name in list(zip(labels, names, strict=True))[:MANY]:
        shown = [f"  {w:>12.6g}  {feature}" for feature, _, w in tagger.top_features(label, top)]
        out += ["", f"for {name}:", *(shown or ["  no feature"])]
    return out


def _which(tagger: Tagger) -> str:
    return "the mean over all visits" if tagger.transition_sums is not None else "the last ones"
