"""The command line: `novikoff`, or `python -m novikoff`.

Nothing here loads NumPy before a command needs it: `novikoff --help` answers at once.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from novikoff.cli.app import run
        from novikoff.cli.visible import OutputLost, give_up, guard

        guard()
        try:
            sys.exit(run(sys.argv[1:]))
        except OutputLost as lost:
            give_up()
            if lost.code == 1:
                sys.stderr.write(f"novikoff: error: standard output: {lost}\n")
            sys.exit(lost.code)
    except KeyboardInterrupt:
        sys.exit(130)
