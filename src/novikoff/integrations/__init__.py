"""Adapters to other libraries."""

from novikoff.lazy import attach

attach(__name__)
