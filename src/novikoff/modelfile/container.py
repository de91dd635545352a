"""Files that are only data: named arrays and facts in one safetensors file, with a digest.

This layer does not know models: `write_file` and `read_file` handle any facts (JSON values) and arrays. The
layout, for other tools that read it:

- the metadata have one entry, ``novikoff``: a small JSON object with ``format`` (a number), ``kind`` and
  ``digest``;
- the facts are JSON in the uint8 tensor ``facts``, because metadata are limited in size; numbers that JSON
  lacks are ``{"float": "nan"}``, ``"inf"`` or ``"-inf"``;
- every other tensor is an array, C-ordered, under its own name;
- the digest is BLAKE2b over all of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.modelfile.json_value import to_json_value
from novikoff.outfile import replacing

Arrays = dict[str, npt.NDArray[Any]]
Facts = dict[str, Any]

FORMAT = 1  # raised whenever an older novikoff would misread a file
LONGEST_HEADER = 1 << 24  # bytes; the header only lists the arrays
DEEPEST = 64  # nesting of objects and lists
READERS = {  # what a file may hold, and its reader
    "model": "novikoff.load_model",
    "voted perceptron": "novikoff.load_model, or VotedPerceptron.load,",
    "Winnow": "novikoff.load_model, or Winnow.load,",
    "online": "novikoff.load_model, or OnlinePerceptron.load,",
    "online kernel": "novikoff.load_model, or OnlineKernelPerceptron.load,",
    "tagger": "novikoff.load_model, or SequenceTagger.load,",
    "structured": "novikoff.load_model, or StructuredPerceptron.load,",
    "checkpoint": "the fit that wrote it (novikoff fit --resume)",
    "checkpoint of shards": "the fit that wrote it",
}
DTYPES = {  # NumPy's names, and safetensors' names
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    "bool": "BOOL",
    "float32": "F32",
    "float64": "F64",
}


# ---- writing -----------------------------------------------------------------------------------------
def write_file(path: str | os.PathLike[str], facts: Facts, arrays: Mapping[str, Any], kind: str) -> None:
    """Write facts and arrays to `path`, completely or not at all.

    The bytes depend only on the arguments, and they are on disk when the call returns. If it fails, an
    existing file is unchanged.

    Parameters
    ----------
    path : path of the file, which is replaced
    facts : dict of JSON values; NaN and infinity are allowed
    arrays : dict of arrays of numbers or booleans
    kind : what the file holds, one of `READERS`
    """
    pieces = _serialized(facts, arrays, kind)
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)


def _serialized(facts: Facts, arrays: Mapping[str, Any], kind: str) -> list[Any]:
    """The file's bytes in pieces: arrays without copies, wide types first (for alignment)."""
    tensors: Arrays = {"facts": np.frombuffer(canonical(facts).encode("ascii"), dtype=np.uint8)}
    for name, value in arrays.items():
        a = np.asarray(value, order="C")
        if name == "facts" or a.dtype.name not in DTYPES:
            raise ValueError(f"a model file cannot hold the array {name!r} of type {a.dtype}")
        tensors[name] = a.astype(a.dtype.newbyteorder("<"), copy=False)
    head = {"format": FORMAT, "kind": kind, "digest": _digest(kind, tensors)}
    header: Facts = {"__metadata__": {"novikoff": canonical(head)}}
    order, end = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name)), 0
    for name in order:
        a, start, end = tensors[name], end, end + tensors[name].nbytes
        header[name] = {"dtype": DTYPES[a.dtype.name], "shape": list(a.shape), "data_offsets": [start, end]}
    text = canonical(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little"), text, *(_memory(tensors[name]) for name in order)]


def _memory(a: npt.NDArray[Any]) -> Any:
    return a.reshape(-1).view(np.uint8).data


def _digest(kind: str, tensors: Arrays) -> str:
    """BLAKE2b over kind, names, types, shapes and bytes."""
    digest = blake2b(digest_size=32)
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{kind}\n{name}\n{array.dtype.name}\n{array.shape}\n".encode())
        digest.update(_memory(array))
    return digest.hexdigest()


# ---- reading -----------------------------------------------------------------------------------------
def read_file(path: str | os.PathLike[str], kind: str) -> tuple[Facts, Arrays]:
    """Facts and arrays of a file that `write_file` wrote as this `kind`.

    Raises
    ------
    ValueError
        In one line, when the file is anything else: damaged, of another kind, or of a newer format.
    OSError
        When the file cannot be read at all.
    """
    try:
        return _read(Path(path), kind)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _read(path: Path, kind: str) -> tuple[Facts, Arrays]:
    from safetensors import SafetensorError, safe_open

    _check_header(path)  # before anything is trusted
    try:
        with safe_open(path, framework="numpy") as file:
            head = _parse_head((file.metadata() or {}).get("novikoff"))
            if head["kind"] != kind:
                raise ValueError(_other_kind(head["kind"], kind))
            arrays = {name: np.asarray(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, AttributeError) as error:  # it also fails on types numpy lacks
        raise ValueError(f"is damaged or not a novikoff {kind} ({_one_line(error)})") from None
    packed = arrays.get("facts")
    if packed is None or packed.dtype != np.uint8 or _digest(kind, arrays) != head["digest"]:
        raise ValueError("is damaged: its content does not match its digest")
    facts = parse(arrays.pop("facts").tobytes())
    if not isinstance(facts, dict):
        raise ValueError("is damaged: its facts are not an object")
    return facts, arrays


def _other_kind(found: str, expected: str) -> str:
    reader = f": {READERS[found]} reads it" if found in READERS else ""
    return f"holds a novikoff {found}, expected {'an' if expected[0] in 'aeiou' else 'a'} {expected}{reader}"


def kind_of_file(path: str | os.PathLike[str]) -> str | None:
    """The kind in a file's header, such as "model"; None if it is not a novikoff file."""
    try:
        _check_header(Path(path))
        with Path(path).open("rb") as file:
            header = file.read(int.from_bytes(file.read(8), "little"))
        metadata = parse(header)["__metadata__"]["novikoff"]
        return str(parse(metadata.encode())["kind"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        begins = file.read(1)
    if size < 10 or begins != b"{":
        raise ValueError("is not a novikoff model file: it is not in safetensors format")
    if length > min(size - 8, LONGEST_HEADER):
        most = min(size - 8, LONGEST_HEADER)
        raise ValueError(
            f"is damaged or truncated: its header claims {length:,} bytes, expected at most {most:,}"
        )


def _parse_head(text: str | None) -> dict[str, Any]:
    if text is None:
        raise ValueError(
            "is a safetensors file, but not a novikoff model: it has no 'novikoff' in its metadata"
        )
    head = parse(text.encode())
    if not isinstance(head, dict) or type(head.get("format")) is not int:
        raise ValueError("is damaged: its metadata have no format number")
    if head["format"] > FORMAT:
        raise ValueError(
            f"was written by a newer novikoff (format {head['format']}; this one reads up to {FORMAT}): "
            "update novikoff"
        )
    if head["format"] < 1 or not isinstance(head.get("kind"), str) or not isinstance(head.get("digest"), str):
        raise ValueError("is damaged: its metadata are not those of a novikoff file")
    return head


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


# ---- JSON --------------------------------------------------------------------------------------------
def canonical(value: Any) -> str:
    """JSON that is the same for equal values: sorted keys, no blanks, ASCII."""
    value = to_json_value(value, not_finite=lambda number: {"float": str(number)})
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse(text: bytes) -> Any:
    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(text, object_pairs_hook=_from_pairs, parse_constant=constant)
        _check_depth(value)
    except RecursionError:
        raise ValueError(f"is damaged: its JSON is nested more than {DEEPEST} deep") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"is damaged: its JSON is invalid ({_one_line(error)})") from None
    return value


def _from_pairs(pairs: list[tuple[str, Any]]) -> Any:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"a key is given twice among {', '.join(name for name, _ in pairs)}")
    return float(value["float"]) if value.keys() == {"float"} else value


def _check_depth(value: Any) -> None:
    """Raise a RecursionError if the value is nested so deeply that recursive code might fail."""
    level = [value]
    for _ in range(DEEPEST):
        inner = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list))
        level = [v for values in inner for v in values if isinstance(v, dict | list)]
        if not level:
            return
    raise RecursionError


