"""Where files are written, and which files must not be overwritten."""

from __future__ import annotations

import os
from pathlib import Path

from novikoff.cli.options import UsageError


def default_path(first_file: str) -> Path:
    """`<name>.novikoff` in the current folder, without the suffixes of storage formats.

    >>> default_path("data/spam.svm.gz").name, default_path("a9a.xz").name, default_path("en.conllu").name
    ('spam.novikoff', 'a9a.novikoff', 'en.novikoff')
    """
    from novikoff.data.sources.formats import COMPRESSED, SUFFIXES
    from novikoff.parameters.tag_commands import SENTENCE_FORMATS

    if first_file == "-":
        return Path("stdin.novikoff")
    path = Path(Path(first_file).name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    if path.suffix.lower() in (*SUFFIXES, *(f".{name}" for name in SENTENCE_FORMATS), ".txt"):
        path = path.with_suffix("")
    return path.with_name(path.name + ".novikoff")


def check_writable(path: Path, option: str) -> None:
    """Before any work, refuse a file that cannot be written."""
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {str(path.parent)!r}.", option)
    if path.is_dir():
        raise UsageError(f"{str(path)!r} is a folder, expected a file name.", option)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(path.parent))


def model_path(path: Path | None, first_file: str) -> Path:
    """Where to save a model; refuse a path that cannot be written or would overwrite something else."""
    from novikoff.modelfile.container import kind_of_file

    path = path or default_path(first_file)
    check_writable(path, "--model")
    if path.exists() and kind_of_file(path) is None:
        raise ValueError(
            f"{path} exists and is not a novikoff file, so it is not overwritten: choose another name with "
            "--model, or remove it first."
        )
    return path
