"""The build for any processor and the one for this processor give the same bits."""

from novikoff import _core
from support.children import run_python

SCRIPT = """
import hashlib, warnings
import numpy as np, scipy.sparse as sp
from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, SequenceTagger, VotedPerceptron, _core
from novikoff.kernel.kernels import BY_NAME
from novikoff.parameters.linear import RULES
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
digest = hashlib.sha256()
X = rng.standard_normal((300, 37)).round(2)
for K in (2, 3, 11):
    y = rng.integers(0, K, 300)
    for rule in RULES:
        bytes_ = np.abs(X * 10).astype(np.uint8)
        for layout in (X, X.astype(np.float32), bytes_, sp.csr_array(np.where(X > 1, X, 0))):
            for average in (False, True):
                model = Perceptron(rule, average=average, max_epochs=4, random_state=1).fit(layout, y)
                for array in (model.coef_, model.intercept_, model.predict(layout)):
                    digest.update(array.tobytes())
    voted = VotedPerceptron(max_epochs=3, random_state=1).fit(X, y)
    digest.update(voted.decision_function(X).tobytes())
    for name in BY_NAME:
        for layout in (np.abs(X), np.abs(X * 10).astype(np.uint8), sp.csr_array(np.where(X > 1, X, 0))):
            model = KernelPerceptron(name, max_epochs=3, random_state=1).fit(layout, y)
            for how in ("last", "averaged", "voted"):
                model.predict_with = how
                digest.update(model.decision_function(layout).tobytes())
    for policy in ("projectron", "projectron++", "forgetron", "oldest", "random"):
        for layout in (X, sp.csr_array(np.where(X > 1.8, X, 0))):
            model = KernelPerceptron(budget=20, budget_policy=policy, max_epochs=2, random_state=1)
            model.fit(layout, y)
            digest.update(model.dual_coef_.tobytes())
    dicts = [{f"f{j}": v for j, v in enumerate(row) if v > 0.5} for row in X]
    tokens = [dicts[i : i + 6] for i in range(0, 300, 6)]
    for x in (tokens, [[list(token) for token in sentence] for sentence in tokens]):
        tagger = SequenceTagger(random_state=1).fit(x, y.reshape(-1, 6).tolist())
        digest.update(tagger.to_model().scorer.w.tobytes())
        digest.update(np.concatenate(tagger.predict_marginal_scores(x)).tobytes())
stream = OnlinePerceptron("pa1", average=True)
for row, label in zip(X, y):
    stream.learn_one({f"f{j}": v for j, v in enumerate(row)}, int(label))
digest.update(stream.coef_.tobytes())
print(_core.INSTRUCTIONS, digest.hexdigest())
"""


def run(instructions):
    return run_python("-c", SCRIPT, environment={"NOVIKOFF_INSTRUCTIONS": instructions}).stdout.split()


def test_every_instruction_set_gives_the_same_bits():
    name, digest = run("base")
    assert name == "base"
    assert run("")[1] == digest
    assert _core.INSTRUCTIONS in ("base", "v3")
