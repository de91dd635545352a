"""Repair a wheel, look at what is in it, and test it where there is no compiler; `make wheel` runs this.

    python .ci/wheel.py build/wheels/novikoff-*.whl      the repaired wheel comes into dist/

`auditwheel` finds the oldest platform that the wheel runs on, by the versions of the symbols that its
libraries need, and names the wheel after it. Built with GCC 12 on glibc 2.36 that is manylinux_2_34: since
GCC 11 libstdc++ reads and writes floating-point numbers (`from_chars`, `to_chars`: GLIBCXX_3.4.29), which
came with glibc 2.34. Linking libstdc++ statically would raise it: the archive of that system needs glibc 2.36
(`arc4random`), and the unwinder in libgcc's 2.35 (`_dl_find_object`). For an older platform, build on an
older system or its image.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "novikoff"
LEVELS = {"x86_64": ("base", "v3")}


def problems(names: Iterable[str], machine: str = os.uname().machine) -> list[str]:
    """What a wheel with these files lacks, and what it should not have."""
    names = {name for name in names if not name.endswith("/")}
    found = {name for name in names if not re.match(r"novikoff-[^/]+\.dist-info/", name)}
    kinds = ("*.py", "*.pyi", "py.typed")
    expected = {str(path.relative_to(PACKAGE.parent)) for kind in kinds for path in PACKAGE.rglob(kind)}
    levels = LEVELS.get(machine, ("base",))
    native = {
        level: [name for name in found if re.fullmatch(rf"novikoff/_core_{level}\.[\w-]+\.so", name)]
        for level in levels
    }
    wrong = [f"it has {len(files)} builds for {level}" for level, files in native.items() if len(files) != 1]
    wrong += [f"it lacks {name}" for name in sorted(expected - found)]
    wrong += [
        f"it has {name}" for name in sorted(found - expected - {n for each in native.values() for n in each})
    ]
    for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"):
        if not any(each.endswith(f".dist-info/{name}") for each in names):
            wrong.append(f"it lacks {name}")
    return wrong


def repaired(wheel: Path, into: Path) -> Path:
    """The wheel that is named after the oldest platform it runs on."""
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel],
            check=True,
            env=os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},  # where patchelf is
        )
        (made,) = Path(folder).iterdir()
        into.mkdir(exist_ok=True)
        return Path(shutil.copy(made, into))


def test(wheel: Path) -> None:
    """Install the wheel into an empty environment, and use it there, with nothing else on the path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        tools = folder / "environment" / "bin"
        install = [tools / "python", "-m", "pip", "--quiet", "install", "--only-binary", ":all:"]
        subprocess.run([*install, "-c", ROOT / "constraints.txt", f"{wheel}[files]"], check=True)
        (folder / "elsewhere").mkdir()
        subprocess.run(
            [tools / "python", "-I", ROOT / ".ci" / "installed.py"],
            cwd=folder / "elsewhere",
            env={"PATH": str(tools), "HOME": name, "LC_ALL": "C.UTF-8"},
            check=True,
        )


def main() -> None:
    (wheel,) = map(Path, sys.argv[1:])
    wheel = repaired(wheel, ROOT / "dist")
    with zipfile.ZipFile(wheel) as archive:
        if wrong := problems(archive.namelist()):
            sys.exit("\n".join([f"{wheel.name}:", *wrong]))
    test(wheel)
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 2**20:.1f} MiB, tested")


if __name__ == "__main__":
    main()
