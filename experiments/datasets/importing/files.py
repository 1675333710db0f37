"""An uploaded file as a stream of bytes: unpacked, counted, and checked once from end to end when it arrives."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from django.conf import settings

from experiments.datasets.importing.rows import MAX_ROW_BYTES, BadFile

GZIP_MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 1024 * 1024
# What people send when they mean to send text: the first bytes, and what it is.
NOT_TEXT = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook. Save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook. Save the sheet as CSV"),
    (b"PAR1", "a Parquet file. Save it as JSONL or CSV"),
    (b"%PDF", "a PDF. Import CSV, JSONL or JSON"),
    (codecs.BOM_UTF16_LE, "UTF-16 text. Save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "UTF-16 text. Save it as UTF-8"),
)


class Source:
    """The text of a stored file as bytes: without its byte order mark, unpacked where it is gzip."""

    def __init__(self, stored: IO[bytes]) -> None:
        self._stored = stored
        stored.seek(0)
        is_packed = stored.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        stored.seek(0)
        self._text: IO[bytes] = gzip.GzipFile(fileobj=stored) if is_packed else stored  # type: ignore[assignment]
        if self._text.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            self._text.seek(0)
        self.text_read = 0  # bytes of the text that were read

    @property
    def stored_read(self) -> int:
        """Bytes of the stored file that were read, to compare with its size."""
        return self._stored.tell()

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end."""
        data = self._text.read(size)
        self.text_read += len(data)
        return data

    def lines(self) -> Iterator[bytes]:
        """The lines with their ends; of one that passes MAX_ROW_BYTES only the start, which is still past the limit."""
        while line := self._line():
            yield line
            while len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
                line = self._line()  # the rest of the long one

    def _line(self) -> bytes:
        line = self._text.readline(MAX_ROW_BYTES + 1)
        self.text_read += len(line)
        return line


def check(stored: IO[bytes]) -> None:
    """Read the whole file once. Raises BadFile where it is empty, damaged, too large, or not UTF-8 text."""
    try:
        _check_text(Source(stored))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadFile("The gzip file is damaged or cut off. Pack it again.") from error


def too_large(what: str) -> str:
    return f"{what} more than {settings.IMPORT_MAX_BYTES // 1024 // 1024} MB. Split the file into several."


def _check_text(source: Source) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, is_blank = 1, True
    while chunk := source.read(CHUNK_BYTES):
        if source.text_read == len(chunk):
            _refuse_binary(chunk)
        pending = decoder.getstate()[0]  # the start of a character whose rest is in this chunk
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _not_utf8(lines + (pending + chunk).count(b"\n", 0, error.start)) from error
        lines += chunk.count(b"\n")
        is_blank = is_blank and chunk.isspace()
        if source.text_read > settings.IMPORT_MAX_BYTES:
            raise BadFile(too_large("Unpacked, the file has"))
    if is_blank:
        raise BadFile("The file is empty.")
    if decoder.getstate()[0]:
        raise _not_utf8(lines)


def _refuse_binary(head: bytes) -> None:
    for magic, what in NOT_TEXT:
        if head.startswith(magic):
            raise BadFile(f"This is {what}.")
    if head.count(0) * 10 > len(head):
        raise BadFile("This is not text, or it is UTF-16. Save it as UTF-8 text.")


def _not_utf8(line: int) -> BadFile:
    return BadFile(f"Line {line} is not UTF-8 text. Save the file as UTF-8.")
