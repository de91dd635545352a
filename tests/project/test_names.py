"""Every dotted name that the documentation mentions is there after a bare `import novikoff`.

The claims are about a fresh interpreter, so each is asked of a child process.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.children import run_python
from support.places import ROOT

HEAVY = ("sklearn", "scipy", "matplotlib", "pyarrow", "distributed", "pandas", "river", "numpy")
# Modules that must be there, mentioned or not.
MODULES = (
    "novikoff.checker",
    "novikoff.cli",
    "novikoff.dask",
    "novikoff.datasets",
    "novikoff.modelfile.container",
    "novikoff.plots",
    "novikoff.reference.linear",
    "novikoff.data.sources.formats",
    "novikoff.structured",
    "novikoff.theory",
    "novikoff.theory.experiments",
)


def mentioned() -> list[str]:
    """The dotted names in the documentation, and in the code where it speaks of them."""
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    lines = [line for d in documents for line in d.read_text(encoding="utf-8").splitlines()]
    for module in (ROOT / "src").rglob("*.py"):
        code = module.read_text(encoding="utf-8").splitlines()
        lines += [line for line in code if "import" not in line and ">>>" not in line]
    name = re.compile(r"(?<![\w./\"'-])novikoff(?:\.[A-Za-z]\w*)+")
    return sorted({found for line in lines for found in name.findall(line)} | {*MODULES})


RESOLVE = """
import json, sys
import novikoff
loaded = sorted({name.partition(".")[0] for name in sys.modules})
failed = {}
for name in json.loads(sys.argv[1]):
    value = novikoff
    try:
        for part in name.split(".")[1:]:
            value = getattr(value, part)
    except Exception as error:
        failed[name] = f"{type(error).__name__}: {error}"
