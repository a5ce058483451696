"""Request bodies in the media type that a view's own parsers take."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.http import urlencode
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.views import APIView

from drf_mcp.outcomes import MISSING
from drf_mcp.schemas.endpoint import Body


@dataclass(frozen=True)
class BodyEncoder:
    """Encodes a body as JSON, which nearly every view takes.

    Attributes:
        content_type: the media type of what `encode` returns.
        expected: an object is sent even when no field was given.
    """

    content_type: str = "application/json"
    expected: bool = False

    def encode(self, value: Any) -> bytes:
        """Return the bytes of a JSON value; none at all for `MISSING`.

        Raises:
            ValueError: on NaN and infinities, which are not JSON.
        """
        if value is MISSING:
            return b""
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class FormBody(BodyEncoder):
    """Encodes an object as an HTML form.

    Objects and lists of objects are written as REST framework's serializers read them
    (``line.price``, ``lines[0]price``) where the schema has them, else as JSON.

    Attributes:
        schema: the schema of the object.
    """

    schema: Mapping[str, Any] = field(default_factory=dict)

    def encode(self, value: Any) -> bytes:
        """Return the bytes of an object of fields."""
        if value is MISSING:
            return b""
        return urlencode(form_fields(value, self.schema), doseq=True).encode()


class MultiPartBody(FormBody):
    """Encodes an object as ``multipart/form-data``.

    The boundary is random, so that no value can end a part.
    """

    boundary: str

    def __init__(self, expected: bool, schema: Mapping[str, Any]) -> None:
        boundary = secrets.token_hex(16)
        super().__init__(f"multipart/form-data; boundary={boundary}", expected, schema)
        object.__setattr__(self, "boundary", boundary)

    def encode(self, value: Any) -> bytes:
        """Return the bytes of an object of fields."""
        if value is MISSING:
            return b""
        from django.test.client import encode_multipart

        return encode_multipart(self.boundary, form_fields(value, self.schema))


def form_fields(value: Any, schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return an object's members as the texts of form fields.

    Raises:
        TypeError: on a value that is no object, which a form cannot carry.
    """
    if not isinstance(value, Mapping):
        raise TypeError("this endpoint takes form fields, so its body must be an object")
    fields: dict[str, list[str]] = {}
    for name, text in member_pairs(value, schema, ""):
        fields.setdefault(name, []).append(text)
    return fields


def member_pairs(
    value: Mapping[str, Any], schema: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, str]]:
    """Yield the (name, text) pairs of an object's members."""
    properties = schema.get("properties", {})
    for name, member in value.items():
        yield from value_pairs(member, properties.get(name, {}), f"{prefix}{name}")


def value_pairs(value: Any, schema: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield the (name, text) pairs of one value; null is as good as not sent."""
    items = schema.get("items", {})
    if isinstance(value, Mapping) and schema.get("type") == "object":
        yield from member_pairs(value, schema, f"{name}.")
    elif is_list_of(value, Mapping) and items.get("type") == "object":
        for index, item in enumerate(value):
            yield from member_pairs(item, items, f"{name}[{index}]")
    elif isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        # A field inside a row is read once, so its values need names of their own.
        for index, item in enumerate(value):
            yield f"{name}[{index}]" if "]" in name else name, form_text(item)
    elif value is not None:
        yield name, form_text(value)


def is_list_of(value: Any, kind: type) -> bool:
    """Return whether a value is a list that holds something, all of one kind."""
    return isinstance(value, list) and bool(value) and all(isinstance(v, kind) for v in value)


def form_text(value: Any) -> str:
    """Write one form value."""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def body_encoder(view: APIView, body: Body) -> BodyEncoder:
    """Return the encoder for the first of the view's parsers that we can write for.

    JSON wins wherever the view takes it; a view that takes neither JSON nor a form
    gets JSON and answers as it would over HTTP.
    """
    expected = body.kind == "object"
    parsers = view.parser_classes
    for parser in parsers:
        if issubclass(parser, JSONParser) or parser.media_type == "application/json":
            return BodyEncoder(parser.media_type, expected)
    schema = {"properties": {parameter.name: parameter.schema for parameter in body.fields}}
    for parser in parsers:
        if issubclass(parser, MultiPartParser):
            return MultiPartBody(expected, schema)
        if issubclass(parser, FormParser):
            return FormBody(parser.media_type, expected, schema)
    return BodyEncoder(expected=expected)
