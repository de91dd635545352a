"""What needs only rows and labels: separability, margins, certificates."""

from novikoff.lazy import attach

attach(__name__)
