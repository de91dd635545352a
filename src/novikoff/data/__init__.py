"""Where examples come from and go to: arrays, labels, scaling, files."""

from novikoff.lazy import attach

attach(__name__)
