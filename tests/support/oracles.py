"""The truth in fractions: claims by their definition, margins, runs. The library shares none of it."""

from fractions import Fraction
from itertools import chain, combinations

from support.fraction_lp import is_separable as is_separable


def z_of(content, X, y):
    """z of every row (and rival), as {(row, rival): list of fractions}, and each row's class."""
    classes, c = content["classes"], Fraction(content["bias"])
    labels = [classes.index(label if isinstance(label, str) else str(int(label))) for label in y]
    lifted = [[Fraction(float(v)) for v in x] + [c] for x in X]
    z, width = {}, len(lifted[0])
    for i, (x, k) in enumerate(zip(lifted, labels, strict=True)):
        if len(classes) == 2:
            z[i, 0] = [v if k else -v for v in x]
            continue
        for r in set(range(len(classes))) - {k}:
            blocks = [[Fraction(0)] * width for _ in classes]
            blocks[k], blocks[r] = x, [-v for v in x]
            z[i, r] = list(chain.from_iterable(blocks))
    return z, labels


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def vector_of(content, claim, width):
    """u in the lifted space, from coef and intercept."""
    c, u = Fraction(content["bias"]), []
    for coef, b in zip(claim["coef"], claim["intercept"], strict=True):
        coef = map_fractions(coef)
        assert len(coef) >= width
        (b,) = map_fractions([b])
        assert c or not b
        u.append([*coef[:width], b / c if c else Fraction(0), *coef[width:]])
    return u


def is_separating(content, claim, z, width):
    u = vector_of(content, claim, width)
    square = sum(dot(v, v) for v in u)
    flat = list(chain.from_iterable(v[: width + 1] for v in u))
    least = min(dot(flat, each) for each in z.values())
    return claim["gamma"] >= 0 and least > 0 and least**2 >= Fraction(claim["gamma"]) ** 2 * square


def is_wrong(content, k, scores):
    """Whether the scores (one, or one for each class) are a mistake for class k."""
    strict = content["ties"] == "mistake"
    if len(scores) == 1:
        s = scores[0] if k else -scores[0]
        return s < 0 or (s == 0 and (strict or k == 0))
    return any(
        s > scores[k] or (s == scores[k] and (strict or r < k)) for r, s in enumerate(scores) if r != k
    )


def is_true(content, claim, X, y):
    """Whether a claim holds, by its definition."""
    X = X[
        :, : max((j + 1 for j in range(X.shape[1]) if X[:, j].any()), default=0)
    ]  # zeros at the end are nothing
    z, labels = z_of(content, X, y)
    width, kind = X.shape[1], claim["claim"]
    joint = len(content["classes"]) > 2
    if kind == "separable":
        return is_separating(content, claim, z, width)
    if kind == "errors":
        wrong = 0
        for x, k in zip(X, labels, strict=True):
            pairs = zip(claim["coef"], claim["intercept"], strict=True)
            x = [Fraction(float(v)) for v in x]
            scores = [dot(map_fractions(w[:width]), x) + map_fractions([b])[0] for w, b in pairs]
            wrong += is_wrong(content, k, scores)
        return wrong == claim["errors"]
    if kind in ("inseparable", "margin at most"):
        exact = kind == "inseparable"
        alpha = [Fraction(int(w, 16)) if exact else Fraction(w) for w in claim["weights"]]
        pairs = list(zip(claim["rows"], claim["rivals"] or [0] * len(alpha), strict=True))
        total = [
            sum(a * v for a, v in zip(alpha, column, strict=True))
            for column in zip(*(z[p] for p in pairs), strict=True)
        ]
        square = dot(total, total)
        if exact:
            return all(a > 0 for a in alpha) and square == 0
        limit = Fraction(claim["epsilon"]) * sum(alpha)
        return all(a >= 0 for a in alpha) and sum(alpha) > 0 and square <= limit**2
    assert kind == "run"
    radius, n = max(dot(v, v) for v in z.values()), len(X)
    if Fraction(claim["epsilon"]) > radius / 2**20:
        return False
    w = [Fraction(0)] * len(next(iter(z.values())))
    updates = dict(zip(claim["updates"], claim["rivals"] or [0] * len(claim["updates"]), strict=True))
    epsilon = Fraction(0)  # until the first update, which nothing can round
    for t in range(claim["visits"]):
        i = t % n if claim["order"] == "cyclic" else claim["order"][t]
        gaps = {r: dot(w, v) for (row, r), v in z.items() if row == i}
        # scores up to a constant: the own class at 0, each rival at minus its gap
        scores = [-gaps.get(r, 0) for r in range(len(content["classes"]))] if joint else [gaps[0]]
        if not joint and not labels[i]:
            scores = [-gaps[0]]
        if t in updates:
            worst = min(gaps, key=lambda r: (gaps[r], r))
            fits = gaps[updates[t]] <= epsilon
            if not epsilon:
                fits = is_wrong(content, labels[i], scores) and updates[t] == worst
            w = [a + b for a, b in zip(w, z[i, updates[t]], strict=True)]
            epsilon = Fraction(claim["epsilon"])
        else:
            fits = min(gaps.values()) >= -epsilon if epsilon else not is_wrong(content, labels[i], scores)
        if not fits:
            return False
    bound = len(updates) * Fraction(claim["gamma"]) ** 2
    return bound <= radius + 2 * Fraction(claim["epsilon"]) and is_separating(content, claim, z, width)


