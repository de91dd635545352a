"""Advice on training that follows from a diagnosis: a few sentences in plain words.

Advice on how to learn follows from the trials on held-out rows. An undecided question gives none that
presumes an answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from novikoff.outward import count_text

if TYPE_CHECKING:
    from novikoff.theory.findings import Diagnosis

CLEARLY = 1.15  # ratio of two medians from which they differ clearly
FEW = 10  # mistakes; medians that differ by fewer do not differ clearly
UNSTEADY = 1.5  # ratio of most to fewest mistakes from which the order matters
RARE = 0.1  # share of the rows below which a class is rare
FAR = 10.0  # ratio of R to the spread, or of two columns, from which scaling is advised
HARDLY = 0.9  # share of the errors of guessing from which a way is hardly better


def advise(d: Diagnosis) -> list[str]:
    """Sentences, the most important first."""
    sentences: list[str] = []
    _about_contradictions(d, sentences)
    _about_ways(d, sentences)
    _about_the_verdict(d, sentences)
    _about_the_bias(d, sentences)
    _about_normalizing(d, sentences)
    _about_scale(d, sentences)
    _about_order(d, sentences)
    _about_balance(d, sentences)
    return sentences


def number_of(n: int, what: str) -> str:
    """A count with its noun.

    >>> number_of(1, "group"), number_of(2000, "row")
    ('1 group', '2,000 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _about_contradictions(d: Diagnosis, sentences: list[str]) -> None:
    found = d.contradictions
    if found is None or found.first is None:
        return
    sentences.append(
        f"Look at {d.words.pair(*found.first)}: they are equal and have different labels. "
        f"{number_of(found.rows, 'row')} in {number_of(found.groups, 'group')} of equal rows differ in their "
        f"labels, so every rule makes at least {number_of(found.errors, 'training error')}. Another feature "
        "may distinguish them."
    )


def _about_the_verdict(d: Diagnosis, sentences: list[str]) -> None:
    words, best = d.words, d.best_way
    auto = words.setting("max_epochs", "auto")
    if d.verdict == "separable":
        if d.run is not None and d.run.converged:
            sentences.append(
                "The perceptron ends when an epoch passes without a mistake, which happens eventually in "
                f"any order: in that of the rows it took {number_of(d.run.epochs, 'epoch')}."
            )
        elif d.run is not None:
            text = "Some weights get every row right, but their margin is narrow: "
            text += f"{number_of(d.run.epochs, 'epoch')} did not find them."
            if best is None or best is d.usual:
                text += f" More may ({words.name('max_epochs')})."
            sentences.append(f"{text} {words.widest}".rstrip())
    elif d.verdict == "inseparable":
        text = (
            f"No weights get every row right, so the mistakes never end: {auto}, the default, ends training"
        )
        if best is None or best.way.average:
            text += ", and the mean of the weights predicts"
        sentences.append(f"{text}. {words.pocket}".rstrip())
    else:
        text = (
            "Whether some weights get every row right was not decided; a larger "
            f"{words.name('time_limit')} may decide it."
        )
        sentences.append(text + " The errors on held-out rows do not depend on it." * bool(d.trials))


def _about_the_bias(d: Diagnosis, sentences: list[str]) -> None:
    lifted, plain = d.verdict_with_bias, d.verdict_without_bias
    if lifted == "separable" and plain == "inseparable":
        keep = d.words.setting("fit_intercept", True)
        sentences.append(f"Keep the bias ({keep}): without it the rows are not separable.")
    elif lifted == plain == "separable":
        sentences.append("A bias is not needed to separate these rows.")


def _about_ways(d: Diagnosis, sentences: list[str]) -> None:
    best, usual = d.best_way, d.usual
    if best is None:
        return
    learner = d.words.learner(**best.way.parameters)
    if usual is None:  # left out: see `ways`
        sentences.append(
            f"Use {learner}: {best} errors on held-out rows. The default weights would overflow."
        )
    elif best is usual:
        sentences.append(
            f"The defaults are good here: {best} errors on held-out rows, and no other way is clearly better."
        )
    else:
        sentences.append(f"Use {learner}: {best} errors on held-out rows, where the defaults make {usual}.")
    if best.rate > HARDLY * d.guess_rate:
        sentences.append(
            "That is hardly better than always predicting the most frequent class "
            f"({100 * d.guess_rate:.2f} % errors): the features say little about the labels, or the relation "
            f"is not linear, and a kernel may learn it ({d.words.kernel})."
        )


def _about_normalizing(d: Diagnosis, sentences: list[str]) -> None:
    """What the orders show, unless the held-out rows show otherwise."""
    orders = {o.rule: o for o in d.orders}
    if not {"perceptron", "normalized"} <= orders.keys():
        return
    best = d.best_way
    tried = next((t for t in d.trials if t.way.parameters == {"rule": "normalized"}), None)
    plain, scaled = (orders[rule].quartiles[1] for rule in ("perceptron", "normalized"))
    counts = f"{count_text(scaled)} instead of {count_text(plain)} (medians over the same orders)"
    rule = d.words.setting("rule", "normalized")
    if abs(plain - scaled) < FEW:
        return
    if plain > CLEARLY * scaled:
        if tried is not None and d.usual is not None and d.usual.clearly_beats(tried):
            sentences.append(
                f"Normalizing ({rule}) makes fewer mistakes while it learns, {counts}, but not on held-out "
                f"rows: {tried} errors."
            )
        elif best is None or tried is None or not best.clearly_beats(tried):
            sentences.append(f"Normalizing helps: {rule} makes fewer mistakes while it learns, {counts}.")
    elif scaled > CLEARLY * plain and (best is None or best is not tried):
        sentences.append(f"Do not normalize: {rule} makes more mistakes while it learns, {counts}.")


def _about_scale(d: Diagnosis, sentences: list[str]) -> None:
    if d.trials:
        return  # they show what scaling brings
    if 0 < d.spread < math.inf and FAR * d.spread < d.row_radius < math.inf:
        sentences.append(
            f"Centre the columns: the rows lie {d.row_radius / d.spread:,.0f} times as far from the origin "
            "as from one another, and the bound grows with the square of R."
        )
    elif d.fit_intercept and d.row_radius > FAR**2 * d.intercept_scaling:
        sentences.append(
            f"The values are large compared with the bias coordinate ({d.intercept_scaling:g}; norms of rows "
            f"are up to {d.row_radius:,.4g}), so the bias is learned slowly: scale the columns."
        )


def _about_order(d: Diagnosis, sentences: list[str]) -> None:
    if d.in_runs:
        riffle, cyclic = (d.words.setting("order", order) for order in ("riffle", "cyclic"))
        sentences.append(
            f"Rows of one class are adjacent: mix them ({riffle}, the default), because their own order "
            f"({cyclic}) gives poor weights."
        )
        return
    plain = next((o for o in d.orders if o.rule == "perceptron"), None)
    if plain is not None and plain.mistakes.max() > UNSTEADY * max(int(plain.mistakes.min()), 1):
        sentences.append(
            f"The order matters: from {plain.mistakes.min():,} to {plain.mistakes.max():,} mistakes. Do not "
            "judge by a single run."
        )


def _about_balance(d: Diagnosis, sentences: list[str]) -> None:
    rarest = min(d.class_counts.values()) / d.n_rows
    if rarest < RARE / max(len(d.class_counts) - 1, 1):
        name = min(d.class_counts, key=lambda c: d.class_counts[c])
        sentences.append(
            f"Class {name} is rare ({100 * rarest:.2g} % of the rows): if its rows matter as much as all "
            f"others together, set {d.words.setting('class_weight', 'balanced')}."
        )
