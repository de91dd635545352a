"""The native loops, compiled for the processor at hand; native/ has the mathematics above each of them.

NOVIKOFF_INSTRUCTIONS=base takes the build for any processor instead: it is slower and gives the same bits.
"""

import os

import novikoff._core_base as _base

if _base.runs_v3() and os.environ.get("NOVIKOFF_INSTRUCTIONS") != "base":
    from novikoff._core_v3 import *  # noqa: F403

    INSTRUCTIONS = "v3"
else:
    from novikoff._core_base import *  # noqa: F403

    INSTRUCTIONS = "base"
