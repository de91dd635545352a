"""A diagnosis as text and as a page."""

from __future__ import annotations

import base64
import html
import math
import re
import textwrap
from typing import TYPE_CHECKING

from novikoff import __version__
from novikoff.outward import ceil_count, count_text, floor_count
from novikoff.proof.verdicts import Inseparable
from novikoff.shown import table_html
from novikoff.theory.advice import number_of

if TYPE_CHECKING:
    from novikoff.theory.findings import Diagnosis
    from novikoff.theory.formulas import Bound

WIDTH = 100  # of the text
SHOWN = 8  # classes


# ---- the findings, line by line ----------------------------------------------------------------------
def classes_line(d: Diagnosis) -> str:
    counts = sorted(d.class_counts.items(), key=lambda c: -c[1])
    parts = [f"{name}: {n:,} ({100 * n / d.n_rows:.1f} %)" for name, n in counts[:SHOWN]]
    if len(counts) > SHOWN:
        parts.append(f"and {len(counts) - SHOWN} more")
    return ", ".join(parts)


def verdict_line(d: Diagnosis) -> str:
    mine, other = d.verdict_with_bias, d.verdict_without_bias
    if mine == other:
        text = f"{mine}, with or without a bias"
    elif mine == "separable" and other == "inseparable":
        text = "separable with a bias; not without one"
    else:
        text = f"with a bias: {mine}; without: {other}"
    how = getattr(d.proof, "how", getattr(d.proof, "reason", ""))
    if isinstance(d.proof, Inseparable):
        how += f"; {number_of(len(d.proof.rows), 'row')} with weights prove it"
        if d.proof.consistent:
            how += ", yet zero errors are possible when ties count as right"
    return f"{text} ({how})" if how else text


def contradictions_line(d: Diagnosis) -> str:
    found = d.contradictions
    if found is None:
        return "not checked"
    if not found.groups:
        return "no equal rows with different labels"
    assert found.first is not None
    return (
        f"{number_of(found.rows, 'row')} in {number_of(found.groups, 'group')} of equal rows with different "
        f"labels, the first being {d.words.pair(*found.first)}: at least "
        f"{number_of(found.errors, 'training error')} for any rule"
    )


def radius_line(d: Diagnosis) -> str:
    lifted = f", with the bias coordinate {d.intercept_scaling:g}" if d.fit_intercept else ""
    spread = f"; largest distance from the mean row {d.spread:.6g}" if math.isfinite(d.spread) else ""
    return f"R = {d.radius:.6g}{lifted}{spread}"


def bound_cells(b: Bound) -> tuple[str, str, str]:
    """Name and formula, the allowed count, the count made."""
    low, high = floor_count(b.lower, most=1e9), ceil_count(b.upper, most=1e9)
    if b.lower == math.inf:
        allowed = "none: nothing separates these rows (proved)"
    elif not math.isfinite(b.upper):
        allowed = f"at least {low}" if b.lower else "not known"
    elif "gamma_upper" in b.ingredients and low != high:  # it is known up to a bracket
        allowed = f"{low} to {high}"
    else:
        allowed = high
    made = "" if b.made is None else f"{b.made:,}"
    return f"{b.name}, {b.formula}: {b.holds_for}", allowed, made


def run_line(d: Diagnosis) -> str:
    if d.run is None:
        return d.overflow or "not reached"
    end = "converged" if d.run.converged else "not converged"
    first = f"{d.run.first_epoch:,} in the first"
    epochs = number_of(d.run.epochs, "epoch")
    return f"{number_of(d.run.mistakes, 'mistake')} in {epochs} ({end}), {first}"


def order_cells(d: Diagnosis) -> list[tuple[str, str, str, str, str]]:
    """Rule, orders, least, median and most mistakes."""
    return [
        (
            o.rule,
            f"{len(o.mistakes):,}",
            f"{o.mistakes.min():,}",
            count_text(o.quartiles[1]),
            f"{o.mistakes.max():,}",
        )
        for o in d.orders
    ]


