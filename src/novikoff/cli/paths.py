"""Where a model goes, and what must not be lost there."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def default_path(first_file: str) -> Path:
    """`<name>.novikoff` in the current folder, without the suffixes that say how a file is stored.

    >>> default_path("data/spam.svm.gz").name, default_path("a9a.xz").name, default_path("en.conllu").name
    ('spam.novikoff', 'a9a.novikoff', 'en.novikoff')
    """
    from novikoff.data.sources.formats import COMPRESSED, SUFFIXES
    from novikoff.parameters.table import SENTENCE_FORMATS

    if first_file == "-":
        return Path("stdin.novikoff")
    path = Path(Path(first_file).name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    if path.suffix.lower() in (*SUFFIXES, *(f".{name}" for name in SENTENCE_FORMATS), ".txt"):
        path = path.with_suffix("")
    return path.with_name(path.name + ".novikoff")


def check_writable(path: Path, option: str = "--model") -> None:
    """Refuse, before any work, what could not be written or would overwrite something else."""
    from novikoff.modelfile.container import kind_of_file

    parent = path.parent
    if not parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(parent)!r}.", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder, expected a file's name.", param_hint=option)
    if not os.access(parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(parent))
    if path.exists() and kind_of_file(path) is None:
        raise ValueError(
            f"{path} exists and is no novikoff file, so it is not overwritten: name another by {option}, or "
            "remove it first."
        )
