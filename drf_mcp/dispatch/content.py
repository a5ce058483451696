"""Rendered responses: JSON and text as data, files as content blocks; and the encoding of data."""

from __future__ import annotations

import codecs
import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.codes import LESS, NOT_AGAIN
from drf_mcp.exceptions import attempt
from drf_mcp.interaction.exchange import Block
from drf_mcp.json_text import MAX_TEXT_DEPTH, encode_plain, is_nested_deeper
from drf_mcp.outcomes import Fidelity, Severity, Warning
from drf_mcp.settings import mcp_settings

BODILESS = frozenset({204, 205, 304})
# The longest text of an error response that is taken for a message.
MAX_SENTENCE = 500
TEXT_TYPES = frozenset(
    {"application/xml", "application/yaml", "application/javascript", "application/x-ndjson"}
)
UNKNOWN_TYPE = "application/octet-stream"
TRUNCATED = "CONTENT_TRUNCATED"
# Why bytes of a body are missing.
SIZE_LIMIT, TIME_LIMIT, ASYNCHRONOUS, ENCODED = (
    "size_limit",
    "time_limit",
    "asynchronous",
    "encoded",
)


@dataclass
class Content:
    """The body of a response as data and content blocks.

    Attributes:
        fidelity: None where nothing was left out.
    """

    data: Any = None
    blocks: tuple[Mapping[str, Any], ...] = ()
    fidelity: Fidelity | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True)
class ReadBytes:
    """The bytes that were read of a response.

    Attributes:
        cut: why bytes are missing, "" for a whole body.
        size: the length of the whole body, None if unknown.
    """

    content: bytes = b""
    cut: str = ""
    size: int | None = None


def find_location(response: HttpResponseBase) -> dict[str, str] | None:
    """Return the data of an answer without a body: where it leads, None where it leads nowhere."""
    leads = response.status_code < 400 and response.has_header("Location")
    return {"location": response["Location"]} if leads else None