def orders_head(d: Diagnosis) -> str:
    one = d.orders and d.orders[0].one_pass
    return "mistakes of one pass" if one else "mistakes until an epoch passes without one"


def trials_head(d: Diagnosis) -> str:
    trial = d.trials[0]
    n, times = max(trial.rows), len(trial.rows)
    of = f"{times} times {n:,} rows" if times > 1 else f"{n:,} rows"
    return f"errors on held-out rows ({of}): mean ± standard error"


def trial_cells(d: Diagnosis) -> list[tuple[str, ...]]:
    """Way, errors, and whether it is advised."""
    best = d.best_way
    cells: list[tuple[str, ...]] = [(str(t.way), str(t), "advised" if t is best else "") for t in d.trials]
    return [*cells, ("always the most frequent class", f"{100 * d.guess_rate:.2f} %", "")]


def next_line(d: Diagnosis) -> str:
    """The command that learns in the way advised, where there are commands."""
    return d.words.next(**d.best_way.way.parameters) if d.best_way is not None else ""


def made_rows(d: Diagnosis) -> list[tuple[str, str]]:
    """What was examined, how, and by what."""
    options = ", ".join(d.words.setting(*each) for each in d.options.items())
    took = f"{'interrupted after' if d.interrupted else 'took'} {d.seconds:.1f} s"
    rows = [
        ("data", d.words.data),
        ("command", d.words.command),
        ("options", options),
        ("version", f"novikoff {__version__}, {took}"),
    ]
    return [(name, text) for name, text in rows if text]


# ---- text --------------------------------------------------------------------------------------------
def as_text(d: Diagnosis) -> str:
    """All findings, each as a line or a small table."""
    lines = [f"Diagnosis of {d.n_rows:,} rows × {d.n_features:,} features, {d.n_classes} classes"]

    def line(name: str, text: str) -> None:
        kept = re.sub(r" (±) (\S+) (%)", "\N{NO-BREAK SPACE}".join(["", r"\1", r"\2", r"\3"]), text)
        wrapped = textwrap.wrap(kept, WIDTH - 13, break_on_hyphens=False, break_long_words=False)
        parts = [part.replace("\N{NO-BREAK SPACE}", " ") for part in wrapped] or [""]
        lines.extend([f"  {name:<10} {parts[0]}", *(f"             {part}" for part in parts[1:])])

    def table(name: str, cells: list[tuple[str, ...]]) -> None:
        wide = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        for k, row in enumerate(cells):
            text = "  ".join(
                f"{cell:<{w}}" if not at else f"{cell:>{w}}"
                for at, (cell, w) in enumerate(zip(row, wide, strict=True))
            )
            lines.append(f"  {name if not k else '':<10} {text.rstrip()}")

    line("classes", classes_line(d))
    line("verdict", verdict_line(d))
    line("equal rows", contradictions_line(d))
    line("radius", radius_line(d))
    line("margin", str(d.margin))
    if d.bounds:
        table("bounds", [("mistakes are at most", "allowed", "made"), *map(bound_cells, d.bounds)])
    line("own order", run_line(d))
    if d.orders:
        table("orders", [(orders_head(d), "orders", "least", "median", "most"), *order_cells(d)])
    if d.trials:
        line("held out", trials_head(d))
        table("", trial_cells(d))
    for k, text in enumerate(d.advice):
        line("advice" if not k else "", f"{k + 1}. {text}")
    end = "interrupted after" if d.interrupted else "took"
    if following := next_line(d):
        lines.append(f"  {'next':<10} {following}")  # one line, to be copied
    line("", f"({end} {d.seconds:.1f} s)")
    return "\n".join(lines)


