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

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # R ≥ γ in a terminal that has only ASCII
    wanted = [name for name in COMMANDS if name in sys.argv[1:2]]
    make_app(tuple(wanted) or COMMANDS)(prog_name="novikoff")
