from novikoff import checker as checker
from novikoff import dask as dask
from novikoff import datasets as datasets
from novikoff import plots as plots
from novikoff import structured as structured
from novikoff import theory as theory
from novikoff.data.rounding import RoundingWarning as RoundingWarning
from novikoff.data.sources.formats import open_source as open_source
from novikoff.data.sources.libsvm import load as load
from novikoff.kernel.expansions import MonotoneConjunctions as MonotoneConjunctions
from novikoff.kernel.expansions import PolynomialExpansion as PolynomialExpansion
from novikoff.kernel.function import KernelFunction as KernelFunction
from novikoff.kernel.model import KernelModel as KernelModel
from novikoff.kernel.online import OnlineKernelPerceptron as OnlineKernelPerceptron
from novikoff.kernel.perceptron import KernelPerceptron as KernelPerceptron
from novikoff.linear.model import LinearModel as LinearModel
from novikoff.linear.online import OnlinePerceptron as OnlinePerceptron
from novikoff.linear.perceptron import Perceptron as Perceptron
from novikoff.linear.pocket import Pocket as Pocket
from novikoff.linear.voted import VotedPerceptron as VotedPerceptron
from novikoff.linear.winnow import Winnow as Winnow
from novikoff.loading import load_model as load_model
from novikoff.structured.perceptron import StructuredPerceptron as StructuredPerceptron
from novikoff.tagging.sequence_tagger import SequenceTagger as SequenceTagger
from novikoff.tagging.tagger import Tagger as Tagger
from novikoff.tagging.templates import Templates as Templates

__version__: str
