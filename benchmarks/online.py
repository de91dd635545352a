"""One example at a time, dicts of 20 numbers: OnlinePerceptron beside river and Vowpal Wabbit.

Each peer predicts and then learns every example; the peers take turns, and the best of the rounds
counts. Vowpal Wabbit is given its choice: an example built once from the dict and used for both, or
a line of its own text format, formatted beforehand and only learned (its learning predicts, too).
"""

import argparse
import random
import time
from collections.abc import Callable

from novikoff.online import OnlinePerceptron

Rows = list[tuple[dict[str, float], bool]]


def make_rows(n: int, d: int, fresh_keys: bool) -> Rows:
    draw = random.Random(0)
    names = [f"f{j}" for j in range(d)]
    u = [draw.gauss(0, 1) for _ in names]
    rows = []
    for _ in range(n):
        x = [draw.gauss(0, 1) for _ in names]
        keys = [f"f{j}" for j in range(d)] if fresh_keys else names
        rows.append((dict(zip(keys, x, strict=True)), sum(map(float.__mul__, u, x)) + draw.gauss(0, 1) > 0))
    return rows


def stepwise(model) -> Callable[[Rows], None]:
    def run(rows: Rows) -> None:
        predict_one, learn_one = model.predict_one, model.learn_one
        for x, y in rows:
            predict_one(x)
            learn_one(x, y)

    return run


def vowpal_wabbit_examples() -> Callable[[Rows], None]:
    from vowpalwabbit import pyvw

    vw = pyvw.Workspace("--quiet --binary --loss_function hinge")

    def run(rows: Rows) -> None:
        for x, y in rows:
            example = vw.example({"n": x})
            vw.predict(example)
            example.set_label_string("1" if y else "-1")
            vw.learn(example)
            vw.finish_example(example)

    return run


def vowpal_wabbit_lines(rows: Rows) -> Callable[[Rows], None]:
    from vowpalwabbit import pyvw

    vw = pyvw.Workspace("--quiet --binary --loss_function hinge")
    lines = [f"{1 if y else -1} | " + " ".join(f"{k}:{v}" for k, v in x.items()) for x, y in rows]

    def run(_: Rows) -> None:
        for line in lines:
            vw.learn(line)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    from river import linear_model

    rows = make_rows(options.rows, options.features, fresh_keys=False)
    fresh = make_rows(options.rows, options.features, fresh_keys=True)
    runs = {
        "novikoff": (stepwise(OnlinePerceptron()), rows),
        "novikoff, keys made anew": (stepwise(OnlinePerceptron()), fresh),
        "novikoff, averaged": (stepwise(OnlinePerceptron(average=True)), rows),
        "novikoff, 2^18 places": (stepwise(OnlinePerceptron(hash_bits=18)), rows),
        "novikoff, pa1": (stepwise(OnlinePerceptron("pa1")), rows),
        "river": (stepwise(linear_model.Perceptron()), rows),
        "Vowpal Wabbit, examples": (vowpal_wabbit_examples(), rows),
        "Vowpal Wabbit, lines": (vowpal_wabbit_lines(rows), rows),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(options.rounds):
        for name, (run, data) in runs.items():
            start = time.perf_counter()
            run(data)
            best[name] = min(best[name], (time.perf_counter() - start) / len(data))
    for name, seconds in best.items():
        print(f"{name:28}{seconds * 1e9:8.0f} ns  {seconds / best['novikoff']:6.1f}x")


if __name__ == "__main__":
    main()
