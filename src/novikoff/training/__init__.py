"""The loop over epochs, and what every training shares."""

from novikoff.lazy import attach

attach(__name__)
