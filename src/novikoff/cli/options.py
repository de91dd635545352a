"""Options: parameters of the table, their flags and values, and the groups that commands share."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from novikoff.parameters.commands import FILE_PARAMETERS
from novikoff.parameters.parameter import Parameter
from novikoff.parameters.tag_commands import TAG_FILE_PARAMETERS

TABLE = FILE_PARAMETERS
TAG_TABLE = TAG_FILE_PARAMETERS

# ---- groups of options, by their names in the tables ---------------------------------------------------
READING = (
    *(
        "label",
        "format",
        "header",
        "skip_lines",
        "delimiter",
        "quote",
        "newlines_in_values",
        "skip_bad_lines",
        "rounding",
    ),
    *("max_line", "max_columns", "max_expansion", "n_jobs"),
)
COLUMNS = (
    *("text", "ngrams", "ignore", "categorical", "weight", "zero_based", "n_features", "hash_bits", "seed"),
)
LABELS = ("classes", "positive", "relabel")
DECISIONS = ("fit_intercept", "intercept_scaling", "ties")  # define mistakes and margins
LEARNING = ("rule", "average", *DECISIONS, "margin", "C", "eta", "multiclass", "class_weight", "scale")
PASSES = (
    *("max_epochs", "order", "random_state", "early_stopping", "validation_fraction"),
    "n_epochs_no_change",
)
KERNELS = (*("kernel", "gamma", "degree", "coef0", "predict_with", "budget", "budget_policy", "cache_mb"),)
KEEPING = ("cache", "cache_path", "checkpoint", "every", "resume")
ROWS: dict[str, tuple[str | Option, ...]] = {
    "Reading files": READING,
    "Columns and features": COLUMNS,
    "Labels": LABELS,
}
CLUSTER = ("dask", "mixing", "n_shards")
OUTPUT = ("json", "quiet")
TAG_READING = ("label", "format", "n_jobs")
TAG_LEARNING = (
    *("max_epochs", "average", "order", "random_state", "min_count", "transitions", "learn_as", "hash_bits"),
    *("early_stopping", "validation_fraction", "n_epochs_no_change"),
)

# ---- the common options, which `--help` shows; `--help-all` shows all ----------------------------------
PARTS = {  # of `--help`, by the groups of a command; any other group is a part of its own
    **dict.fromkeys(("Reading files", "Columns and features", "Labels"), "What to read"),
    **dict.fromkeys(("Learning", "Epochs and their order", "Kernels", "Clusters"), "How to learn"),
    "Reporting": "What to say",
    **dict.fromkeys(("Writing", "Caches and checkpoints"), "Where to write"),
}
SHORT_HELP = 100  # characters: a help up to this length is shown as it is
COMMON = {  # the most used first; the text in place of a longer help, "" for its first sentence
    # what to read
    "label": "The column of the labels, by name or number. Default: label, class, target or y.",
    "text": "",
    "ignore": "",
    "categorical": "Columns whose numbers are names, such as postal codes.",
    "format": "",
    "positive": "",
    "relabel": "Read the label OLD as NEW; can be given several times.",
    "tokenize": "",
    # how to learn
    "templates": "What makes features of a token: a file, or chunking, pos or ner. Default: by the files.",
    "max_epochs": "How often to go through the rows, at most. auto: until more would not help.",
    "scale": "Bring columns (auto, standard, maxabs) or rows (unit) to one size.",
    "average": "Predict with the mean of all weights. auto: with the last ones, if they make no error.",
    "rule": "How to correct a mistake. arow and scw need few epochs and no scaling.",
    "class_weight": "",
    "continue_from": "Go on learning from this model, with new files.",
    "kernel": "Learn curved boundaries, with all rows in memory; rbf is a good start.",
    "early_stopping": "Hold out rows, and keep the weights that do best on them.",
    # what to try, search or prove
    "scoring": "The figure of the held-out rows that decides.",
    "folds": "",
    "rules": "",
    "averages": "",
    "epochs": "The numbers of epochs to try, separated by commas.",
    "scales": "",
    "run": "",
    "time_limit": "About how many seconds to search for an answer.",
    "random_state": "The seed of everything that is drawn at random.",
    # what to say
    "test": "",
    "dry_run": "",
    "top": "",
    "id": "",
    "scores": "Write scores too: how clear each decision was.",
    "k_best": "Write the K best labellings of each sentence.",
    "verbose": "",
    "limit": "",
    "json": "Write JSON instead of text.",
    "quiet": "",
    # where to write
    "model": "",
    "output": "",
    "beside": "",
    "to": "",
    "force": "",
    "plot": "",
    "html": "",
    "csv": "",
}

# ---- what the command line adds to the table -----------------------------------------------------------
CALLED = {"max_epochs": "epochs", "fit_intercept": "intercept", "averages": "average", "Cs": "C"}
SHORT = {"output": "-o", "quiet": "-q", "verbose": "-v"}
REPEATED = ("test", "ignore", "text", "categorical", "relabel")
METAVARS = {
    **dict.fromkeys(("label", "weight"), "COLUMN"),
    **dict.fromkeys(("ignore", "text", "categorical"), "COLUMNS"),
    **dict.fromkeys(("delimiter", "quote"), "CHARACTER"),
    **dict.fromkeys(("rules", "epochs", "scales", "Cs"), "LIST"),
    "averages": "both|yes|no",
    "cache_mb": "MB",
    "cache_path": "FILE",
    "checkpoint": "FOLDER",
    "class_weight": "balanced|LABEL=WEIGHT,...",
    "classes": "LABELS|grow",
    "dask": "ADDRESS|local",
    "gamma": "scale|auto|NUMBER",
    "k_best": "K",
    "max_expansion": "TIMES",
    "max_line": "BYTES",
    "positive": "LABEL",
    "scale": "auto|standard|maxabs|unit|none",
    "relabel": "OLD=NEW",
    "templates": "FILE|NAME",
    "time_limit": "SECONDS",
}


def flag_of(name: str) -> str:
    """The name of a parameter on the command line.

    >>> flag_of("skip_lines"), flag_of("max_epochs")
    ('--skip-lines', '--epochs')
    """
    return f"--{CALLED.get(name, name).replace('_', '-')}"


# ---- reading values ------------------------------------------------------------------------------------
def listed(text: str) -> list[str]:
    """The parts of a list separated by commas; quotes protect a comma.

    >>> listed('ham, spam,"a,b"')
    ['ham', 'spam', 'a,b']
    """
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]


def pairs(texts: Iterable[str]) -> dict[str, str]:
    r"""A mapping from several texts OLD=NEW; \= is an = that belongs to a label.

    >>> pairs(["ham.=ham", r"<\=50K.=<\=50K"])
    {'ham.': 'ham', '<=50K.': '<=50K'}
    """
    found: dict[str, str] = {}
    for text in texts:
        parts = [part.replace("\\=", "=") for part in re.split(r"(?<!\\)=", text)]
        if len(parts) != 2 or not all(parts) or found.setdefault(parts[0], parts[1]) != parts[1]:
            raise ValueError(text)
    return found


def class_weights(text: str) -> dict[str, float] | str:
    """'balanced', or class=weight pairs separated by commas.

    >>> class_weights("spam=2,ham=1")
    {'spam': 2.0, 'ham': 1.0}
    """
    if text == "balanced":
        return text
    parts = [part.rpartition("=") for part in listed(text)]
    if not all(label for label, _, _ in parts):
        raise ValueError(text)
    return {label: float(weight) for label, _, weight in parts}


def _columns(texts: Iterable[str]) -> list[str]:
    return [part for text in texts for part in listed(text)]


SYNONYMS = {  # what other programs call it
    "kernel": {"gaussian": "rbf", "gauss": "rbf", "polynomial": "poly", "chi-squared": "chi2"},
    "rule": {"passive-aggressive": "pa1", "standard": "perceptron"},
    "scale": {"std": "standard", "zscore": "standard", "minmax": "maxabs", "l2": "unit", "normalize": "unit"},
    "multiclass": {"ova": "ovr", "one-vs-rest": "ovr", "multinomial": "joint"},
    "format": {"svmlight": "libsvm", "svm": "libsvm", "json": "jsonl", "ndjson": "jsonl", "feather": "arrow"},
}

READERS: dict[str, Callable[[Any], Any]] = {  # for values other than one number or text
    "ignore": _columns,
    "text": _columns,
    "categorical": _columns,
    "relabel": pairs,
    "classes": lambda text: text if text == "grow" else listed(text),
    "class_weight": class_weights,
    "rules": listed,
    "averages": {"both": [False, True], "yes": [True], "no": [False]}.get,
    "epochs": lambda text: [int(each) for each in listed(text)],
    "scale": lambda text: None if text == "none" else text,
    "scales": lambda text: [None if each == "none" else each for each in listed(text)],
    "Cs": lambda text: [float(each) for each in listed(text)],
}


def _kind(parameter: Parameter) -> type:
    """The type of a parameter's value: the first of which the table accepts an example."""
    for kind, examples in ((bool, (True,)), (float, (0.5, 0.75, 1.5)), (int, (1, 2))):
        if any(map(parameter.legal, examples)):
            return kind
    return str


