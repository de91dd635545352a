"""`novikoff inspect`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import output
from novikoff.cli.options import MODEL, TABLE, TAG_TABLE, Options, flag, option, value_option
from novikoff.cli.parser import command

if TYPE_CHECKING:
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.training.row_model import RowModel

MANY = 20  # the most classes that are listed with their features


@command(
    MODEL,
    groups={
        "Reporting": (
            value_option("top", "Features to show per class, the heaviest first.", 10, kind=int, metavar="N"),
            option("trust_patterns", TAG_TABLE),
            option("verbose", help="Show what is proved about the model, too."),
            flag("json", "Write one JSON object, with all classes, to standard output."),
        )
    },
    examples=("novikoff inspect spam.novikoff --top 5",),
)
def inspect(options: Options) -> None:
    """Show a model: how it was made, and what speaks for each class.

    For a tagger, the templates and the weights of label pairs are shown too.
    """
    from novikoff.loading import load_classifier
    from novikoff.modelfile.container import kind_of_file

    path, top = options.model, options.top
    if kind_of_file(path) == "tagger":
        from novikoff.cli.tag.inputs import load
        from novikoff.cli.tag.summary import facts, lines

        tagger = load(path, options.trust_patterns)
        if options.json:
            output.write_json(facts(tagger, path, top))
        else:
            output.say(lines(tagger, path, top, verbose=options.verbose))
        return
    model = load_classifier(path)
    if options.json:
        output.write_json(_facts(model, path, top))
    else:
        output.say(_lines(model, path, top, verbose=options.verbose))


def _features(model: RowModel) -> str:
    state = model.features.state()[0]
    bits = state.get("hash_bits")
    return f"{model.features.kind}, hashed to {bits} bits" if bits else model.features.kind


def _facts(model: RowModel, path: Path, top: int) -> dict[str, Any]:
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "name": model.name,
        "features": model.features.kind,
        "classes": model.classes.tolist(),
        "scaling": None if model.scaling is None else model.scaling.kind,
        "parameters": model.parameters,
        "report": None if model.report is None else model.report.to_dict(),
        "history": model.history,
        **_own_facts(model, top),
    }


def _own_facts(model: RowModel, top: int) -> dict[str, Any]:
    """What only models of this family have."""
    from novikoff.linear.model import LinearModel

    if isinstance(model, LinearModel):
        return _linear_facts(model, top)
    from novikoff.kernel.model import KernelModel

    return (
        _kernel_facts(model) if isinstance(model, KernelModel) else {"n_features": model.features.n_columns}
    )


def _linear_facts(linear: LinearModel, top: int) -> dict[str, Any]:
    return {
        "rule": linear.model.settings.rule,
        "average": linear.model.settings.average,
        "n_features": linear.model.n_features,
        "intercept": linear.weights()[1].tolist(),
        "top_features": [
            {"class": label, "features": found} for label, found in linear.top_features(top).items()
        ]
        if top
        else [],
    }


def _kernel_facts(model: KernelModel) -> dict[str, Any]:
    from novikoff.kernel.dual_model import DualModel
    from novikoff.kernel.state import kernel_state

    dual = model.dual
    facts = {
        "n_features": model.n_features,
        "kernel": kernel_state(dual.kernel),
        "predict_with": model.predict_with,
        "n_supports": len(dual.support),
        "n_updates": dual.n_updates,
        "n_visits": dual.n_visits,
    }
    if isinstance(dual, DualModel):
        return facts | {"updates_by_class": dual.updates_by_column.tolist()}
    return facts | {"budget": dual.budget, "budget_policy": dual.policy}


def _lines(model: RowModel, path: Path, top: int, *, verbose: bool) -> list[str]:
    from novikoff.data.labels import as_text
    from novikoff.linear.model import LinearModel

    names = [as_text(c) for c in model.classes.tolist()]
    shown = ", ".join(names[:MANY]) + (f" and {len(names) - MANY:,} more" if len(names) > MANY else "")
    facts = [("file", f"{path} ({output.size_of(path)})"), ("classes", f"{len(names)}: {shown}")]
    facts += _own_lines(model)
    facts.append(("made with", output.made_with(model.parameters, TABLE)))
    report = model.report
    plain = (
        f"{model.name}(rule={model.model.settings.rule!r})" if isinstance(model, LinearModel) else model.name
    )
    lines = output.report_lines(report, verbose=verbose) if report is not None else [plain]
    lines += [f"  {name:<10} {text}" for name, text in facts]
    if top and isinstance(model, LinearModel):
        for label, name in list(zip(model.classes.tolist(), names, strict=True))[:MANY]:
            lines += ["", f"for {name}:"]
            found = model.top_features(top, label)[label]
            lines += [f"  {weight:>12.6g}  {feature}" for feature, weight in found] or ["  no feature"]
    return lines


def _own_lines(model: RowModel) -> list[tuple[str, str]]:
    """What only models of this family have."""
    from novikoff.linear.model import LinearModel

    if isinstance(model, LinearModel):
        return _linear_lines(model)
    from novikoff.kernel.model import KernelModel

    if isinstance(model, KernelModel):
        return _kernel_lines(model)
    return [("model", repr(model)), ("features", f"{model.features.n_columns:,} ({_features(model)})")]


def _linear_lines(linear: LinearModel) -> list[tuple[str, str]]:
    used, intercept = len(linear.used_weights()[0]), linear.weights()[1]
    facts = [
        ("features", f"{linear.model.n_features:,} ({_features(linear)}), {used:,} with a weight"),
        ("weights", "the mean over all visits" if linear.model.averages else "the last ones"),
    ]
    if linear.scaling is not None:
        facts.append(("scaling", linear.scaling.kind))
    if len(linear.classes) <= MANY:
        facts.append(("bias", ", ".join(f"{b:.6g}" for b in intercept.tolist())))
    return facts


def _kernel_lines(model: KernelModel) -> list[tuple[str, str]]:
    facts = [("features", f"{model.n_features:,} ({_features(model)})"), *output.kernel_facts(model)]
    if model.scaling is not None:
        facts.append(("scaling", model.scaling.kind))
    return facts
