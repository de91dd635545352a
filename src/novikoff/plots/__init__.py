"""Pictures of what was learned and why, in scikit-learn's Display convention.

Every class holds the numbers it shows, has `plot(ax=None)`, and afterwards `ax_` and `figure_`. Nothing here
imports scikit-learn, and matplotlib only when something is drawn. Names are resolved when they are first
used.
"""

from novikoff.lazy import attach

attach(__name__)
