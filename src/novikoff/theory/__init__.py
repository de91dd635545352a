"""What can be learned, and what it costs: margins, bounds, separability, certificates.

Names are resolved on first use.
"""

from novikoff.lazy import attach

attach(__name__)
