"""Responses that are not JSON: text as data, files as MCP content blocks."""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters

from drf_mcp.dispatch import streaming
from drf_mcp.dispatch.streaming import Body, read_body
from drf_mcp.outcomes import Fidelity, Severity, Warning
from drf_mcp.settings import mcp_settings

BODILESS = frozenset({204, 205, 304})
# Longer texts are no messages.
MAX_SENTENCE = 500
TEXT_TYPES = frozenset(
    {"application/xml", "application/yaml", "application/javascript", "application/x-ndjson"}
)
UNKNOWN_TYPE = "application/octet-stream"
NOT_DECODED = "CONTENT_NOT_DECODED"
TRUNCATED = "CONTENT_TRUNCATED"
LESS = "Ask again for less: filter, or fetch smaller pages."
ANEW = "Another call would start it anew."


@dataclass(frozen=True)
class Content:
    """What a response holds besides JSON.

    Attributes:
        data: what stands in the envelope: the text, or facts about the file.
        blocks: content blocks for the result (specification, server/tools).
        fidelity: how much of the content there is; None for all of it.
        warnings: what is missing, and why.
    """

    data: Any = None
    blocks: tuple[Mapping[str, Any], ...] = ()
    fidelity: Fidelity | None = None
    warnings: tuple[Warning, ...] = ()


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
    media_type = media_type_of(response)
    body = read_body(response, in_memory=is_json(media_type))
    if body.is_whole and is_json(media_type):
        try:
            return Content(json.loads(body.content or b"null"))
        except (ValueError, RecursionError):
            return Content()
    if not body.is_whole or not is_text(media_type):
        return Content()
    text = text_of(response, body)
    if media_type == "text/html" and (response.status_code >= 500 or not is_sentence(text)):
        return Content()
    return Content(text)


def is_sentence(text: str) -> bool:
    """Return whether what Django calls HTML by default is a plain sentence, and no page."""
    return "<" not in text and len(text) <= MAX_SENTENCE


def success_content(response: HttpResponseBase, uri: str) -> Content:
    """Return data, text or a file.

    Raises:
        ValueError: if a response that calls itself JSON is not.
    """
    if response.status_code in BODILESS:
        return Content()
    if response.has_header("Location") and 300 <= response.status_code < 400:
        return Content({"location": response["Location"]})
    media_type = media_type_of(response)
    body = read_body(response, in_memory=is_json(media_type))
    if body.is_whole and not body.content:
        return Content()
    if body.is_whole and is_json(media_type):
        return Content(json.loads(body.content))
    if body.content and is_text(media_type):
        return text_content(response, body, uri)
    if body.is_whole:
        return file_content(response, body, uri)
    return linked_content(response, body, uri)


def media_type_of(response: HttpResponseBase) -> str:
    """Return the media type of a response without its parameters, "" if none."""
    return response.get("Content-Type", "").partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Return whether content of this type is JSON."""
    return media_type == "application/json" or media_type.endswith("+json")


def is_text(media_type: str) -> bool:
    """Return whether content of this type is for reading."""
    return media_type.startswith("text/") or media_type in TEXT_TYPES or media_type.endswith("+xml")


def text_content(response: HttpResponseBase, body: Body, uri: str) -> Content:
    """Return a text; one that was cut with a link to the whole."""
    text = text_of(response, body)
    if body.is_whole:
        return Content(text)
    warning = truncated("Only the beginning of the text is here", body, LESS)
    return Content(text, (link_to(response, uri),), Fidelity("partial"), (warning,))


def text_of(response: HttpResponseBase, body: Body) -> str:
    """Return a body as text; what its charset does not hold becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder(response.charset or "utf-8")("replace")
    text = decoder.decode(body.content, final=not body.cut)
    return without_torn_end(text) if body.cut else text


def without_torn_end(text: str) -> str:
    """Return a text that was cut without its last line or word, which may be torn.

    It is left as it is where more than half of it would go.
    """
    half = len(text) // 2
    line = text.rfind("\n") + 1
    if line > half:
        return text[:line]
    torn = "" if text[-1:].isspace() else "".join(text.rsplit(maxsplit=1)[-1:])
    word = len(text) - len(torn)
    return text[:word] if word > half else text


