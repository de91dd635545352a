"""`novikoff diagnose`: the findings of `theory.diagnose` on files, and what it writes."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import novikoff
from novikoff.cli import progress
from novikoff.cli.inputs import open_data
from novikoff.theory import diagnose
from support.commands import run


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.round(rng.normal(0, 0.4, (n, 3)) + 1.2 * (2 * y[:, None] - 1), 3), y


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    lines = [f"{k} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, k in zip(X, y, strict=True)]
    Path("a.svm").write_text("\n".join(lines) + "\n")
    names = np.array(["ham", "spam"])[y]
    table = [f"{a},{b},{c},{name}" for (a, b, c), name in zip(X, names, strict=True)]
    Path("a.csv").write_text("\n".join(["a,b,c,label", *table]) + "\n")
    return tmp_path


def test_findings_are_those_of_the_library():
    said = json.loads(run("diagnose", "a.svm", "--json", "--n-orders", 5).stdout)
    expected = diagnose(*rows(), n_orders=5).to_dict()
    assert said["verdict"] == expected["verdict"] == "separable"
    for name in ("radius", "margin", "unit_margin"):
        assert said[name] == pytest.approx(expected[name], rel=1e-3)
    assert said["run"] == expected["run"]
    assert [o["mistakes"] for o in said["orders"]] == [o["mistakes"] for o in expected["orders"]]
    assert said["classes"] == expected["classes"]


def test_text_pictures_and_page():
    said = run("diagnose", "a.csv", "--n-orders", 3, "--plot", "a.png", "--html", "a.html").stdout
    assert said.startswith("Diagnosis of 80 rows × 3 features, 2 classes\n  classes ")
    assert "saved      a.png" in said and "saved      a.html" in said
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert Path("a.html").read_text().count("data:image/png") == 4
    run("diagnose", "a.csv", "--n-orders", 1, "--plot", "a.svg", "-q")
    assert b"<svg" in Path("a.svg").read_bytes()
    assert sorted(p.name for p in Path().iterdir()) == ["a.csv", "a.html", "a.png", "a.svg", "a.svm"]


def test_declared_classes_keep_their_order():
    first = json.loads(run("diagnose", "a.csv", "--json", "--n-orders", 1, "--classes", "spam,ham").stdout)
    assert list(first["classes"]) == ["spam", "ham"]
    other = json.loads(run("diagnose", "a.csv", "--json", "--n-orders", 1, "--positive", "ham").stdout)
    assert list(other["classes"]) == ["other", "ham"]


def test_standard_input_is_read():
    text = Path("a.svm").read_bytes()
    said = run("diagnose", "-", "--format", "libsvm", "--n-orders", 1, input=text).stdout
    assert "80 rows × 3 features" in said


def test_files_of_several_blocks_are_read_whole(monkeypatch):
    """Blocks share their memory unless asked not to: each must be kept as it was."""
    whole = json.loads(run("diagnose", "a.svm", "--json", "--n-orders", 2).stdout)
    monkeypatch.setattr("novikoff.cli.diagnose.open_data", partial(open_data, block_size=300))
    parts = json.loads(run("diagnose", "a.svm", "--json", "--n-orders", 2).stdout)
    for said in (whole, parts):
        del said["seconds"]
    assert parts == whole


def test_equal_rows_are_named_by_their_lines():
    Path("two.svm").write_text("1 1:2\n0 1:5\n1 2:1\n0 1:2\n")
    said = run("diagnose", "two.svm", "--n-orders", 1).stdout
    said = " ".join(said.split())
    assert "the first being line 1 and line 4 of two.svm" in said
    assert "Look at line 1 and line 4 of two.svm: they are equal" in said
    assert "from 0" not in said
    Path("w.csv").write_text("a,label,w\n9,x,0\n2,x,1\n5,y,1\n2,y,1\n")
    found = json.loads(run("diagnose", "w.csv", "--weight", "w", "--json", "--n-orders", 1).stdout)
    assert found["contradictions"]["first"] == [0, 2]
    assert [place.split(", ")[1] for place in found["contradiction_at"]] == ["line 3", "line 5"]


def test_rows_of_two_files_are_named_by_both():
    Path("one.svm").write_text("1 1:2\n0 1:5\n")
    Path("two.svm").write_text("1 2:1\n0 1:2\n")
    said = run("diagnose", "one.svm", "two.svm", "--n-orders", 1).stdout
    assert "one.svm, line 1, and two.svm, line 2" in " ".join(said.split())


def test_the_page_names_its_file_options_and_version():
    """And the rows as the terminal does."""
    pytest.importorskip("matplotlib")
    Path("a & b.csv").write_text("p,q,kind\n" + "1,2,x\n1,2,y\n3,1,x\n2,5,y\n" * 3)
    given = ("a & b.csv", "--label", "kind", "--n-orders", 2, "--no-intercept", "--html", "page.html")
    said = run("diagnose", *given).stdout
    page = Path("page.html").read_text()
    text = html.unescape(page)
    assert "<title>Diagnosis of a &amp; b.csv</title>" in page
    (command,) = re.findall(r">(novikoff diagnose .*?)</td>", text)
    program, name, file, *flags = shlex.split(command)
    assert (program, name, file) == ("novikoff", "diagnose", given[0])
    assert sorted(flags) == sorted(map(str, given[1:]))
    assert f"novikoff {novikoff.__version__}" in text
    assert "--no-intercept, --intercept-scaling 1, --ties positive, --n-orders 2" in text
    for shown in (" ".join(said.split()), text):
        assert "Look at line 2 and line 3 of a & b.csv: they are equal" in shown
    assert "numbered from 0" not in said + text


def test_advice_is_in_the_words_of_the_command_line():
    """Its command can be copied: it reads the file as it was read here, and learns in the way advised."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.normal(size=300) + 1000, 500 + y + rng.normal(0, 0.2, 300)]).round(4)
    lines = [f"{k};{a};{b}" for (a, b), k in zip(X, np.array(["no", "yes"])[y], strict=True)]
    Path("odd.csv").write_text("\n".join(["kind;a;b", *lines]) + "\n")
    found = run("diagnose", "odd.csv", "--label", "kind", "--delimiter", ";", "--n-orders", 1)
    text = " ".join(found.stdout.split())
    assert "Perceptron(" not in text and "Pocket" not in text and "max_epochs" not in text
    (advised,) = (line for line in found.stdout.splitlines() if line.endswith("advised"))
    (command,) = (line.split(maxsplit=1)[1] for line in found.stdout.splitlines() if "  next  " in line)
    program, *words = shlex.split(command)
    assert program == "novikoff" and words[:6] == ["fit", "odd.csv", "--label", "kind", "--delimiter", ";"]
    flags = " ".join(words[6:])
    assert flags and f"Use {flags}: " in text
    assert all(word in advised for word in flags.replace("--", "").split() if word != "rule")
    assert "training" in run(*words).stdout


