"""`novikoff convert`: data or a model from one format to another."""

from __future__ import annotations

import sys
from pathlib import Path

from novikoff.cli import options as opt
from novikoff.cli import output, progress
from novikoff.cli.inputs import open_data
from novikoff.cli.options import Argument, Options, UsageError
from novikoff.cli.parser import command
from novikoff.parameters.files import FORMATS

MODEL_SUFFIXES = {"novikoff": ".novikoff", "onnx": ".onnx", "text": ".txt"}
DATA_SUFFIXES = {"libsvm": ".svm", "arrow": ".arrow"}  # others: the format's name
INPUTS = ("columns", "matrix")
NUMBER_BY = ("auto", "name", "column")


@command(
    Argument(
        "paths",
        "IN... OUT",
        "Data files (- for standard input) or one model, and last the file to write (- for standard output), "
        "whose suffix determines the format. With --to and one file, the output is a file of the same name "
        "with another suffix, in the current folder.",
    ),
    groups={
        "Reading files": opt.READING,
        "Columns and features": opt.COLUMNS,
        "Reporting": opt.OUTPUT,
        "Writing": (
            opt.value_option(
                "to",
                "The format to write. Default: determined by the suffix of OUT.",
                choices=(*FORMATS, *MODEL_SUFFIXES),
            ),
            opt.flag("force", "Replace OUT when it exists."),
            opt.flag("unlabelled", "Allow rows without labels."),
            opt.file_option(
                "names", "For LIBSVM text: write the number and name of each feature to this file.", "FILE"
            ),
            opt.value_option(
                "number_by",
                "How LIBSVM text numbers features that have names: by name, if the names are whole numbers "
                "from 1, or by column, in order of appearance. 'auto': by name when all names in the first "
                "row are such numbers.",
                "auto",
                choices=NUMBER_BY,
            ),
            opt.value_option(
                "inputs",
                "For ONNX: 'columns', one input per column of a table, by name; or 'matrix', one input X, "
                "with a value per feature. Default: columns for a model of a table, otherwise matrix.",
                choices=INPUTS,
            ),
            opt.flag("float32", "For ONNX: take numbers as float32; they are converted to double inside."),
            opt.value_option(
                "label_name", "The name of the labels in JSON lines and tables.", "label", metavar="NAME"
            ),
            opt.value_option(
                "weight_name",
                "The name of the weights of rows in JSON lines and tables.",
                "weight",
                metavar="NAME",
            ),
        ),
    },
    examples=(
        "novikoff convert examples/data/iris.csv iris.jsonl",
        "novikoff convert spam.novikoff spam.txt",
    ),
)
def convert(options: Options) -> None:
    """Write data in another format, or a model as ONNX or text.

    A model written as text can be edited, and converted back.

    The output reads back as the same rows: the same names, numbers, labels and weights. For a table, the
    features are written as a model learns from them: a category as a column of ones and zeros, for instance.
    """
    to, quiet = options.to, options.quiet or options.json
    inputs, target = _target(options.paths, to)
    to_stdout = target == Path("-")
    if target.is_file() and not options.force:
        raise ValueError(f"{target} exists: --force replaces it.")
    is_model = len(inputs) == 1 and _holds_model(inputs[0])
    known = MODEL_SUFFIXES if is_model else FORMATS
    if to is not None and to not in known:
        what = f"{inputs[0]} is a model" if is_model else "data"
        raise UsageError(f"{what}: {to!r} is not possible, expected one of {', '.join(known)}.", "--to")
    if to_stdout and (is_model or options.json):
        raise UsageError("standard output is for data only, and without --json.", "OUT")
    if is_model:
        outcome = _convert_model(inputs[0], target, to, options)
    else:
        for name in ("inputs", "float32"):
            if name in options.given:
                raise UsageError("is for ONNX only, to which models are converted.", opt.flag_of(name))
        from novikoff.data.writers.row_text import Columns as Called
        from novikoff.data.writers.rows import write_source

        labelled = {} if not options.unlabelled else {"labelled": False}
        source = open_data(inputs, **opt.row_options(options), **labelled)
        with progress.bar(not quiet) as watch:
            written = write_source(
                source,
                sys.stdout.buffer if to_stdout else target,
                format=to,
                columns=Called(options.label_name, options.weight_name),
                number_by=options.number_by,
                names=options.names,
                watch=watch,
            )
        outcome = {
            "format": written.format,
            "rows": written.rows,
            "features": written.features,
            "skipped": {"count": source.skipped.count, "first": source.skipped.first},
        }
        if not options.json:
            output.say(output.skipped_lines(source.skipped), err=to_stdout)
    if to_stdout:
        return
    if options.json:
        output.write_json({"output": str(target)} | outcome)
    elif not options.quiet:
        rows = f"{outcome['rows']:,} rows, {outcome['features']:,} features, " if "rows" in outcome else ""
        output.say([f"{target}: {outcome['format']}, {rows}{output.size_of(target)}"])


def _target(paths: list[str], to: str | None) -> tuple[list[str], Path]:
    """What to read, and where to write."""
    if len(paths) > 1:
        return paths[:-1], Path(paths[-1])
    if to is None or paths[0] == "-":
        raise UsageError("expected at least one file to read and, last, one to write.", "OUT")
    from novikoff.cli.paths import default_path

    suffix = MODEL_SUFFIXES.get(to) or DATA_SUFFIXES.get(to, f".{to}")
    name = Path(paths[0]).name
    stem = name.removesuffix(".novikoff") if name.endswith(".novikoff") else default_path(name).stem
    return paths, Path(stem + suffix)


def _holds_model(path: str) -> bool:
    """Whether a file holds a model rather than data; a novikoff file of another kind is neither."""
    from novikoff.linear.text import TITLE
    from novikoff.modelfile.container import kind_of_file

    if path == "-" or not Path(path).is_file():
        return False
    kind = kind_of_file(path)
    if kind not in (None, "model"):
        raise ValueError(
            f"{path} holds a novikoff {kind}, which cannot be converted: expected data or a model."
        )
    with Path(path).open("rb") as file:
        return kind == "model" or file.read(len(TITLE)) == TITLE.encode()


def _convert_model(path: str, target: Path, to: str | None, options: Options) -> dict[str, object]:
    from novikoff.linear.model import LinearModel
    from novikoff.linear.text import from_text, to_text
    from novikoff.modelfile.container import kind_of_file
    from novikoff.outfile import replacing

    by_suffix = {suffix: name for name, suffix in MODEL_SUFFIXES.items()}
    format = to or by_suffix.get(target.suffix.lower())
    if format is None:
        raise ValueError(f"{target}: the suffix is not that of a model format; name the format by --to.")
    for name in ("inputs", "float32"):
        if name in options.given and format != "onnx":
            raise UsageError("is for ONNX only.", opt.flag_of(name))
    if kind_of_file(path) == "model":
        linear = LinearModel.load(path)
    else:
        try:
            linear = from_text(Path(path).read_bytes().decode("utf-8", "surrogatepass"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if format == "novikoff":
        linear.save(target)
        return {"format": format}
    if format == "onnx":
        from novikoff.linear.onnx import to_onnx

        content = to_onnx(linear, inputs=options.inputs, float32=options.float32).SerializeToString()
    else:
        content = to_text(linear).encode("utf-8", "surrogatepass")
    with replacing(target) as file:
        file.write(content)
    return {"format": format}