print(json.dumps({"loaded": loaded, "failed": failed}))
"""


def test_every_name_that_the_documentation_mentions_is_found_after_a_bare_import() -> None:
    names = mentioned()
    assert {"novikoff.plots", "novikoff.load_model", "novikoff.theory.separability"} <= {*names}
    if "novikoff.integrations.river" in names:
        try:
            import river  # noqa: F401
        except ImportError:
            names.remove("novikoff.integrations.river")
    said = json.loads(run_python("-c", RESOLVE, json.dumps(names)).stdout)
    assert said["failed"] == {}
    assert not {*HEAVY} & {*said["loaded"]}


PACKAGE = ROOT / "src" / "novikoff"
STUBS = {
    ".".join(stub.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): stub
    for stub in sorted({*PACKAGE.rglob("*.pyi")} - {*PACKAGE.glob("_core*")})
}


def declared(stub: Path) -> list[str]:
    """The names that a type checker finds in a stub, in its words: imports `as` a name, and annotations.

    A function is of the module itself, which does not list it.
    """
    names = []
    for statement in ast.parse(stub.read_text()).body:
        if isinstance(statement, ast.ImportFrom):
            names += [alias.asname for alias in statement.names if alias.asname is not None]
        elif not isinstance(statement, ast.FunctionDef):
            assert isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
            names.append(statement.target.id)
    return sorted(names)


@pytest.mark.parametrize("package", STUBS)
def test_a_package_has_the_names_of_its_stub_and_no_others(package: str) -> None:
    names = declared(STUBS[package])
    assert len({*names}) == len(names) > 1
    run_python(
        "-c",
        f"import sys, {package} as package\n"
        "names = sys.argv[1:]\n"
        "assert package.__all__ == names and {*names} <= {*dir(package)}, package.__all__\n"
        f"from {package} import *\n"
        "assert all(globals()[name] is getattr(package, name) for name in names)\n"
        "assert not hasattr(package, 'no_such_name') and not hasattr(package, '_hidden')\n",
        *names,
    )


def test_what_is_not_there_is_said_with_what_is() -> None:
    said = run_python(
        "-c",
        "import novikoff\n"
        "for package, name in ((novikoff, 'Percepton'), (novikoff.linear, 'Perceptron')):\n"
        "    try:\n"
        "        getattr(package, name)\n"
        "    except AttributeError as error:\n"
        "        print(error)\n",
    ).stdout
    first, second = said.splitlines()
    assert first.startswith(
        "module 'novikoff' has no attribute 'Percepton'; it has KernelFunction, KernelModel, "
    )
    assert ", Perceptron, " in first and second == "module 'novikoff.linear' has no attribute 'Perceptron'"


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    run_python(
        "-c",
        "import novikoff.theory.trace, novikoff.theory.bounds\n"
        "assert callable(novikoff.theory.trace) and callable(novikoff.theory.bounds)\n"
        "from novikoff.theory.trace import Trace\n"
        "assert callable(novikoff.theory.trace) and callable(novikoff.theory.separability)\n",
    )


def test_importing_novikoff_loads_nothing_but_the_finding_of_names() -> None:
    code = "import sys; before = {*sys.modules}; import novikoff; print(*sorted({*sys.modules} - before))"
    done = run_python("-S", "-c", code, environment={"PYTHONPATH": str(PACKAGE.parent)})
    loaded = {*done.stdout.split()}
    assert {name for name in loaded if name.startswith("novikoff")} == {"novikoff", "novikoff.lazy"}
    assert not {"ast", "inspect", "re", "typing", "importlib.util"} & loaded


@pytest.mark.parametrize("flags", [(), ("-OO",)])
def test_names_are_found_in_an_archive(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Those that need nothing native: a compiled module cannot be loaded from an archive."""
    with zipfile.ZipFile(tmp_path / "novikoff.zip", "w") as archive:
        for path in [*PACKAGE.rglob("*.py"), *STUBS.values()]:
            archive.write(path, path.relative_to(PACKAGE.parent))
    run_python(
        *flags,
        "-c",
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "sys.meta_path = [each for each in sys.meta_path if isinstance(each, type)]  # no editable install\n"
        "import novikoff\n"
        "found = [novikoff.checker.Refused, novikoff.theory.__all__, novikoff.parameters.linear]\n"
        "inside = all(sys.argv[1] in each.__file__ for each in (novikoff, novikoff.checker, found[2]))\n"
        "sys.exit(0 if inside and all(found) and 'Perceptron' in dir(novikoff) else 1)\n",
        tmp_path / "novikoff.zip",
    )


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed: it is in the group `lint`")
def test_a_type_checker_knows_every_public_name(tmp_path: Path) -> None:
    names = [f"{package}.{name}" for package, stub in STUBS.items() for name in declared(stub)]
    program = tmp_path / "program.py"
    program.write_text(
        "import novikoff\n" + "".join(f"reveal_type({name})\n" for name in names) + "novikoff.no\n"
    )
    code = "from mypy import api; print(api.run(['--strict', '--cache-dir', sys.argv[1], sys.argv[2]])[0])"
    cache = ROOT / ".mypy_cache"
    said = run_python(
        "-c", f"import sys; {code}", cache, program, environment={"MYPYPATH": str(PACKAGE.parent)}
    ).stdout
    revealed = re.findall(r'Revealed type is "(.*)"', said)
    assert len(revealed) == len(names), said
    assert "Any" not in revealed
    assert said.count(" error: ") == 1 and 'error: Module has no attribute "no"' in said


BLOCKED = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import novikoff
"""


@pytest.mark.parametrize(
    ("packages", "use", "extra"),
    [
        ("dask,distributed", "novikoff.dask.DistributedPerceptron", "novikoff[dask]"),
        ("dask,distributed", "novikoff.distributed.perceptron", "novikoff[dask]"),
        ("matplotlib", "novikoff.plots.MistakesDisplay([1], 2).plot()", "novikoff[plots]"),
        ("river", "novikoff.integrations.river", "pip install river"),
    ],
)
def test_a_missing_extra_is_named(packages: str, use: str, extra: str) -> None:
    code = f"{BLOCKED}\ntry:\n    {use}\nexcept ImportError as error:\n    print(error)"
    assert extra in run_python("-c", code, packages).stdout