def release(response: HttpResponseBase) -> None:
    """Close what a response reads from.

    ``response.close()`` would tell Django that the whole request is over.
    """
    for close in response._resource_closers:  # type: ignore[attr-defined]
        close()
    response._resource_closers.clear()  # type: ignore[attr-defined]


def file_content(response: HttpResponseBase, body: Body, uri: str) -> Content:
    """Return a file as a block of its kind, and facts about it."""
    facts = facts_of(response, body, uri)
    media_type = facts["media_type"]
    encoded = base64.b64encode(body.content).decode("ascii")
    for kind in ("image", "audio"):
        if media_type.startswith(f"{kind}/"):
            return Content(facts, ({"type": kind, "data": encoded, "mimeType": media_type},))
    resource = {"uri": uri, "mimeType": media_type, "blob": encoded}
    return Content(facts, ({"type": "resource", "resource": resource},))


def linked_content(response: HttpResponseBase, body: Body, uri: str) -> Content:
    """Return a link to what is too large, endless or encoded, and facts about it."""
    data = {**facts_of(response, body, uri), "uri": uri}
    if body.encoding:
        warning = not_decoded(body)
    else:
        remedy = LESS if is_json(media_type_of(response)) else ""
        warning = truncated("A link stands for the content", body, remedy)
    return Content(data, (link_to(response, uri),), Fidelity("reference_only"), (warning,))


def link_to(response: HttpResponseBase, uri: str) -> dict[str, Any]:
    """Return the block of a link to where a response stands over HTTP."""
    facts = facts_of(response, Body(), uri)
    name, media_type = facts["name"], facts["media_type"]
    return {"type": "resource_link", "uri": uri, "name": name, "mimeType": media_type}


def facts_of(response: HttpResponseBase, body: Body, uri: str) -> dict[str, Any]:
    """Return the facts about a file: type and name, and size and encoding where they matter."""
    name = file_name(response) or urlsplit(uri).path.rstrip("/").rsplit("/", 1)[-1] or "content"
    facts: dict[str, Any] = {"media_type": media_type_of(response) or UNKNOWN_TYPE, "name": name}
    if body.size is not None:
        facts["size"] = body.size
    return {**facts, "content_encoding": body.encoding} if body.encoding else facts


def not_decoded(body: Body) -> Warning:
    """Return the warning that content is linked because of its encoding."""
    message = f"A link stands for the content: its encoding {body.encoding!r} is not undone."
    context = {"content_encoding": body.encoding}
    return Warning(NOT_DECODED, message, Severity.WARNING, context)


def truncated(what: str, body: Body, remedy: str) -> Warning:
    """Return the warning that content was cut.

    Args:
        what: what there is instead, in words.
        body: what was read.
        remedy: what to do about content that is too long, "" for nothing.
    """
    read = len(body.content)
    context: dict[str, Any] = {"reason": body.cut, "bytes_read": read}
    if body.size is not None:
        context["size"] = body.size
    if body.cut == streaming.TIME_LIMIT:
        seconds = context["seconds"] = streaming.MAX_STREAM_SECONDS
        why = f"it went on after {seconds:g} seconds, when {read} bytes had been read. {ANEW}"
    elif body.cut == streaming.ASYNCHRONOUS:
        why = "it is an asynchronous stream, which no call reads."
    else:
        why = f"{too_long(body)}. {remedy}".rstrip()
    return Warning(TRUNCATED, f"{what}: {why}", Severity.INFO, context)


def too_long(body: Body) -> str:
    """Return in words how much too long a body is."""
    limit = mcp_settings.MAX_CONTENT_BYTES
    if body.size is None:
        return f"it has more bytes than the {limit} that are taken at most"
    return f"it has {body.size} bytes, of which {limit} are taken at most"


def file_name(response: HttpResponseBase) -> str:
    """Return the file name that Content-Disposition gives, without a path; "" if none.

    Both kinds of slash are taken for a path's, as browsers do (RFC 6266, 4.3).
    """
    disposition = response.get("Content-Disposition", "")
    try:
        given = parse_header_parameters(disposition)[1].get("filename", "")
    except (ValueError, LookupError):  # an encoding that does not exist (RFC 5987)
        return ""
    name = given.replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(character for character in name if character.isprintable()).strip()
    return "" if printable in (".", "..") else printable
