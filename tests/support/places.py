"""Where the project's files and the real data sets lie."""

import bz2
import io
import lzma
import os
from pathlib import Path

import pytest
from sklearn.datasets import load_svmlight_file

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
DATA = Path(os.environ.get("NOVIKOFF_DATA", ROOT.parent / "shared" / "data"))  # may not be there


def load(name):
    path = DATA / "libsvm" / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    expand = bz2.decompress if path.suffix == ".bz2" else lzma.decompress
    return load_svmlight_file(io.BytesIO(expand(path.read_bytes())))