# ---- a page ------------------------------------------------------------------------------------------
STYLE = """
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: #222;
  background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
p.lead { font-size: 1.1rem; margin-top: .2rem; }
table { border-collapse: collapse; margin: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0;
  border-bottom: 1px solid #e4e4e4; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; }
ol { padding-left: 1.3rem; } li { margin: .35rem 0; }
.advised td { font-weight: 600; }
figure { display: inline-block; margin: .5rem 1% 1rem 0; width: 47%; min-width: 20rem; vertical-align: top; }
figure img { width: 100%; height: auto; } figcaption { font-weight: 600; font-size: .95rem; }
.facts th { white-space: nowrap; } .facts td { overflow-wrap: anywhere; }
code { background: #f3f3f3; padding: .2rem .4rem; overflow-wrap: anywhere; }
"""


def as_page(d: Diagnosis, pictures: bool | None = None) -> str:
    """A whole page. By default it has pictures if matplotlib is installed."""
    shown = ""
    if pictures is not False:
        try:
            shown = _pictures(d)
        except ImportError:
            if pictures:
                raise
    title = html.escape(f"Diagnosis of {d.words.data or 'arrays'}")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1><p>{d.n_rows:,} rows × {d.n_features:,} features, {d.n_classes} classes</p>"
        f"{_findings(d)}{shown}<h2>How it was made</h2>{_facts(made_rows(d))}</body></html>\n"
    )


def as_fragment(d: Diagnosis) -> str:
    """The findings without pictures, for a notebook."""
    return f"<div><b>Diagnosis of {d.n_rows:,} rows × {d.n_features:,} features</b>{_findings(d, 'h4')}</div>"


def _findings(d: Diagnosis, heading: str = "h2") -> str:
    e = html.escape
    advice = "".join(f"<li>{e(text)}</li>" for text in d.advice)
    following = f"<p><code>{e(command)}</code></p>" if (command := next_line(d)) else ""
    facts = [
        ("classes", classes_line(d)),
        ("equal rows", contradictions_line(d)),
        ("radius", radius_line(d)),
        ("margin", str(d.margin)),
        ("own order", run_line(d)),
    ]
    parts = [
        f'<p class="lead">{e(verdict_line(d))}</p>',
        f"<{heading}>What to do</{heading}><ol>{advice}</ol>{following}" if advice else "",
        f"<{heading}>What was found</{heading}>{_facts(facts)}",
    ]
    if d.bounds:
        parts.append(
            _table(
                heading, "Bounds on the mistakes", [("bound", "allowed", "made"), *map(bound_cells, d.bounds)]
            )
        )
    if d.orders:
        head = ("rule", "orders", "least", "median", "most")
        parts.append(_table(heading, f"Random orders: {orders_head(d)}", [head, *order_cells(d)]))
    if d.trials:
        parts.append(
            _table(heading, f"Ways to learn: {trials_head(d)}", [("way", "errors", ""), *trial_cells(d)])
        )
    return "".join(parts)


def _facts(rows: list[tuple[str, str]]) -> str:
    return table_html(rows).replace("<table>", "<table class=facts>")


def _table(heading: str, title: str, cells: list[tuple[str, ...]]) -> str:
    def line(row: tuple[str, ...], tag: str) -> str:
        right = " style='text-align:right'"  # not a class: notebooks have no styles of ours
        parts = (f"<{tag}{right if k else ''}>{html.escape(cell)}</{tag}>" for k, cell in enumerate(row))
        return f"<tr{' class=advised' if row[-1] == 'advised' else ''}>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in cells[1:])
    return f"<{heading}>{html.escape(title)}</{heading}><table>{line(cells[0], 'th')}{body}</table>"


def _pictures(d: Diagnosis) -> str:
    from novikoff.plots.panels import DiagnosisDisplay

    made = DiagnosisDisplay(d).images()
    if not made:
        return ""
    figures = (
        f'<figure><figcaption>{html.escape(title)}</figcaption><img alt="{html.escape(title)}" '
        f'src="data:image/png;base64,{base64.b64encode(image).decode()}"></figure>'
        for title, image in made
    )
    return f"<h2>Pictures</h2>{''.join(figures)}"
