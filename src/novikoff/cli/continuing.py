"""`fit --continue-from`: a model learns on, with its columns, classes, scaling, rule and settings.

Options that are given must be those of the model: what cannot change is an error, before anything is read.
Only the epochs, their order, the weights of classes and the way of reading files may be new.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli.options import (
    COLUMNS,
    KERNELS,
    LEARNING,
    READING,
    Options,
    UsageError,
    flag_of,
    row_options,
)
from novikoff.parameters.commands import FILE_PARAMETERS

if TYPE_CHECKING:
    from novikoff.data.labels import Renaming, StreamClasses
    from novikoff.data.sources.source import Source
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel

FLAG = "--continue-from"
NOT_WITH = ("dask", "cache", "cache_path", "schema", "write_schema")
PER_CALL = ("class_weight", "predict_with", "cache_mb")  # may differ from those of the model


def begin(options: Options) -> LinearModel | KernelModel | None:
    """The model to go on from, if there is one; its settings become the options."""
    if options.continue_from is None:
        return None
    for name in NOT_WITH:
        if name in options.given:
            raise UsageError(f"is not possible with {FLAG}.", flag_of(name))
    model = _model_of(options.continue_from)
    kept = _settings_of(model)
    for name, value in kept.items():
        if name in options.given and name not in PER_CALL:
            now = vars(options)[name]
            if now != value and not (name == "gamma" and now == model.parameters.get(name)):
                raise UsageError(
                    f"is {_shown(now)}, but {FLAG} keeps the model's: {_shown(value)}.", flag_of(name)
                )
        if name not in options.given:
            setattr(options, name, value)
    # not left to the defaults of kernel models
    options.given = options.given | {"fit_intercept", "multiclass", "scale"}
    _check_labels(options, model)
    return model


def _model_of(path: Path) -> LinearModel | KernelModel:
    from novikoff.kernel.model import KernelModel
    from novikoff.linear.model import LinearModel
    from novikoff.loading import load_model

    model = load_model(path)
    if isinstance(model, LinearModel) and model.name != "Pocket":
        return model
    if isinstance(model, KernelModel):
        return model
    name = getattr(model, "name", type(model).__name__)
    raise UsageError(
        f"{path} holds a model of {name}; fit goes on from linear perceptrons and kernel perceptrons. In "
        "Python, load it and call its partial_fit or learn_one, if it has one.",
        FLAG,
    )


def _settings_of(model: LinearModel | KernelModel) -> dict[str, Any]:
    """The options that describe the model."""
    from novikoff.linear.model import LinearModel

    recorded = model.parameters
    kept = {name: recorded.get(name, FILE_PARAMETERS[name].default) for name in LEARNING}
    if isinstance(kept["class_weight"], list):  # of an estimator
        kept["class_weight"] = {_text(label): weight for label, weight in kept["class_weight"]}
    kept["scale"] = recorded.get("scale") if model.scaling is None else model.scaling.kind
    if not isinstance(model, LinearModel):
        from novikoff.kernel.settings import parameters_learned_with

        kept |= {name: recorded.get(name, FILE_PARAMETERS[name].default) for name in KERNELS}
        learned = parameters_learned_with(model.dual)
        return kept | {k: v for k, v in learned.items() if k in kept} | {"predict_with": model.predict_with}
    from novikoff.parameters.linear import phi_of

    settings = model.model.settings
    kept |= {
        name: getattr(settings, name) for name in ("rule", "average", "ties", "margin", "C", "multiclass")
    }
    kept["fit_intercept"] = settings.bias_square > 0
    if kept["fit_intercept"] and float(kept["intercept_scaling"]) ** 2 != settings.bias_square:
        kept["intercept_scaling"] = math.sqrt(settings.bias_square)
    if phi_of(kept["eta"]) != settings.phi:
        from statistics import NormalDist

        kept["eta"] = NormalDist().cdf(settings.phi)
    return kept


def _check_labels(options: Options, model: LinearModel | KernelModel) -> None:
    """Refuse other classes and columns than those of the model."""
    from novikoff.linear.model import LinearModel

    names, recorded = [_text(label) for label in model.classes.tolist()], model.parameters
    if isinstance(options.classes, list) and options.classes != names:
        raise UsageError(
            f"is {_shown(options.classes)}, but {FLAG} keeps the model's: {_shown(names)}.", "--classes"
        )
    positive = recorded.get("positive")
    if "positive" in options.given and options.positive != positive:
        raise UsageError(
            f"is {options.positive}, but {FLAG} keeps the model's: {_shown(positive)}.", "--positive"
        )
    options.positive = positive
    grows = "grow" in (options.classes, recorded.get("classes"))
    if grows and not isinstance(model, LinearModel):
        if options.classes == "grow":
            raise UsageError("grow is not possible: a kernel model keeps its classes.", "--classes")
        grows = False
    options.classes = "grow" if grows and positive is None else recorded.get("classes")
    for name in COLUMNS:
        usual = FILE_PARAMETERS[name].default
        value = recorded.get(name, usual)
        value = list(value) if isinstance(value, tuple) else value
        if name in options.given and vars(options)[name] != value:
            raise UsageError(
                f"is {_shown(vars(options)[name])}, but {FLAG} keeps the model's columns: {_shown(value)}.",
                flag_of(name),
            )
        setattr(options, name, value)


def classes_of(options: Options, model: LinearModel | KernelModel) -> StreamClasses:
    """The classes of the model, to which others may be added if they grow."""
    from novikoff.data.labels import StreamClasses

    return StreamClasses.of_model(
        model.classes, grow=options.classes == "grow", rename=_renaming(options, model)
    )


def _renaming(options: Options, model: LinearModel | KernelModel) -> Renaming:
    from novikoff.cli.inputs import renaming_for_model

    return renaming_for_model(model, options.relabel)


def open_more(options: Options, model: LinearModel | KernelModel) -> Source:
    """The files, with the columns of the model."""
    from novikoff.cli.inputs import open_for_model

    return open_for_model(model, options.data, row_options(options, READING))


def made_with(options: Options, model: LinearModel | KernelModel, made: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the model that the fit makes: those with which files for it are read stay."""
    from hashlib import blake2b  # here: it loads OpenSSL, which help does not need

    names = (*READING, *COLUMNS) if "format" in model.parameters else ()
    kept = {name: model.parameters[name] for name in (*names, "format") if name in model.parameters}
    content = Path(options.continue_from).read_bytes()
    digest = blake2b(content, digest_size=8).hexdigest()
    return (
        made
        | kept
        | {
            "relabel": _renaming(options, model).replace,
            "continued_from": f"{Path(options.continue_from).name} ({digest})",
        }
    )


def facts_before(model: LinearModel | KernelModel) -> dict[str, int]:
    """What the model had learned before."""
    from novikoff.linear.model import LinearModel

    if isinstance(model, LinearModel):
        learned = model.model
        visits = learned.learners[0].native.visits  # one-vs-rest: each learner visits every row
        return {"visits": visits, "mistakes": learned.total("mistakes"), "updates": learned.total("updates")}
    dual = model.dual
    return {"visits": dual.n_visits, "mistakes": dual.n_mistakes, "updates": dual.n_updates}


def _text(label: Any) -> str:
    from novikoff.data.labels import as_text

    return as_text(label)


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
