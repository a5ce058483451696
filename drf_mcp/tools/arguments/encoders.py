"""Request bodies in the media type that a view's own parsers take."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from django.utils.http import urlencode
from rest_framework.parsers import FileUploadParser, FormParser, MultiPartParser
from rest_framework.views import APIView

from drf_mcp.introspection.request_body.parsers import (
    is_for_json,
    reads_whole_file,
    text_parser,
)
from drf_mcp.introspection.types import Body, Place
from drf_mcp.outcomes import MISSING
from drf_mcp.tools.arguments.form_encoding import FormEncoding, Forms, encode_multipart
from drf_mcp.tools.arguments.uploads import holds_upload


@dataclass(frozen=True)
class BodyEncoder:
    """Encodes a body as JSON, which nearly every view takes.

    Attributes:
        content_type: the media type of what `encode` returns.
        expected: an object is sent even when no field was given.
        files: encodes bodies with files among them; None if the view takes none.
        disposition: the body's Content-Disposition, "" for none.
    """

    content_type: str = "application/json"
    expected: bool = False
    files: BodyEncoder | None = None
    disposition: str = ""

    def encode(self, value: Any) -> bytes:
        """Return the bytes of a JSON value; none at all for `MISSING`.

        Raises:
            ValueError: on NaN and infinities, which are not JSON.
        """
        if value is MISSING:
            return b""
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()

    def get_encoder(self, value: Any) -> BodyEncoder:
        """Return what encodes a value: another encoder where files are among it."""
        if self.files is None or value is MISSING:
            return self
        return self.files.get_encoder(value) if holds_upload(value) else self


@dataclass(frozen=True)
class FormBody(BodyEncoder):
    """Encodes an object as an HTML form.

    Attributes:
        forms: how values that are no text are written, by place.
    """

    forms: Forms = field(default_factory=dict)

    def encode(self, value: Any) -> bytes:
        """Return the bytes of an object of fields."""
        pairs = [] if value is MISSING else list(FormEncoding(self.forms).get_pairs(value))
        return urlencode(pairs).encode()


class MultiPartBody(FormBody):
    """Encodes an object as ``multipart/form-data``, the one form that carries files.

    The boundary is random, so that no value can end a part.
    """

    boundary: str

    def __init__(self, expected: bool, forms: Forms) -> None:
        boundary = secrets.token_hex(16)
        super().__init__(f"multipart/form-data; boundary={boundary}", expected, forms=forms)
        object.__setattr__(self, "boundary", boundary)

    def encode(self, value: Any) -> bytes:
        """Return the bytes of an object of fields."""
        if value is MISSING:
            return b""
        return encode_multipart(FormEncoding(self.forms).get_pairs(value), self.boundary)


class FileBody(BodyEncoder):
    """Encodes one file as it is, its name beside it, as `FileUploadParser` reads it."""

    def get_encoder(self, value: Any) -> BodyEncoder:
        """Return the encoder that says what the file is, and what it is called."""
        file = self.get_file(value)
        if file is None:
            return self
        name = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
        media_type = self.content_type or file.content_type
        return replace(self, content_type=media_type, disposition=name)

    def encode(self, value: Any) -> bytes:
        """Return the bytes of the file, none without one.

        Raises:
            TypeError: on what would be lost beside the file.
        """
        file = self.get_file(value)
        if isinstance(value, Mapping) and any(
            v is not None and v is not file for v in value.values()
        ):
            raise TypeError("the body is one file as it is, so nothing else can be sent with it")
        return b"" if file is None else bytes(file.read())

    def get_file(self, value: Any) -> Any:
        """Return the file of a body that is one, or that has one by REST framework's name."""
        if isinstance(value, Mapping):
            return value.get("file")
        return None if value is MISSING else value


class TextBody(BodyEncoder):
    """Encodes a text as it is, for parsers of neither JSON nor forms."""

    def encode(self, value: Any) -> bytes:
        """Return the bytes of a text; of anything else those of its JSON."""
        return value.encode() if isinstance(value, str) else super().encode(value)


def choose_body_encoder(view: APIView, body: Body) -> BodyEncoder:
    """Return the encoder for the first of the view's parsers that we can write for.

    JSON wins wherever the view takes it and no file is among the values; a view that takes
    neither JSON nor a form gets the text that the caller wrote, as its first parser's type.
    """
    text = text_parser(view)
    if reads_whole_file(view) or () in body.handling.uploads:
        return FileBody("" if text is None or "*" in text.media_type else text.media_type)
    expected = body.kind in ("object", "either")
    parsers, forms = view.parser_classes, collect_forms(body)
    files = choose_file_encoder(view, MultiPartBody(expected, forms))
    for parser in parsers:
        if is_for_json(parser):
            return BodyEncoder(parser.media_type, expected, files if takes_files(body) else None)
    for parser in parsers:
        if isinstance(files, MultiPartBody) and issubclass(parser, MultiPartParser):
            return files
        if issubclass(parser, FormParser):
            return FormBody(parser.media_type, expected, files, forms=forms)
    return BodyEncoder(expected=expected) if text is None else TextBody(text.media_type)


def takes_files(body: Body) -> bool:
    """Return whether an argument of a body can become a file."""
    return bool(body.handling.uploads) or any(p.handling.uploads for p in body.fields)


def choose_file_encoder(view: APIView, multipart: MultiPartBody) -> BodyEncoder | None:
    """Return what encodes bodies with files: a form, or else one file as it is."""
    if any(issubclass(parser, MultiPartParser) for parser in view.parser_classes):
        return multipart
    raw = any(issubclass(parser, FileUploadParser) for parser in view.parser_classes)
    return FileBody("") if raw else None


def collect_forms(body: Body) -> Mapping[Place, str]:
    """Return how forms write the values of a body, by place in the body as a whole."""
    rows: dict[Place, str] = {(): "parts"} if body.kind in ("list", "either") else {}
    rows = {**rows, **body.handling.forms}
    return rows | {
        (parameter.name, *place): written
        for parameter in body.fields
        for place, written in parameter.handling.forms.items()
    }
