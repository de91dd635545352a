"""Check the core for warnings, which are errors here, with g++ and clang++: part of `make lint`.

The commands are those of the build, for any processor and for those with AVX2, but no code is generated.
Where clang++ is not installed, the program says so and checks with g++ alone.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "native"
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def commands(compiler: str, folder: str) -> dict[tuple[str, ...], Path]:
    """How the build would compile each of our files with this compiler, as words, without its output."""
    subprocess.run(
        [
            *("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
            *(f"-DCMAKE_CXX_COMPILER={compiler}", f"-DPython_EXECUTABLE={sys.executable}"),
            f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PATH": PATH},
    )
    found = {}
    for entry in json.loads(Path(folder, "compile_commands.json").read_text()):
        if (file := Path(entry["file"])).is_relative_to(NATIVE):
            words = shlex.split(entry["command"])
            words = words[: words.index("-o")]
            for each in [file, *(NATIVE / "fuzz").glob("*.cpp")] if file.name == "module.cpp" else [file]:
                found[*words, "-Werror", "-fsyntax-only", str(each)] = each
    return found


def check(compiler: str) -> list[str]:
    """What this compiler finds in all files."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def compiled(words: tuple[str, ...]) -> str:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            return done.stderr if done.returncode else ""

        return [said for said in pool.map(compiled, commands(compiler, folder)) if said]


def main() -> None:
    said = []
    for compiler in (os.environ.get("CXX", "g++"), "clang++"):
        if shutil.which(compiler):
            said += check(compiler)
        elif compiler == "clang++":
            print("NOT CHECKED by clang++, which is not installed: apt-get install clang")
        else:
            sys.exit(f"{compiler} is not installed")
    if said:
        sys.exit("\n".join(said))


if __name__ == "__main__":
    main()
