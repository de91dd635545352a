"""Learn dependency trees from one CoNLL-U file and print the share of correct heads in another.

    python examples/dependency_trees.py TRAIN DEV [SENTENCES] [EPOCHS]

Files may be compressed with xz. Sentences whose trees are not projective are left out of training, and are
included in the score.
"""

import lzma
import sys
import time
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from novikoff import StructuredPerceptron
from novikoff.structured import DependencyTrees
from novikoff.structured.eisner import crossing


def read(path):
    """(words with their tags, heads) of every sentence; multiword ranges and empty nodes are skipped."""
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
            rows = [row for row in rows if row[0].isdigit()]
            yield [(row[1], row[4]) for row in rows], [int(row[6]) for row in rows]


def main(train, dev, sentences=None, epochs="5"):
    """Train, and print the results."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # a few epochs do not separate real sentences
    examples = [(x, y) for x, y in read(train) if not crossing(y)][: sentences and int(sentences)]
    X, Y = zip(*examples, strict=True)
    started = time.perf_counter()
    model = StructuredPerceptron(
        DependencyTrees(), average=True, max_epochs=int(epochs), random_state=0, verbose=1
    ).fit(X, Y)
    seconds = time.perf_counter() - started
    X, Y = zip(*read(dev), strict=True)
    started = time.perf_counter()
    score = model.score(X, Y)
    print(f"{len(examples):,} sentences, {model.n_epochs_} epochs, {seconds:.1f} s")
    words = sum(map(len, X))
    print(f"{score:.2%} of {words:,} heads right in {Path(dev).name}, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
