"""`novikoff trace`: a run over the rows of files, visit by visit, as it is written on a board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.inputs import open_data, read_problem_of
from novikoff.cli.options import Options, UsageError, flag_of
from novikoff.cli.parser import command
from novikoff.cli.paths import check_writable
from novikoff.cli.strict import check_effects

if TYPE_CHECKING:
    from novikoff.data.sources.source import Source
    from novikoff.proof.problem import Problem
    from novikoff.theory.steps import Steps

RULES = ("perceptron", "normalized", "margin")
ORDERS = ("cyclic", "shuffle", "riffle", "worst", "first", "any")
SHOWN = 40
MOST_UPDATES = 100_000  # the run ends there, as in theory.trace
LARGEST = 20  # rows whose α is listed
KERNEL = ("gamma", "degree", "coef0")
LINEAR_ONLY = ("rule", "margin", "intercept_scaling", "weight")


@command(
    opt.LABELLED,
    groups={
        **opt.ROWS,
        "Learning": (
            opt.option(
                "rule",
                legal=RULES.__contains__,
                expected=f"one of {', '.join(RULES)}",
                choices=RULES,
                help="What is added: y*x, or y*x divided by its length; margin: more often.",
            ),
            *("margin", *opt.DECISIONS),
            opt.option(
                "order",
                default="cyclic",
                legal=ORDERS.__contains__,
                expected=f"one of {', '.join(ORDERS)}",
                choices=ORDERS,
                help="The order of the visits. 'cyclic': as in the files. 'shuffle', 'riffle': drawn anew in "
                "each epoch. Three visit only rows that need an update: 'worst' the most violated one, "
                "'first' the first one, 'any' one drawn at random.",
            ),
            opt.option(
                "max_epochs",
                default=1000,
                legal=lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 1,
                expected="a whole number ≥ 1",
                help="The largest number of epochs; the run also ends after one without an update.",
            ),
            "random_state",
        ),
        "Kernels": ("kernel", *KERNEL),
        "Reporting": (
            opt.value_option(
                "limit", "The number of visits to list. Default: 40 as text, all in files and JSON.", kind=int
            ),
            *opt.OUTPUT,
        ),
        "Writing": (
            opt.file_option("csv", "Also write the visits to a CSV file, with a column per coordinate."),
        ),
    },
    examples=("novikoff trace examples/data/iris.csv --positive setosa --epochs 1 --limit 10",),
)
def trace(options: Options) -> None:
    """Show a run visit by visit, as it is written on a board.

    The columns are x, y, the score, mistake or not, and the weights after the visit.

    It starts from w = 0, and predicts the second class at score 0 (--ties mistake: that is a mistake for both
    classes). Rows are numbered from 0. Where a kernel is given, the table shows α, the number of mistakes on
    each row, instead of weights. All rows are read into memory.
    """
    _check(options)
    source = open_data(options.data, **opt.row_options(options))
    with progress.bar(not (options.quiet or options.json)) as watch:
        problem, _ = read_problem_of(source, options, watch)
    limit = options.limit
    if limit is None and options.csv is None and not options.json:
        limit = SHOWN
    names = None
    if source.features.kind != "numbered":
        names = source.features.names(range(problem.n_features))
    steps, facts = (_linear if options.kernel is None else _kernel)(problem, names, options, limit)
    if options.csv is not None:
        steps.to_csv(options.csv)
    _show(steps, facts, source, options)


def _check(options: Options) -> None:
    check_effects(options)
    if options.classes == "grow":
        raise UsageError("all rows are read first, so classes cannot grow.", "--classes")
    if options.csv is not None:
        check_writable(options.csv, "--csv")
    if options.kernel is None:
        for name in KERNEL:
            if name in options.given:
                raise UsageError("is only possible with --kernel.", flag_of(name))
        return
    for name in LINEAR_ONLY:
        if name in options.given:
            raise UsageError("is not possible with --kernel.", flag_of(name))
    if options.order in ("first", "any"):
        raise UsageError(f"{options.order} is not possible with --kernel.", "--order")
    if "fit_intercept" not in options.given:
        options.fit_intercept = False


def _linear(
    problem: Problem, names: list[str] | None, options: Options, limit: int | None
) -> tuple[Steps, dict[str, Any]]:
    from dataclasses import replace

    from novikoff.theory.steps import steps_of
    from novikoff.theory.visits import Runner, alpha_of
    from novikoff.training.weights import Settings

    problem = replace(problem, X=_scipys(problem.X)).lifted()
    beta = options.margin if options.rule == "margin" else 0.0
    settings = Settings(rule=options.rule, ties=options.ties, margin=beta, bias_square=problem.bias**2)
    runner = Runner(problem, settings)
    runner.go(options.order, options.random_state, options.max_epochs, MOST_UPDATES)
    rows, _, rivals, taken, _ = runner.native.recorded()
    alpha = alpha_of(problem, rows, rivals, taken)
    w = problem.vector(runner.learner.coef(), runner.learner.intercept())
    coef, intercept = (part if problem.is_joint else part[0] for part in problem.coefficients(w))
    visits = runner.visits()
    facts: dict[str, Any] = {"rows": problem.n_rows, "visits": visits.count, "converged": runner.converged}
    facts |= {"mistakes": runner.native.mistakes, "updates": runner.native.updates}
    facts |= {"w": coef.tolist(), "b": intercept.tolist() if problem.bias else None}
    return steps_of(visits, names, limit), facts | {"alpha": _nonzero(alpha)}


def _kernel(
    problem: Problem, names: list[str] | None, options: Options, limit: int | None
) -> tuple[Steps, dict[str, Any]]:
    from novikoff.theory.kernel_trace import kernel_trace

    if problem.weights is not None:
        raise ValueError("the rows have weights, which kernel models do not support.")
    given = {
        name: vars(options)[name]
        for name in ("kernel", *KERNEL, "fit_intercept", "ties", "order", "random_state", "max_epochs")
    }
    run = kernel_trace(_scipys(problem.X), problem.labels, classes=problem.classes, names=names, **given)
    facts: dict[str, Any] = {"rows": run.n_rows, "visits": run.n_visits, "converged": run.converged}
    facts |= {"mistakes": run.mistakes, "updates": len(run.visit), "kernel": run.kernel}
    return run.steps(limit), facts | {"alpha": _nonzero(run.alpha)}


def _scipys(X: Any) -> Any:
    """Sparse rows as SciPy's, of which rows can be taken."""
    if not hasattr(X, "indptr") or hasattr(X, "tocsr"):
        return X
    import scipy.sparse as sp

    return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


