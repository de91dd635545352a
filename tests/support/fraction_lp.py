"""Linear inequalities decided with fractions: the plain definition that exact verdicts are compared with."""

from fractions import Fraction


def some_u(Z, least):
    """u with z·u ≥ least[i] for every row z of Z, or None when there is none.

    Phase one of the textbook simplex method (u = p − q, a slack and an artificial variable a row) with
    Bland's rule.
    """
    n, d = len(Z), len(Z[0])
    lines = []
    for i, (z, b) in enumerate(zip(Z, least, strict=True)):
        z = [Fraction(v) for v in z]
        slack = [Fraction(-(i == k)) for k in range(n)]
        artificial = [Fraction(i == k) for k in range(n)]
        lines.append([*z, *(-v for v in z), *slack, *artificial, Fraction(b)])
    basis = [2 * d + n + i for i in range(n)]
    cost = [-sum(column) for column in zip(*lines, strict=True)]
    cost[2 * d + n : 2 * d + 2 * n] = [Fraction(0)] * n
    while True:
        entering = next((j for j in range(2 * d + n) if cost[j] < 0), None)
        if entering is None:
            break
        ratios = [
            (line[-1] / line[entering], basis[i], i) for i, line in enumerate(lines) if line[entering] > 0
        ]
        r = min(ratios)[2]
        pivot = lines[r][entering]
        lines[r] = [v / pivot for v in lines[r]]
        for i in range(n):
            if i != r and lines[i][entering]:
                f = lines[i][entering]
                lines[i] = [a - f * b for a, b in zip(lines[i], lines[r], strict=True)]
        f = cost[entering]
        cost = [a - f * b for a, b in zip(cost, lines[r], strict=True)]
        basis[r] = entering
    if cost[-1] != 0:
        return None
    values = [Fraction(0)] * (2 * d + 2 * n)
    for i, line in zip(basis, lines, strict=True):
        values[i] = line[-1]
    return [values[j] - values[d + j] for j in range(d)]


def is_separable(Z):
    """Whether some u has z·u > 0 for every z; it can be scaled to z·u ≥ 1."""
    return some_u(Z, [1] * len(Z)) is not None


def is_consistent(Z, strict):
    """Whether some u has z·u > 0 where a tie is a mistake, and ≥ 0 elsewhere."""
    return some_u(Z, [int(s) for s in strict]) is not None
