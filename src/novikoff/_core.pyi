"""The native loops; native/ has the mathematics above each of them."""

from collections.abc import Callable, Hashable, Iterable
from contextlib import AbstractContextManager
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Order = npt.NDArray[np.int64]

INSTRUCTIONS: str

class Rows:
    """A matrix read in place: dense float32, float64 or uint8, or CSR."""

    @overload
    def __init__(self, x: npt.NDArray[Any]) -> None: ...
    @overload
    def __init__(
        self,
        data: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        indptr: npt.NDArray[Any],
        n_features: int,
        distinct: bool = False,
    ) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...

class Learner:
    """Weights, rule and counts of one linear learner."""

    visits: int
    mistakes: int
    updates: int
    ties: int
    step_sum: float
    radius: float
    square_low: float
    square_high: float
    drift: float
    largest_row: float
    most_stored: int
    fallbacks: tuple[int, int]
    seen: tuple[float, float, float, float, int]
    filter: list[float]

    def __init__(
        self,
        classes: int,
        weights: Floats,
        bias: Floats,
        weight_sums: Floats | None,
        bias_sums: Floats | None,
        rule: str,
        tie_is_mistake: bool,
        margin: float,
        C: float,
        bias_square: float,
        zero: bool = False,
    ) -> None: ...
    @property
    def weight_norm(self) -> float: ...
    def measure_norm(self) -> float: ...
    def measure_norm_of(self, rows: Order) -> float: ...
    def take(self, other: Learner) -> None: ...
    def turn(self) -> None: ...
    def view(self) -> Learner: ...
    def record_updates(self) -> None: ...
    def recorded(self) -> tuple[Order, Labels, Labels, Floats, Order]: ...

class Turns:
    """Whose turn it is with one object; see novikoff/training/turns.py."""

    @property
    def learning(self) -> AbstractContextManager[None]: ...
    @property
    def reading(self) -> AbstractContextManager[None]: ...

class Streak:
    """Runs of right examples: of the present weights and of those in the pocket."""

    run: int
    longest: int
    looked: bool
    held: bool

class OnlineLearner:
    """A linear learner whose features and classes grow as they come."""

    def __init__(
        self,
        rule: str,
        tie_is_mistake: bool,
        margin: float,
        C: float,
        fit_intercept: bool,
        average: bool,
        hash_bits: int | None,
        seed: int,
        classes: list[Hashable] | None,
        precedes: Callable[[Any, Any], bool],
    ) -> None: ...
    def predict_one(self, x: dict[Any, Any]) -> Any: ...
    def score_one(self, x: dict[Any, Any]) -> Any: ...
    def learn_one(self, x: dict[Any, Any], y: Hashable) -> None: ...
    def _learn_many(self, pairs: Iterable[Any]) -> None: ...
    def _get_state(self, sparse: bool = False) -> dict[str, Any]: ...
    def _set_state(self, state: dict[str, Any]) -> None: ...
    def _names(self) -> list[str]: ...
    def _memory(self) -> int: ...
    @property
    def _longest_probe(self) -> int: ...
    @property
    def classes_(self) -> list[Any]: ...
    @property
    def n_features_in_(self) -> int: ...
    @property
    def n_mistakes_(self) -> int: ...
    @property
    def n_updates_(self) -> int: ...
    @property
    def n_visits_(self) -> int: ...
    @property
    def radius_(self) -> float: ...

class _Lines:
    """What all parsers of lines offer. Lines are counted from 0."""

    def parse(self, text: bytes | bytearray | memoryview, /) -> bool: ...
    def clear(self) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def lines(self) -> int: ...
    @property
    def problem(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def n_skipped(self) -> int: ...
    @property
    def skipped(self) -> list[tuple[int, str]]: ...
    @property
    def n_rounded(self) -> int: ...
    @property
    def rounded(self) -> tuple[int, str]: ...
    def row_line(self, row: int, /) -> int: ...

class LibsvmRows(_Lines):
    """Rows read from LIBSVM text, in arrays that grow."""

    def __init__(
        self,
        *,
        single: bool = False,
        zero_based: bool = False,
        n_features: int = -1,
        max_columns: int = -1,
        label: str = "required",
        kind: str = "",
        skip_bad: bool = False,
        round: bool = False,
    ) -> None: ...
    def append(self, other: LibsvmRows) -> None: ...
    @property
    def largest(self) -> int: ...
    def view(self) -> LibsvmArrays: ...
    def take(self) -> LibsvmArrays: ...

# numbers; or codes, and the texts that they stand for
RowLabels = npt.NDArray[Any] | tuple[npt.NDArray[np.int32], list[str]]

# labels, values, indices, indptr, qids
LibsvmArrays = tuple[RowLabels | None, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], Order | None]

