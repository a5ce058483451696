"""What is read of a response: so much at most, for so long at most, its encoding undone."""

from __future__ import annotations

import asyncio
import gzip
import io
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from asgiref.sync import async_to_sync
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from drf_mcp.settings import mcp_settings

MAX_STREAM_SECONDS = 10.0
SIZE_LIMIT = "size_limit"
TIME_LIMIT = "time_limit"

NO_ENCODING = ("", "identity")
GZIP = ("gzip", "x-gzip")
DEFLATE = "deflate"
# Bytes that are decoded at once, and so the most that is decoded in vain.
CHUNK = 65536


@dataclass(frozen=True)
class Body:
    """What was read of a response.

    Attributes:
        content: the bytes, decoded.
        cut: the limit at which the content was cut, `SIZE_LIMIT` or `TIME_LIMIT`; "" if
            it is whole.
        size: how many bytes the whole has, None if that is not known.
        encoding: the ``Content-Encoding`` that could not be undone; then there is no
            content. "" if there was none, or it was undone.
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
    """Return what a response holds, decoded, up to MAX_CONTENT_BYTES.

    Args:
        response: any Django response.
        in_memory: True to take at any length what is in memory, decoded, already.
    """
    limit = mcp_settings.MAX_CONTENT_BYTES
    encoding = response.get("Content-Encoding", "").strip().lower()
    is_encoded = encoding not in NO_ENCODING
    if isinstance(response, HttpResponse):
        body = Body(response.content, size=len(response.content))
        if in_memory and not is_encoded:
            return body
    elif isinstance(response, StreamingHttpResponse):
        # What nothing can be made of need not be read.
        is_readable = not is_encoded or is_decodable(encoding)
        body = read_stream(response, limit) if is_readable else announced(response, encoding)
    else:
        return Body()
    return (decoded(body, encoding, limit) if is_encoded else body).bounded(limit)


def read_stream(response: StreamingHttpResponse, limit: int) -> Body:
    """Return what a stream gives up to the limits of size and time."""
    deadline = time.monotonic() + MAX_STREAM_SECONDS
    collected = bytearray()

    def is_enough(chunk: bytes) -> bool:
        collected.extend(chunk)
        return len(collected) > limit or time.monotonic() > deadline

    if response.is_async:
        ended = async_to_sync(drain)(response, is_enough)
    else:
        # In this thread, though a generator that blocks cannot be left before it yields:
        # another thread has other database connections, and would stay blocked for good.
        ended = not any(map(is_enough, response))
    if ended:
        return Body(bytes(collected), size=len(collected))
    cut = SIZE_LIMIT if len(collected) > limit else TIME_LIMIT
    return replace(announced(response), content=bytes(collected), cut=cut)


async def drain(response: StreamingHttpResponse, is_enough: Callable[[bytes], bool]) -> bool:
    """Read an asynchronous stream until it ends or is enough, and close it.

    Returns:
        Whether it ended.
    """

    async def read() -> bool:
        async for chunk in response:
            if is_enough(chunk):
                return False
        return True

    try:
        return await asyncio.wait_for(read(), MAX_STREAM_SECONDS)
    except asyncio.TimeoutError:
        return False
    finally:
        # Django knows of `close` alone, and the loop of a server runs on: what a generator
        # holds would stay open until the garbage collector comes by.
        close = getattr(response._iterator, "aclose", None)  # type: ignore[attr-defined]
        if close is not None:
            await close()


def announced(response: HttpResponseBase, encoding: str = "") -> Body:
    """Return the body of a stream that is not read, with the size that its headers give."""
    length = response.get("Content-Length", "")
    return Body(size=int(length) if length.isdecimal() else None, encoding=encoding)


def is_decodable(encoding: str) -> bool:
    """Return whether an encoding can be undone."""
    return encoding in GZIP or encoding == DEFLATE


def decoded(body: Body, encoding: str, limit: int) -> Body:
    """Return a body without its encoding, or without its content if that cannot be undone.

    Args:
        body: what was read.
        encoding: its ``Content-Encoding``.
        limit: how many bytes are wanted, so that a few that stand for many do no harm.
    """
    if body.encoding or not body.content:
        return body
    unread = Body(size=body.size, encoding=encoding)
    if not is_decodable(encoding):
        return unread
    unzip = inflated if encoding == DEFLATE else gunzipped
    try:
        content, ended = unzip(body.content, limit + 1)
    except (OSError, zlib.error):
        return unread
    if body.cut or len(content) > limit:
        return Body(content, body.cut or SIZE_LIMIT)
    return Body(content, size=len(content)) if ended else unread


def gunzipped(content: bytes, most: int) -> tuple[bytes, bool]:
    """Return the beginning of what was compressed by gzip, and whether its end was there.

    Args:
        content: what was compressed; it may be in several members.
        most: after how many bytes no more are decoded.

    Raises:
        OSError: if the content is something else.
        zlib.error: if it is damaged.
    """
    collected = bytearray()
    reader = gzip.GzipFile(fileobj=io.BytesIO(content))
    try:
        while len(collected) < most and (chunk := reader.read1(CHUNK)):
            collected += chunk
    except EOFError:
        return bytes(collected), False
    return bytes(collected), True


def inflated(content: bytes, most: int) -> tuple[bytes, bool]:
    """Return the beginning of what was deflated, and whether its end was there.

    Args:
        content: what was deflated, with or without the head that RFC 9110 demands.
        most: after how many bytes no more are decoded.

    Raises:
        zlib.error: if the content is something else, or damaged.
    """
    has_head = content[0] & 15 == zlib.DEFLATED and int.from_bytes(content[:2], "big") % 31 == 0
    decoder = zlib.decompressobj(zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS)
    return decoder.decompress(content, most), decoder.eof
