"""The scores of a tagger, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novikoff.tagging.scoring import TagScores


def headlines(scores: TagScores) -> list[str]:
    """The outcome in two lines, or in one if the labels are not chunks; and labels that are not known."""
    every = scores.chunks.all
    lines = []
    if scores.spelled:
        lines.append(
            f"F1 {100 * every.f1:.2f}: precision {100 * every.precision:.2f} %, recall "
            f"{100 * every.recall:.2f} %; of {every.true:,} chunks {every.right:,} found, with "
            f"{every.found - every.right:,} wrong ones"
        )
    wrong = scores.chunks.tokens - scores.chunks.right_tokens
    lines.append(
        f"{100 * scores.chunks.accuracy:.2f} % of tokens correct: {wrong:,} errors on "
        f"{scores.chunks.tokens:,} (always the most frequent label: {100 * scores.baseline:.2f} %); "
        f"{scores.right_sentences:,} of {scores.sentences:,} sentences right from end to end"
    )
    if scores.unknown:
        most = ", ".join(f"{label!r} ({n:,})" for label, n in scores.unknown.most_common(5))
        lines.append(f"labels that the tagger does not know, counted as errors: {most}")
    return lines


def score_lines(scores: TagScores) -> list[str]:
    """All figures."""
    out = headlines(scores)
    name = "type" if scores.spelled else "label"
    wide = max(len(each) for each in [*scores.chunks.types, name])
    out += [
        "",
        f"{name:<{wide}} {'true':>9} {'found':>9} {'right':>9} {'precision':>10} {'recall':>8} {'F1':>8}",
    ]
    for label, s in scores.chunks.types.items():
        counts = f"{s.true:>9,} {s.found:>9,} {s.right:>9,}"
        precision = f"{100 * s.precision:.2f}" if s.found else "-"
        recall = f"{100 * s.recall:.2f}" if s.true else "-"
        out.append(f"{label:<{wide}} {counts} {precision:>10} {recall:>8} {100 * s.f1:>8.2f}")
    return out
