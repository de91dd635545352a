"""Help: the common options first and in plain words, all of them on request, and examples that run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from novikoff.cli import app
from novikoff.cli.options import COMMON, PARTS
from support.commands import run, run_any
from support.places import ROOT

EVERY = [(name,) for name in app.COMMANDS if name != "tag"] + [("tag", name) for name in app.GROUPS["tag"]]
NAMES = [" ".join(names) for names in EVERY]
ORDER = ("What to read", "How to learn", "What to say", "Where to write")


def headings(text: str) -> list[str]:
    return [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "]


def shown_flags(text: str) -> list[str]:
    """The options that a help lists, in its order."""
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, flags=re.M)


# ---- the common options --------------------------------------------------------------------------------
@pytest.mark.parametrize("names", EVERY, ids=NAMES)
def test_help_shows_the_common_options_alone_and_briefly(names):
    for flag in ("--help", "-h"):
        text = run(*names, flag).stdout
        command = app.load(*names)
        common = [option for group in command.common.values() for option in group]
        assert shown_flags(text) == [*(option.flag for option in common), "--help", "--help-all"]
        assert {option.name for option in common} == {o.name for o in command.options} & COMMON.keys()
        for argument in command.arguments:
            assert f"\n  {argument.metavar}" in text
        words = " ".join(text.split())
        for option in common:  # in one or two lines, with its default
            assert len(textwrap.wrap(option.short, 54)) <= 2, option.name
            assert " ".join(option.short.split()) in words
            if option.default not in (None, False, [], (), {}):
                assert "[default:" in option.short, option.name


@pytest.mark.parametrize("names", EVERY, ids=NAMES)
def test_parts_come_in_the_order_of_need(names):
    found = headings(run(*names, "--help").stdout)
    assert (found[0], found[-2:]) == ("Arguments", ["Help", "Examples"])
    known = [heading for heading in found if heading in ORDER]
    assert known == [heading for heading in ORDER if heading in found]


def test_the_help_of_fit_begins_with_what_is_needed_most():
    text = run("fit", "--help").stdout
    assert headings(text) == ["Arguments", *ORDER, "Help", "Examples"]
    flags = shown_flags(text)
    for first, then in (("--label", "--text"), ("--epochs", "--kernel"), ("--test", "--json")):
        assert flags.index(first) < flags.index(then)
    assert len(flags) < len(app.load("fit").options) / 2


def test_common_options_exist():
    """A name in the list of common options that no command has would be a slip."""
    every = {option.name for names in EVERY for option in app.load(*names).options}
    assert every >= COMMON.keys()
    used = {heading for names in EVERY for heading in app.load(*names).groups}
    assert used >= PARTS.keys()


# ---- all options ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("names", EVERY, ids=NAMES)
def test_help_all_has_every_option_and_argument_in_full(names):
    text = run(*names, "--help-all").stdout
    command = app.load(*names)
    words = " ".join(text.split())
    for option in command.options:
        assert f"\n  {option.shown[:50].rpartition('|')[0] or option.shown}" in text
        assert " ".join(option.help.split()) in words, option.name
    for argument in command.arguments:
        assert f"\n  {argument.metavar}" in text
    assert headings(text) == ["Arguments", *command.groups, "Help", "Examples"]
    assert f"Show all {len(command.options)} options" in text


@pytest.mark.parametrize("flag", ["--help", "--help-all"])
@pytest.mark.parametrize("names", [(), ("tag",), *EVERY], ids=["", "tag", *NAMES])
def test_help_fits_the_terminal(names, flag, monkeypatch):
    for columns in (60, 80, 110):
        monkeypatch.setattr(app, "terminal_width", lambda c=columns: c)
        lines = run(*names, flag).stdout.splitlines()
        assert max(map(len, lines)) <= columns


def test_help_is_as_wide_as_columns_say():
    child = [sys.executable, "-m", "novikoff", "fit", "--help-all"]
    for columns, widest in (("60", 60), ("100", 100), ("300", 110)):
        env = os.environ | {"COLUMNS": columns}
        text = subprocess.run(child, env=env, capture_output=True, text=True, check=True).stdout
        assert widest - 8 < max(map(len, text.splitlines())) <= widest


# ---- the list of commands ------------------------------------------------------------------------------
def test_every_command_is_described_in_one_line():
    for names in ((), ("tag",)):
        text = run(*names, "--help").stdout
        _, _, listed = text.partition("Commands:\n")
        lines = listed.partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == list(app.GROUPS[" ".join(names)])
        assert all(line.endswith(".") for line in lines)
    assert "To start:\n  novikoff fit examples/data/iris.csv" in run("--help").stdout


def test_without_a_command_help_is_an_error():
    for names in ((), ("tag",)):
        shown = run_any(*names)
        assert (shown.exit_code, shown.stdout) == (2, "")
        assert shown.stderr == run(*names, "--help").stdout == run(*names, "--help-all").stdout
        assert "Commands:" in shown.stderr and "\n  fit " in shown.stderr


# ---- examples ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("names", EVERY, ids=NAMES)
def test_every_command_ends_with_one_or_two_examples(names):
    text = run(*names, "--help").stdout
    examples = app.load(*names).examples
    assert 1 <= len(examples) <= 2
    shown = text.partition("\nExamples:\n")[2].replace(" \\\n      ", " ")
    assert shown.splitlines() == [f"  {line}" for line in examples]


def test_the_examples_run_one_after_the_other(tmp_path):
    """In the order of the commands: a model that one needs was made by one before."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "novikoff").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m novikoff "$@"\n')
    (folder / "novikoff").chmod(0o755)
    env = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    start = [line for line, _ in app.START]
    for line in [*start, *(line for names in EVERY for line in app.load(*names).examples)]:
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "error" in done.stderr) == (0, False), (line, done.stderr)
    made = {path.name for path in tmp_path.iterdir()}
    assert made >= {"iris.novikoff", "spam.novikoff", "spam.csv", "wine.html", "wine.json", "pos.novikoff"}
    assert Path(tmp_path / "spam.csv").read_text().startswith("label,score\n")