class Names:
    """Names of features, packed, with their hashes."""

    def __init__(self, strings: Iterable[str]) -> None: ...
    def __len__(self) -> int: ...
    def strings(self) -> list[str]: ...

class Vocabulary:
    """The columns of names: one each, in order of appearance, or by hash."""

    def __init__(self, hash_bits: int | None = None, seed: int = 0) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def longest_probe(self) -> int: ...
    def place(self, names: Names, grow: bool) -> Order: ...
    def names(self, columns: Order) -> list[str]: ...
    def state(self) -> tuple[npt.NDArray[np.uint8], Order, Order | None]: ...
    def load(self, bytes: npt.NDArray[np.uint8], offsets: Order, columns: Order | None) -> None: ...

def siphash13(text: bytes, k0: int, k1: int) -> int: ...
def intern(x: Any) -> tuple[Order, Order, Labels, Floats | None, Names]: ...

NamedCsr = tuple[Floats, npt.NDArray[np.int32], Order, Names]
LabelledCsr = tuple[
    RowLabels | None, Floats | None, Floats, npt.NDArray[np.int32], Order, Names
]  # labels, weights, data, indices, indptr, names

class _NamedLines(_Lines):
    def view(self) -> LabelledCsr: ...
    def take(self) -> LabelledCsr: ...

class VwRows(_NamedLines):
    """Rows read from Vowpal Wabbit text."""

    def __init__(
        self, *, label: str = "required", kind: str = "", skip_bad: bool = False, round: bool = False
    ) -> None: ...

class JsonRows(_NamedLines):
    """Rows read from JSON lines."""

    def __init__(
        self,
        label_key: str = "label",
        weight_key: str | None = None,
        features_key: str = "features",
        ignore: Iterable[str] = (),
        *,
        label: str = "required",
        kind: str = "",
        skip_bad: bool = False,
        round: bool = False,
    ) -> None: ...

def number_cells(
    text: npt.NDArray[np.uint8],
    delimiter: str,
    quote: str,
    targets: npt.NDArray[np.int32],
    out: Floats,
    labels: Floats,
    weights: Floats,
) -> bool: ...
def recolumn(
    data: Floats, indices: npt.NDArray[np.int32], indptr: Order, columns: Order
) -> tuple[Floats, npt.NDArray[Any], npt.NDArray[Any]]: ...
def word_rows(
    offsets: npt.NDArray[Any],
    data: npt.NDArray[np.uint8],
    valid: npt.NDArray[np.uint8] | None,
    start: int,
    n: int,
    prefix: str,
    ngrams: int = 1,
    lowercase: bool = True,
) -> NamedCsr: ...

class Digest:
    """A digest of examples by their values, in any storage, order and cutting."""

    value: int
    count: int

    def __init__(self) -> None: ...
    def add(
        self,
        rows: Rows,
        labels: Labels,
        weights: Floats | None,
        order: Order | None,
        begin: int,
        end: int,
    ) -> None: ...

