"""Every parameter's name, default, help and legal values, written once."""

from novikoff.lazy import attach

attach(__name__)
