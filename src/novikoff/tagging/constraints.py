"""Which label may follow which: the bigrams seen in training, any, or the rules of BIO or IOBES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from novikoff.tagging.chain import Allowed
from novikoff.tagging.sequences import Ids, Sequences


def allowed(
    transitions: str,
    classes: Sequence[Any],
    x: Sequences,
    labels: Ids,
    earlier: Allowed | None = None,
    *,
    where: Callable[[int], str] | None = None,
) -> Allowed:
    """The transitions that `transitions` allows; a ValueError if the labels themselves break them.

    "first-order" allows the bigrams of the labels, and those of `earlier`. The error names the place that
    `where` gives, or else the sentence and the token.
    """
    n = len(classes)
    if transitions == "any":
        return Allowed.everything(n)
    if transitions == "first-order":
        step = np.zeros((n, n), dtype=np.uint8) if earlier is None else earlier.step.copy()
        before = np.ones(x.n_tokens, dtype=bool)
        before[x.starts[1:][x.lengths > 0] - 1] = False  # the last token of a sentence has no successor
        at = np.flatnonzero(before)
        step[labels[at], labels[at + 1]] = 1
        everything = Allowed.everything(n)
        return Allowed(step, everything.start, everything.end)
    made = _scheme(transitions, classes)
    _check(made, transitions, classes, x, labels, where)
    return made


def _scheme(name: str, classes: Sequence[Any]) -> Allowed:
    """BIO: I-x only after B-x or I-x. IOBES: also, a chunk that B-x begins continues until E-x."""
    parts = [_parts(label, name) for label in classes]
    n, iobes = len(parts), name == "iobes"
    made = Allowed.everything(n)
    for p, (before, kind) in enumerate(parts):
        opens = before in ("B", "I")
        made.start[p] = before not in ("I", "E")
        made.end[p] = not (iobes and opens)
        for c, (after, other) in enumerate(parts):
            continues = after in ("I", "E")
            if continues or (iobes and opens):
                made.step[p, c] = continues and opens and kind == other
    return made


def _parts(label: Any, name: str) -> tuple[str, str]:
    tag, _, kind = str(label).partition("-")
    legal = "BIO" if name == "bio" else "BIOES"
    if len(tag) != 1 or tag not in legal or (tag == "O") != (not kind):
        listed = ", ".join("O" if t == "O" else f"{t}-…" for t in legal)
        raise ValueError(f"transitions={name!r} needs labels of the form {listed}; got {label!r}.")
    return tag, kind


def _check(
    made: Allowed,
    name: str,
    classes: Sequence[Any],
    x: Sequences,
    labels: Ids,
    where: Callable[[int], str] | None,
) -> None:
    """Check that the labels of every sentence are allowed."""
    cuts = x.starts[1:][x.lengths > 0]
    first, last = x.starts[:-1][x.lengths > 0], cuts - 1
    inside = np.ones(max(x.n_tokens - 1, 0), dtype=bool)
    inside[last[:-1]] = False
    bad = np.zeros(x.n_tokens, dtype=bool)
    bad[1:] = inside & (made.step[labels[:-1], labels[1:]] == 0)
    bad[first] |= made.start[labels[first]] == 0
    ends = made.end[labels[last]] == 0
    if not bad.any() and not ends.any():
        return
    t = int(np.argmax(bad)) if bad.any() else int(last[np.argmax(ends)])
    s = int(np.searchsorted(x.starts, t, side="right")) - 1
    label = classes[int(labels[t])]
    if bad.any():
        found = "begins the sentence" if t == x.starts[s] else f"follows {classes[int(labels[t - 1])]!r}"
    else:
        found = "ends the sentence"
    place = f"sentence {s}, token {t - int(x.starts[s])}" if where is None else where(t)
    raise ValueError(
        f"{place}: the label {label!r} {found}, which {name.upper()} does not allow: correct the labels, or "
        "use transitions='first-order'."
    )
