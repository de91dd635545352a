"""Files that hold no rows in a format of ours: what they are, and what to do with them.

Data that is mistaken for text gives errors about its first line, which help nobody.
"""

from __future__ import annotations

from novikoff.data.sources.bytestream import ByteStream

HEAD = 1 << 12  # bytes that are examined
TABLE = "save the table as CSV or Parquet"
ARRAYS = "save the arrays as CSV or Parquet, or pass them to the estimators in Python"
BEGINS: dict[bytes, tuple[str, str]] = {  # what files begin with, what they are, and what to do
    b"\x93NUMPY": ("a NumPy array", ARRAYS),
    b"\x89HDF\r\n\x1a\n": ("an HDF5 file", ARRAYS),
    b"MATLAB 5.0 MAT-file": ("a MATLAB file", ARRAYS),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Excel or Office file", TABLE),
    b"SQLite format 3\0": ("an SQLite database", TABLE),
    b"ORC": ("an ORC file", TABLE),
    b"Obj\x01": ("an Avro file", TABLE),
    b"RDX": ("an R data file", TABLE),
    b"%PDF-": ("a PDF file", TABLE),
    b"\x89PNG": ("a picture", ""),
    b"\xff\xd8\xff": ("a picture", ""),
    b"7z\xbc\xaf\x27\x1c": ("a 7-Zip archive", "unpack it first"),
    b"Rar!": ("a RAR archive", "unpack it first"),
}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def refuse_foreign(stream: ByteStream, format: str) -> None:
    """Raise a ValueError if the first file is of a kind that is not data for us; its rows stay unread."""
    head = stream.head(HEAD)
    problem = foreign(head[:HEAD], format)
    if stream.can_reread or problem:
        stream.close()
    if problem:
        raise ValueError(f"{stream.names[0]} {problem}.")


def foreign(head: bytes, format: str = "") -> str:
    """What is wrong with a file that begins with these bytes, and what to do; "" if it may be data.

    >>> foreign(b"PK\\x03\\x04...[Content_Types].xml...")
    'is an Excel file: save the sheet as CSV, or the table as Parquet'
    >>> foreign(b'[{"a": 1}]', "jsonl")
    "is one JSON array: write one object per line, as jq -c '.[]' does"
    >>> foreign(b"1 1:0.5")
    ''
    """
    for begin, (what, remedy) in BEGINS.items():
        if head.startswith(begin):
            return f"is {what}, not data in a format that novikoff reads{remedy and f': {remedy}'}"
    if head.startswith(b"PK\x03\x04"):
        return _zipped(head)
    if head[257:262] == b"ustar":
        return "is a tar archive: unpack it first"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and len(head) > 1:
        return "is a Python pickle, which could run code when it is read: save its content as CSV or Parquet"
    if head[8:9] == b"{" and b'"novikoff"' in head and b"\0" in head[:8]:
        return "is a novikoff file, such as a model, not data"
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        return "is a web page or XML, perhaps an error page in place of the data: download it again"
    if format in ("parquet", "arrow"):
        return ""
    if head.startswith(UTF_16):
        return "is UTF-16 text: convert it to UTF-8 with iconv -f UTF-16 -t UTF-8"
    if b"\r" in head.rstrip() and b"\n" not in head:
        return "has lines that end in carriage returns alone: convert them with tr '\\r' '\\n'"
    return _json(head) if format == "jsonl" else ""


def _zipped(head: bytes) -> str:
    if b"[Content_Types].xml" in head or b"xl/" in head:
        return "is an Excel file: save the sheet as CSV, or the table as Parquet"
    if b".npy" in head:
        return f"is a NumPy archive: {ARRAYS}"
    return "is a ZIP archive: unpack it first"


def _json(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return "is one JSON array: write one object per line, as jq -c '.[]' does"
    if text.partition(b"\n")[0].strip() == b"{":
        return "has a JSON object on several lines: write one object per line, as jq -c . does"
    return ""