def test_weights_of_zero_leave_rows_out():
    lines = Path("a.csv").read_text().splitlines()
    weighted = [f"{lines[0]},w", *(f"{line},{k % 2}" for k, line in enumerate(lines[1:]))]
    Path("w.csv").write_text("\n".join(weighted) + "\n")
    said = json.loads(run("diagnose", "w.csv", "--weight", "w", "--json", "--n-orders", 1).stdout)
    assert said["rows"] == 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--plot", "a.txt"), ".png, .svg, .pdf"),
        (("--plot", "none/a.png"), "no folder"),
        (("--html", "a.png"), ".html"),
        (("--n-orders", 0), "whole number"),
        (("--time-limit", 0), "a number > 0"),
        (("--classes", "grow"), "classes cannot grow"),
    ],
)
def test_bad_usage_is_named(arguments, said):
    result = run("diagnose", "a.svm", *arguments, code=2)
    assert said in " ".join(result.stderr.split())


def test_bad_files_are_named():
    Path("one.svm").write_text("1 1:2\n1 1:3\n")
    assert "one.svm: there must be at least two classes" in run("diagnose", "one.svm", code=1).stderr
    Path("none.svm").write_text("")
    assert "none.svm" in run("diagnose", "none.svm", code=1).stderr
    Path("bad.svm").write_text("1 1:2\n0 1:x\n")
    assert "bad.svm, line 2" in run("diagnose", "bad.svm", code=1).stderr


def test_no_scikit_learn_is_loaded():
    code = (
        "import sys\n"
        "sys.argv = ['novikoff', 'diagnose', 'a.svm', '-q', '--n-orders', '1', '--plot', 'x.png']\n"
        "from novikoff.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'matplotlib' in sys.modules and 'sklearn' not in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_ctrl_c_shows_what_is_known(monkeypatch):
    """Its code is 130, and pictures are drawn of what there is."""

    def watch(text, fraction):
        if "random order 2" in text:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress, "by_fraction", lambda wanted: nullcontext(watch))
    result = run("diagnose", "a.svm", "--plot", "a.png", "--n-orders", 50, code=130)
    assert "interrupted; these are the findings so far" in result.stderr
    assert "interrupted after" in result.stdout and "≤ γ ≤" in result.stdout
    assert Path("a.png").exists()
