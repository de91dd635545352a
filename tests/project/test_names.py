"""Every dotted name that the documentation mentions is there after a bare `import novikoff`.

The claims are about a fresh interpreter, so each is asked of a child process.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

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


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    said = json.loads(run(RESOLVE, json.dumps(names)))
    assert said["failed"] == {}
    assert not {*HEAVY} & {*said["loaded"]}


def test_names_that_are_listed_are_found_and_others_are_not() -> None:
    run(
        "import novikoff\n"
        "for package in (novikoff, novikoff.plots, novikoff.theory, novikoff.structured, novikoff.linear):\n"
        "    assert all(hasattr(package, name) for name in getattr(package, '__all__', ())), package\n"
        "    assert not hasattr(package, 'no_such_name'), package\n"
        "assert {'plots', 'checker', 'theory'} <= {*dir(novikoff)}\n"
        "assert callable(novikoff.theory.trace) and callable(novikoff.theory.separability)\n"
    )


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
    assert extra in run(code, packages)
