"""What the native core offers to Python, as its stub says it."""

import ast
import subprocess
import sys

import pytest

from support.places import ROOT

STUB = ROOT / "src" / "novikoff" / "_core.pyi"
MOST = 6  # arguments of one call, without self


def calls(tree):
    """Every function, method and constructor: its name and its arguments."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        elif isinstance(node, ast.ClassDef):
            for name, arguments in calls(node):
                yield f"{node.name}.{name}", arguments[1:]


def test_no_native_call_takes_more_than_six_arguments():
    """What belongs together travels as one object: a rule, examples, a kernel."""
    found = {name: len(arguments) for name, arguments in calls(ast.parse(STUB.read_text()))}
    assert len(found) > 200 and found["Learner.__init__"] > 4
    assert {name: n for name, n in found.items() if n > MOST} == {}


def test_every_native_name_is_in_the_stub():
    """Both ways round, for the build at hand; `make lint` compares the signatures too."""
    from novikoff import _core

    tree = ast.parse(STUB.read_text())
    said = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    native = {name for name, value in vars(_core).items() if callable(value) and not name.startswith("_")}
    assert said.keys() == native
    for name, node in said.items():
        if isinstance(node, ast.ClassDef):
            own = {member for member in vars(getattr(_core, name)) if not member.startswith("__")}
            stated = {
                part.target.id if isinstance(part, ast.AnnAssign) else part.name
                for part in node.body
                if isinstance(part, ast.FunctionDef | ast.AnnAssign)
            }
            assert {member for member in stated if not member.startswith("__")} == own, name


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_a_stub_that_is_not_the_cores_is_refused(tmp_path):
    pytest.importorskip("ruff")
    script = (ROOT / ".ci" / "stubs.py").read_text()
    changed = tmp_path / ".ci" / "stubs.py"
    changed.parent.mkdir()
    changed.write_text(script)
    for name in ("constraints.txt", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    copy = tmp_path / "src" / "novikoff" / "_core.pyi"
    copy.parent.mkdir(parents=True)

    def check(text):
        copy.write_text(text)
        return subprocess.run([sys.executable, changed, "--check"], capture_output=True, text=True)

    said = check(STUB.read_text())
    if "NOT CHECKED" in said.stdout:
        pytest.skip(said.stdout)
    assert said.returncode == 0, said.stderr
    said = check(STUB.read_text().replace("degree: int = 1", "degree: int = 2"))
    assert said.returncode != 0 and "make stubs" in said.stderr
