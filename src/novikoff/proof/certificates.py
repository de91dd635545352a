"""Certificates: claims about labelled rows, with witnesses that a small program can check.

The checker (`novikoff.checker`) defines the claims; this module finds the witnesses, rounds every γ down and
every ε up, and has the checker verify every claim before anything is returned.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff import checker
from novikoff.data.labels import Labels, as_text
from novikoff.data.targets import label_array
from novikoff.data.text_labels import taken
from novikoff.outfile import replacing
from novikoff.outward import root_up
from novikoff.proof import wholes
from novikoff.proof.problem import Pairs, Problem, read_problem
from novikoff.proof.search import Watch
from novikoff.proof.separability import decide
from novikoff.proof.verdicts import Inseparable, Separable
from novikoff.shown import Shown
from novikoff.training.run import Run
from novikoff.training.weights import Floats, Scorer

if TYPE_CHECKING:
    from novikoff.theory.trace import Trace

Claim = dict[str, Any]

GAP = 1e-3  # relative gap of the bracket on γ in a certificate of separability
PASSES = 1000  # the most passes over the rows to reach it
KERNELS = (
    "linear",
    "poly",
    "monotone_conjunction",
)  # the checker computes their values exactly, from any rows
TINY = 2.0**-900  # smaller margins are computed in integers
DOWN = 1 - 2**-48  # covers the rounding of a quotient and two roots


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shown):
    """Claims about labelled rows, each with its witness.

    Parameters
    ----------
    content : dict
        The content of the JSON file; see docs/certificates.md.
    said : tuple of str
        The claims in words if the checker has verified them; empty for a certificate that was only read.
    interrupted : bool
        Whether Ctrl-C ended the search early.

    Examples
    --------
    >>> from novikoff.theory import certify
    >>> certificate = certify([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [1, 1, -1], fit_intercept=False)
    >>> print(certificate)
    inseparable: 2 vectors sum up to exactly 0 with positive weights
    >>> certificate.claims[0]["rows"], certificate.claims[0]["weights"]
    ([0, 1], ['1', '1'])
    >>> certificate.verify([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]], [1, 1, -1])
    Traceback (most recent call last):
    novikoff.checker.Refused: the certificate is for other data: the digests differ
    """

    content: dict[str, Any]
    said: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def claims(self) -> list[Claim]:
        """The claims, with their witnesses."""
        claims: list[Claim] = self.content.get("claims", [])
        return claims

    @property
    def digest(self) -> str:
        """The digest of its rows and labels."""
        return str(self.content.get("digest"))

    def verify(self, X: Any, y: Any, max_work: float = checker.MAX_WORK) -> list[str]:
        """Check every claim against the rows; return the claims in words or raise `novikoff.checker.Refused`.

        If that would take more than `max_work` steps, raise `novikoff.checker.TooMuchWork`, which leaves the
        claims undecided.
        """
        return checker.verify(checker.parse(self.to_json()), (X, y), max_work)

    def to_json(self) -> str:
        """The certificate as text; every number in it is read back unchanged."""
        return json.dumps(self.content, allow_nan=False, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file atomically."""
        with replacing(path) as file:
            file.write(self.to_json().encode() + b"\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate from a file, without verifying it."""
        content = checker.read_certificate(path)
        if not isinstance(content, dict):
            raise checker.Refused(
                f"{os.fspath(path)} does not hold a certificate, but {type(content).__name__}"
            )
        return cls(content)

    def __str__(self) -> str:
        return "\n".join(self._claims())

    def _repr_html_(self) -> str:
        return f"<ul>{''.join(f'<li>{escape(claim)}</li>' for claim in self._claims())}</ul>"

    def _claims(self) -> list[str]:
        return list(self.said) or [str(claim.get("claim")) for claim in self.claims]


read_certificate = Certificate.load


def certify(
    X: Any,
    y: Any,
    model: Any = None,
    *,
    trace: Trace | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
    ties: str = "positive",
    time_limit: float | None = None,
    watch: Watch | None = None,
    rounding: str = "never",
) -> Certificate:
    """Proofs about labelled rows, in a form that `novikoff.checker` verifies.

    Parameters
    ----------
    X, y
        The rows, dense or sparse, and one label per row.
    model : optional
        Anything with `coef_`, `intercept_` and `classes_`, or a model loaded from a file: the claims are then
        its number of errors and, if so, that it separates the rows. Or a kernel perceptron (linear, poly,
        monotone_conjunction) with the rows that it separated: the claim is that they are separable in its
        space.
    trace : novikoff.theory.Trace, optional
        A run of the plain perceptron on these rows: the claim is this sequence of updates, with its bound.
    fit_intercept, intercept_scaling, ties
        As in the estimators. A trace overrides them.
    time_limit : optional
        Approximate limit on the search, in seconds.
    watch : optional
        Called with a text and, if known, the fraction done.
    rounding : {'never', 'nearest'}
        Whether numbers that no double holds are refused, or rounded with a warning: the claims
        are then about the rounded rows.

    Returns
    -------
    Certificate
        Without model and trace, the claim is that the rows are *separable* with a margin of at least γ, and
        no margin is above ε; or that they are *inseparable*; or, if a limit or Ctrl-C ended the search, only
        that no margin is above ε. All claims have been verified.

    Raises
    ------
    ValueError
        For invalid rows or labels, a model that is not linear in the given rows, or a run that a certificate
        does not cover.
    """
    if ties not in ("positive", "mistake"):
        raise ValueError(f"ties={ties!r} is not possible: expected 'positive' or 'mistake'.")
    problem = read_problem(
        X, y, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, rounding=rounding
    )
    y = label_array(y)
    interrupted = False
    if trace is not None:
        _check_trace(trace, problem)
        ties, problem = trace.ties, replace(problem, bias=float(trace.bias))
    dual = next((d for name in ("dual", "_dual") if hasattr(d := getattr(model, name, None), "kernel")), None)
    if dual is not None:
        problem = replace(problem, bias=math.sqrt(dual.kernel.offset))
        problem = _with_classes(
            problem, np.asarray(getattr(model, "classes_", getattr(model, "classes", None)))
        )
        claims = [_kernel_claim(problem, ties, model, dual)]
    elif model is not None:
        coef, intercept, classes = _weights_of(model)
        problem = _with_classes(problem, classes)
        claims = _model_claims(problem, coef, intercept, ties)
    elif trace is None:
        claims, interrupted = _verdict_claims(problem, ties, time_limit, watch)
        claims = [claim for claim in claims if claim.get("epsilon", 0.0) < math.inf]
        if not claims:
            raise ValueError("no proof fits into floats: the margin is not known to be below 1.8e308.")
    else:
        claims = []
    work = _Work(problem, y, ties)
    if trace is not None:
        claims.append(_run_claim(work, trace))
    if watch is not None:
        watch("verifying", None)
    made = Certificate(work.content(claims), interrupted=interrupted)
    return replace(made, said=tuple(made.verify(*work.rows, max_work=math.inf)))


def certificate_of(run: Run, X: Any, y: Any, classes: Labels, *, bias: float, ties: str) -> Certificate:
    """What a run proved about its rows, which are X and y; a ValueError if there is nothing to claim."""
    problem = read_problem(X, y, fit_intercept=bias > 0, intercept_scaling=bias or 1.0)
    problem = _with_classes(problem, np.asarray(classes))
    proof = next((p for p in run.proofs.values() if p.pairs is not None), None)
    claim: Claim | None = None
    if run.verdict == "separated" and run.witness is not None:
        claim = _lower_claim(problem, *run.witness)
    elif proof is not None and proof.pairs is not None:
        claim = _inseparable_claim(proof.pairs, proof.weights, problem)
    if claim is None:
        raise ValueError(
            f"the fit ended {run.verdict}, without a witness to certify; novikoff.theory.certify searches "
            "for one."
        )
    work = _Work(problem, label_array(y), ties)
    made = Certificate(work.content([claim]))
    return replace(made, said=tuple(made.verify(*work.rows, max_work=math.inf)))


class _Work:
    """The rows in the checker's form."""

    def __init__(self, problem: Problem, y: Labels, ties: str) -> None:
        self.problem, self.ties, self.rows = problem, ties, (problem.X, y)
        self.digest = checker.Data(*self.rows).digest

    def content(self, claims: list[Claim]) -> dict[str, Any]:
        return _content(self.problem, self.ties, self.digest, claims)


def _content(problem: Problem, ties: str, digest: str, claims: list[Claim]) -> dict[str, Any]:
    return {
        "novikoff-certificate": 1,
        "digest": digest,
        "classes": [as_text(label) for label in problem.classes.tolist()],
        "bias": problem.bias,
        "ties": ties,
        "claims": claims,
    }


# ---- separable or not --------------------------------------------------------------------------------
def _verdict_claims(
    problem: Problem, ties: str, time_limit: float | None, watch: Watch | None
) -> tuple[list[Claim], bool]:
    verdict = decide(problem, ties=ties, time_limit=time_limit, watch=watch)
    if isinstance(verdict, Inseparable):
        claim = _inseparable_claim(verdict.pairs, verdict.weights, problem)
        if claim is not None:
            return [claim], False
        return [_upper_claim(problem, verdict.alpha)], False
    if not isinstance(verdict, Separable):
        return [_upper_claim(problem, verdict.alpha)], verdict.interrupted
    from novikoff.proof.maxmargin import solve

    found = solve(problem, gap=GAP, max_passes=PASSES, time_limit=time_limit, start_u=verdict.u, watch=watch)
    witnesses = [problem.coefficients(found.u), (verdict.coef, verdict.intercept)]
    claims = [_lower_claim(problem, coef, intercept) for coef, intercept in witnesses]
    best = max(
        (claim for claim in claims if claim is not None), key=lambda claim: claim["gamma"], default=None
    )
    return [*([best] if best else []), _upper_claim(problem, found.alpha)], found.interrupted


def _inseparable_claim(pairs: Pairs, weights: tuple[int, ...], problem: Problem) -> Claim | None:
    """The claim that these vectors cancel out; None if the numbers are too long for a checker."""
    rows, rivals = np.divmod(pairs, problem.n_classes) if problem.is_joint else (pairs, pairs[:0])
    texts = [f"{weight:x}" for weight in weights]
    if max(map(len, texts)) > checker.MAX_BITS // 4:
        return None
    return {"claim": "inseparable", "rows": rows.tolist(), "rivals": rivals.tolist(), "weights": texts}


def _lower_claim(problem: Problem, coef: Any, intercept: Any) -> Claim | None:
    """The claim that these vectors (floats or integers) separate the rows, with a safe γ; else None."""
    if (intercept != 0).any() and not problem.bias:
        return None
    if coef.dtype == object:
        gamma = wholes.margin(problem, coef, intercept)
        vectors = [[f"{v:x}" for v in row] for row in coef], [f"{v:x}" for v in intercept]
        longest = max(len(v) for row in (*vectors[0], vectors[1]) for v in row)
        if gamma < 0 or longest > checker.MAX_BITS // 4:
            return None
        return {"claim": "separable", "coef": vectors[0], "intercept": vectors[1], "gamma": gamma}
    least = problem.smallest_of(coef, intercept).value
    if not least > 0:
        return None
    u = np.column_stack([intercept, coef])
    bits = checker.bits_of(u)
    square = checker.Weights(checker.wholes(u, bits), bits).square(Fraction(problem.bias) ** 2)
    gamma = 0.0
    if problem.is_moderate and least < math.inf:
        gamma = math.nextafter(DOWN * (least / checker.root(square)), 0.0)
    if not TINY < gamma < math.inf:  # beyond the range of floats
        exact = wholes.least(problem, coef, intercept)
        if not exact > 0:
            return None
        gamma = wholes.margin(problem, coef, intercept, exact)
    return {"claim": "separable", "coef": coef.tolist(), "intercept": intercept.tolist(), "gamma": gamma}


def _upper_claim(problem: Problem, alpha: Floats) -> Claim:
    """The claim that no margin is above ‖Σ α z‖/Σα or, if α = 0, above the shortest ‖z‖."""
    alpha = np.maximum(np.asarray(alpha, dtype=np.float64), 0.0)
    if problem.is_joint:
        alpha[np.arange(problem.n_rows), problem.labels] = 0.0
    if not alpha.any():
        alpha = np.zeros(alpha.shape)
        row = int(np.argmin(problem.lengths()))
        alpha[(row, int(problem.labels[row] == 0)) if problem.is_joint else row] = 1.0
    pairs = np.flatnonzero(alpha)
    rows, rivals = (
        np.divmod(pairs, problem.n_classes) if problem.is_joint else (pairs, np.zeros(0, dtype=int))
    )
    weights = alpha.ravel()[pairs]
    square, total = _combined(problem, rows, rivals, weights)
    epsilon = root_up(square / total**2)
    claim = {"rows": rows.tolist(), "rivals": rivals.tolist(), "weights": weights.tolist()}
    return {"claim": "margin at most", "epsilon": epsilon} | claim


def _combined(problem: Problem, rows: Any, rivals: Any, weights: Floats) -> tuple[Fraction, Fraction]:
    """‖Σ α z‖² and Σα, exactly."""
    used, places = np.unique(rows, return_inverse=True)
    part = problem.some(used)
    labels = taken(part.classes, part.labels)
    verifier = checker.Checker(_content(problem, "positive", "", []), checker.Data(part.X, labels))
    bits = checker.bits_of(weights)
    numbers = checker.wholes(weights, bits).tolist()
    pairs = verifier.pairs(places.tolist(), rivals.tolist())
    return verifier.length(pairs, numbers) / (1 << 2 * bits), Fraction(sum(numbers), 1 << bits)


# ---- models ------------------------------------------------------------------------------------------
def _weights_of(model: Any) -> tuple[Floats, Floats, Labels]:
    """(coef, intercept, classes) of a linear model."""
    _check_unscaled(model)
    if hasattr(model, "weights") and hasattr(model, "classes"):
        coef, intercept = model.weights()
        classes = model.classes
    elif hasattr(model, "coef_") and hasattr(model, "classes_"):
        coef, intercept, classes = model.coef_, getattr(model, "intercept_", 0.0), model.classes_
    else:
        raise ValueError(
            f"{type(model).__name__} has no coef_ and classes_, so it cannot be certified: pass a fitted "
            "linear model."
        )
    coef = np.array(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64, ndmin=2)
    intercept = np.broadcast_to(np.asarray(intercept, dtype=np.float64), len(coef)).copy()
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("the model has weights that are NaN or infinite.")
    return coef, intercept, np.asarray(classes)


def _check_unscaled(model: Any) -> None:
    if getattr(model, "scaling", None) is not None:
        raise ValueError(
            f"the model scales rows (scale={model.scaling.kind!r}) before it sees them, but a certificate is "
            "about the given rows: scale the data first, then fit and certify the scaled rows."
        )


def _with_classes(problem: Problem, classes: Labels) -> Problem:
    """The problem with the model's classes, in the model's order."""
    names = [as_text(label) for label in classes.tolist()]
    found = [as_text(label) for label in problem.classes.tolist()]
    counts = np.bincount(problem.labels, minlength=len(found))
    for name, count in zip(found, counts, strict=True):
        if count and name not in names:
            raise ValueError(f"rows have the label {name!r}, but the model knows {', '.join(names[:20])}.")
    places = np.array([names.index(name) if name in names else 0 for name in found], dtype=np.int32)
    return replace(problem, classes=np.array(names), labels=places[problem.labels])


def _model_claims(problem: Problem, coef: Floats, intercept: Floats, ties: str) -> list[Claim]:
    k = problem.n_classes if problem.is_joint else 1
    if coef.shape != (k, problem.n_features):
        raise ValueError(
            f"the model has weights of the shape {coef.shape}, but {problem.n_classes} classes and rows of "
            f"{problem.n_features} columns need {(k, problem.n_features)}."
        )
    claim = {"claim": "errors", "coef": coef.tolist(), "intercept": intercept.tolist()}
    errors = _errors(problem, coef, intercept, ties, claim)
    separating = _lower_claim(problem, coef, intercept) if not errors else None
    return [claim | {"errors": errors}, *([separating] if separating else [])]


def _errors(problem: Problem, coef: Floats, intercept: Floats, ties: str, claim: Claim) -> int:
    """How many rows are mistakes under the tie rule; sign and argmax of the scores are exact."""
    scorer = Scorer.from_weights(coef, intercept)
    if not problem.is_joint:
        s = scorer.scores(problem.X) * problem.signs
        return int(np.count_nonzero((s < 0) | ((s == 0) & ((ties == "mistake") | (problem.labels == 0)))))
    if ties == "positive":
        return int(np.count_nonzero(scorer.predict(problem.X) != problem.labels))
    content = _content(problem, ties, "", [])
    verifier = checker.Checker(content, checker.Data(problem.X, taken(problem.classes, problem.labels)))
    w, rows = verifier.model(claim), np.arange(problem.n_rows)
    with np.errstate(all="ignore"):  # float ties may be inexact: the checker's are exact
        return int(verifier.wrong(w, rows).any(axis=1).sum())


def _kernel_claim(problem: Problem, ties: str, model: Any, dual: Any) -> Claim:
    """The claim that the last α of a kernel model separate the rows, with the largest safe γ."""
    _check_unscaled(model)
    name = dual.kernel.title
    if name not in KERNELS:
        raise ValueError(
            f"only kernels whose values are exact can be certified: {', '.join(KERNELS)}, not {name}."
        )
    if dual.n_visits == 0 or not len(dual.support):
        raise ValueError("the model has no supports: there is nothing to certify.")
    support = dual.support
    if support.max() >= problem.n_rows or not _same_rows(problem.some(support).X, dual.vectors):
        raise ValueError(
            "the supports of the model are not the rows with these numbers: certify the rows that it was "
            "fitted to, in the same order."
        )
    numbers = {"gamma": 1.0, "coef0": 0.0, "degree": 1}
    if name == "poly":
        numbers = {each: getattr(dual.kernel, each) for each in numbers}
    known = "poly" if name == "linear" else name
    alpha = dual.coefficients(averaged=False)
    used = np.flatnonzero(alpha.any(axis=1))
    if not len(used):
        raise ValueError("every α of the model is 0: there is nothing to certify.")
    claim = {
        "claim": "kernel separable",
        "kernel": {"name": known} | numbers,
        "rows": support[used].tolist(),
        "alpha": alpha[used].T.tolist(),
    }
    rows = checker.Data(problem.X, taken(problem.classes, problem.labels))
    verifier = checker.Checker(_content(problem, ties, "", []), rows)
    scores, square = verifier.dual(claim)
    least, row = min((verifier.gap(scores, row), row) for row in range(problem.n_rows))
    if least <= 0:
        raise ValueError(
            f"the last α of the model do not separate the rows (row {row} is not strictly on its own side): "
            "fit with more epochs or another kernel."
        )
    inverse = square / least**2  # of γ²
    gamma = 0.0
    if inverse < Fraction(2) ** 2040:
        gamma = math.nextafter(DOWN / checker.root(inverse), 0.0)
    return claim | {"gamma": gamma}


def _same_rows(ours: Any, theirs: Any) -> bool:
    if ours.shape != theirs.shape:
        return False
    ours, theirs = (a.toarray() if hasattr(a, "toarray") else np.asarray(a) for a in (ours, theirs))
    return np.array_equal(ours, theirs)


# ---- runs --------------------------------------------------------------------------------------------
def _check_trace(trace: Trace, problem: Problem) -> None:
    if trace.rule != "perceptron":
        raise ValueError(f"the run has rule={trace.rule!r}; a certificate is possible for 'perceptron' only.")
    if trace.n_rows != problem.n_rows or len(trace.classes) != problem.n_classes:
        raise ValueError(
            f"the run was made on {trace.n_rows} rows of {len(trace.classes)} classes, but there are "
            f"{problem.n_rows} rows of {problem.n_classes} classes."
        )


def _run_claim(work: _Work, trace: Trace) -> Claim:
    """The claim that the run made these updates, with the smallest sufficient ε = 16^k·2⁻⁵³·R²; 0 if exact.

    The checker accepts no ε beyond 2⁻²⁰·R².
    """
    problem = work.problem
    separating = _lower_claim(problem, *problem.coefficients(trace.u))
    if separating is None:  # u was rounded, or the trace has another u
        verdict = decide(problem, ties=trace.ties)
        if isinstance(verdict, Separable):
            separating = _lower_claim(problem, verdict.coef, verdict.intercept)
    if separating is None:
        raise ValueError("no vector was found that separates the rows, so no bound on the updates follows.")
    claim = separating | {
        "claim": "run",
        "order": "cyclic" if trace.order is None else np.asarray(trace.order).tolist(),
        "visits": int(trace.n_visits),
        "updates": np.asarray(trace.visit).tolist(),
        "rivals": [] if trace.rival is None else np.asarray(trace.rival).tolist(),
        "epsilon": 0.0,
    }
    size = problem.radius() * problem.radius()
    slack = [size * 2.0 ** (4 * k - 53) for k in range(9)] if size < math.inf else []
    for epsilon in (0.0, *slack):
        claim["epsilon"] = epsilon
        try:
            checker.verify(work.content([claim]), work.rows, math.inf)
            return claim
        except checker.Refused as error:
            reason = error
    raise ValueError(f"the run is not one of the plain perceptron on these rows: {reason}.")
