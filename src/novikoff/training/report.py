"""The report of a fit: how good the model is, the verdict, advice; then the counts with their bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from novikoff.outward import ceil_count, ceil_text, floor_count, floor_text
from novikoff.shown import Shown, as_html, table_lines, table_text
from novikoff.training.riffle import in_words
from novikoff.training.run import Run
from novikoff.training.tally import Score, hundredths, percent

WAYS = {"voted": "the votes of all", "averaged": "the averaged ones", "last": ""}  # what predicts
UNEVEN = 1000.0  # columns that differ in size by this factor or more should be scaled
SAMPLED = ("uneven", "off_centre")  # what only advice is made of
OFF_CENTRE = 10.0  # rows that lie this many times as far from 0 as from their mean should be centred


@dataclass(frozen=True)
class Figures:
    """The figures that a family adds to those of every `Run`; see `Report` for each."""

    rule: str
    n_features: int
    n_classes: int | None
    mistakes: int
    updates: int
    radius: float
    margin_upper: float
    bound: str
    bound_lower: float
    bound_upper: float
    margin: float | None = None  # None: as in the run
    settled: tuple[int, int] | None = None  # decisions by compensated sums and by the accumulator, if counted
    what: str = "rows"
    log2_radius: float | None = None
    values_rounded: bool = False
    assumed: str = ""
    missing: str = ""
    predicts: str = ""  # what predicts, if not the last weights
    unit: str = ""  # what is right or wrong, if not `what`
    way: str = ""  # of predicting, for models that have several
    factors: tuple[float, float] | None = None  # smallest and largest, if columns were learned with factors
    apart: bool = False  # each class was learned against the rest


def report_of(run: Run, figures: Figures, name: str, order: str) -> Report:
    """The report on `run`; `name` and `order` are shown unchanged."""
    timed = bool(run.history) and all("seconds" in record for record in run.history)  # else from a file
    settled = figures.settled if timed and figures.settled is not None else (None, None)
    own = {key: value for key, value in vars(figures).items() if key not in ("margin", "settled", "way")}
    return Report(
        **own,
        model=name,
        n_rows=run.n_rows,
        n_epochs=len(run.history),
        converged=run.converged,
        last_epoch_mistakes=int(run.history[-1]["mistakes"]) if run.history else 0,
        verdict=run.verdict,
        witness=run.witness_is,
        consistent=run.consistent,
        margin=run.margin if figures.margin is None else figures.margin,
        training_errors=run.training_errors,
        training=run.score if run.way == figures.way else None,
        held_out=run.held_out,
        first_mistakes=int(run.history[0]["mistakes"]) if run.history else 0,
        in_runs=run.in_runs,
        uneven=run.uneven,
        off_centre=run.off_centre,
        compensated=settled[0],
        accumulator=settled[1],
        order=f"{figures.what} in the order of arrival" if run.as_given else in_words(order),
        seconds=sum(record["seconds"] for record in run.history) if timed else None,
        n_shards=run.n_shards,
        mixed=run.mixed if run.n_shards > 1 else None,
    )


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """The outcome of a fit: `str(report)` says how good it is, `report.proof` what is proved about it.

    `report.to_dict()` has all figures. `training`, `held_out` and `test` are scores of what predicts:
    (errors, n, largest), where `largest` is the number of rows of the most frequent class.

    The bound is known up to a bracket, because training itself brackets the margin γ:
    the witness's margin ≤ γ ≤ ‖w‖/Στ. `bound_upper` is infinite if the data were not separated.
    `bound_lower` is infinite if γ ≤ 0 was proved: then nothing separates the data, and there is no bound.
    Brackets and their printed digits are rounded outward. A bound is stated only if the run meets the
    theorem's hypotheses; otherwise `missing` names one that it does not meet.
    """

    model: str
    rule: str
    n_rows: int
    n_features: int
    n_classes: int | None  # None: the outputs are not classes
    n_epochs: int
    converged: bool
    mistakes: int
    updates: int
    last_epoch_mistakes: int
    verdict: str
    consistent: bool | None
    radius: float
    margin: float
    margin_upper: float
    bound: str  # empty if none is known to hold: with a budget, or a rule with variances
    bound_lower: float
    bound_upper: float
    training_errors: int | None
    compensated: int | None  # None, like `seconds`, for a report from a file
    accumulator: int | None
    order: str
    seconds: float | None  # None for a model loaded from a file
    log2_radius: float | None = None  # if the radius itself overflows
    n_shards: int = 0  # number of shards whose weights were mixed; 0: no mixing
    mixed: float | None = None  # Σ μ·k, the bounded count: each shard's count times its mixing weight
    what: str = "rows"  # the plural name of the examples
    values_rounded: bool = False  # kernel values were rounded; decisions are exact for the rounded values
    assumed: str = ""  # a hypothesis of the theorem and the margin that cannot be checked; empty: none
    missing: str = ""  # a hypothesis of the theorem that the run does not meet; empty: none
    witness: str = "last"  # what separates: the last weights, these "lifted" by their bias, or others "found"
    predicts: str = ""  # what predicts, if not the last weights
    unit: str = ""  # what is right or wrong, if not `what`
    apart: bool = False  # each class was learned against the rest
    training: Score | None = None  # None: not counted
    held_out: Score | None = None
    test: Score | None = None
    first_mistakes: int = 0  # in the first epoch, each row predicted before it was learned
    in_runs: bool = False  # rows of one class stand together
    uneven: float = 1.0  # as in `Run`
    off_centre: float = 1.0  # as in `Run`
    factors: tuple[float, float] | None = None  # smallest and largest, if columns were learned with factors

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        figures = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in SAMPLED
        }
        scores = {name: score.to_dict() for name, score in figures.items() if isinstance(score, Score)}
        return figures | scores | {"advice": self.advice}

    # -- how good it is
    @property
    def advice(self) -> str:
        """What may give a better model, in the words of Python; empty if there is no reason for any."""
        train, unseen = self.training, self.test or self.held_out
        if self.n_classes is None or self.what != "rows":
            return ""
        good = train is not None and not train.errors and not _is_worse(unseen, train)
        if self.in_runs and self.in_given_order and not good:
            remedy = "shuffle them first" if train is None else "`order='riffle'`"
            return f"rows of one class stand together, which spoils what is learned: {remedy}"
        if train is None:
            return ""
        if train.errors and self.uneven >= UNEVEN:
            return (
                f"some columns hold values {_rough(self.uneven)} times as large as others: scale them, as by "
                "`scale='auto'`"
            )
        if train.errors and self.off_centre >= OFF_CENTRE:
            return (
                f"rows lie {_rough(self.off_centre)} times as far from 0 as from their mean: "
                "`scale='standard'` centres the columns, which shortens rows, and the training that they "
                "need"
            )
        if _is_worse(unseen, train):
            return "unseen rows are predicted much worse: fewer epochs, `early_stopping=True`, or more rows"
        baseline = train.baseline
        if baseline is not None and train.accuracy - baseline < 0.2 * (1 - baseline):
            other = "another rule, or a kernel" if self.predicts else "`average=True`, or another rule"
            other = "another kernel" if self._has_kernel else other
            return f"hardly better than always answering the most frequent class: try {other}"
        return ""

    @property
    def _has_kernel(self) -> bool:
        return self.model.startswith("Kernel")

    @property
    def in_given_order(self) -> bool:
        """Whether the rows were visited in their own order."""
        return self.order == "cyclic" or self.order.endswith("in the order of arrival")

    def _good(self) -> list[tuple[str, str]]:
        """How often what predicts is right: on the training rows, and on others."""
        unit = self.unit or self.what
        lines = []
        if self.training is not None:
            sample = f" (a sample of the {self.n_rows:,})" if self.training.n < self.n_rows else ""
            lines.append(("training", score_text(self.training, f"{unit}{sample}")))
        elif self.n_epochs == 1 and self.n_rows and self.first_mistakes <= self.n_rows:
            first = score_text(Score(self.first_mistakes, self.n_rows), self.what)
            lines.append(("training", f"{first}, each predicted before it was learned"))
        for name, score in (("held out", self.held_out), ("test", self.test)):
            if score is not None:
                lines.append((name, score_text(score, unit)))
        return lines

    def _lines(self) -> list[tuple[str, str]]:
        advice = [("advice", self.advice)] if self.advice else []
        return [
            *self._good(),
            ("verdict", self._verdict()),
            *advice,
            ("data", self._data()),
            ("epochs", f"{self.n_epochs:,} ({self._ending()}), {self.order}{self._time()}"),
        ]

    # -- what is proved about it
    @property
    def proof(self) -> Proof:
        """Counts with their bounds, the bracket of the margin, and how decisions were made."""
        return Proof(self.model, tuple(self._proof_lines()))

    def _proof_lines(self) -> list[tuple[str, str]]:
        count = "updates" if self.rule in ("margin", "structured", "cost-augmented") else "mistakes"
        if self.mixed is not None:
            count = f"Σ μ·{count} = {floor_count(self.mixed)}"
        lines = [
            ("mistakes", f"{self.mistakes:,} in all, {self.last_epoch_mistakes:,} in the last epoch"),
            ("updates", f"{self.updates:,}"),
            ("bound", self._bound(count)),
            ("margin", self._margin()),
            (
                "radius",
                f"R = {self.radius:.6g}" if self.log2_radius is None else f"R = 2^{self.log2_radius:.6g}",
            ),
        ]
        if self.factors is not None:
            low, high = (round(math.log2(factor)) for factor in self.factors)
            lines.append(
                ("scale", f"bound, margin and R are of the columns times powers of two, 2^{low} to 2^{high}")
            )
        if self.compensated is not None:
            close = f"{self.compensated:,} decision(s) too close for plain floating point, decided exactly"
            lines.append(("exactness", close))
        return lines

    def _data(self) -> str:
        if self.n_classes is None:
            return f"{self.n_rows:,} examples, weights for {self.n_features:,} features"
        shards = f", {self.n_shards:,} shard(s)" if self.n_shards else ""
        return f"{self.n_rows:,} {self.what} × {self.n_features:,} features, {self.n_classes} classes{shards}"

    def _verdict(self) -> str:
        if self.n_classes is None:
            return self._structured_verdict()
        if self.verdict == "separated":
            rounded = " for the kernel values as rounded" if self.values_rounded else ""
            if self.what == "sentences":
                what = "every sentence's own labels are strictly above all others"
            else:
                what = "every row lies strictly on its own side"
            if self.witness == "found":
                return (
                    f"separable, as the weights in `witness_` prove: {what}, checked exactly{self._wrong()}"
                )
            if self.witness == "lifted":
                how = "the last weights with ties at 0 raised through the bias"
                how = how if self._has_kernel else f"`witness_`, {how}"
                return f"separated by {how}: {what}, checked exactly{rounded}"
            if self.predicts:
                exactly = f"checked exactly{rounded}; {self.predicts} predict"
                return f"separated by the last weights: {what}, {exactly}"
            return f"separated: {what}, checked exactly{rounded}"
        if self.verdict == "inseparable":
            return self._inseparable()
        if self.consistent or (self.training_errors == 0 and not self.predicts):
            tied = "scores are equal" if self.what == "sentences" else "score is exactly 0"
            return f"undecided: the last weights get every one of these {self.what} right, but some {tied}"
        if self.consistent is None:
            return f"undecided: the {self.what} were read once, and not checked again"
        if self.training_errors == 0:
            return (
                f"undecided: {self.predicts} get every one of these {self.what} right; whether any weights "
                "put them strictly on their own sides was not asked"
            )
        return f"undecided: whether any weights get all of these {self.what} right is not known"

    def _inseparable(self) -> str:
        if self.apart:
            return "inseparable: some class cannot be separated from all the others together, as was proved"
        if self.consistent or self.training_errors == 0:
            who = "those that predict" if self.training_errors == 0 else "the last ones"
            right = f"{who} get every one of these {self.what} right"
            return f"inseparable: whatever the weights, some score is 0 or wrong, as was proved; {right}"
        return f"inseparable: no weights put all of these {self.what} on their own sides, as was proved"

    def _wrong(self) -> str:
        """The training errors, in a clause."""
        if self.training_errors is None:
            return ""
        return f"; the weights that predict make {self.training_errors:,} error(s)"

    def _structured_verdict(self) -> str:
        if self.verdict == "separated":
            return "separated: every right output scores strictly more than any other"
        if self.verdict == "consistent":
            return "consistent: every output is right, but the decoder may miss the best one"
        if self.consistent:
            return "undecided: consistent (every output is right), but another one has the same score"
        if self.consistent is None:
            return "undecided: the last weights were not checked against the examples"
        return "undecided: the last weights still get examples wrong"

    def _ending(self) -> str:
        return "converged" if self.converged else "not converged"

    def _time(self) -> str:
        return "" if self.seconds is None else f", {self.seconds:.3g} s"

    def _bound(self, count: str) -> str:
        if not self.bound:
            budget = "Novikoff's proof needs every update, and a budget removes or projects some"
            return f"none: {self.missing or budget}"
        if self.missing:
            return f"{self.bound} is not stated: {self.missing}"
        if self._none_separates():
            return (
                f"{self.bound}: none, nothing separates these {self.what} (w = 0 after an update proves it)"
            )
        if not math.isfinite(self.bound_upper) and self.bound_lower == 0:
            return f"{self.bound}: γ is unknown so far"
        low, high = floor_count(self.bound_lower), ceil_count(self.bound_upper)
        assumed = f", {self.assumed}" if self.assumed else ""
        if not math.isfinite(self.bound_upper):
            return f"{count} ≤ {self.bound}{assumed}, if the data are separable: then {self.bound} ≥ {low}"
        return f"{count} ≤ {self.bound}, which lies between {low} and {high}{assumed}"

    def _none_separates(self) -> bool:
        """Whether γ ≤ 0 was proved by a sum of steps that is 0."""
        return self.margin_upper == 0

    def _margin(self) -> str:
        bounded = math.isfinite(self.margin_upper)
        upper = f"γ ≤ {ceil_text(self.margin_upper)}"
        assumed = f", {self.assumed}" if self.assumed else ""
        if self.verdict == "separated" and self.margin >= 0:
            return f"{floor_text(self.margin)} ≤ " + (upper if bounded else "γ") + assumed
        if self._none_separates():
            return f"{upper} (‖w‖/Στ): nothing separates these {self.what}"
        unknown = "no separating weights found yet"
        if self.verdict == "separated":
            unknown = "the gap to the next best outputs is unknown"
            if self.n_classes is not None:
                unknown = (
                    f"the margin of w is unknown: {self.missing or 'the scores are within rounding of 0'}"
                )
        return f"{upper} (‖w‖/Στ){assumed}; {unknown}" if bounded else unknown

    def __str__(self) -> str:
        return table_text(self.model, self._lines())

    def in_full(self) -> str:
        """The report and its proof."""
        return table_text(self.model, [*self._lines(), *self._proof_lines()])

    def __repr__(self) -> str:
        good = "; ".join(f"{name} {text.partition(':')[0]}" for name, text in self._good())
        return f"<Report of {self.model}: {good or 'not judged'}; {self.verdict}>"

    def _repr_html_(self) -> str:
        return f"{as_html(str(self))}<details><summary>Proof</summary>{as_html(str(self.proof))}</details>"


@dataclass(frozen=True, repr=False)
class Proof(Shown):
    """The part of a report that theorems are about."""

    model: str
    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([f"Proof for {self.model}", *table_lines(self.lines)])


def score_text(score: Score, unit: str = "rows") -> str:
    """A score in one line; 100 % only without an error.

    >>> score_text(Score(1, 30_000, 20_000))
    '99.99 % correct: 1 error on 30,000 rows (always the most frequent class: 66.67 %)'
    """
    errors = f"{score.errors:,} error{'' if score.errors == 1 else 's'} on {score.n:,} {unit}"
    f1 = "" if score.f1 is None else f"F1 {hundredths(score.f1)}, "
    text = f"{f1}{percent(score.n - score.errors, score.n)} correct: {errors}"
    if score.largest is None:
        return text
    kind = "label" if unit.startswith("tokens") else "class"
    return f"{text} (always the most frequent {kind}: {percent(score.largest, score.n)})"


def _rough(factor: float) -> str:
    """A factor of at least 10 by its first two digits, rounded down.

    >>> _rough(12_645.0), _rough(2.5e17)
    ('12,000', '2.5e+17')
    """
    if factor >= 1e15:
        return f"{factor:.2g}"
    digits = str(int(factor))
    return f"{int(digits[:2] + '0' * (len(digits) - 2)):,}"


def _is_worse(unseen: Score | None, train: Score) -> bool:
    """Whether the errors on unseen rows are far more than those on the training rows."""
    if unseen is None:
        return False
    return 1 - unseen.accuracy > 2 * (1 - train.accuracy) + 0.1
