"""The command line in this process, and a file for it to learn from."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from unittest import mock

import numpy as np

from novikoff.cli import app


@dataclass
class Result:
    """What a command wrote, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def run_any(*arguments: object, input: bytes | str = b"") -> Result:
    """Run a command in this process, in 80 columns, with these bytes as standard input."""

    def stream(content: bytes = b"") -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", write_through=True)

    content = input.encode() if isinstance(input, str) else input
    stdin, stdout, stderr = stream(content), stream(), stream()
    with (
        mock.patch.multiple("sys", stdin=stdin, stdout=stdout, stderr=stderr),
        mock.patch.dict(os.environ, {"COLUMNS": "80"}),
    ):
        code = app.run([str(a) for a in arguments])
    texts = [each.buffer.getvalue().decode() for each in (stdout, stderr)]
    return Result(code, *texts)


def run(*arguments: object, code: int = 0, input: bytes | str = b"") -> Result:
    """Run a command in this process, and require this exit code."""
    result = run_any(*arguments, input=input)
    assert result.exit_code == code, result.output
    return result


def error_of(*arguments: object, input: bytes | str = b"") -> str:
    """The one line with which a command ends in bad input."""
    result = run(*arguments, code=1, input=input)
    (line,) = result.stderr.splitlines()
    assert line.startswith("novikoff: error: ")
    assert "Traceback" not in result.output
    return line.removeprefix("novikoff: error: ")


def usage_error(*arguments: object, input: bytes | str = b"") -> str:
    """What a command says that is used wrongly."""
    return run(*arguments, code=2, input=input).stderr


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
