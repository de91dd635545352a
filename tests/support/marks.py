"""Marks that many tests bear."""

import pytest

# By default a warning is an error, and so is that of a fit that did not separate the rows.
may_not_separate = pytest.mark.filterwarnings("ignore:The training rows (were not|cannot be) separated")
