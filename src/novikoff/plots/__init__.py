"""Pictures of what was learned and why, in scikit-learn's Display convention.

Every class holds the numbers it shows and has `plot(ax=None)`, which sets `ax_` and `figure_`. Nothing here
imports scikit-learn; matplotlib is imported only for drawing. Names are resolved on first use.
"""

from novikoff.lazy import attach

attach(__name__)
