"""Responses that are not JSON: text as data, files as MCP content blocks."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters

from drf_mcp.settings import mcp_settings

BODILESS = frozenset({204, 205, 304})
TEXT_TYPES = frozenset(
    {"application/xml", "application/yaml", "application/javascript", "application/x-ndjson"}
)
MAX_STREAM_SECONDS = 10.0


@dataclass(frozen=True)
class Body:
    """What was read of a response.

    Attributes:
        content: the bytes.
        complete: False of a stream that was cut because it is too long or too slow.
    """

    content: bytes = b""
    complete: bool = True


@dataclass(frozen=True)
class Content:
    """What a response holds besides JSON.

    Attributes:
        data: what stands in the envelope: the text, or facts about the file.
        blocks: content blocks for the result (specification, server/tools).
    """

    data: Any = None
    blocks: tuple[Mapping[str, Any], ...] = ()


def read_response(response: HttpResponseBase, uri: str) -> Content:
    """Read a rendered or streaming response, and close what it reads from.

    Args:
        response: any Django response.
        uri: where the content stands over HTTP, for links and resources.

    Raises:
        ValueError: if a response that calls itself JSON is not.
    """
    try:
        if response.status_code >= 400:
            return error_content(response)
        return success_content(response, uri)
    finally:
        release(response)


def error_content(response: HttpResponseBase) -> Content:
    """Return what an error response says: JSON or text, but no page and no file."""
    body, media_type = read_body(response), media_type_of(response)
    if body.complete and is_json(media_type):
        try:
            return Content(json.loads(body.content or b"null"))
        except ValueError:
            return Content()
    if fits(body) and is_text(media_type) and media_type != "text/html":
        return Content(text_of(response, body))
    return Content()


def success_content(response: HttpResponseBase, uri: str) -> Content:
    """Return data, text or a file.

    Raises:
        ValueError: if a response that calls itself JSON is not.
    """
    if response.status_code in BODILESS:
        return Content()
    if response.has_header("Location") and 300 <= response.status_code < 400:
        return Content({"location": response["Location"]})
    body, media_type = read_body(response), media_type_of(response)
    if body.complete and not body.content:
        return Content()
    if body.complete and is_json(media_type):
        return Content(json.loads(body.content))
    if fits(body) and is_text(media_type):
        return Content(text_of(response, body))
    return file_content(response, body, media_type or "application/octet-stream", uri)


def media_type_of(response: HttpResponseBase) -> str:
    """Return the media type of a response without its parameters, "" if none."""
    return response.get("Content-Type", "").partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Return whether content of this type is JSON."""
    return media_type == "application/json" or media_type.endswith("+json")


def is_text(media_type: str) -> bool:
    """Return whether content of this type is for reading."""
    return media_type.startswith("text/") or media_type in TEXT_TYPES or media_type.endswith("+xml")


def text_of(response: HttpResponseBase, body: Body) -> str:
    """Return a body as text; what its charset does not hold becomes U+FFFD."""
    return body.content.decode(response.charset or "utf-8", "replace")


def fits(body: Body) -> bool:
    """Return whether a result has room for the whole of a body."""
    return body.complete and len(body.content) <= mcp_settings.MAX_CONTENT_BYTES


def read_body(response: HttpResponseBase) -> Body:
    """Return the body; of a stream, no more than it takes to know that it is too long."""
    if isinstance(response, HttpResponse):
        return Body(response.content)
    if not isinstance(response, StreamingHttpResponse):
        return Body()
    limit, deadline = mcp_settings.MAX_CONTENT_BYTES, time.monotonic() + MAX_STREAM_SECONDS
    collected = bytearray()

    def is_enough(chunk: bytes) -> bool:
        collected.extend(chunk)
        return len(collected) > limit or time.monotonic() > deadline

    if response.is_async:
        complete = async_to_sync(drain)(response, is_enough)
    else:
        complete = not any(map(is_enough, response))
    return Body(bytes(collected), complete)


async def drain(response: StreamingHttpResponse, is_enough: Callable[[bytes], bool]) -> bool:
    """Read an asynchronous stream until it ends or is enough; return whether it ended."""

    async def read() -> bool:
        async for chunk in response:
            if is_enough(chunk):
                return False
        return True

    try:
        return await asyncio.wait_for(read(), MAX_STREAM_SECONDS)
    except asyncio.TimeoutError:
        return False


def release(response: HttpResponseBase) -> None:
    """Close what a response reads from.

    ``response.close()`` would tell Django that the whole request is over.
    """
    for close in response._resource_closers:  # type: ignore[attr-defined]
        close()
    response._resource_closers.clear()  # type: ignore[attr-defined]


def file_content(response: HttpResponseBase, body: Body, media_type: str, uri: str) -> Content:
    """Return a file as a block of its kind, or as a link where it is too large or endless."""
    name = file_name(response) or urlsplit(uri).path.rstrip("/").rsplit("/", 1)[-1] or "content"
    facts = {"media_type": media_type, "name": name, **size_of(response, body)}
    if not fits(body):
        link = {"type": "resource_link", "uri": uri, "name": name, "mimeType": media_type}
        return Content({**facts, "uri": uri}, (link,))
    encoded = base64.b64encode(body.content).decode("ascii")
    for kind in ("image", "audio"):
        if media_type.startswith(f"{kind}/"):
            return Content(facts, ({"type": kind, "data": encoded, "mimeType": media_type},))
    resource = {"uri": uri, "mimeType": media_type, "blob": encoded}
    return Content(facts, ({"type": "resource", "resource": resource},))


def size_of(response: HttpResponseBase, body: Body) -> dict[str, int]:
    """Return the size of a file, nothing if it is not known."""
    if body.complete:
        return {"size": len(body.content)}
    announced = response.get("Content-Length", "")
    return {"size": int(announced)} if announced.isdecimal() else {}


def file_name(response: HttpResponseBase) -> str:
    """Return the file name that Content-Disposition gives, "" if none."""
    disposition = response.get("Content-Disposition", "")
    return parse_header_parameters(disposition)[1].get("filename", "")
