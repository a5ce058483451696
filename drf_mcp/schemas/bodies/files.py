"""Bodies of files that no serializer reads: the whole of it, or members read by key."""

from __future__ import annotations

from typing import Any

from rest_framework.fields import FileField
from rest_framework.parsers import MultiPartParser

from drf_mcp.schemas.bodies.handling import handling_of
from drf_mcp.schemas.bodies.parsers import reads_whole_file, takes
from drf_mcp.schemas.fields import input_schema
from drf_mcp.schemas.inspection import Inspection
from drf_mcp.schemas.values import Body, Parameter

MULTIPART = "Add rest_framework.parsers.MultiPartParser to the view's parser_classes."


def whole_file() -> Body:
    """Return the body that is one file, under the name that REST framework's parser gives it."""
    return Body("object", fields=(file("file", required=True),))


def reads_files_by_key(inspection: Inspection) -> bool:
    """Return True if the handler asks for files, and for nothing else than keys."""
    reading = inspection.reading
    return reading is not None and bool(reading.files) and reading.reads_keys_alone


def files_by_key(inspection: Inspection) -> Body:
    """Return the body of the files, and of the other members, that the handler asks for."""
    reading: Any = inspection.reading
    others = (Parameter(key, {}) for key in reading.keys if key not in reading.files)
    return Body("object", fields=(*(file(key) for key in reading.files), *others))


def file(name: str, *, required: bool = False) -> Parameter:
    """Return a member that is any file."""
    field: Any = FileField()
    field.field_name = name
    handling = handling_of(field, takes_json=False)
    return Parameter(name, input_schema(field), required, handling=handling)


def require_multipart(inspection: Inspection, body: Body) -> None:
    """Find fault with a view that takes files but cannot read them off a request."""
    handled = [body.handling, *(parameter.handling for parameter in body.fields)]
    parsers = getattr(inspection.view, "parser_classes", ())
    readable = takes(parsers, MultiPartParser) or reads_whole_file(inspection.view)
    if any(h.uploads for h in handled) and not readable:
        inspection.find("The view takes files but has no parser for them.", MULTIPART)
