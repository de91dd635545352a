"""Kernel perceptrons: the estimators, then what they stand on."""

from novikoff.lazy import attach

attach(__name__)