class ContentReader:
    """Reads a rendered or streaming response."""

    max_stream_seconds = 10.0

    def __init__(self, response: HttpResponseBase, uri: str, *, reads: bool = True) -> None:
        self.response = response
        self.reads = reads
        self.uri = uri
        media_type = response.get("Content-Type", "").partition(";")[0].strip().lower()
        self.media_type = media_type
        self.is_json = media_type == "application/json" or media_type.endswith("+json")
        self.is_text = (
            media_type.startswith("text/") or media_type in TEXT_TYPES or media_type[-4:] == "+xml"
        )

    def read(self) -> Content:
        response: Any = self.response
        try:
            if response.status_code >= 400:
                return self._get_error(self._read_body())
            return self._make_success()
        finally:
            # ``response.close()`` would send `request_finished`.
            for close in response._resource_closers:
                close()
            response._resource_closers.clear()

    def _get_error(self, body: ReadBytes) -> Content:
        # Only JSON and text: an HTML page or a file says nothing to a model.
        if body.cut or not (self.is_json or self.is_text):
            return Content()
        text = self.get_text(body)
        if self.is_json:
            # Python 3.13 parses JSON that is nested too deep for `find_error_texts`.
            is_deep = is_nested_deeper(text, MAX_TEXT_DEPTH)
            return Content(None if is_deep else attempt(lambda: json.loads(body.content), None))
        # The default media type of an HttpResponse is HTML, also for a plain sentence.
        is_page = "<" in text or len(text) > MAX_SENTENCE or self.response.status_code >= 500
        return Content() if self.media_type == "text/html" and is_page else Content(text)

    def _make_success(self) -> Content:
        response = self.response
        if response.status_code in BODILESS:
            return Content()
        if 300 <= response.status_code < 400 and (location := find_location(response)):
            return Content(location)
        body = self._read_body()
        if body.content and self.is_text:
            text = self.get_text(body)
            if not body.cut:
                return Content(text)
            warning = self._make_warning("Only the beginning of the text is here", body)
            return Content(text, (self._make_link(),), Fidelity("partial"), (warning,))
        if body.cut:
            facts = {**self._find_facts(body), "uri": self.uri}
            warning = self._make_warning("A link replaces the content", body)
            return Content(facts, (self._make_link(),), Fidelity("reference_only"), (warning,))
        if not body.content:
            return Content(find_location(response))
        return Content(json.loads(body.content)) if self.is_json else self._read_file_content(body)

    def _read_file_content(self, body: ReadBytes) -> Content:
        facts = self._find_facts(body)
        media_type = facts["media_type"]
        make = {"image": Block.image, "audio": Block.audio}.get(media_type.partition("/")[0])
        if make is not None:
            return Content(facts, (make(body.content, media_type).members,))
        return Content(facts, (Block.resource(self.uri, body.content, media_type).members,))

    def _make_link(self) -> Mapping[str, Any]:
        facts = self._find_facts(ReadBytes())
        return Block.link(self.uri, facts["name"], mime_type=facts["media_type"]).members

    def _find_facts(self, body: ReadBytes) -> dict[str, Any]:
        name = self._file_name or urlsplit(self.uri).path.rstrip("/").rsplit("/", 1)[-1]
        facts = {"media_type": self.media_type or UNKNOWN_TYPE, "name": name or "content"}
        return facts if body.size is None else {**facts, "size": body.size}

    @functools.cached_property
    def _file_name(self) -> str:
        disposition = self.response.get("Content-Disposition", "")
        try:
            name = parse_header_parameters(disposition)[1].get("filename", "")
        except (ValueError, LookupError):  # an encoding that does not exist (RFC 5987)
            return ""
        # Both kinds of slash may separate folders (RFC 6266, 4.3).
        name = name.replace("\\", "/").rsplit("/", 1)[-1]
        name = "".join(character for character in name if character.isprintable()).strip()
        return "" if name in (".", "..") else name

    def get_text(self, body: ReadBytes) -> str:
        # Bytes that are wrong in the charset become U+FFFD. The first bytes of a character that was
        # cut are dropped.
        decoder = codecs.getincrementaldecoder(self.response.charset or "utf-8")("replace")
        return decoder.decode(body.content, final=not body.cut)

    def _make_warning(self, summary: str, body: ReadBytes) -> Warning:
        limit, count = mcp_settings.MAX_CONTENT_BYTES, len(body.content)
        context: dict[str, Any] = {"reason": body.cut, "bytes_read": count}
        if body.size is not None:
            context["size"] = body.size
        remedy = LESS if self.is_json or self.is_text else ""
        if body.cut == TIME_LIMIT:
            seconds = context["seconds"] = self.max_stream_seconds
            reason = f"it went on after {seconds:g} seconds, when {count} bytes had been read."
            remedy = "Another call would start it anew."
        elif body.cut == ASYNCHRONOUS:
            reason, remedy = "it is an asynchronous stream, which no call reads.", ""
        elif body.cut == ENCODED:
            reason, remedy = "its Content-Encoding is not undone.", ""
        elif body.size is None:
            reason = f"it has more bytes than the {limit} that are taken at most."
        else:
            reason = f"it has {body.size} bytes, and at most {limit} are taken."
        remedy = remedy if self.reads else NOT_AGAIN
        return Warning(TRUNCATED, f"{summary}: {reason} {remedy}".strip(), Severity.INFO, context)

    def _read_body(self) -> ReadBytes:
        # JSON that is in memory is read whole, whatever its length.
        response: Any = self.response
        limit = mcp_settings.MAX_CONTENT_BYTES
        is_encoded = response.get("Content-Encoding", "").strip().lower() not in ("", "identity")
        if isinstance(response, HttpResponse):
            content = response.content
            if is_encoded and content:
                return ReadBytes(cut=ENCODED, size=len(content))
            if self.is_json or len(content) <= limit:
                return ReadBytes(content, size=len(content))
            return ReadBytes(content[:limit], SIZE_LIMIT, len(content))
        length = response.get("Content-Length", "")
        announced = int(length) if length.isdecimal() else None
        if is_encoded or response.is_async:
            return ReadBytes(cut=ENCODED if is_encoded else ASYNCHRONOUS, size=announced)
        deadline = time.monotonic() + self.max_stream_seconds
        collected = bytearray()
        # In this thread: another one would have other database connections, and a generator that
        # blocks would block that thread forever.
        for chunk in response:
            collected.extend(chunk)
            if len(collected) > limit:
                return ReadBytes(bytes(collected[:limit]), SIZE_LIMIT, announced)
            if time.monotonic() > deadline:
                return ReadBytes(bytes(collected), TIME_LIMIT, announced)
        return ReadBytes(bytes(collected), size=len(collected))


make_encoder = functools.partial(
    JSONEncoder, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)
ENCODER = make_encoder()


def encode_data(value: Any) -> str:
    return ENCODER.encode(value)


class AnswerEncoder:
    """Encodes an answer several times, and reads lazy values in it only once.

    REST framework writes a queryset, a generator or a ``map`` as an array. The first reading is
    kept for the next encoding.
    """

    def __init__(self) -> None:
        # What is being read: it may fail for any reason.
        self.unread: Any = None
        # By id, with the iterable itself: Python may use the id of a deleted object again.
        self._read: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def encode(self, value: Any) -> str:
        """Return a value as JSON."""
        # Most answers have only plain values, for which there is one encoder.
        try:
            return encode_plain(value)
        except (TypeError, RecursionError):
            return make_encoder(default=self.default).encode(value)

    def default(self, obj: Any) -> Any:
        if not self._is_lazy(obj):
            return ENCODER.default(obj)
        if id(obj) not in self._read:
            self.unread = obj
            self._read[id(obj)] = (obj, tuple(obj))
            self.unread = None
        return self._read[id(obj)][1]

    def _is_lazy(self, obj: Any) -> bool:
        if isinstance(obj, QuerySet):
            return True
        return hasattr(obj, "__iter__") and not (
            isinstance(obj, (bytes, type)) or hasattr(obj, "tolist") or hasattr(obj, "__getitem__")
        )

    def plain(self, value: Any) -> Any:
        return json.loads(self.encode(value))
