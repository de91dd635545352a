"""Names that moved to the modules of this package, for importers of the former single table."""

from __future__ import annotations

from novikoff.parameters.commands import FILE_PARAMETERS as FILE_PARAMETERS
from novikoff.parameters.files import FORMATS as FORMATS
from novikoff.parameters.files import OTHER as OTHER
from novikoff.parameters.kernel import KERNEL_PARAMETERS as KERNEL_PARAMETERS
from novikoff.parameters.kernel import what_predicts as what_predicts
from novikoff.parameters.parameter import Parameter as Parameter
from novikoff.parameters.parameter import parameters_from_file as said_by_file
from novikoff.parameters.tag_commands import SENTENCE_FORMATS as SENTENCE_FORMATS
from novikoff.parameters.tag_commands import TAG_FILE_PARAMETERS as TAG_FILE_PARAMETERS

__all__ = ["said_by_file"]
