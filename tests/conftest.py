"""Settings for the whole suite."""

import os
from pathlib import Path

from hypothesis import settings

# The same examples every time and no deadline: the suite must not depend on chance or on the machine's
# mood. `make long` goes looking for new ones, and says by which seed.
settings.register_profile("suite", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# Child processes find `support` as the tests do.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)
