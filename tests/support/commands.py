"""The command line in this process, and a file for it to learn from."""

import numpy as np
from typer.testing import CliRunner

from novikoff.cli.app import make_app

APP = make_app()


def run(*arguments: object, code: int = 0, **more):
    """Run a command in this process, and require this exit code."""
    result = CliRunner().invoke(APP, [str(a) for a in arguments], **more)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code != code:
        raise AssertionError(result.output) from result.exception
    return result


def error_of(*arguments: object, **more) -> str:
    """The one line with which a command ends in bad input."""
    result = run(*arguments, code=1, **more)
    (line,) = result.stderr.splitlines()
    assert line.startswith("novikoff: error: ")
    assert "Traceback" not in result.output
    return line.removeprefix("novikoff: error: ")


def usage_error(*arguments: object, **more) -> str:
    return run(*arguments, code=2, **more).stderr


def svm_text(n: int = 400, seed: int = 0, labels: tuple[str, ...] = ("-1", "+1")) -> str:
    """Rows in LIBSVM text whose labels a linear model can mostly tell."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.5), 3)
    scores = X @ np.random.default_rng(7).normal(size=(12, len(labels)))
    y = np.argmax(scores + rng.normal(scale=0.3, size=scores.shape), axis=1)
    lines = []
    for row, k in zip(X, y, strict=True):
        stored = " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(row) if v)
        lines.append(f"{labels[k]} {stored}".strip())
    return "\n".join(lines) + "\n"
