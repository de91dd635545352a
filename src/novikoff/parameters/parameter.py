"""Parameters and the readers of their tables: for classes, docstrings, plans and model files.

The modules of this package are light on purpose: showing help must not load NumPy.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, default, help, and legal values."""

    name: str
    default: Any
    help: str
    expected: str  # the legal values in words
    legal: Callable[[Any], bool]
    choices: tuple[str, ...] = ()  # all legal values, where they can be listed

    def check(self, value: Any) -> None:
        """Raise one clear error unless `value` is legal."""
        if not self.legal(value):
            raise ValueError(f"{self.name}={value!r} is not possible: expected {self.expected}.")


Table = Mapping[str, Parameter]


def table(*parameters: Parameter) -> dict[str, Parameter]:
    """The parameters by name."""
    return {p.name: p for p in parameters}


# ---- legal values: each is what `Parameter` takes as `expected`, `legal` and `choices` ----------------
Legal = Callable[[Any], bool]
Values = tuple[str, Legal, tuple[str, ...]]


def is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # NumPy's too


def is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_number(low: float, *, strict: bool = False) -> Legal:
    def legal(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or is_bool(value):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond every double
            return False
        return math.isfinite(number) and (number > low if strict else number >= low)

    return legal


def is_whole(low: int) -> Legal:
    return lambda value: isinstance(value, numbers.Integral) and not is_bool(value) and int(value) >= low


def are_all(legal: Legal) -> Legal:
    return lambda value: isinstance(value, list | tuple) and len(value) > 0 and all(map(legal, value))


BOOLEAN: Values = "True or False", is_bool, ()
FRACTION: Values = (
    "a number between 0 and 1, both excluded",
    lambda v: is_number(0, strict=True)(v) and v < 1,
    (),
)


def number(low: float, *, strict: bool = False) -> Values:
    return f"a number {'>' if strict else '≥'} {low}", is_number(low, strict=strict), ()


def whole(low: int, high: int | None = None) -> Values:
    if high is None:
        return f"a whole number ≥ {low}", is_whole(low), ()
    return f"a whole number from {low} to {high}", lambda v: is_whole(low)(v) and v <= high, ()


def one_of(*names: str) -> Values:
    return "one of " + ", ".join(map(repr, names)), lambda v: isinstance(v, str) and v in names, names


def auto_or(values: Values) -> Values:
    expected, legal, choices = values
    return f"'auto' or {expected}", lambda v: (isinstance(v, str) and v == "auto") or legal(v), choices


def none_or(expected: str, legal: Legal, choices: tuple[str, ...] = ()) -> Values:
    return f"None or {expected}", lambda v: v is None or legal(v), choices


# ---- classes -----------------------------------------------------------------------------------------
DEFAULT: Any = object()  # in a class body: this is a parameter, and its default is in the table


@dataclass_transform(eq_default=False)
def with_parameters(parameters: Table) -> Callable[[type[T]], type[T]]:
    """Make the names that a class body sets to `DEFAULT` parameters of the class, from the table.

    The class gets the ``__init__`` that a dataclass would have; ``{parameters}`` in its docstring becomes
    their help. It is not a dataclass: libraries treat dataclasses as plain records, and would compare, hash
    and copy a fitted model by its parameters alone.

    >>> from dataclasses import KW_ONLY
    >>> import inspect
    >>> seed, n = Parameter("seed", 7, "Selects the hash.", *whole(0)), Parameter("n", 1, "Rows.", *whole(1))
    >>> @with_parameters(table(seed, n))
    ... class Hasher:
    ...     '''A hash.
    ...
    ...     Parameters
    ...     ----------
    ...     {parameters}
    ...     '''
    ...     seed: int = DEFAULT
    ...     _: KW_ONLY
    ...     n: int = DEFAULT
    >>> inspect.signature(Hasher)
    <Signature (seed: 'int' = 7, *, n: 'int' = 1) -> None>
    >>> print(inspect.getdoc(Hasher))
    A hash.
    <BLANKLINE>
    Parameters
    ----------
    seed : a whole number ≥ 0, default 7
        Selects the hash.
    n : a whole number ≥ 1, default 1
        Rows.
    >>> check_parameters(Hasher(-1))
    Traceback (most recent call last):
        ...
    ValueError: seed=-1 is not possible: expected a whole number ≥ 0.
    """

    def decorate(cls: type[T]) -> type[T]:
        hints = get_annotations(cls)
        own = {name: parameters[name] for name in hints if vars(cls).get(name) is DEFAULT}
        defaults = {name: parameter.default for name, parameter in own.items()}
        kept = "__module__", "__qualname__", "__post_init__"
        body = {name: getattr(cls, name) for name in kept if hasattr(cls, name)}
        body["__annotations__"] = {n: KW_ONLY if n == "_" else hints[n] for n in hints if n in (*own, "_")}
        record: Any = type(cls.__name__, (), body | defaults)
        made = dataclass(eq=False, repr=False, match_args=False)(record).__init__
        doc = _documented(cls.__doc__, own)
        for name, value in {**defaults, "_parameters": own, "__init__": made, "__doc__": doc}.items():
            setattr(cls, name, value)
        return cls

    return decorate


def _documented(text: str | None, parameters: Table) -> str | None:
    """The docstring with the help of these parameters; under ``python -OO`` there is none."""
    if text is None:
        return None
    before, place, after = text.partition("{parameters}")
    entries = [f"{p.name} : {p.expected}, default {p.default!r}\n    {p.help}" for p in parameters.values()]
    indent = before[before.rfind("\n") + 1 :]
    return before + "\n".join(entries if place else []).replace("\n", f"\n{indent}") + after


def parameters_of(owner: Any) -> Table:
    """The parameters of an estimator, or of its class, by name."""
    own: Table = owner._parameters
    return own


def parameter_values(owner: object) -> dict[str, Any]:
    """The current values of an estimator's parameters."""
    return {name: getattr(owner, name) for name in parameters_of(owner)}


def check_parameters(owner: object) -> None:
    """Check the parameters of an estimator; an error names the first illegal one."""
    for name, parameter in parameters_of(owner).items():
        parameter.check(getattr(owner, name))


def parameter_repr(owner: object) -> str:
    """The call that makes an estimator with these parameters, without the default ones."""
    defaults = {name: repr(parameter.default) for name, parameter in parameters_of(owner).items()}
    shown = {name: repr(value) for name, value in parameter_values(owner).items()}
    changed = [f"{name}={text}" for name, text in shown.items() if text != defaults[name]]
    return f"{type(owner).__name__}({', '.join(changed)})"


# ---- records and model files ---------------------------------------------------------------------------
def from_parameters(record: type[T], *owners: object, **given: Any) -> T:
    """A dataclass whose fields are parameters, filled from estimators or options that have them.

    `given` takes precedence, then the first owner with an attribute of the field's name; otherwise the field
    keeps its default. Numbers and booleans become Python's own types.

    >>> @dataclass
    ... class Limits:
    ...     epochs: int = 10
    ...     margin: float = 0.0
    >>> from types import SimpleNamespace
    >>> from_parameters(Limits, SimpleNamespace(epochs=True, seed=3))
    Limits(epochs=1, margin=0.0)
    """
    for field in fields(record):  # type: ignore[arg-type]
        owner = next((owner for owner in owners if hasattr(owner, field.name)), None)
        if owner is not None and field.name not in given:
            value, kind = getattr(owner, field.name), type(field.default)
            if kind in (bool, int, float) and not isinstance(value, str):  # a word stands for itself
                value = kind(value)
            given[field.name] = value
    return record(**given)


# Resources, folders and display of a call. A model file may record these, but they are never read from it:
# the call gives them, or they have their default.
PER_CALL = frozenset(
    {
        *("n_jobs", "cache_mb", "max_line", "max_expansion", "time_limit"),
        *("cache", "cache_path", "checkpoint", "every", "resume", "client", "dask"),
        *("verbose", "callback", "quiet", "json"),
    }
)


def parameters_from_file(recorded: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The parameters of a model file that have these names and affect what is learned or read.

    >>> parameters_from_file({"rule": "pa", "n_jobs": 1000, "new": 1}, ["rule", "n_jobs"])
    {'rule': 'pa'}
    """
    return {name: value for name, value in recorded.items() if name in names and name not in PER_CALL}


def parameters_for_file(owner: object, **instead: Any) -> dict[str, Any]:
    """The parameters of an estimator as a model file records them: values that are not data are None."""
    values = parameter_values(owner)
    recorded = {name: v.item() if getattr(v, "shape", None) == () else v for name, v in values.items()}
    if not isinstance(recorded["random_state"], numbers.Integral):
        recorded["random_state"] = None
    if isinstance(recorded.get("class_weight"), dict):  # a label need not be text, but a key of JSON must
        recorded["class_weight"] = [[label, weight] for label, weight in recorded["class_weight"].items()]
    return recorded | dict.fromkeys(recorded.keys() & {"callback"}) | instead
