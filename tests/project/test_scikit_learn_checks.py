"""scikit-learn's own suite of invariants, for every estimator; an exception states its reason."""

from sklearn.metrics import pairwise
from sklearn.utils.estimator_checks import parametrize_with_checks

from novikoff import KernelPerceptron, Perceptron, Pocket, VotedPerceptron, Winnow
from support.marks import may_not_separate

REASONS = {
    "check_sample_weight_equivalence_on_dense_data": "a weight scales the step; it does not repeat the row, "
    "which would be a second visit that may find no mistake",
    "check_sample_weight_equivalence_on_sparse_data": "as for dense data",
    "check_class_weight_classifiers": "a perceptron stops moving once a class's rows are right, so even "
    "an extreme weight need not make it predict that class nearly always",
    "check_dataframe_column_names_consistency": "the columns of a frame are found by their names, so that "
    "neither their order nor further columns are an error; tests/data/test_rows_by_name.py has what is",
}


def reasons(estimator):
    """One-vs-rest passes the check on class weights after enough epochs; nothing else is expected to."""
    apart = getattr(estimator, "multiclass", "joint") == "ovr" and estimator.max_epochs != "auto"
    return {check: why for check, why in REASONS.items() if not (apart and "class_weight" in check)}


class LinearKernel:
    """A kernel function whose name is the same in every process, as the suite's workers need it."""

    def __call__(self, rows, supports):
        return pairwise.linear_kernel(rows, supports)

    def __repr__(self):
        return "LinearKernel()"


@may_not_separate
@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron("pa1", average=True, max_epochs=20),
        Perceptron(multiclass="ovr"),
        Perceptron(multiclass="ovr", max_epochs=1000),
        VotedPerceptron(max_epochs=20),
        VotedPerceptron(predict_with="averaged", max_epochs=20),
        VotedPerceptron(predict_with="last", max_epochs=20),
        Pocket(max_epochs=20),
        Pocket(ratchet=False, order="cyclic", max_epochs=20),
        Winnow(),
        Winnow(balanced=True, threshold=0.0),
        KernelPerceptron(),
        KernelPerceptron("poly", predict_with="averaged", multiclass="joint"),
        KernelPerceptron("chi2", predict_with="last", fit_intercept=True),
        KernelPerceptron(LinearKernel()),
    ],
    expected_failed_checks=reasons,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
