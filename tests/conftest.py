"""Settings for the whole suite."""

import os
import signal

from hypothesis import settings

# Some tests interrupt themselves or a child; a suite started in the background would be deaf to it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time and no deadline: the suite must not depend on chance or on the machine's
# mood. `make long` goes looking for new ones.
settings.register_profile("suite", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
