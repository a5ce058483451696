"""The formats of notes: parsers, renderers, pages and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from djangorestframework_camel_case.parser import (
    CamelCaseFormParser,
    CamelCaseJSONParser,
    CamelCaseMultiPartParser,
)
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.versioning import BaseVersioning, QueryParameterVersioning, URLPathVersioning

from tests.crossings.drawing import OFF

VERSIONS = ["v1", "v2"]
VERSION_HEADER = "Notes-Version"


class PackedRenderer(BaseRenderer):
    """Writes bytes that are no JSON, for clients that ask for them or send no Accept header."""

    media_type = "application/x-packed"
    format = "packed"
    charset = None
    render_style = "binary"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        return b"\x93" + repr(data).encode()


class Hours:
    """A time that only the project's own encoder can write."""


class OwnEncoder(JSONEncoder):
    def default(self, obj: Any) -> Any:
        return {"hours": "1.50"} if isinstance(obj, Hours) else super().default(obj)


class OwnRenderer(JSONRenderer):
    encoder_class = OwnEncoder


class Numbered(PageNumberPagination):
    page_size = 9
    page_size_query_param = "page_size"


class Sliced(LimitOffsetPagination):
    default_limit = 9


class Following(CursorPagination):
    page_size = 9
    ordering = "pk"


class HeaderVersioning(BaseVersioning):
    """The version is in a header of the project."""

    def determine_version(self, request: Any, *args: Any, **kwargs: Any) -> str:
        return str(request.headers.get(VERSION_HEADER, self.default_version))


VERSIONED = {"allowed_versions": VERSIONS, "default_version": "v1"}
RENDERERS: Mapping[str, list[Any]] = {
    "JSON": [JSONRenderer],
    "camel case": [CamelCaseJSONRenderer],
    "packed": [PackedRenderer, JSONRenderer],
    "own encoder": [OwnRenderer],
}
PARSERS: Mapping[str, Any] = {"JSON": JSONParser, "form": FormParser, "files": MultiPartParser}
CAMEL_CASE: Mapping[str, Any] = {
    "JSON": CamelCaseJSONParser,
    "form": CamelCaseFormParser,
    "files": CamelCaseMultiPartParser,
}
PAGES: Mapping[str, Any] = {OFF: None, "numbers": Numbered, "offset": Sliced, "cursor": Following}
VERSIONING: Mapping[str, Any] = {
    OFF: None,
    "path": type("PathVersions", (URLPathVersioning,), VERSIONED),
    "header": type("HeaderVersions", (HeaderVersioning,), VERSIONED),
    "query": type("QueryVersions", (QueryParameterVersioning,), VERSIONED),
}


def choose_formats(case: Mapping[str, str]) -> dict[str, Any]:
    """Return the view attributes for the formats of a case."""
    parsers = CAMEL_CASE if case["renderer"] == "camel case" else PARSERS
    return {
        "renderer_classes": RENDERERS[case["renderer"]],
        "parser_classes": [parsers[case["parser"]]],
        "pagination_class": PAGES[case["pages"]],
        "versioning_class": VERSIONING[case["versioning"]],
    }
