"""The loop over epochs, for every family: records, stopping, early stopping, interrupts.

A family passes a `Trainer` to the loop, which defines one epoch and the final check of the weights. The loop
uses nothing else of it. No other module loops over epochs, except the plain twins, `theory.trace` and
`tuning`.
"""

from __future__ import annotations

import math
import sys
import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from novikoff.training.plan import Plan
from novikoff.training.run import Record, Run


class Epoch(NamedTuple):
    """The outcome of one epoch."""

    converged: bool
    counts: Record  # mistakes, updates, the norm of w, and whatever else the family records


class Trainer(ABC):
    """Weights in training, and the examples from which they are learned."""

    @abstractmethod
    def epoch(self) -> Epoch:
        """Run one epoch."""

    def keep(self, run: Run) -> None:  # noqa: B027  (most have nothing to write)
        """Write a checkpoint, if the family writes one after every epoch."""

    def finish(self, run: Run) -> None:  # noqa: B027  (most have nothing to note)
        """Record the examples in the ledger; also after an interrupt."""

    @abstractmethod
    def judge(self, run: Run) -> None:
        """Check the last weights against every example, and write the verdict into `run`."""


class WorstFirstTrainer(Trainer):
    """A trainer that can always visit the most violated example (``order="worst"``)."""

    @abstractmethod
    def worst(self) -> Epoch:
        """As many updates as there are examples, each on the most violated; converged if none is violated."""


class AskingTrainer(Trainer):
    """A trainer that can ask whether an epoch can ever be clean: without an update, or without a mistake."""

    @abstractmethod
    def ask(self, run: Run) -> bool | None:
        """Ask with about the effort of the run so far; True or False is proved, None is open.

        The proof is written into `run`.
        """


class EarlyStoppingTrainer(Trainer):
    """A trainer that can hold out examples for early stopping."""

    holds_out: bool  # whether examples were held out

    @abstractmethod
    def held_out_score(self) -> float:
        """The score on the held-out examples of the weights used by `predict`."""

    @abstractmethod
    def snapshot(self) -> Any:
        """A copy of the current weights for `restore`."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Restore weights. The counts stay, because they describe the whole run."""


def train(trainer: Trainer, plan: Plan, run: Run | None = None, *, judged: bool = True) -> Run:
    """Learn until an epoch converges, or the plan ends training; then judge the weights if `judged`.

    `run` is the run so far when a fit is resumed from a checkpoint.

    An interrupt (Ctrl-C) ends the run at once, with usable weights, and is recorded in it.
    """
    run = Run() if run is None else run
    learn_once = trainer.epoch
    if plan.order == "worst":
        if not isinstance(trainer, WorstFirstTrainer):
            raise ValueError("order='worst' is not possible here: examples are read one by one.")
        learn_once = trainer.worst
    validated = trainer if isinstance(trainer, EarlyStoppingTrainer) and trainer.holds_out else None
    best, snapshot, since_best = -1.0, None, 0
    end = _first_end(plan, run)
    try:
        while not run.converged:
            if len(run.history) >= end:
                end = _later_end(trainer, plan, run, end)
                if len(run.history) >= end:
                    break
            started = time.perf_counter()
            run.converged, counts = learn_once()
            record = {"epoch": len(run.history) + 1} | counts | {"seconds": time.perf_counter() - started}
            run.history.append(record)
            if validated is not None:
                record["validation_score"] = score = validated.held_out_score()
                since_best += 1
                if score > best:
                    best, snapshot, since_best = score, validated.snapshot(), 0
            trainer.keep(run)
            if plan.verbose:
                print(record_line(record), file=sys.stderr)
            stop = plan.callback is not None and plan.callback(record) is True
            if stop or since_best >= plan.n_epochs_no_change:
                break
        if validated is not None and since_best:
            validated.restore(snapshot)
            given_up = any(r.get("updates", r["mistakes"]) for r in run.history[-since_best:])
            run.converged = run.converged and not given_up  # which was said of the last weights
    except KeyboardInterrupt:
        run.interrupted = True
    trainer.finish(run)
    try:
        if judged and not run.interrupted:
            trainer.judge(run)
    except KeyboardInterrupt:
        run.interrupted = True
    return run


# ---- max_epochs="auto" -------------------------------------------------------------------------------
FIRST = 10  # epochs before the first question
WHILE_OPEN = 160  # epochs at most while the question stays open
WHEN_SEPARATED = 1000  # epochs at most once the rows were separated
FALLING = 0.9  # mistakes that fall, relative to those of as many epochs before


def _first_end(plan: Plan, run: Run) -> int:
    """The number of epochs after which training ends or asks; an epoch may be under way in a resumed fit."""
    if isinstance(plan.max_epochs, int):
        return plan.max_epochs
    if run.proofs:
        return WHEN_SEPARATED
    end = FIRST
    while end <= len(run.history):
        end *= 2
    return end


def _later_end(trainer: Trainer, plan: Plan, run: Run, end: int) -> int:
    """The next such number, or the same one if training ends."""
    if not plan.is_open_ended or end == WHEN_SEPARATED:
        return end
    assert isinstance(trainer, AskingTrainer)
    answer = trainer.ask(run)
    if answer is None:
        return 2 * end if end < WHILE_OPEN and _is_falling(run.history) else end
    return WHEN_SEPARATED if answer else end


def _is_falling(history: list[Record]) -> bool:
    """Whether the last quarter of the epochs made clearly fewer mistakes than the quarter before.

    Few mistakes vary by chance, so two deviations are allowed for; such epochs are short.
    """
    quarter = len(history) // 4
    before, last = (sum(r["mistakes"] for r in history[-k * quarter :][:quarter]) for k in (2, 1))
    return bool(last < FALLING * before + 2 * math.sqrt(before + last))


def record_line(record: Record) -> str:
    """An epoch in one line: those of the following that it has, in this order.

    >>> record_line({"epoch": 3, "mistakes": 1200, "updates": 1200, "norm": 2.5, "seconds": 0.25})
    'epoch    3:     1,200 mistakes     1,200 updates  norm 2.5  0.250 s'
    """
    parts = [f"epoch {record['epoch']:4}: {record['mistakes']:9,} mistakes"]
    if "updates" in record:
        parts[0] += f" {record['updates']:9,} updates"
    if "norm" in record:
        parts.append(f"norm {record['norm']:.6g}")
    parts.append(f"{record['seconds']:.3f} s")
    if "validation_score" in record:
        parts.append(f"held out {record['validation_score']:.4f}")
    if "run" in record:
        parts.append(f"longest run {record['run']:,}")
    if "errors" in record:
        parts.append(f"errors in the pocket {record['errors']:,.6g}")
    if "shard_mistakes" in record:
        mistakes, weights = record["shard_mistakes"], record["mixing_weights"]
        parts.append(
            f"shards {min(mistakes):,}–{max(mistakes):,} mistakes, "
            f"weights {min(weights):.3g}–{max(weights):.3g}, "
            f"{record['bytes_moved'] / 1e6:.3g} MB moved, {record['seconds_lost']:.3f} s lost to the slowest"
        )
    return "  ".join(parts)
