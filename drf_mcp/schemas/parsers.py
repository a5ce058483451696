"""What a view's parsers read."""

from __future__ import annotations

from typing import Any

from rest_framework.parsers import FileUploadParser, FormParser, JSONParser, MultiPartParser

FIELD_PARSERS = (JSONParser, FormParser, MultiPartParser)
"""Parsers of bodies that have named fields."""


def takes(parsers: Any, parser_class: type) -> bool:
    """Return True if one of some parsers reads what a stock parser reads."""
    media_type = getattr(parser_class, "media_type", None)
    return any(issubclass(p, parser_class) or p.media_type == media_type for p in parsers)


def reads_json(view: Any) -> bool:
    """Return True if the view reads JSON bodies."""
    return takes(getattr(view, "parser_classes", ()), JSONParser)


def reads_whole_file(view: Any) -> bool:
    """Return True if a view's parsers read nothing but one file, sent as it is."""
    parsers = getattr(view, "parser_classes", ())
    raw = any(issubclass(parser, FileUploadParser) for parser in parsers)
    return raw and not any(takes(parsers, other) for other in FIELD_PARSERS)
