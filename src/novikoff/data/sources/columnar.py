"""Parquet, Feather and Arrow files as record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from novikoff.data.sources.bytestream import ByteStream

if TYPE_CHECKING:
    import pyarrow as pa

TITLES = {"parquet": "Parquet", "arrow": "Arrow or Feather"}


class ColumnarFile:
    """One open file; close it when done.

    Parameters
    ----------
    stream : ByteStream
        The files.
    number : int
        The index of the file, from 0.
    format : {'parquet', 'arrow'}
    categories : names of columns
        String columns to read as dictionaries, the usual encoding in Parquet files.
    """

    def __init__(self, stream: ByteStream, number: int, format: str, categories: Iterable[str] = ()) -> None:
        import pyarrow as pa

        self.name, self._format, self._categories = stream.names[number], format, list(categories)
        self._stream, self._number = stream, number
        self._is_stream = format == "arrow" and not _first_bytes(stream, number).startswith(b"ARROW1")
        if not stream.can_reread and not self._is_stream:
            raise ValueError(
                f"{self.name}: {TITLES[format]} files have their index at the end, so one cannot be read "
                "from a pipe; save it to a file, or send an Arrow stream."
            )
        given = stream.reader() if not stream.can_reread else stream.whole_file(number)
        self._is_ours = isinstance(given, str)  # otherwise it stays open
        with self._sound():
            if isinstance(given, str):
                # Not memory-mapped: if another process truncated the file, SIGBUS would kill this one,
                # and if it rewrote the file, validated data would change.
                self._file = pa.OSFile(given)
            else:
                self._file = pa.PythonFile(given, "r")
            try:
                self._reader = self._open()
            except BaseException:
                self.close()
                raise
        self.schema: pa.Schema = self._reader.schema_arrow if format == "parquet" else self._reader.schema

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet

        if self._format == "parquet":
            file = pyarrow.parquet.ParquetFile(self._file)
            strings = {field.name for field in file.schema_arrow if pa.types.is_string(field.type)}
            return pyarrow.parquet.ParquetFile(
                self._file,
                metadata=file.metadata,
                read_dictionary=[name for name in self._categories if name in strings],
                pre_buffer=False,
                buffer_size=1 << 18,
            )
        return pa.ipc.open_stream(self._file) if self._is_stream else pa.ipc.open_file(self._file)

    def batches(
        self, columns: list[str], n_rows: int, *, use_threads: bool
    ) -> Iterator[tuple[pa.RecordBatch, float]]:
        """Batches of at most `n_rows` rows, and the fraction of the file read after each."""
        with self._sound():
            if self._format == "parquet":
                done, total = 0, max(self._reader.metadata.num_rows, 1)
                for batch in self._reader.iter_batches(n_rows, columns=columns, use_threads=use_threads):
                    done += batch.num_rows
                    batch.validate(full=True)
                    yield batch, done / total
                self._check_unchanged()
                return
            total = 0 if self._is_stream else self._reader.num_record_batches
            whole = self._reader if self._is_stream else map(self._reader.get_batch, range(total))
            for k, batch in enumerate(whole):
                batch = batch.select(columns)
                batch.validate(full=True)  # offsets, indices and text of a damaged file are arbitrary
                for begin in range(0, batch.num_rows, n_rows):
                    part = batch.slice(begin, n_rows)
                    yield part, (k + (begin + part.num_rows) / batch.num_rows) / total if total else 0.0
            self._check_unchanged()

    def _check_unchanged(self) -> None:
        if self._is_ours:
            self._stream.check_unchanged(self._number)

    def close(self) -> None:
        if self._is_ours:
            self._file.close()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Report pyarrow's error about a damaged file in one line."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = str(error).strip().split("\n")[0].rstrip(".")
            raise ValueError(
                f"{self.name}: this is not a valid {TITLES[self._format]} file ({reason}); a file that is "
                "compressed as a whole must be decompressed first."
            ) from None


def _first_bytes(stream: ByteStream, number: int) -> bytes:
    if not stream.can_reread:
        return stream.head(8)
    given = stream.whole_file(number)
    if not isinstance(given, str):
        return given.read(6)
    with open(given, "rb") as file:  # noqa: PTH123
        return file.read(6)
