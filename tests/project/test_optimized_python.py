"""Under `python -OO`, which has no docstrings and no assertions, everything works as it does without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.children import run_python

IMPORT_ALL = """
import importlib, pkgutil
import novikoff
for found in pkgutil.walk_packages(novikoff.__path__, "novikoff."):
    if found.name.endswith(("__main__", "_core_base", "_core_v3")):
        continue
    try:
        importlib.import_module(found.name)
    except ImportError as error:  # an extra that is not installed
        if (error.name or "novikoff").startswith("novikoff") and "pip install" not in str(error):
            raise
"""

# One fit, prediction, file and report of each family; what is printed is compared with a run without -OO.
FAMILIES = """
import json, sys, warnings
from pathlib import Path
import numpy as np
import novikoff
from novikoff import (KernelPerceptron, OnlineKernelPerceptron, OnlinePerceptron, Perceptron, Pocket,
                      SequenceTagger, StructuredPerceptron, VotedPerceptron, Winnow, theory)
from novikoff.structured import Multiclass

warnings.simplefilter("ignore")
folder, said = Path(sys.argv[1]), {}
X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
y = [-1, 1, 1, -1, -1, 1]
three = [0, 1, 2, 0, 0, 2]

def lines(report):
    return [line for line in report.in_full().splitlines() if " s" not in line]

for model in (
    Perceptron(random_state=0), Perceptron("pa1", average=True, random_state=0), Pocket(random_state=0),
    KernelPerceptron(random_state=0), KernelPerceptron(budget=3, predict_with="last", random_state=0),
):
    for labels in (y, three):
        if isinstance(model, Pocket) and labels is three:
            continue
        model.fit(X, labels)
        kept = [model.predict(X).tolist(), model.n_mistakes_, lines(model.report())]
        if not isinstance(model, Pocket):
            model.save(folder / "model")
            back = type(model).load(folder / "model")
            assert back.predict(X).tolist() == kept[0]
            novikoff.load_model(folder / "model")
        said[f"{model} {len(set(labels))}"] = kept
said["voted"] = VotedPerceptron(random_state=0).fit(X, y).predict(X).tolist()
winnow = Winnow(max_epochs=20, random_state=0).fit((X > 0).astype(float), y)
said["winnow"] = winnow.predict((X > 0).astype(float)).tolist()
for online in (OnlinePerceptron(), OnlineKernelPerceptron(budget=3, random_state=0)):
    for row, label in zip(X.tolist(), y):
        online.learn_one({"a": row[0], "b": row[1]}, label)
    online.save(folder / "online")
    back = type(online).load(folder / "online")
    name = type(online).__name__
    said[name] = [online.n_mistakes_, back.predict_one({"a": 1.0, "b": 2.0}), back.n_mistakes_]
sentences, tags = [[["w=the"], ["w=dog"]], [["w=cats"], ["w=sleep"]]], [["D", "N"], ["N", "V"]]
tagger = SequenceTagger(random_state=0).fit(sentences, tags)
tagger.save(folder / "tagger")
said["tagger"] = [SequenceTagger.load(folder / "tagger").predict(sentences), lines(tagger.report())]
structured = StructuredPerceptron(Multiclass(), random_state=0).fit(X.tolist(), three)
structured.save(folder / "structured")
said["structured"] = StructuredPerceptron.load(folder / "structured").predict(X.tolist())
said["verdict"] = [str(theory.separability(X, labels)) for labels in (y, [1, 1, 1, 1, -1, 1])]
certificate = theory.certify(X, y)
certificate.save(folder / "certificate.json")
said["certificate"] = theory.read_certificate(folder / "certificate.json").verify(X, y) is not False
said["diagnosis"] = theory.diagnose(X, y, n_orders=2).verdict
print(json.dumps(said, default=str))
"""


def test_every_module_can_be_imported() -> None:
    run_python("-OO", "-c", IMPORT_ALL)


def test_every_family_learns_predicts_is_saved_and_reports_as_without(tmp_path: Path) -> None:
    said = [json.loads(run_python(*flags, "-c", FAMILIES, tmp_path).stdout) for flags in ([], ["-OO"])]
    assert said[0] == said[1] and len(said[0]) > 12


@pytest.mark.parametrize("command", ["fit", "predict", "diagnose", "certify", "tag fit"])
def test_help_lists_the_options(command: str) -> None:
    names = command.split()
    said = [run_python(*flags, "-m", "novikoff", *names, "--help-all").stdout for flags in ([], ["-OO"])]
    options = [text[text.index("Reading files:") :] for text in said]  # what comes before is a docstring
    assert options[0] == options[1] and "--help" in options[0]


def test_the_command_line_learns_and_predicts(tmp_path: Path) -> None:
    data, model = tmp_path / "rows.svm", tmp_path / "model"
    data.write_text("-1 1:-1 2:2\n1 1:1\n1 1:1 2:1\n-1 1:-1\n-1 1:-1 2:-2\n1 1:1 2:-1\n")
    said = []
    for flags in ([], ["-OO"]):
        run_python(*flags, "-m", "novikoff", "fit", data, "--model", model, "--random-state", "0")
        said.append(run_python(*flags, "-m", "novikoff", "predict", model, data).stdout)
    assert said[0] == said[1] and said[0].split()
