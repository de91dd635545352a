"""The commands there are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated

import typer

import novikoff
from novikoff.cli import errors

COMMANDS = (  # each in a module of its name
    "fit",
    "predict",
    "evaluate",
    "inspect",
    "convert",
    "tune",
    "diagnose",
    "certify",
    "verify",
    "tag",
)
GROUPS = {"tag": ("fit", "predict", "evaluate")}  # commands of commands: a folder, with a module for each


def make_app(names: tuple[str, ...] = COMMANDS) -> typer.Typer:
    """The command line with these commands. One alone is ready sooner: typer looks at every option."""
    app = typer.Typer(
        name="novikoff",
        help="Perceptrons that carry their proof: from a file to a model in one command.\n\n"
        "'novikoff COMMAND --help' says more. Exit codes: 0 done, 1 bad input, 2 bad usage, 130 interrupted, "
        "141 nobody read the output.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_main)
    for name in names:
        if name in GROUPS:
            app.add_typer(_make_group(name), name=name)
        else:
            _add(app, name, f"novikoff.cli.{name}")
    return app


def _make_group(name: str) -> typer.Typer:
    package = f"novikoff.cli.{name}"
    group = typer.Typer(
        help=import_module(package).__doc__,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    for member in GROUPS[name]:
        _add(group, member, f"{package}.{member}")
    return group


def _add(app: typer.Typer, name: str, module: str) -> None:
    """The command in a module, which both have one name."""
    command: Callable[..., None] = getattr(import_module(module), name)
    app.command(name)(errors.runnable(command))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"novikoff {novikoff.__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option(
            "--traceback", envvar="NOVIKOFF_TRACEBACK", help="Show where in the program an error arose."
        ),
    ] = False,
) -> None:
    errors.show_traceback(traceback)
