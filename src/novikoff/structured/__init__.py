"""Structured perceptrons: outputs that are sequences, trees, matchings, rankings, or whatever can be decoded.

Names are resolved when they are first used, as in `novikoff` itself.
"""

from novikoff.lazy import attach

attach(__name__)
