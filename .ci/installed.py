"""Use novikoff as a wheel installed it, in an environment without a compiler; `.ci/wheel.py` runs this."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

import novikoff
from novikoff import _core
from novikoff.theory import certify, read_certificate

POINTS = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]  # CMU 10-601
LABELS = [-1, 1, 1, -1, -1, 1]


def learned() -> str:
    """A digest of models, which must not depend on the instructions that there are."""
    warnings.simplefilter("ignore")
    rng, digest = np.random.default_rng(0), hashlib.sha256()
    X, y = rng.standard_normal((200, 33)).round(2), rng.integers(0, 3, 200)
    for rule in ("perceptron", "pa1"):
        model = novikoff.Perceptron(rule, max_epochs=3, random_state=0).fit(X, y)
        digest.update(model.coef_.tobytes() + model.predict(X).tobytes())
    kernel = novikoff.KernelPerceptron("rbf", max_epochs=3, random_state=0).fit(X, y)
    digest.update(kernel.decision_function(X).tobytes())
    return digest.hexdigest()


def command(*arguments: str, **environment: str) -> str:
    """What the command line prints."""
    done = subprocess.run(
        ["novikoff", *arguments], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def main() -> None:
    assert not any(map(shutil.which, ("cc", "gcc", "g++", "clang", "cmake", "ninja", "make")))
    home = Path(novikoff.__file__).parent
    assert home.is_relative_to(sys.prefix) and home.parent.name == "site-packages"
    assert version("novikoff") == novikoff.__version__

    for found in pkgutil.walk_packages(novikoff.__path__, "novikoff."):
        try:
            if not found.name.endswith(("__main__", "_core_base", "_core_v3")):
                importlib.import_module(found.name)
        except ImportError as error:  # an extra that is not installed, which the error names
            assert "pip install" in str(error), error
    for package in (novikoff, novikoff.plots, novikoff.structured, novikoff.theory):
        assert set(package.__all__) <= set(dir(package)) and len(package.__all__) > 5
    assert (home / "py.typed").exists() and (home / "__init__.pyi").exists()

    model = novikoff.Perceptron(random_state=0).fit(POINTS, LABELS)
    assert model.predict(POINTS).tolist() == LABELS and model.verdict_ == "separated"
    model.save("model")
    assert novikoff.load_model("model").predict(POINTS).tolist() == LABELS
    certify(POINTS, LABELS).save("certificate.json")
    assert read_certificate("certificate.json").verify(POINTS, LABELS)
    sentences, tags = [["w=the"], ["w=dog"]], ["D", "N"]
    tagger = novikoff.SequenceTagger(random_state=0).fit([sentences], [tags])
    assert [list(each) for each in tagger.predict([sentences])] == [tags]

    rows = [f"{y} 1:{a} 2:{b}" for (a, b), y in zip(POINTS, LABELS, strict=True)]
    Path("rows.svm").write_text("\n".join(rows) + "\n")
    command("fit", "rows.svm", "--model", "m.novikoff", "--random-state", "0")
    assert list(map(int, command("predict", "m.novikoff", "rows.svm").split())) == LABELS
    assert json.loads(command("evaluate", "m.novikoff", "rows.svm", "--json"))["accuracy"] == 1
    command("certify", "rows.svm", "--output", "rows.json")
    assert command("verify", "rows.json", "rows.svm").startswith("verified")
    Path("words.conll").write_text("the D\ndog N\n\n")
    command("tag", "fit", "words.conll", "--model", "t.novikoff")
    assert "N" in command("tag", "predict", "t.novikoff", "words.conll")

    digests = {}
    for instructions in ("base", ""):
        environment = os.environ | {"NOVIKOFF_INSTRUCTIONS": instructions}
        done = subprocess.run(
            [sys.executable, "-I", __file__, "digest"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        level, digest = done.stdout.split()
        digests[level] = digest
    assert "base" in digests and len(set(digests.values())) == 1, digests
    print("used with the instructions", *sorted(digests))


if __name__ == "__main__":
    if sys.argv[1:] == ["digest"]:
        print(_core.INSTRUCTIONS, learned())
    else:
        main()