class UsageError(Exception):
    """Unknown or incompatible options; `option` is the one whose value is wrong."""

    def __init__(self, message: str, option: str = "") -> None:
        if option:  # the subject of a message such as "is only possible with ..."
            is_subject = message.startswith(("is ", "has ", "needs ", "means ", "cannot ", "certifies "))
            message = f"{option} {message}" if is_subject else f"Invalid value for {option}: {message}"
        super().__init__(message)


class Argument(NamedTuple):
    """A positional argument; with ... in its metavar it takes all remaining words."""

    name: str
    metavar: str
    help: str
    kind: type = str


@dataclass(frozen=True)
class Option:
    """A parameter as an option."""

    parameter: Parameter
    kind: type
    metavar: str = ""
    required: bool = False

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def opposite(self) -> str:
        """The flag that means no, where that is not the default."""
        return "--no-" + self.flag[2:] if self.is_flag and self.parameter.default is not False else ""

    @property
    def flag(self) -> str:
        return flag_of(self.name)

    @property
    def flags(self) -> list[str]:
        return [*([SHORT[self.name]] if self.name in SHORT else []), self.flag]

    @property
    def default(self) -> Any:
        """The value when the option is not given."""
        default = self.parameter.default
        if self.name in REPEATED:
            return READERS.get(self.name, list)(default)
        return float(default) if self.kind is float and isinstance(default, int) else default

    def read(self, texts: list[str]) -> Any:
        """The value of the option, from each time it was given; the last one counts, unless all do."""
        value: Any = texts if self.name in REPEATED else texts[-1]
        try:
            value = READERS.get(self.name, list if self.name in REPEATED else self.kind)(value)
            legal = self.parameter.legal(value)
        except (ValueError, csv.Error):  # a word may stand for a number, as in --gamma scale
            legal = self.name not in READERS and self.parameter.legal(value)
        if not legal:
            shown = ", ".join(map(repr, texts)) if self.name in REPEATED else repr(texts[-1])
            shown = repr(value) if isinstance(value, int | float) else shown
            expected = re.sub("^None(,| or) ", "", self.parameter.expected)
            meant = f" Did you mean {close[0]!r}?" if (close := self._close_to(texts[-1])) else ""
            raise UsageError(f"{shown} is not possible: expected {expected}.{meant}", self.flag)
        return value

    def _close_to(self, text: str) -> list[str]:
        """The choices that the user may have meant."""
        from difflib import get_close_matches

        known = {choice: choice for choice in self.parameter.choices} | SYNONYMS.get(self.name, {})
        return [known[word] for word in get_close_matches(text.lower(), known, 1)]

    @property
    def shown(self) -> str:
        """The option and the placeholder for its value."""
        if self.is_flag:
            return " / ".join([", ".join(self.flags), *filter(None, [self.opposite])])
        choices = "|".join(self.parameter.choices)
        metavar = self.metavar or choices or {int: "N", float: "NUMBER"}.get(self.kind, "TEXT")
        metavar += "|auto" if metavar == "N" and self.parameter.legal("auto") else ""
        return f"{', '.join(self.flags)} {metavar}"

    @property
    def help(self) -> str:
        """The help from the table, with parameters named as options, and the default."""
        return self._with_default(self.parameter.help)

    @property
    def short(self) -> str:
        """The text of a common option in `--help`, with the default."""
        help = self.parameter.help
        if len(help) > SHORT_HELP:
            first = re.match(r".*?\.(?= |$)", help)
            known = TABLE.get(self.name)
            own = known is not None and self.parameter.choices not in ((), known.choices)  # of this command
            help = ("" if own else COMMON[self.name]) or (first[0] if first else help)
        return self._with_default(help)

    def _with_default(self, help: str) -> str:
        help = re.sub(r"^(Tuning|Diagnosis): (.)", lambda match: match[2].upper(), help)
        help = re.sub(r"`(\w+)`", lambda match: flag_of(match[1]), help)
        default = self.parameter.default
        if self.required:
            return f"{help} [required]"
        if default is None or default is False or default == ():
            return help
        if self.is_flag and default is True:
            default = self.flag
        if isinstance(default, tuple):
            default = "both" if self.name == "averages" else ",".join(map(_plain, default))
        return f"{help} [default:\N{NO-BREAK SPACE}{default}]"