# ---- text --------------------------------------------------------------------------------------------
def pack_text(texts: Iterable[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Texts as one array of UTF-8 bytes, and the n + 1 offsets at which they begin and end."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return np.frombuffer(b"".join(parts), dtype=np.uint8), offsets


def unpack_text(content: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> list[str]:
    """The texts that `pack_text` packed; a ValueError if the two arrays are inconsistent."""
    fits = content.dtype == np.uint8 and content.ndim == 1 and offsets.dtype == np.int64 and offsets.ndim == 1
    if not fits or not len(offsets) or offsets[0] != 0 or offsets[-1] != len(content):
        raise ValueError("packed text and its offsets do not fit each other")
    if (np.diff(offsets) < 0).any():
        raise ValueError("offsets of packed text go backwards")
    whole, cuts = content.tobytes(), offsets.tolist()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(cuts)]


def read_model(path: str | os.PathLike[str], expected: str = "model") -> tuple[Facts, Arrays]:
    """The facts and arrays of a model for rows; a "model" is a linear or a kernel model."""
    kind = kind_of_file(path)
    if kind == "tagger":
        raise ValueError(
            f"{os.fspath(path)}: holds a sequence tagger, which labels the tokens of sentences, not "
            "rows: `novikoff tag` uses it."
        )
    if kind == "structured":
        raise ValueError(
            f"{os.fspath(path)}: holds a structured perceptron, whose outputs are not the classes of rows: "
            "novikoff.load_model(path) reads it."
        )
    return read_file(path, expected)


def is_of_kernels(facts: Facts) -> bool:
    """Whether a model for rows is a kernel model."""
    return bool(facts.keys() & {"dual", "budgeted"})
