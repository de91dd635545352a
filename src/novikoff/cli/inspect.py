"""`novikoff inspect`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import output
from novikoff.cli.options import ModelFile

if TYPE_CHECKING:
    from novikoff.models.linear import LinearModel

MANY = 20  # classes, up to which each is shown with its features


def inspect(
    model: ModelFile,
    top: Annotated[
        int, typer.Option(min=0, help="Features to show for each class, the heaviest first.")
    ] = 10,
    json: Annotated[
        bool, typer.Option("--json", help="Write one JSON object, with all classes, to standard output.")
    ] = False,
) -> None:
    """Show a model: what it is, how it was made, and which features speak for each class.

    For example: novikoff inspect spam.novikoff --top 20
    """
    from novikoff.models.linear import load_model

    linear = load_model(model)
    if json:
        output.write_json(_facts(linear, model, top))
    else:
        typer.echo("\n".join(_lines(linear, model, top)))


def _features(linear: LinearModel) -> str:
    state = linear.features.state()[0]
    bits = state.get("hash_bits")
    return f"{linear.features.kind}, hashed to {bits} bits" if bits else linear.features.kind


def _facts(linear: LinearModel, path: Path, top: int) -> dict[str, Any]:
    _, intercept = linear.weights()
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "name": linear.name,
        "rule": linear.model.settings.rule,
        "average": linear.model.settings.average,
        "n_features": linear.model.n_features,
        "features": linear.features.kind,
        "classes": linear.classes.tolist(),
        "intercept": intercept.tolist(),
        "scaling": None if linear.scaling is None else linear.scaling.kind,
        "parameters": linear.parameters,
        "report": None if linear.report is None else linear.report.to_dict(),
        "history": linear.history,
        "top_features": [
            {"class": label, "features": linear.top_features(label, top)} for label in linear.classes.tolist()
        ]
        if top
        else [],
    }


def _lines(linear: LinearModel, path: Path, top: int) -> list[str]:
    from novikoff.labels import as_text

    coef, intercept = linear.weights()
    names = [as_text(c) for c in linear.classes.tolist()]
    shown = ", ".join(names[:MANY]) + (f" and {len(names) - MANY:,} more" if len(names) > MANY else "")
    used = int((coef != 0).any(axis=0).sum())
    facts = [
        ("file", f"{path} ({output.size_of(path)})"),
        ("classes", f"{len(names)}: {shown}"),
        ("features", f"{linear.model.n_features:,} ({_features(linear)}), {used:,} with a weight"),
        ("weights", "the mean over all visits" if linear.model.settings.average else "the last ones"),
    ]
    if linear.scaling is not None:
        facts.append(("scaling", linear.scaling.kind))
    if len(names) <= MANY:
        facts.append(("bias", ", ".join(f"{b:.6g}" for b in intercept.tolist())))
    made = ", ".join(f"{name}={value}" for name, value in _unusual(linear.parameters))
    facts.append(("made with", made or "the defaults"))
    report = linear.report
    lines = [str(report) if report is not None else f"{linear.name}(rule={linear.model.settings.rule!r})"]
    lines += [f"  {name:<10} {text}" for name, text in facts]
    if top:
        for label, name in list(zip(linear.classes.tolist(), names, strict=True))[:MANY]:
            lines += ["", f"for {name}:"]
            found = linear.top_features(label, top)
            lines += [f"  {weight:>12.6g}  {feature}" for feature, weight in found] or ["  no feature"]
    return lines


def _unusual(parameters: dict[str, Any]) -> list[tuple[str, Any]]:
    """How it was made, as far as that is not how everything is made."""
    from novikoff.parameters import FILE_PARAMETERS

    def usual(name: str, value: Any) -> bool:
        known = FILE_PARAMETERS.get(name)
        return known is not None and (value == known.default or value in ([], {}, None))

    always = ("format", "max_epochs")
    return [(name, v) for name, v in sorted(parameters.items()) if name in always or not usual(name, v)]
