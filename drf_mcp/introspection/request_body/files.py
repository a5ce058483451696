"""Bodies of files that no serializer reads: the whole of it, or members read by key."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rest_framework.fields import FileField
from rest_framework.parsers import FileUploadParser, MultiPartParser

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.request_body.parsers import reads_json, takes
from drf_mcp.introspection.types import (
    ANY,
    Body,
    Handling,
    Parameter,
    Parameters,
    Schema,
    Upload,
)

MULTIPART = "Add rest_framework.parsers.MultiPartParser to the view's parser_classes."
MAYBE = "A file is sent as a data URI: data:TYPE;name=FILE_NAME;base64,CONTENT"
MAYBE_FILE = Handling({(): Upload(sure=False)})
ANY_FILE = Upload()
NAMED_FILE = re.compile(
    r"(?:^|_)(?:file|image|photo|picture|upload|attachment|avatar)s?\Z", re.IGNORECASE
)
"""Keys that name a file, where bodies are sent as forms in order to carry files."""


def whole_file() -> Body:
    """Return the body that is one file, under the name that REST framework's parser gives it."""
    return Body("object", fields=(file("file", required=True),))


def reads_files_by_key(inspection: Inspection) -> bool:
    """Return True if the handler asks for files, and for nothing else than keys."""
    reading = inspection.reading
    if reading is None or not reading.reads_keys_alone:
        return False
    return bool(reading.files or (reading.keys and carries_files_alone(inspection.view)))


def key_members(inspection: Inspection) -> Parameters:
    """Return the members that the handler asks the body for by key."""
    reading = inspection.reading
    keys = () if reading is None else dict.fromkeys((*reading.files, *reading.keys))
    return tuple(key_member(inspection, key) for key in keys)


def key_member(inspection: Inspection, key: str, told: str = "") -> Parameter:
    """Return a member that code asks for by key: a file if it can be nothing else.

    In a view that reads forms but no JSON any key may be a file's. There one that is named
    like a file is one; of any other the value tells.

    Args:
        inspection: of the endpoint.
        key: the key.
        told: what is told of a value that may be anything.
    """
    reading = inspection.reading
    several = reading is not None and key in reading.lists
    alone = carries_files_alone(inspection.view)
    known = reading is not None and key in reading.files
    if known or (alone and NAMED_FILE.search(key)):
        upload = Upload(by_name=not known)
        return files(key, upload) if several else file(key, upload=upload)
    if alone:
        return Parameter(key, explain({}, told, MAYBE), handling=MAYBE_FILE)
    return Parameter(key, explain({}, told))


def carries_files_alone(view: Any) -> bool:
    """Return True if a view reads the forms that carry files, and no JSON."""
    return takes(getattr(view, "parser_classes", ()), MultiPartParser) and not reads_json(view)


def any_member(view: Any) -> Handling:
    """Return what has to be known of the members of a body of which nothing is known."""
    return Handling({(ANY,): Upload(sure=False)}) if carries_files_alone(view) else Handling()


def file(name: str, *, required: bool = False, upload: Upload = ANY_FILE) -> Parameter:
    """Return a member that is any file."""
    field: Any = FileField()
    field.field_name = name
    return Parameter(
        name, DescribedField(field).input_schema, required, handling=Handling({(): upload})
    )


def files(name: str, upload: Upload) -> Parameter:
    """Return a member that is any number of files."""
    one = file(name, upload=upload)
    schema: Schema = {"type": "array", "items": one.schema}
    return Parameter(name, schema, handling=one.handling.under(ANY))


def with_readable_files(inspection: Inspection, body: Body) -> Body:
    """Return a body without the files that none of the view's parsers reads, which is a fault.

    What is sent in their place reaches the view as it is, and is refused as over HTTP.
    """
    handled = [body.handling, *(parameter.handling for parameter in body.fields)]
    if () in body.handling.uploads or not any(h.uploads for h in handled):
        return body
    if reads_files(inspection.view):
        return body
    inspection.find("The view takes files but has no parser for them.", MULTIPART)
    fields = (replace(p, handling=replace(p.handling, uploads={})) for p in body.fields)
    return replace(body, fields=tuple(fields), handling=replace(body.handling, uploads={}))


def reads_files(view: Any) -> bool:
    """Return True if one of a view's parsers reads files."""
    parsers = getattr(view, "parser_classes", ())
    return takes(parsers, MultiPartParser) or any(
        issubclass(parser, FileUploadParser) for parser in parsers
    )
