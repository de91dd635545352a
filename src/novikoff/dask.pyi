from novikoff.distributed.perceptron import DistributedPerceptron as DistributedPerceptron
from novikoff.distributed.tagger import DistributedTagger as DistributedTagger

def check_installed() -> None: ...
