"""Proofs from rows and labels alone: separability, margins, certificates."""

from novikoff.lazy import attach

attach(__name__)
