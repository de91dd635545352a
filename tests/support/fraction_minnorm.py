"""The nearest point of a hull to the origin, in fractions: γ² as a rational number."""

import math
from fractions import Fraction

from support.oracles import dot as dot
from support.oracles import solved


def affine(points):
    """Weights, summing to 1, of the point of the affine hull that is nearest to the origin."""
    k = len(points)
    A = [[Fraction(0)] + [Fraction(1)] * k]
    A += [[Fraction(1)] + [dot(p, q) for q in points] for p in points]
    return solved(A, [Fraction(1)] + [Fraction(0)] * k)[1:]


def nearest_square(Z):
    """‖the nearest point of the hull of Z‖²: γ² where Z can be separated, else 0 (Wolfe 1976, exactly)."""
    Z = [tuple(Fraction(v) for v in z) for z in Z]
    corral = [min(range(len(Z)), key=lambda i: dot(Z[i], Z[i]))]
    weights = [Fraction(1)]
    while True:
        x = [
            sum((w * Z[i][j] for w, i in zip(weights, corral, strict=True)), Fraction(0))
            for j in range(len(Z[0]))
        ]
        square = dot(x, x)
        at = min(range(len(Z)), key=lambda i: dot(x, Z[i]))
        if dot(x, Z[at]) >= square:
            return square
        corral, weights = [*corral, at], [*weights, Fraction(0)]
        while True:
            wanted = affine([Z[i] for i in corral])
            if all(w > 0 for w in wanted):
                weights = wanted
                break
            step = min(w / (w - v) for w, v in zip(weights, wanted, strict=True) if v <= 0 and w > v)
            weights = [w + step * (v - w) for w, v in zip(weights, wanted, strict=True)]
            corral, weights = (
                list(t)
                for t in zip(*((i, w) for i, w in zip(corral, weights, strict=True) if w > 0), strict=True)
            )


def root(q, bits=200):
    """√q, cut off after so many bits."""
    shift = bits - (q.numerator.bit_length() - q.denominator.bit_length()) // 2
    return math.isqrt(int(q * Fraction(4) ** shift)) / Fraction(2) ** shift


def vectors(X, y, *, bias=0.0, weights=None, unit=False, classes=2):
    """The z of `novikoff.proof.problem` as fractions; `unit` scales rows to norm 1, up to 2⁻²⁰⁰."""
    found = []
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = [Fraction(float(v)) for v in row] + ([Fraction(bias)] if bias else [])
        factor = Fraction(1 if weights is None else float(weights[i]))
        if unit and any(x):
            factor /= root(dot(x, x))
        x = [factor * v for v in x]
        if classes == 2:
            found.append([v if label else -v for v in x])
            continue
        for rival in range(classes):
            if rival != label:
                z = [Fraction(0)] * (classes * len(x))
                z[label * len(x) : (label + 1) * len(x)] = x
                z[rival * len(x) : (rival + 1) * len(x)] = [-v for v in x]
                found.append(z)
    return found
