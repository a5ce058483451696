"""What a view's parsers read."""

from __future__ import annotations

import io
import json
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.parsers import FileUploadParser, FormParser, JSONParser, MultiPartParser

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.text import listing
from drf_mcp.introspection.types import Body

FIELD_PARSERS = (JSONParser, FormParser, MultiPartParser)
"""Parsers of bodies that have named fields."""


def takes(parsers: Any, parser_class: type) -> bool:
    """Return True if one of some parsers reads what a stock parser reads."""
    media_type = getattr(parser_class, "media_type", None)
    return any(issubclass(p, parser_class) or p.media_type == media_type for p in parsers)


def reads_json(view: Any) -> bool:
    """Return True if the view reads JSON bodies."""
    return json_parser(view) is not None


def json_parser(view: Any) -> Any:
    """Return the first of a view's parsers that is for JSON, None without one."""
    return next((p for p in getattr(view, "parser_classes", ()) if is_for_json(p)), None)


def is_for_json(parser: Any) -> bool:
    """Return True for a parser of JSON, whatever it makes of it."""
    media_type = str(parser.media_type)
    return issubclass(parser, JSONParser) or media_type.endswith(("/json", "+json"))


def text_parser(view: Any) -> Any:
    """Return the parser of a view that reads neither JSON nor a form nor a file, or None."""
    parsers = list(getattr(view, "parser_classes", ()))
    if reads_json(view) or any(
        takes(parsers, other) for other in (*FIELD_PARSERS, FileUploadParser)
    ):
        return None
    return parsers[0] if parsers else None


def refuses_members(view: Any, body: Body) -> str:
    """Return why a view's own JSON parser refuses the members of its serializer; "" if not.

    Such a parser reads documents that hold them somewhere else.
    """
    parser = json_parser(view)
    if parser is None or is_drf_code(parser, "parse") or body.kind in ("none", "open"):
        return ""
    one = {parameter.name: 1 for parameter in body.fields}
    sample = io.BytesIO(json.dumps([one] if body.kind == "list" else one).encode())
    context = {"view": view, "kwargs": {}, "request": view.request}
    try:
        parser().parse(sample, media_type=parser.media_type, parser_context=context)
    except APIException as exc:
        return str(exc) or type(exc).__name__
    return ""


def document(body: Body, media_type: str, *, as_text: bool) -> Body:
    """Return the open body that is a whole document, its members told by name."""
    names = listing(parameter.name for parameter in body.fields)
    words = f"The request body: a document of {media_type}"
    schema = explain(
        {"type": "string"} if as_text else {}, words, f"It holds {names}" if names else ""
    )
    return Body("open", schema=schema)


def reads_whole_file(view: Any) -> bool:
    """Return True if a view's parsers read nothing but one file, sent as it is."""
    parsers = getattr(view, "parser_classes", ())
    raw = any(issubclass(parser, FileUploadParser) for parser in parsers)
    return raw and not any(takes(parsers, other) for other in FIELD_PARSERS)
