"""Files that are written at once or not at all."""

import os
import subprocess
import sys

import pytest

from novikoff.outfile import replacing
from support.children import run_python


def test_permissions_are_kept(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    for mode in (0o600, 0o640, 0o444):
        path.chmod(mode)
        with replacing(path) as file:
            file.write(b"new")
        assert path.stat().st_mode & 0o777 == mode and path.read_bytes() == b"new"


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    with replacing(tmp_path / "model") as file:
        file.write(b"new")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


KILLED = """
import os, sys
from novikoff.outfile import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    if len(sys.argv) > 2:
        print("writing", flush=True)
        sys.stdin.read()
    else:
        os._exit(1)  # no cleaning up, as after a kill
"""


def temporary(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp"))


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    path = tmp_path / "model"
    for _ in range(3):
        run_python("-c", KILLED, path, code=1)
        assert len(temporary(tmp_path)) == 1 and not path.exists()
    (tmp_path / ".other.01234567.tmp").write_bytes(b"of another file")
    with replacing(path) as file:
        file.write(b"whole")
    assert temporary(tmp_path) == [".other.01234567.tmp"] and path.read_bytes() == b"whole"


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "model"
    command = [sys.executable, "-c", KILLED, path, "wait"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"writing\n"
        with replacing(path) as file:
            file.write(b"mine")
        assert path.read_bytes() == b"mine" and len(temporary(tmp_path)) == 1
        child.communicate()
    assert path.read_bytes() == b"half" and not temporary(tmp_path)


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"new")
        1 / 0  # noqa: B018
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model"]  # noqa: PTH208


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="nothing was saved") as caught,
        replacing(tmp_path / "a" / "b"),
    ):
        pass
    assert caught.value.filename == str(tmp_path / "a" / "b")


def test_what_replaces_a_private_file_is_private_from_the_start(tmp_path):
    """Not only in the end: a killed process would leave it to be read by others."""
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        (passing,) = tmp_path.glob(".secret.*.tmp")
        assert passing.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o600
