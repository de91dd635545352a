"""What reports say of runs on parts of outputs, and of updates that the theorem does not cover."""

import warnings

from novikoff import StructuredPerceptron
from novikoff.structured import BeamSearch


class Steps(BeamSearch):
    """The first step weighs 1 and the second 100, so that whole outputs are further apart than parts."""

    def choices(self, x, made):
        return ("b", "a") if len(made) < 2 else ()

    def step(self, x, made, choice):
        return {(made, choice): 100} if made else {("first", choice): 1}


def test_the_margin_of_parts_is_said_to_be_one():
    """u with 1 at (a, a) has γ = 100 on whole outputs, above ‖w‖/updates = 71; so 2 updates > R²/γ²."""
    model = StructuredPerceptron(Steps(width=1), order="cyclic").fit([0], [("a", "a")])
    report = model.report()
    assert model.margin_upper_ < 100 and report.updates == 2 and model.radius_**2 < 2 * 100**2 + 1
    told = dict(report.proof.lines)
    assert "where γ is also the margin over parts of outputs" in told["bound"]
    assert "where γ is also the margin over parts of outputs" in told["margin"]
    assert report.training == (0, report.n_rows, None, None)


def test_invalid_updates_are_the_reason_why_no_bound_is_stated():
    class Trap(BeamSearch):
        def choices(self, x, made):
            return ("V", "N") if len(made) < 2 else ()

        def step(self, x, made, choice):
            if not made:
                return {"f": 1} if choice == "N" else {}
            return {"f": 2, "g": -1} if made == ("V",) else {"g": -1} if choice == "V" else {}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = StructuredPerceptron(Trap(width=1, update="standard")).fit(["x"], [("N", "N")])
    assert model.n_invalid_ and "is not stated: some updates used outputs" in model.report().in_full()