def _nonzero(alpha: Any) -> dict[str, Any]:
    """α of the rows that have one, by number."""
    import numpy as np

    used = np.flatnonzero(alpha if alpha.ndim == 1 else alpha.any(axis=1))
    return {str(row): alpha[row].tolist() for row in used.tolist()}


def _show(steps: Steps, facts: dict[str, Any], source: Source, options: Options) -> None:
    from novikoff.theory.steps import vector_text

    saved = {} if options.csv is None else {"csv": str(options.csv)}
    skipped = source.skipped
    if options.json:
        facts |= {"steps": steps.rows()} | saved
        facts |= {"skipped": {"count": skipped.count, "first": skipped.first}}
        output.write_json({"data": source.name} | facts)
        return
    lines = steps.to_text(options.limit).split("\n")
    last = lines[-1] if len(steps) > SHOWN and options.limit is None else ""
    if last.startswith("  and "):
        lines[-1] = f"  and {len(steps) - SHOWN:,} more visits; --limit lists more"
    elif len(steps) < steps.n_visits:
        lines.append(f"  and {steps.n_visits - len(steps):,} more visits; --limit lists more")
    ended = "converged" if facts["converged"] else "not converged"
    updates = "" if facts["updates"] == facts["mistakes"] else f", {facts['updates']:,} updates"
    run = f"{facts['mistakes']:,} mistakes{updates} in {facts['visits']:,} visits to {facts['rows']:,} rows"
    lines.append(f"  {'run':<10} {run}, {ended}")
    if "w" in facts:
        bias = "" if facts["b"] is None else f", b = {vector_text(facts['b'])}"
        lines.append(f"  {'result':<10} w = {vector_text(facts['w'])}{bias}")
    alpha = facts["alpha"]
    listed = [f"α[{row}] = {vector_text(a)}" for row, a in list(alpha.items())[:LARGEST]]
    more = f" and {len(alpha) - LARGEST:,} more" if len(alpha) > LARGEST else ""
    lines.append(f"  {'dual':<10} {', '.join(listed) or 'α = 0'}{more}")
    lines += output.skipped_lines(skipped)
    lines += [f"  {'saved':<10} {path} ({output.size_of(path)})" for path in saved.values()]
    output.say(lines)