def map_fractions(values):
    """Floats, integers, or integers in hexadecimal, as fractions."""
    return [Fraction(int(v, 16)) if isinstance(v, str) else Fraction(v) for v in values]


# ---- margins and runs ----------------------------------------------------------------------------------
def solved(A, b):
    """x with A·x = b by Gauss's elimination, or None when there is not exactly one."""
    n = len(A)
    rows = [[*map(Fraction, line), Fraction(right)] for line, right in zip(A, b, strict=True)]
    for j in range(n):
        r = next((i for i in range(j, n) if rows[i][j]), None)
        if r is None:
            return None
        rows[j], rows[r] = rows[r], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(n):
            if i != j and rows[i][j]:
                f = rows[i][j]
                rows[i] = [a - f * c for a, c in zip(rows[i], rows[j], strict=True)]
    return [line[-1] for line in rows]


def margin_square(Z):
    """γ², the square of the distance of the hull of Z from the origin (0 where the hull contains it).

    The nearest point lies inside a face whose points are affinely independent, and is the nearest of the
    plane through them: all subsets are tried.
    """
    best = None
    for size in range(1, min(len(Z), len(Z[0]) + 1) + 1):
        for F in combinations(range(len(Z)), size):
            # minimise ‖Σ α z‖² with Σα = 1: G·α = λ·1
            A = [[dot(Z[i], Z[j]) for j in F] + [Fraction(-1)] for i in F] + [[1] * size + [0]]
            x = solved(A, [0] * size + [1])
            if x is None or min(x[:-1]) < 0:
                continue
            w = [sum(a * Z[i][k] for a, i in zip(x, F, strict=False)) for k in range(len(Z[0]))]
            square = dot(w, w)
            if best is None or square < best:
                best = square
    return best


def vectors(X, y, bias=0.0, weights=None):
    """z of every row (and rival), as lists of fractions; y are class numbers from 0."""
    joint, out = max(y) > 1, []
    for i, (x, k) in enumerate(zip(X, y, strict=True)):
        x = [Fraction(float(v)) for v in x] + ([Fraction(bias)] if bias else [])
        c = Fraction(1) if weights is None else Fraction(float(weights[i]))
        x = [c * v for v in x]
        if not joint:
            out.append(x if k else [-v for v in x])
            continue
        for r in sorted(set(range(max(y) + 1)) - {k}):
            blocks = [[Fraction(0)] * len(x) for _ in range(max(y) + 1)]
            blocks[k], blocks[r] = x, [-v for v in x]
            out.append(list(chain.from_iterable(blocks)))
    return out


def perceptron(X, y, bias, epochs, ties="positive"):
    """The visits of a cyclic run of two classes from w = 0 at which it is updated, in fractions."""
    Z = vectors(X, y, bias)
    w, updates = [Fraction(0)] * len(Z[0]), []
    for t in range(epochs * len(Z)):
        z, k = Z[t % len(Z)], y[t % len(Z)]
        s = dot(w, z)
        if s < 0 or (s == 0 and (ties == "mistake" or not k)):
            w = [a + b for a, b in zip(w, z, strict=True)]
            updates.append(t)
    return updates
