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
LONG = "NOVIKOFF_REAL_DATA" in os.environ  # `make real-data`: also what takes long


def at_hand(name: str) -> Path:
    """A file of the real data sets; a test that asks for one that is not there is skipped."""
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not at hand")
    return DATA / name


def load(name):
    """The rows and labels of one of LIBSVM's data sets, as scikit-learn reads them."""
    path = at_hand(f"libsvm/{name}")
    expand = bz2.decompress if path.suffix == ".bz2" else lzma.decompress
    return load_svmlight_file(io.BytesIO(expand(path.read_bytes())))
