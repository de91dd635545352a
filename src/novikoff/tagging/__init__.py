"""Sequence taggers: the estimator, and the modules that it is built from."""

from novikoff.lazy import attach

attach(__name__)
