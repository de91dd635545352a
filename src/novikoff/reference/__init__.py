"""The plain twins: the readable specification of every native loop."""

from novikoff.lazy import attach

attach(__name__)
