"""A diagnosis as text and as a page."""

from __future__ import annotations

import base64
import html
import math
import textwrap
from typing import TYPE_CHECKING

from novikoff.outward import ceil_count, count_text, floor_count
from novikoff.proof.verdicts import Inseparable

if TYPE_CHECKING:
    from novikoff.theory.diagnosis import Diagnosis
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
        how += f"; {len(d.proof.rows)} rows with weights prove it"
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
    i, j = found.first
    return (
        f"{found.rows:,} rows in {found.groups:,} group(s) of equal rows with different labels, the first "
        f"being rows {i:,} and {j:,} (from 0): at least {found.errors:,} training errors for any rule"
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
    return f"{d.run.mistakes:,} mistakes in {d.run.epochs:,} epoch(s) ({end}), {first}"


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
    rows = d.trials[0].rows if d.trials else 0
    return f"errors on {rows:,} rows held out"


# ---- text --------------------------------------------------------------------------------------------
def as_text(d: Diagnosis) -> str:
    """All findings, each as a line or a small table."""
    lines = [f"Diagnosis of {d.n_rows:,} rows × {d.n_features:,} features, {d.n_classes} classes"]

    def line(name: str, text: str) -> None:
        parts = textwrap.wrap(text, WIDTH - 13) or [""]
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
        cells = [(str(t.way), f"{100 * t.rate:.2f} %") for t in d.trials]
        guess = ("always the most frequent class", f"{100 * d.guess_rate:.2f} %")
        table("held out", [(trials_head(d), ""), *cells, guess])
    for k, text in enumerate(d.advice):
        line("advice" if not k else "", f"{k + 1}. {text}")
    end = "interrupted after" if d.interrupted else "took"
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
th { font-weight: 600; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
ol { padding-left: 1.3rem; } li { margin: .35rem 0; }
figure { display: inline-block; margin: .5rem 1% 1rem 0; width: 47%; min-width: 20rem; vertical-align: top; }
figure img { width: 100%; height: auto; } figcaption { font-weight: 600; font-size: .95rem; }
footer { color: #666; font-size: .85rem; margin-top: 2rem; }
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
    title = f"Diagnosis of {d.n_rows:,} rows × {d.n_features:,} features"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1>{_findings(d)}{shown}{_footer(d)}</body></html>\n"
    )


def as_fragment(d: Diagnosis) -> str:
    """The findings without pictures, for a notebook."""
    return f"<div><b>Diagnosis of {d.n_rows:,} rows × {d.n_features:,} features</b>{_findings(d)}</div>"


def _findings(d: Diagnosis) -> str:
    e = html.escape
    advice = "".join(f"<li>{e(text)}</li>" for text in d.advice)
    facts = [
        ("classes", classes_line(d)),
        ("equal rows", contradictions_line(d)),
        ("radius", radius_line(d)),
        ("margin", str(d.margin)),
        ("own order", run_line(d)),
    ]
    rows = "".join(f"<tr><th>{name}</th><td>{e(text)}</td></tr>" for name, text in facts)
    parts = [
        f'<p class="lead">{e(verdict_line(d))}</p>',
        f"<h2>What to do</h2><ol>{advice}</ol>" if advice else "",
        f"<h2>What was found</h2><table>{rows}</table>",
    ]
    if d.bounds:
        parts.append(
            _table("Bounds on the mistakes", [("bound", "allowed", "made"), *map(bound_cells, d.bounds)])
        )
    if d.orders:
        head = ("rule", "orders", "least", "median", "most")
        parts.append(_table(f"Random orders: {orders_head(d)}", [head, *order_cells(d)]))
    if d.trials:
        cells = [(str(t.way), f"{t.errors:,}", f"{100 * t.rate:.2f} %") for t in d.trials]
        guess = ("always the most frequent class", "", f"{100 * d.guess_rate:.2f} %")
        parts.append(_table(f"Ways to learn: {trials_head(d)}", [("way", "errors", "rate"), *cells, guess]))
    return "".join(parts)


def _table(title: str, cells: list[tuple[str, ...]]) -> str:
    def line(row: tuple[str, ...], tag: str) -> str:
        parts = (f"<{tag}{' class=n' if k else ''}>{html.escape(cell)}</{tag}>" for k, cell in enumerate(row))
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in cells[1:])
    return f"<h2>{html.escape(title)}</h2><table>{line(cells[0], 'th')}{body}</table>"


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


def _footer(d: Diagnosis) -> str:
    ended = "interrupted after" if d.interrupted else "made in"
    return f"<footer>novikoff diagnose, {ended} {d.seconds:.1f} s</footer>"
