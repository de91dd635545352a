"""The costs of a fresh process: the time of an import, and the memory of a fit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.table import Row, faster, span
from benchmarks.timing import interleave

LATER = 0.1  # seconds that `import novikoff` may take beyond `import numpy`
GROWTH = 0.05  # of the data's size

FIT = """
import json, sys
import numpy as np
from novikoff import Perceptron

def peak():  # VmHWM, in bytes
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

rng = np.random.default_rng(0)
X = np.empty((327_680, 784), dtype=np.float32)
rng.random(dtype=np.float32, out=X)
y = rng.integers(0, 2, len(X))
before = peak()
Perceptron(order=sys.argv[1], average=False, max_epochs=2).fit(X, y)
print(json.dumps([X.nbytes, before, peak()]))
"""


def helps(repeat: int) -> Iterator[Row]:
    def command(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    ours, nothing = command("-m", "novikoff", "--help"), command("-c", "pass")
    times = interleave({"novikoff": ours, "nothing": nothing}, repeat)
    more = times["novikoff"].best - times["nothing"].best
    yield Row(
        "`novikoff --help`",
        span(times["novikoff"].best),
        "`python -c pass`",
        span(times["nothing"].best),
        f"{more:+.2f} s",
        "≤ +0.3 s",
        more <= 0.3,
    )


def imports(repeat: int) -> Iterator[Row]:
    statements = {
        "numpy": "import numpy",
        "novikoff": "import novikoff",
        "nothing": "pass",
        "Perceptron": "from novikoff import Perceptron",
        "scikit-learn's": "from sklearn.linear_model import Perceptron",
    }
    times = interleave({name: lambda code=code: run(code) for name, code in statements.items()}, repeat)
    best = {name: t.best for name, t in times.items()}
    later = best["novikoff"] - best["numpy"]
    yield Row(
        "a process that does `import novikoff`",
        span(best["novikoff"]),
        "`import numpy`",
        span(best["numpy"]),
        f"{later:+.3f} s",
        f"≤ +{LATER:g} s",
        later <= LATER,
    )
    yield faster("a process that does `import novikoff`", best["novikoff"], "no import", best["nothing"])
    yield faster(
        "a process that does `from novikoff import Perceptron`",
        best["Perceptron"],
        "the same from sklearn.linear_model",
        best["scikit-learn's"],
    )


def memory(repeat: int) -> Iterator[Row]:
    """The growth of the peak does not vary, so one process per order is enough."""
    for order in ("cyclic", "shuffle"):
        size, before, after = json.loads(run(FIT, order))
        growth = (after - before) / size
        yield Row(
            f"peak memory of a fit, {size / 2**30:.2f} GiB float32, {order}",
            f"+{(after - before) / 2**20:.1f} MiB",
            "the data itself",
            f"{size / 2**20:.0f} MiB",
            f"+{growth:.1%}",
            f"≤ {GROWTH:.0%}",
            growth <= GROWTH,
        )


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
