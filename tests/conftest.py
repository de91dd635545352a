"""Settings for the whole suite."""

import os

from hypothesis import settings

# A fixed number of examples and no deadline: the suite must not depend on the machine's mood.
settings.register_profile("suite", max_examples=60, deadline=None)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
