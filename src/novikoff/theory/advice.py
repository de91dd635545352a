"""Advice on training that follows from a diagnosis: a few sentences in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.theory.diagnosis import Diagnosis
    from novikoff.theory.trials import Trial, Way

CLEARLY = 1.15  # ratio of two medians from which they differ clearly
UNSTEADY = 1.5  # ratio of most to fewest mistakes from which the order matters
RARE = 0.1  # share of the rows below which a class is rare
PLAIN = "perceptron"  # the name of the first way that is tried
FAR = 10.0  # ratio of R to the spread, or of two columns, from which scaling is advised


def advise(d: Diagnosis) -> list[str]:
    """Sentences, the most important first."""
    sentences: list[str] = []
    _about_contradictions(d, sentences)
    _about_the_verdict(d, sentences)
    _about_the_bias(d, sentences)
    _about_normalizing(d, sentences)
    _about_scale(d, sentences)
    _about_ways(d, sentences)
    _about_order(d, sentences)
    _about_balance(d, sentences)
    return sentences


def _about_contradictions(d: Diagnosis, sentences: list[str]) -> None:
    found = d.contradictions
    if found is None or found.first is None:
        return
    i, j = found.first
    sentences.append(
        f"Look at rows {i:,} and {j:,} (numbered from 0): they are equal and have different labels. "
        f"There are {found.groups:,} such group(s) of equal rows, {found.rows:,} rows in all, so every rule "
        f"makes at least {found.errors:,} training errors. Another feature may distinguish them."
    )


def _about_the_verdict(d: Diagnosis, sentences: list[str]) -> None:
    if d.verdict == "separable":
        if d.run is not None and d.run.converged:
            sentences.append(
                f"Train until an epoch passes without a mistake: that took {d.run.epochs:,} epoch(s) here, "
                "and it happens eventually in any order."
            )
        elif d.run is not None:
            sentences.append(
                f"A perfect separation exists, but its margin is narrow: {d.run.epochs:,} epochs did not "
                "find it. Give it more epochs (max_epochs), or take the weights of theory.max_margin."
            )
    elif d.verdict == "inseparable":
        text = "No linear threshold gets every row right, so the mistakes never end: set the number of epochs"
        if d.best_way is None or d.best_way.way.average:
            text += " and average the weights"
        sentences.append(f"{text}. Pocket keeps the weights with the fewest training errors.")
    else:
        sentences.append(
            "Separability was not decided within the time limit; a larger time_limit may decide it. "
            "Until then treat the rows as inseparable: a fixed number of epochs, averaged weights."
        )


def _about_the_bias(d: Diagnosis, sentences: list[str]) -> None:
    lifted, plain = d.verdict_with_bias, d.verdict_without_bias
    if lifted == "separable" and plain == "inseparable":
        sentences.append("Keep the bias (fit_intercept=True): without it the rows are not separable.")
    elif lifted == plain == "separable":
        sentences.append("A bias is not needed to separate these rows.")


def _about_normalizing(d: Diagnosis, sentences: list[str]) -> None:
    orders = {o.rule: o for o in d.orders}
    if not {"perceptron", "normalized"} <= orders.keys():
        return
    plain, scaled = (orders[rule].quartiles[1] for rule in ("perceptron", "normalized"))
    if plain > CLEARLY * scaled:
        sentences.append(
            f"Normalizing helps: the rule 'normalized' makes {scaled:,.0f} mistakes where the plain rule "
            f"makes {plain:,.0f} (medians over the same orders)."
        )
    elif scaled > CLEARLY * plain:
        sentences.append(
            f"Do not normalize: it makes {scaled:,.0f} mistakes instead of {plain:,.0f} (medians over the "
            "same orders)."
        )


def _about_scale(d: Diagnosis, sentences: list[str]) -> None:
    if 0 < d.spread < math.inf and FAR * d.spread < d.row_radius < math.inf:
        sentences.append(
            f"Centre the columns: the rows lie {d.row_radius / d.spread:,.0f} times as far from the origin "
            "as from one another, and the bound grows with the square of R."
        )
    elif d.best_way is not None and (d.best_way.way.scale or d.best_way.way.rule == "normalized"):
        return  # scaling is advised below
    elif d.fit_intercept and d.row_radius > FAR**2 * d.intercept_scaling:
        sentences.append(
            f"The values are large compared with the bias coordinate ({d.intercept_scaling:g}; norms of rows "
            f"are up to {d.row_radius:,.4g}), so the bias is learned slowly: scale the columns."
        )


def _steadily_better(a: Trial, b: Trial) -> bool:
    """Whether `a` is better than `b` by more than chance easily explains."""
    return b.rate - a.rate > 2 * math.hypot(a.doubt, b.doubt) / math.sqrt(2)


def _call(way: Way) -> str:
    """The way as a call."""
    parts = ([repr(way.rule)] if way.rule != "perceptron" else []) + ["average=True"] * way.average
    call = f"Perceptron({', '.join(parts)})"
    return call if way.scale is None else f"{call} after scaling the columns (--scale {way.scale})"


def _about_ways(d: Diagnosis, sentences: list[str]) -> None:
    if not d.trials:
        return
    best, first = d.best_way, d.trials[0]
    assert best is not None
    if str(first.way) != PLAIN:  # the plain perceptron was left out: see `overflow`
        rate = f"{100 * best.rate:.2f} % errors on {best.rows:,} held-out rows"
        sentences.append(f"Use {_call(best.way)}: {rate}. The plain perceptron's weights would overflow.")
    elif best is first:
        sentences.append(
            f"The plain perceptron is enough: no other way was clearly better on {first.rows:,} held-out "
            f"rows ({100 * first.rate:.2f} % errors)."
        )
    else:
        sentences.append(
            f"Use {_call(best.way)}: {100 * best.rate:.2f} % errors on {best.rows:,} held-out rows, where "
            f"the plain perceptron made {100 * first.rate:.2f} %."
        )
    if d.guess_rate is not None and best.rate > 0.9 * d.guess_rate:
        sentences.append(
            "That is hardly better than always predicting the most frequent class "
            f"({100 * d.guess_rate:.2f} % errors): the features say little about the labels, or the relation "
            "is not linear."
        )


def _about_order(d: Diagnosis, sentences: list[str]) -> None:
    if d.in_runs:
        sentences.append(
            "Shuffle the rows: rows of one class are adjacent, which gives a perceptron poor weights."
        )
        return
    plain = next((o for o in d.orders if o.rule == "perceptron"), None)
    if plain is not None and plain.mistakes.max() > UNSTEADY * max(int(plain.mistakes.min()), 1):
        sentences.append(
            f"The order matters: from {plain.mistakes.min():,} to {plain.mistakes.max():,} mistakes. Do not "
            "judge by a single run; averaging reduces the effect."
        )


def _about_balance(d: Diagnosis, sentences: list[str]) -> None:
    rarest = min(d.class_counts.values()) / d.n_rows
    if rarest < RARE / max(len(d.class_counts) - 1, 1):
        name = min(d.class_counts, key=lambda c: d.class_counts[c])
        sentences.append(
            f"Class {name} is rare ({100 * rarest:.2g} % of the rows): if its rows matter as much as all "
            "others together, set class_weight='balanced'."
        )
