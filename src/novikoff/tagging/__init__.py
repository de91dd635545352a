"""Sequence taggers: the estimator, then what it stands on."""

from novikoff.lazy import attach

attach(__name__)
