"""What a view's parsers read."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.parsers import FileUploadParser, FormParser, JSONParser, MultiPartParser

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import Body

# Parsers of bodies that have named fields.
FIELD_PARSERS = (JSONParser, FormParser, MultiPartParser)


class ViewParsers:
    def __init__(self, view: Any) -> None:
        self.view = view
        self.classes: Sequence[Any] = getattr(view, "parser_classes", ())

    @cached_property
    def json(self) -> Any:
        return next((parser for parser in self.classes if is_json_parser(parser)), None)

    @cached_property
    def text(self) -> Any:
        others = map(self.reads, (*FIELD_PARSERS, FileUploadParser))
        return None if self.json or any(others) or not self.classes else self.classes[0]

    def reads(self, parser_class: type) -> bool:
        media_type = getattr(parser_class, "media_type", None)
        return any(issubclass(p, parser_class) or p.media_type == media_type for p in self.classes)

    @property
    def reads_raw_files(self) -> bool:
        return any(issubclass(parser, FileUploadParser) for parser in self.classes)

    @property
    def reads_files(self) -> bool:
        return self.reads_raw_files or self.reads(MultiPartParser)

    @property
    def reads_whole_file(self) -> bool:
        return self.reads_raw_files and not any(map(self.reads, FIELD_PARSERS))

    @property
    def reads_forms_with_files(self) -> bool:
        return self.reads(MultiPartParser) and self.json is None

    def get_refusal(self, body: Body) -> str:
        # Return why the view's own JSON parser refuses the members of a body; "" if not.
        parser = self.json
        if parser is None or is_drf_code(parser, "parse") or body.kind in ("none", "open"):
            return ""
        # A parser of documents that hold the members somewhere else can only be tried.
        members = {parameter.name: 1 for parameter in body.fields}
        sample = io.BytesIO(json.dumps([members] if body.kind == "list" else members).encode())
        context = {"view": self.view, "kwargs": {}, "request": self.view.request}
        try:
            parser().parse(sample, media_type=parser.media_type, parser_context=context)
        except APIException as exc:
            return str(exc) or type(exc).__name__
        return ""

    def get_document(self, parser: Any, body: Body) -> Body:
        names = join_values(parameter.name for parameter in body.fields)
        schema = explain(
            {"type": "string"} if parser is self.text else {},
            _("The request body: a document of %(type)s") % {"type": parser.media_type},
            _("It holds %(names)s") % {"names": names} if names else "",
        )
        return Body("open", schema=schema)


def is_json_parser(parser: Any) -> bool:
    media_type = str(parser.media_type)
    return issubclass(parser, JSONParser) or media_type.endswith(("/json", "+json"))
