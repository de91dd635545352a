"""`novikoff tag fit`: from files of sentences to a tagger."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novikoff.cli import modelpath, output, progress
from novikoff.cli.options import Output, SavedAs
from novikoff.cli.running import INTERRUPTED
from novikoff.cli.tag import telling
from novikoff.cli.tag.evaluate import evaluated
from novikoff.cli.tag.opening import open_new, templates_of
from novikoff.cli.tag.options import Learning, Reading, default, option

if TYPE_CHECKING:
    from novikoff.data.sources.progress import Watch
    from novikoff.tagging.conll import SentenceFile
    from novikoff.tagging.scoring import TagScores
    from novikoff.tagging.tagger import Tagger
    from novikoff.training.plan import Plan


def fit(
    train: Annotated[
        list[str],
        typer.Argument(
            metavar="TRAIN",
            help="Files to learn from, one after the other; a pattern in quotes, or - for standard input.",
            show_default=False,
        ),
    ],
    *,
    templates: Annotated[str | None, option("templates", metavar="FILE|NAME")] = default("templates"),
    test: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Files to evaluate the tagger on; can be given several times."),
    ] = None,
    model: SavedAs = None,
    learning: Learning,
    reading: Reading,
    out: Output,
    verbose: Annotated[bool, option("verbose", "--verbose", "-v")] = default("verbose"),
) -> None:
    """Learn a tagger from files with a token a line, and report what happened.

    For example: novikoff tag fit train.conllu --test test.conllu --model pos.novikoff

    The files have columns as in the CoNLL tasks (with blanks or tabs between), or are CoNLL-U or CRFsuite's
    text; an empty line ends a sentence. Ctrl-C saves what has been learned so far.
    """
    from novikoff.data.sources.bytestream import ByteStream

    files = ByteStream(train)  # whether they are there
    if test:
        ByteStream(test)
    quiet = out.quiet or out.json
    path = model or modelpath.default_path("-" if train[0] == "-" else files.names[0])
    modelpath.check_writable(path)
    source, chosen = open_new(train, templates, reading)
    made = asdict(learning) | {
        "templates": templates or chosen,
        "format": source.format,
        "label": reading.label,
        "layout": source.layout,
    }
    with progress.shown(not quiet, learning.max_epochs) as watch:
        watch, callback = progress.in_memory(watch)
        plan = _plan(learning, reading.n_jobs, verbose)
        plan.callback = callback
        learned = _learn(source, learning, plan, watch, made)
    learned.save(path)
    assert learned.run is not None
    interrupted = learned.run.interrupted
    tested: TagScores | None = None
    try:
        if test and not interrupted:
            with progress.shown(not quiet) as watch:
                tested = evaluated(path, test, reading, watch, trust_patterns=True)  # one's own
    finally:  # the model is there, whatever is wrong with the test
        _show(learned, path, tested, chosen, out)
    if interrupted:
        output.note(f"interrupted; what had been learned so far is saved in {path}.")
        raise typer.Exit(INTERRUPTED)


def _plan(learning: Learning, n_jobs: int, verbose: bool) -> Plan:
    import numpy as np

    from novikoff.training.plan import Plan

    return Plan(
        max_epochs=learning.max_epochs,
        order=learning.order,
        rng=np.random.default_rng(learning.random_state),
        early_stopping=learning.early_stopping,
        validation_fraction=learning.validation_fraction,
        n_epochs_no_change=learning.n_epochs_no_change,
        n_jobs=n_jobs,
        verbose=int(verbose),
    )


def _learn(
    source: SentenceFile, learning: Learning, plan: Plan, watch: Watch | None, made: dict[str, Any]
) -> Tagger:
    from novikoff.data.sources.progress import Progress
    from novikoff.tagging import fitting, reading
    from novikoff.training.loop import train

    started = time.monotonic()

    def tell(sentences: int, consumed: int) -> None:
        if watch is not None:
            seconds = time.monotonic() - started
            watch(Progress("reading", sentences, consumed, source.size, 0, seconds, "sentences"))

    features = reading.begin(source.templates, learning.hash_bits)
    x, labels, classes = source.read(features, tell)
    assert labels is not None
    trainer, features = fitting.trainer_of(
        features,
        x,
        labels,
        classes,
        plan,
        average=learning.average,
        transitions=learning.transitions,
        min_count=learning.min_count,
    )
    run = train(trainer, plan)
    return fitting.fitted(trainer, features, classes, run, parameters=made, order=learning.order)


def _show(learned: Tagger, path: Path, tested: TagScores | None, chosen: str | None, out: Output) -> None:
    report = learned.report
    assert report is not None
    if out.json:
        templates = templates_of(learned)
        output.write_json(
            {
                "model": str(path),
                "classes": learned.classes.tolist(),
                "interrupted": learned.run is not None and learned.run.interrupted,
                "report": report.to_dict(),
                "history": learned.history,
                "test": None if tested is None else tested.to_dict(),
                "templates": None if templates is None else templates.text,
                "parameters": learned.parameters,
            }
        )
        return
    lines = str(report).split("\n")
    if chosen is not None:
        lines.append(f"  {'templates':<10} {chosen}, as usual for such files; --templates names others")
    if tested is not None:
        lines += [
            f"  {'test' if k == 0 else '':<10} {text}" for k, text in enumerate(telling.headlines(tested))
        ]
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)
