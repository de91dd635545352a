"""Structured perceptrons for sequences, trees, matchings, rankings, and anything else that can be decoded.

Names are resolved when they are first used, as in `novikoff` itself.
"""

from novikoff.lazy import attach

attach(__name__)
