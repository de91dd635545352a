"""Rows to files of any format; files written at once or not at all."""

from novikoff.lazy import attach

attach(__name__)
