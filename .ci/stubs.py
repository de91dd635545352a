"""src/novikoff/_core.pyi, made from the compiled core by nanobind, with short names for types of arrays.

    python .ci/stubs.py            write it: `make stubs`
    python .ci/stubs.py --check    whether it is up to date: part of `make lint`

It is checked with the nanobind of constraints.txt only: other versions may write the same types differently.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import nanobind.stubgen
import novikoff._core_base

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src/novikoff/_core.pyi"
HEAD = '''\
"""The native loops; native/ has the mathematics above each of them. Made by `make stubs`: do not edit."""

{imports}
Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Order = NDArray[np.int64]

INSTRUCTIONS: str

'''
ARRAYS = {"float64": "Floats", "int32": "Labels", "int64": "Order"}
ARRAY = re.compile(r"Annotated\[NDArray(\[numpy\.(?P<element>\w+)\])?, dict\((\([^()]*\)|[^()])*\)\]")
GETTER_AND_SETTER = re.compile(
    r"    @property\n    def (\w+)\(self\) -> (.+): \.\.\.\n\n"
    r"    @\1\.setter\n    def \1\(self, \w+: .+, /\) -> None: \.\.\.\n"
)
ONE = {  # methods that bypass nanobind, since they are called for each example
    "predict_one": "x: dict[Any, Any]) -> Any",
    "score_one": "x: dict[Any, Any]) -> Any",
    "learn_one": "x: dict[Any, Any], y: Hashable) -> None",
}


def array(match: re.Match[str]) -> str:
    """An array type without its layout, which type checkers ignore."""
    element = match["element"]
    if element is None:
        return "NDArray[Any]"
    return ARRAYS.get(element, f"NDArray[np.{element}]")


def generated() -> str:
    """What the stub should hold."""
    maker = nanobind.stubgen.StubGen(
        novikoff._core_base, include_docstrings=False, include_private=True, quiet=True
    )
    maker.put(novikoff._core_base)
    text = maker.get()
    text = ARRAY.sub(array, text)
    text = GETTER_AND_SETTER.sub(r"    \1: \2\n", text)
    text = re.sub(r"(    \w+: .+\n)\n(?=    \w+: )", r"\1", text)
    for name, rest in ONE.items():
        text = text.replace(f"{name}: types.MethodDescriptorType = ...", f"def {name}(self, {rest}: ...")
    first = re.search(r"^(def|class) ", text, re.MULTILINE)
    assert first is not None
    imports = text[: first.start()].strip() + "\nfrom collections.abc import Hashable\n"
    imports = imports.replace("import numpy\n", "import numpy as np\n")
    imports = re.sub(r"(?m)^from typing import .*", "from typing import Any, overload", imports)
    text = HEAD.format(imports=imports) + text[first.start() :]
    for command in (["check", "--fix", "--select", "F401,I,PYI,UP"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", STUB, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=command == ["format"],
            cwd=ROOT,
        ).stdout
    return text


def main() -> None:
    if sys.argv[1:] != ["--check"]:
        STUB.write_text(generated())
        return
    version = importlib.metadata.version("nanobind")
    if f"nanobind=={version}\n" not in (ROOT / "constraints.txt").read_text():
        print(f"NOT CHECKED: {STUB.name}, with nanobind {version}, which constraints.txt does not have")
    elif STUB.read_text() != generated():
        sys.exit(f"{STUB.name} is not what the core says of itself: run `make stubs`")


if __name__ == "__main__":
    main()
