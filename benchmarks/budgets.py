"""Budgets compared with no budget: `python -m benchmarks.budgets` prints the tables of docs/budgets.md.

One pass over real files in a random order, rbf kernel: the share of rows that were mistakes at their visit,
and the time per row. `--rows` limits the number of rows.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.hindsight import at_hand, read
from novikoff.kernel.budget import budget_model
from novikoff.kernel.kernels import NamedKernel

GAMMA = {"ijcnn1": 2.0, "a9a": 0.05}
BUDGETS = (100, 300, 1000)
POLICIES = ("projectron", "projectron++", "forgetron", "oldest", "random")


def rows_of_file(name: str, n: int | None) -> tuple[Any, Any]:
    """Rows in a random order, and labels 0 and 1."""
    X, y = read(name)
    order = np.random.default_rng(0).permutation(X.shape[0])[:n]
    X = X[order]
    return X.toarray() if name == "ijcnn1" else X, (y[order] > 0).astype(np.int32)


def one_pass(X: Any, labels: Any, gamma: float, budget: int | None, policy: str) -> tuple[Any, float]:
    """The learner after one pass, and the microseconds per row."""
    rng = np.random.default_rng(0)
    learner = budget_model(NamedKernel("rbf", gamma=gamma), 2, X, budget=budget, policy=policy, rng=rng)
    started = time.perf_counter()
    learner.learn(X, labels)
    return learner, 1e6 * (time.perf_counter() - started) / len(labels)


def mistakes(name: str, n: int | None) -> None:
    X, labels = rows_of_file(name, n)
    free, micros = one_pass(X, labels, GAMMA[name], None, "projectron")
    rate = 100 * free.native.wrong / len(labels)
    print(f"\n{name}, {len(labels):,} rows, rbf with γ = {GAMMA[name]}; without a budget ", end="")
    print(f"{rate:.2f} % mistakes, {free.native.size:,} supports, {micros:.0f} µs per row\n")
    print("| policy | " + " | ".join(f"B = {b:,} | µs" for b in BUDGETS) + " |")
    print("|---|" + "---|" * 2 * len(BUDGETS))
    for policy in POLICIES:
        cells = []
        for budget in BUDGETS:
            learner, micros = one_pass(X, labels, GAMMA[name], budget, policy)
            assert learner.native.size <= budget
            cells += [f"{100 * learner.native.wrong / len(labels):.2f} %", f"{micros:.0f}"]
        print(f"| {policy} | {' | '.join(cells)} |", flush=True)


def constant(name: str, n: int | None, budget: int = 300, parts: int = 5) -> None:
    """Time and memory as the stream advances: parts of the rows, one after another."""
    X, labels = rows_of_file(name, n)
    size = len(labels) // parts
    heads = [f"{k * size:,}–{(k + 1) * size:,}" for k in range(parts)]
    print(f"\n{name}, B = {budget}: µs per row and kB held as the stream advances\n")
    print(f"| rows | {' | '.join(heads)} |\n|---|" + "---|" * parts)
    for policy in (None, *POLICIES):
        learner = budget_model(
            NamedKernel("rbf", gamma=GAMMA[name]), 2, X,
            budget=None if policy is None else budget, policy=policy or "projectron",
        )  # fmt: skip
        cells = []
        for k in range(parts):
            part = slice(k * size, (k + 1) * size)
            started = time.perf_counter()
            learner.learn(X[part], labels[part])
            micros = 1e6 * (time.perf_counter() - started) / size
            cells.append(f"{micros:.0f} µs, {learner.memory / 1000:,.0f}")
        print(f"| {policy or 'no budget'} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--rows", type=int, help="rows of each file (default: all)")
    n = parser.parse_args().rows
    for name in filter(at_hand, GAMMA):
        mistakes(name, n)
    if at_hand("ijcnn1"):
        constant("ijcnn1", n)


if __name__ == "__main__":
    main()
