"""Choose how to learn by held-out rows."""

from novikoff.tuning.candidates import Candidate, Grid, Outcome
from novikoff.tuning.choice import TuneResult, tune

__all__ = ["Candidate", "Grid", "Outcome", "TuneResult", "tune"]
