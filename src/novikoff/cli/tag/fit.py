"""`novikoff tag fit`: learn a tagger from files of sentences."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.learning import plan_of
from novikoff.cli.options import Argument, Options
from novikoff.cli.parser import command
from novikoff.cli.paths import model_path
from novikoff.cli.tag.inputs import check_test, load, open_labelled, open_new, templates_of
from novikoff.cli.tag.scores import headlines
from novikoff.parameters.tagging import SCHEMES

if TYPE_CHECKING:
    from novikoff.tagging.conll import SentenceFile
    from novikoff.tagging.repairs import Repairs
    from novikoff.tagging.scoring import TagScores
    from novikoff.tagging.sequences import Sequences
    from novikoff.tagging.tagger import Tagger


@command(
    Argument(
        "data",
        "TRAIN...",
        "Files to learn from, one after the other; a pattern in quotes, or - for standard input.",
    ),
    table=opt.TAG_TABLE,
    groups={
        "Reading files": (*opt.TAG_READING, "strict"),
        "Learning": ("templates", *opt.TAG_LEARNING),
        "Reporting": (opt.TEST, "verbose", *opt.OUTPUT),
        "Writing": (opt.SAVED_AS,),
    },
    examples=(
        "novikoff tag fit examples/data/pos.conllu",
        "novikoff tag fit examples/data/chunks.conll",
    ),
)
def fit(options: Options) -> int:
    """Learn a tagger from files with one token per line.

    The files have columns separated by blanks or tabs, as in the CoNLL tasks, or are CoNLL-U or CRFsuite
    text; an empty line ends a sentence. Ctrl-C saves what has been learned so far.
    """
    from novikoff.data.sources.bytestream import ByteStream
    from novikoff.data.sources.progress import Progress
    from novikoff.tagging import encoding, fitting, reading
    from novikoff.tagging.repairs import repaired
    from novikoff.tagging.scoring import score_file
    from novikoff.training.loop import train

    files = ByteStream(options.data)  # checks that they exist
    if options.test:
        ByteStream(options.test)
    quiet = options.quiet or options.json
    path = model_path(options.model, "-" if options.data[0] == "-" else files.names[0])
    source, chosen = open_new(options)
    made = {name: vars(options)[name] for name in opt.TAG_LEARNING} | {
        "templates": options.templates or chosen,
        "format": source.format,
        "label": options.label,
        "layout": source.layout,
    }
    if options.test:
        check_test(options, source)
    with progress.bar(not quiet, options.max_epochs) as watch:
        watch, after_epoch = progress.by_epoch(watch)
        started = time.monotonic()

        def after_block(sentences: int, consumed: int) -> None:
            if watch is not None:
                seconds = time.monotonic() - started
                watch(Progress("reading", sentences, consumed, source.size, 0, seconds, "sentences"))

        features = reading.begin(source.templates, options.hash_bits)
        x, labels, classes = source.read(features, after_block)
        assert labels is not None
        classes, labels, repairs = repaired(classes, x.starts, labels, source.where, strict=options.strict)
        long = _long(x, source)
        if long and options.strict:
            raise ValueError(long)
        plan = plan_of(options, after_epoch)
        settings = {name: vars(options)[name] for name in ("average", "transitions", "min_count")}
        to = encoding.encoded(options.learn_as, features, x, labels, classes, plan, **settings)
        trainer, features = fitting.trainer_of(
            features, x, to.labels, to.classes, plan, written=to.written, where=source.where, **settings
        )
        run = train(trainer, plan)
        about = {"parameters": made, "order": options.order, "written": to.written}
        learned = fitting.fitted(trainer, features, to.classes, run, **about)
    learned.save(path)
    assert learned.run is not None
    interrupted = learned.run.interrupted
    tested: TagScores | None = None
    try:
        if options.test and not interrupted:
            with progress.bar(not quiet) as watch:
                tagger = load(path, trust_patterns=True)  # just written
                test = open_labelled(tagger, options.test, options)
                tested = score_file(tagger, test, n_jobs=options.n_jobs, watch=watch)
    finally:  # the model is reported even if the test fails
        about_labels = _about_labels(options, source, repairs, to.decided)
        _show(learned, path, tested, chosen, about_labels, options)
        if long:
            output.note(f"warning: {long}")
    if not interrupted:
        return DONE
    output.note(f"interrupted; what had been learned so far is saved in {path}.")
    return INTERRUPTED


LONG = 500  # tokens of a sentence, which are rather many sentences without empty lines between them
LONG_ALONE = 100  # the same, if it is the only sentence


def _long(x: Sequences, source: SentenceFile) -> str:
    """A statement about a sentence that is too long to be one; empty if there is none."""
    s = int(x.lengths.argmax())
    length = int(x.lengths[s])
    if length < (LONG if len(x) > 1 else LONG_ALONE):
        return ""
    which = "the sentence" if len(x) > 1 else "the only sentence"
    where = source.where(int(x.starts[s]))
    return f"{where}: {which} that begins here has {length:,} tokens; an empty line ends a sentence."


def _about_labels(options: Options, source: SentenceFile, repairs: Repairs, decided: str) -> dict[str, Any]:
    """What became of the labels: their column and scheme, how they are learned, what was repaired."""
    column = source.label_column
    return {
        "column": None if column is None or options.label is None else column + 1,
        "scheme": repairs.scheme,
        "learned": decided or (f"as {options.learn_as.upper()}" if options.learn_as in SCHEMES else None),
        "repaired": repairs.count,
        "repairs": list(repairs.shown),
    }


def _show(
    learned: Tagger,
    path: Path,
    tested: TagScores | None,
    chosen: str | None,
    labels: dict[str, Any],
    options: Options,
) -> None:
    report = learned.report
    assert report is not None
    if options.json:
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
                "labels": labels,
            }
        )
        return
    lines = output.report_lines(report, verbose=options.verbose)
    if tested is not None:
        at = next(k for k, line in enumerate(lines) if line.startswith("  verdict "))
        test = [f"  {'test' if k == 0 else '':<10} {text}" for k, text in enumerate(headlines(tested))]
        lines[at:at] = test
    if chosen is not None:
        lines.append(f"  {'templates':<10} {chosen}, the default for such files; --templates sets others")
    if labels["column"] is not None:
        lines.append(f"  {'label':<10} column {labels['column']}, counted from 1")
    if labels["scheme"] is not None:
        learned_as = f", learned {labels['learned']}" if labels["learned"] else ""
        lines.append(f"  {'labels':<10} {labels['scheme'].upper()}{learned_as}")
    if labels["repaired"]:
        n = labels["repaired"]
        more = "" if n == len(labels["repairs"]) else "; and others"
        shown = "; ".join(labels["repairs"]) + more
        lines.append(f"  {'repaired':<10} {n:,} label{'s' * (n != 1)}: {shown}; --strict refuses such files")
    lines.append(f"  {'saved':<10} {path} ({output.size_of(path)})")
    output.say(lines)
