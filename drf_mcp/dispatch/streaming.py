"""The body of a response that is no data: its bytes up to limits of size and time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from drf_mcp.settings import mcp_settings

MAX_STREAM_SECONDS = 10.0
SIZE_LIMIT = "size_limit"
TIME_LIMIT = "time_limit"
ASYNCHRONOUS = "asynchronous"
NO_ENCODING = ("", "identity")


@dataclass(frozen=True)
class Body:
    """What was read of a response.

    Attributes:
        content: the bytes.
        cut: why bytes are missing: `SIZE_LIMIT`, `TIME_LIMIT` or `ASYNCHRONOUS`; "" if
            none is.
        size: how many bytes the whole has, None if that is not known.
        encoding: the ``Content-Encoding`` of bytes that were not read for it, "" if none.
    """

    content: bytes = b""
    cut: str = ""
    size: int | None = None
    encoding: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return not self.cut and not self.encoding

    def bounded(self, limit: int) -> Body:
        """Return the body with no more than a limit of it."""
        if len(self.content) <= limit:
            return self
        return replace(self, content=self.content[:limit], cut=SIZE_LIMIT)


def read_body(response: HttpResponseBase, *, in_memory: bool = False) -> Body:
    """Return the body of a response up to MAX_CONTENT_BYTES.

    Args:
        response: any Django response.
        in_memory: True to take a body that is in memory at any length.
    """
    limit = mcp_settings.MAX_CONTENT_BYTES
    encoding = response.get("Content-Encoding", "").strip().lower()
    if encoding in NO_ENCODING:
        encoding = ""
    if isinstance(response, HttpResponse):
        size = len(response.content)
        if encoding and size:
            return Body(size=size, encoding=encoding)
        body = Body(response.content, size=size)
        return body if in_memory else body.bounded(limit)
    if not isinstance(response, StreamingHttpResponse):
        return Body()
    if encoding or response.is_async:
        return announced(response, "" if encoding else ASYNCHRONOUS, encoding)
    return read_stream(response, limit).bounded(limit)


def read_stream(response: StreamingHttpResponse, limit: int) -> Body:
    """Return the bytes of a stream up to the limits of size and time."""
    deadline = time.monotonic() + MAX_STREAM_SECONDS
    collected = bytearray()
    # In this thread, though a generator that blocks cannot be left before it yields:
    # another thread has other database connections, and would stay blocked for good.
    for chunk in response:
        collected.extend(chunk)
        if len(collected) > limit or time.monotonic() > deadline:
            cut = SIZE_LIMIT if len(collected) > limit else TIME_LIMIT
            return replace(announced(response, cut), content=bytes(collected))
    return Body(bytes(collected), size=len(collected))


def announced(response: HttpResponseBase, cut: str = "", encoding: str = "") -> Body:
    """Return the body of a stream that is not read whole, with the size that its headers give."""
    length = response.get("Content-Length", "")
    size = int(length) if length.isdecimal() else None
    return Body(cut=cut, size=size, encoding=encoding)
