"""The command line: `novikoff`, or `python -m novikoff`.

Nothing here loads NumPy before a command needs it: `novikoff --help` answers at once.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit("novikoff: error: the command line needs typer: pip install 'novikoff[files]'")
    except KeyboardInterrupt:
        sys.exit(130)
    from novikoff.cli.app import COMMANDS, make_app
    from novikoff.cli.visible import OutputLost, give_up, guard

    guard()
    wanted = [name for name in COMMANDS if name in sys.argv[1:2]]
    try:
        make_app(tuple(wanted) or COMMANDS)(prog_name="novikoff")
    except OutputLost as lost:
        give_up()
        if lost.code == 1:
            sys.stderr.write(f"novikoff: error: standard output: {lost}\n")
        sys.exit(lost.code)