def _plain(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


Group = tuple[str | Option, ...]


def option(name: str, table: Mapping[str, Parameter] = TABLE, **changes: Any) -> Option:
    """The option for a parameter of the table, with another default or help for one command."""
    parameter = replace(table[name], **changes)
    return Option(parameter, _kind(parameter), METAVARS.get(name, ""))


def flag(name: str, help: str) -> Option:
    """An option of one command that has no value."""
    return Option(Parameter(name, False, help, "True or False", lambda v: isinstance(v, bool)), bool)


def value_option(
    name: str,
    help: str,
    default: Any = None,
    *,
    kind: type = str,
    metavar: str = "",
    choices: tuple[str, ...] = (),
    required: bool = False,
) -> Option:
    """An option of one command that has a value: any text or path, one of `choices`, or a number from 0."""
    expected = f"one of {', '.join(choices)}" if choices else "a whole number ≥ 0"

    def legal(value: Any) -> bool:
        return value in choices if choices else kind is not int or (isinstance(value, int) and value >= 0)

    return Option(Parameter(name, default, help, expected, legal, choices), kind, metavar, required)


def file_option(name: str, help: str, metavar: str = "PATH", *, required: bool = False) -> Option:
    """An option of one command that names a file."""
    return value_option(name, help, kind=Path, metavar=metavar, required=required)


READING_FOR_MODEL: Group = (
    option("label", help="The column of the labels, by name or number. Default: that of the model."),
    *(name for name in READING if name != "label"),
)
MODEL = Argument("model", "MODEL", "A model file.", Path)
TO_LEARN = Argument(
    "data",
    "DATA...",
    "Files to learn from, one after the other; a pattern in quotes, or - for standard input.",
)
LABELLED = Argument("data", "DATA...", "Files with labels, or - for standard input.")
TEST = value_option(
    "test",
    "Files to test the model on; they do not affect training. Can be given several times.",
    (),
    metavar="FILE",
)
SAVED_AS = file_option(
    "model",
    "The model file to write, by default the first file's name with .novikoff in the current folder. An "
    "existing model is replaced.",
)


# ---- the values of a command's options -----------------------------------------------------------------
class Options(SimpleNamespace):
    """The values of a command's options and arguments; `given` are the names of those on the command line.

    `typed` has the latter as they were given: True, False, or a list of texts.
    """

    given: frozenset[str] = frozenset()
    typed: Mapping[str, Any] = {}


def defaults(names: Iterable[str], table: Mapping[str, Parameter] = TABLE) -> dict[str, Any]:
    """The default values of options."""
    return {name: option(name, table).default for name in names}


def row_options(options: Options, names: Iterable[str] = (*READING, *COLUMNS)) -> dict[str, Any]:
    """The reading options that differ from their defaults, as arguments of `open_source`."""
    return {
        name: vars(options)[name] for name, usual in defaults(names).items() if vars(options)[name] != usual
    }


def typed_words(options: Options, of: Iterable[Option]) -> list[str]:
    """The words that gave these options on the command line."""
    words: list[str] = []
    for each in of:
        value = options.typed.get(each.name)
        if isinstance(value, bool):
            words.append(each.flag if value else each.opposite)
        else:
            words += [word for text in value or () for word in (each.flag, text)]
    return words


NOT_SAVED = ("n_jobs", "max_line", "max_columns", "max_expansion", "format")


def saved(options: Options, *groups: Iterable[str]) -> dict[str, Any]:
    """The options of some groups that a model file keeps: those that may change the result."""
    return {name: vars(options)[name] for group in groups for name in group if name not in NOT_SAVED}
