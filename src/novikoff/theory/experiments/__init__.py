"""Theorems in experiments: each function runs one experiment and returns its claim and its outcome.

The data come from `novikoff.datasets`. Every result is an `Experiment`: figures by name, curves, a picture
(`plot`), and `holds`, which is true if the claim was met. Names are resolved on first use.
"""

from novikoff.lazy import attach

attach(__name__)