def epoch(
    learner: Learner,
    rows: Rows,
    labels: Labels,
    weights: Floats | None,
    order: Order | None,
    begin: int,
    end: int,
    first: bool,
    digest: Digest | None = None,
) -> tuple[str, int]: ...
def pocket_epoch(
    learner: Learner,
    streak: Streak,
    rows: Rows,
    labels: Labels,
    weights: Floats | None,
    order: Order | None,
    begin: int,
    end: int,
    first: bool,
) -> tuple[str, int]: ...
def add_errors(
    learner: Learner,
    rows: Rows,
    labels: Labels,
    weights: Floats | None,
    order: Order | None,
    begin: int,
    end: int,
    limit: float,
    total: float,
) -> tuple[str, int, float]: ...
def arc_scores(
    words: npt.NDArray[np.uint64],
    tags: npt.NDArray[np.uint64],
    table: npt.NDArray[np.uint64],
    extra: npt.NDArray[np.uint64],
    bits: int,
    w: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def tree_places(
    words: npt.NDArray[np.uint64],
    tags: npt.NDArray[np.uint64],
    table: npt.NDArray[np.uint64],
    extra: npt.NDArray[np.uint64],
    bits: int,
    heads: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]: ...
def eisner(scores: npt.NDArray[np.float64], out: npt.NDArray[np.int64]) -> None: ...
def winnow_epoch(
    exponents: Labels,
    table: Floats,
    theta: float,
    balanced: bool,
    eliminates: bool,
    rows: Rows,
    labels: Labels,
    order: Order | None,
    begin: int,
    end: int,
) -> tuple[int, int]: ...
def winnow_scores(
    exponents: Labels,
    table: Floats,
    theta: float,
    balanced: bool,
    rows: Rows,
    begin: int,
    end: int,
    out: Floats,
) -> None: ...
def scan(
    learner: Learner,
    rows: Rows,
    weights: Floats | None,
    order: Order | None,
    begin: int,
    end: int,
    labels: Labels | None = None,
    digest: Digest | None = None,
) -> tuple[str, int, bool]: ...
def row_norms(rows: Rows, bias_square: float) -> Floats: ...
def add_columns(rows: Rows, sums: Floats) -> int: ...
def smallest(
    learner: Learner,
    rows: Rows,
    labels: Labels,
    weights: Floats | None,
    order: Order | None,
    begin: int,
    end: int,
    guarded: bool,
    stop: bool,
) -> tuple[str, int, float, int, bool, bool, float]: ...
def predict(learner: Learner, rows: Rows, begin: int, end: int, out: Labels) -> tuple[str, int]: ...
def scores(learner: Learner, rows: Rows, begin: int, end: int, out: Floats) -> tuple[str, int]: ...
def votes(
    supports: Rows,
    support: Order,
    step: Floats,
    label: Labels,
    rival: Labels,
    survived: Order,
    classes: int,
    bias_square: float,
    rows: Rows,
    begin: int,
    end: int,
    out: Order,
) -> tuple[str, int]: ...
def lowest(
    rows: Rows,
    labels: Labels,
    sample_weights: Floats | None,
    weights: Floats,
    bias: Floats,
    classes: int,
    begin: int,
    end: int,
    k: int,
) -> tuple[Order, Floats]: ...
def mdm(gram: Floats, alpha: Floats, steps: int, tolerance: float) -> int: ...
def wolfe(gram: Floats, alpha: Floats, rounds: int, tolerance: float) -> bool: ...

class Cancelling:
    """Rows that prove inseparability by themselves, as they are met."""

    def __init__(self, classes: int, lifted: bool, tie_is_mistake: bool) -> None: ...
    @property
    def strict(self) -> tuple[int, int]: ...
    @property
    def lax(self) -> tuple[int, int]: ...
    @property
    def nonzeros(self) -> int: ...
    @property
    def zero_rows(self) -> int: ...
    def look(self, rows: Rows, labels: Labels, begin: int, end: int) -> int: ...

class Pass:
    """The k pairs with the smallest u·z, by sums whose rounding is defined."""

    def __init__(self, weights: Floats, bias: Floats, classes: int, count: int) -> None: ...
    def run(self, rows: Rows, labels: Labels, begin: int, end: int) -> None: ...
    def found(self) -> tuple[Order, Floats]: ...

def add_rows(rows: Rows, own: Order, rival: Order, shares: Floats, weights: Floats) -> None: ...
def exact_dot(a: Floats, b: Floats, compensated: bool = True) -> tuple[int, float]: ...
def advise_huge_pages(array: Floats, huge: bool = True) -> None: ...
def format_dense(
    x: Floats, heads: npt.NDArray[np.uint8], head_begins: Order, between: bytes, tail: bytes
) -> bytes: ...
def format_sparse(
    data: Floats,
    indices: Order,
    indptr: Order,
    heads: npt.NDArray[np.uint8],
    head_begins: Order,
    names: tuple[npt.NDArray[np.uint8], Order] | None,
    between: bytes,
    tail: bytes,
) -> bytes: ...

class Panel:
    """Some rows, ready for kernel values with many others."""

    def __init__(
        self, kernel: str, gamma: float, coef0: float, degree: int, offset: float, rows: Rows, which: Order
    ) -> None: ...
    @property
    def size(self) -> int: ...
    def values(
        self, rows: Rows, order: Order | None, begin: int, end: int, out: Floats, jobs: int = 1
    ) -> None: ...
    def add_scores(
        self,
        rows: Rows,
        begin: int,
        end: int,
        coef: Floats,
        scores: Floats,
        kept: dict[int, Floats] = {},
        keep: dict[int, Floats] = {},
        jobs: int = 1,
    ) -> None: ...

def add_products(values: Floats, coef: Floats, scores: Floats) -> None: ...

class Rounding:
    """How far float scores may be from the exact ones: size times slack."""

    def __init__(self, columns: int, largest: float, whole: bool) -> None: ...
    whole: bool
    weight: Floats
    @property
    def terms(self) -> int: ...
    @property
    def slack(self) -> Floats: ...
    def add(self, move: Floats, size: float) -> None: ...

class Block:
    """Visits to a block of rows: stops where it needs a decision or kernel values."""

    def __init__(
        self,
        scores: Floats,
        labels: Labels,
        sizes: Floats,
        joint: bool,
        tie_is_mistake: bool,
        known: bool,
        rounding: Rounding,
    ) -> None: ...
    @property
    def at(self) -> int: ...
    def visit(self, limit: int) -> str: ...
    def decide(self, move: Floats | None) -> None: ...
    def ahead(self, count: int) -> Order: ...
    def give(self, rows: Order, values: Floats) -> None: ...
    def made(self, since: int) -> tuple[Order, Floats, Floats]: ...

def kernel_votes(
    values: Floats, support: Order, step: Floats, survived: Floats, column: int, out: Floats
) -> None: ...
def joint_kernel_votes(
    values: Floats, support: Order, label: Labels, rival: Labels, survived: Floats, out: Floats
) -> None: ...

class Bits:
    """Rows of 0 and 1, packed into words; refuses other values."""

    def __init__(self, rows: Rows) -> None: ...
    @property
    def n(self) -> int: ...
    def ones(self) -> Order: ...
    def common(self, other: Bits) -> Order: ...

class ConjunctionLearner:
    """Exact scores of packed rows, and the perceptron on them."""

    def __init__(self, rows: Bits, columns: int, joint: bool, tie_is_mistake: bool, bias: bool) -> None: ...
    @property
    def n_made(self) -> int: ...
    def begin_with(self, supports: Bits, alpha: Order) -> None: ...
    def visit(self, labels: Labels, order: Order, begin: int, end: int, count: int, limit: int) -> int: ...
    def move(self, row: int, count: int, moves: Order) -> None: ...
    def push(self, begin: int, end: int) -> None: ...
    def made(self, since: int) -> tuple[Order, Order, Floats]: ...
    def is_right(self, row: int, label: int, strictly: bool) -> bool: ...
    def margins(self, labels: Labels) -> tuple[Floats, Order]: ...
    def norms_squared(self) -> tuple[Floats, Order]: ...
    def scores(self) -> tuple[Floats, Order]: ...

def conjunction_scores(
    rows: Bits,
    supports: Bits,
    alpha: Order,
    bias: bool,
    divisor: float,
    begin: int,
    end: int,
    out: Floats,
) -> None: ...
def conjunction_votes(
    rows: Bits,
    supports: Bits,
    used: Order,
    moves: npt.NDArray[np.int8],
    survived: Floats,
    joint: bool,
    bias: bool,
    begin: int,
    end: int,
    out: Floats,
) -> None: ...

class Budgeted:
    """The coefficients of a kernel perceptron with a budget, and its policy."""

    visits: int

    def __init__(self, policy: str, budget: int, columns: int, joint: bool, tie_is_mistake: bool) -> None: ...
    def decide(self, values: Floats, label: int) -> bool: ...
    def update(
        self, values: Floats, label: int, self_: float, same: int, draw: float, of_oldest: Floats | None, /
    ) -> int: ...
    def add_class(self) -> None: ...
    def coefficients(self, averaged: bool) -> Floats: ...
    def state(self) -> dict[str, Any]: ...
    def set_state(self, state: dict[str, Any]) -> None: ...
    @property
    def needs_oldest(self) -> bool: ...
    @property
    def oldest(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def basis_size(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def wrong(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def close(self) -> int: ...

class RowBudget(Budgeted):
    """The same with its supports, for a kernel of rows."""

    def __init__(
        self,
        policy: str,
        budget: int,
        columns: int,
        joint: bool,
        tie_is_mistake: bool,
        kernel: str,
        gamma: float,
        coef0: float,
        degree: int,
        offset: float,
        sparse: bool,
        features: int,
    ) -> None: ...
    def check(self, rows: Rows, begin: int, end: int) -> tuple[str, int, float]: ...
    def learn(
        self,
        rows: Rows,
        labels: Labels,
        order: Order | None,
        begin: int,
        end: int,
        base: int,
        draws: Floats | None,
    ) -> None: ...
    def scores(self, rows: Rows, begin: int, end: int, averaged: bool, out: Floats) -> None: ...
    def set_columns(self, columns: int) -> None: ...
    def supports(self) -> tuple[Floats, Order, Order, Order]: ...
    def set_supports(self, rows: Rows, number: Order) -> None: ...
    @property
    def features(self) -> int: ...

class DictReader:
    """Dicts of features as rows: columns by name or by hash."""

    def __init__(self, hash_bits: int | None, seed: int) -> None: ...
    def read(self, x: dict[Any, Any], add: bool) -> tuple[Floats, Order]: ...
    def undo(self) -> None: ...
    def names(self) -> list[str]: ...
    def add_names(self, names: list[str]) -> None: ...
    @property
    def columns(self) -> int: ...

class Sentences:
    """Sentences as feature numbers, read in place."""

    def __init__(self, starts: Order, indptr: Order, ids: Labels, values: Floats | None) -> None: ...
    @property
    def features(self) -> int: ...

class _TaggerLearner:
    visits: int
    mistakes: int
    updates: int
    wrong_tokens: int
    norm2: float
    radius2: float
    largest: float

    def __init__(
        self,
        labels: int,
        slots: Labels,
        rows: int,
        emissions: npt.NDArray[Any],
        transitions: npt.NDArray[Any],
        emission_sums: Floats | None,
        transition_sums: Floats | None,
        step: npt.NDArray[np.uint8],
        start: npt.NDArray[np.uint8],
        end: npt.NDArray[np.uint8],
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    def pairs(self) -> tuple[int, Order, Order, Labels, Floats, Floats | None]: ...
    def epoch(
        self, sentences: Sentences, labels: Labels, order: Order | None, begin: int, end: int
    ) -> None: ...

class TaggerLearner(_TaggerLearner):
    """Weights of a tagger under training, and counts."""

class WholeTaggerLearner(_TaggerLearner):
    """The same with weights of int32."""

class TaggerScorer:
    """What tags: weights by feature, weights of bigrams, what is allowed."""

    def __init__(
        self,
        labels: int,
        features: int,
        used: Order,
        at: Order,
        label: Labels,
        weights: Floats,
        transitions: Floats,
        step: npt.NDArray[np.uint8],
        start: npt.NDArray[np.uint8],
        end: npt.NDArray[np.uint8],
    ) -> None: ...
    def tag(self, sentences: Sentences, begin: int, end: int, out: Labels) -> None: ...
    def through(self, sentences: Sentences, begin: int, end: int, out: Floats) -> None: ...
    def gaps(self, sentences: Sentences, labels: Labels, begin: int, end: int, out: Floats) -> None: ...

class Tokens:
    """Sentences as numbers of the values of their cells."""

    @property
    def n(self) -> int: ...
    @property
    def n_sentences(self) -> int: ...

class TemplateIndex:
    """Values, functions of values, and the features that templates make of them."""

    def __init__(
        self,
        columns: int,
        derived: list[int],
        templates: list[tuple[str, list[tuple[int, int, bool]], str]],
    ) -> None: ...
    @property
    def size(self) -> int: ...
    def tokens(self, sentences: Any, places: list[int], names: list[str]) -> Tokens: ...
    def waiting(self, column: int, tokens: Tokens) -> list[str]: ...
    def derive(self, column: int, texts: list[str], results: dict[int, list[str | None]]) -> None: ...
    def expand(self, tokens: Tokens, grow: bool, memory: int) -> tuple[Order, Order, Labels] | None: ...
    def expand_hashed(
        self, tokens: Tokens, hash_bits: int, seed: int, memory: int
    ) -> tuple[Order, Order, Labels] | None: ...
    def names(self, features: Order) -> list[str]: ...
    def values(self, domain: int) -> list[str]: ...
    def met(self, domain: int) -> int: ...
    def state(self) -> tuple[npt.NDArray[np.uint16], list[Labels]]: ...
    def load(self, values: list[list[str]], order: npt.NDArray[np.uint16], rows: list[Labels]) -> None: ...

def whole_sentences(text: npt.NDArray[np.uint8]) -> int: ...

class SentenceLines:
    """What the parsers of sentences share."""

    @property
    def problem(self) -> str: ...
    @property
    def lines(self) -> int: ...
    @property
    def label_values(self) -> list[str]: ...
    def labels(self) -> Labels: ...
    def lines_of(self) -> Labels: ...
    def spots(self) -> Order: ...

class ColumnLines(SentenceLines):
    """A parser of sentences whose lines are cells."""

    def __init__(self, kind: str, width: int, columns: list[int], label: int, expected: str) -> None: ...
    def parse(self, text: npt.NDArray[np.uint8]) -> Tokens | None: ...

class AttributeLines(SentenceLines):
    """A parser of sentences in CRFsuite's text."""

    def parse(
        self, text: npt.NDArray[np.uint8]
    ) -> tuple[Order, Order, Labels, Floats | None, Names] | None: ...

def tagged(text: bytes, spots: Order, tags: Labels, names: list[str], joint: str, behind: bool) -> bytes: ...
