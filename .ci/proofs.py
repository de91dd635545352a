"""Compile the proofs with Coq, and check that they depend on nothing but the axioms of its real numbers.

`make proofs` runs this. It fails where Coq is absent: Debian's package is called coq.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

PROOFS = Path(__file__).parents[1] / "proofs"
FILES = ("Sums", "Space", "Vectors", "Perceptron", "Certificates", "Run", "Summary")
AXIOMS = {  # of the standard library's real numbers
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}


def main() -> int:
    if shutil.which("coqc") is None:
        print("make proofs: coqc is not installed (Debian's package coq).", file=sys.stderr)
        return 1
    if left := sorted({path.stem for path in PROOFS.glob("*.v")} ^ set(FILES)):
        print(f"make proofs: not the files that are there: {', '.join(left)}", file=sys.stderr)
        return 1
    said = ""
    for name in FILES:
        command = ["coqc", "-q", "-R", ".", "Novikoff", f"{name}.v"]
        done = subprocess.run(command, cwd=PROOFS, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout + done.stderr, file=sys.stderr)
            return 1
        said = done.stdout
    theorems = re.findall(r"Print Assumptions (\w+)\.", (PROOFS / "Summary.v").read_text())
    used = set(re.findall(r"^([A-Z]\w*\.\w+)", said, re.MULTILINE))
    print(f"{len(theorems)} theorems are proved: {', '.join(theorems)}")
    print(f"they depend on {', '.join(sorted(used))}: the real numbers of Coq's standard library")
    if used - AXIOMS:
        print(f"make proofs: these are other axioms: {', '.join(sorted(used - AXIOMS))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
