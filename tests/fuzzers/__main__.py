"""``PYTHONPATH=tests python -m fuzzers [KIND ...] [--runs N | --seconds S] [--seed S] [--first K]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzzers.kinds import BY_NAME, KINDS
from fuzzers.running import campaign


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="fuzzers", description="Random and hostile input; exit 1 if anything is found."
    )
    parser.add_argument("kind", nargs="*", help=f"of: {', '.join((*KINDS, *BY_NAME))}")
    parser.add_argument("--runs", type=int, help="so many cases of each kind")
    parser.add_argument("--seconds", type=float, help="so long for each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz"), help="where findings go")
    given = parser.parse_args()
    if unknown := {*given.kind} - {*KINDS, *BY_NAME}:
        parser.error(f"there is no kind {unknown.pop()!r}")
    if given.runs is None and given.seconds is None:
        given.runs = 100
    failed = False
    for kind in given.kind or KINDS:
        result = campaign(
            kind,
            given.seed,
            first=given.first,
            runs=given.runs,
            seconds=given.seconds,
            found=given.found.resolve(),
        )
        print(result, *(f"  {path}" for path in result.findings), sep="\n", flush=True)
        failed |= bool(result.findings)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
