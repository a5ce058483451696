"""Bodies with files in them, read piece by piece."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.files.uploadedfile import UploadedFile


class Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.rest or memoryview(next(filter(None, self.pieces), b""))
        count = min(len(buffer), len(piece))
        buffer[:count] = piece[:count]
        self.rest = piece[count:]
        return count


class FilesBody:
    """A body with files in it, which is copied only as far as a view reads it.

    Args:
        parts: the files, and the bytes between them.
    """

    def __init__(self, parts: Iterable[bytes | UploadedFile[Any]]) -> None:
        self.parts = tuple(parts)

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            yield from [part] if isinstance(part, bytes) else part.chunks()

    def __len__(self) -> int:
        return sum(len(p) if isinstance(p, bytes) else p.size or 0 for p in self.parts)

    def __bytes__(self) -> bytes:
        return b"".join(self)

    def open(self) -> io.BufferedReader:
        """Return a stream of the whole body."""
        return io.BufferedReader(Pieces(iter(self)), 2**16)
