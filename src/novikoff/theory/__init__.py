"""What can be learned, and what it costs: margins, bounds, separability, certificates.

Names are resolved when they are first used.
"""

from novikoff.lazy import attach

attach(__name__)
