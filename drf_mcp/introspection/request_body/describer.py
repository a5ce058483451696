"""Request bodies: the serializer that takes them, and its fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.inspection import ANNOTATE, GUARD, Inspection
from drf_mcp.introspection.request_body.declared import written_body
from drf_mcp.introspection.request_body.fields import OPEN, described
from drf_mcp.introspection.request_body.files import (
    MAYBE,
    any_member,
    key_members,
    reads_files_by_key,
    whole_file,
    with_readable_files,
)
from drf_mcp.introspection.request_body.parsers import (
    document,
    json_parser,
    reads_whole_file,
    refuses_members,
    text_parser,
)
from drf_mcp.introspection.request_body.serializer import (
    constructed,
    in_context,
    inherits_serializer,
    input_serializer,
    meant_for,
    of_rows,
)
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.handlers import SerializerCall
from drf_mcp.introspection.source.overrides import is_drf_code
from drf_mcp.introspection.text import listing
from drf_mcp.introspection.types import UNSAID, Body, Finding

NONE = Body("none")
ANYTHING = "The request body, any JSON value."
PARSE_JSON = "Add rest_framework.parsers.JSONParser to the view's parser_classes."
DOCUMENT = (
    "Say what they look like with @mcp_tool(input_schema={...}), or let it take plain members."
)


def request_body(inspection: Inspection) -> Body:
    """Return the body that the handler takes: what people wrote of it, or what it reads."""
    if inspection.method not in ("POST", "PUT", "PATCH", "DELETE") or deletes_alone(inspection):
        return NONE
    inspection.written = written = written_request(inspection)
    if written is UNSAID:
        body = unwritten_body(inspection)
    elif isinstance(written, BaseSerializer):
        body = serializer_body(inspection, in_context(written, inspection.view))
    else:
        body = NONE if written is None else written_body(inspection, written)
    if () in body.handling.uploads and reads_whole_file(inspection.view):
        body = whole_file()
    if inspection.method == "DELETE" and inspection.shares_handler:
        fields = (replace(parameter, required=False) for parameter in body.fields)
        body = replace(body, fields=tuple(fields))
    return in_document(inspection, with_readable_files(inspection, body))


def deletes_alone(inspection: Inspection) -> bool:
    """Return True for a DELETE that can read no body, whatever was written.

    drf-spectacular gives a DELETE none, so that what is written there goes unnoticed.
    """
    reading = inspection.reading
    return inspection.method == "DELETE" and reading is not None and reading.ignores_body


def in_document(inspection: Inspection, body: Body) -> Body:
    """Return the body as the document that the view's parsers read, if they read no other."""
    text = None if () in body.handling.uploads else text_parser(inspection.view)
    if text is not None and body.kind != "none":
        media_type = str(text.media_type)
        inspection.find(f"The view reads no JSON, but {media_type}.", PARSE_JSON)
        return document(body, media_type, as_text=True)
    # One that cannot be asked is found again when it is asked what it renames.
    view, found = inspection.view, list[Finding]()
    refusal = attempt(inspection.place, lambda: refuses_members(view, body), "", found, "")
    if not refusal:
        return body
    inspection.find(f"The view's parser reads documents of its own: {refusal}", DOCUMENT)
    media_type = str(json_parser(inspection.view).media_type)
    return document(body, media_type, as_text=False)


def written_request(inspection: Inspection) -> Any:
    """Return what people wrote to be the request; `UNSAID` if they wrote nothing."""
    if inspection.annotations is None or not inspection.heeds_request:
        return UNSAID
    return inspection.attempt(inspection.annotations.request, ANNOTATE, UNSAID)


def unwritten_body(inspection: Inspection) -> Body:
    """Return the body that a view takes of which nothing was written down."""
    if takes_nothing(inspection):
        return NONE
    return whole_file() if reads_whole_file(inspection.view) else read_body(inspection)


def read_body(inspection: Inspection) -> Body:
    """Return the body that the handler is seen to read."""
    call = constructed(inspection)
    if call is None and reads_files_by_key(inspection) and not inherits_serializer(inspection):
        return Body("object", fields=key_members(inspection))
    serializer = input_serializer(inspection, call)
    if serializer is None or (call is None and stands_for_nothing(inspection, serializer)):
        return unread_body(inspection)
    partial = requires_nothing(inspection, call)
    rows = serializer_of_rows(inspection, call, serializer)
    if rows is None:
        body = serializer_body(inspection, serializer, partial=partial)
        return with_rest_of_rows(inspection, call, body)
    several = serializer_body(inspection, rows, partial=partial)
    return serializer_body(inspection, serializer, partial=partial).union(several)


def stands_for_nothing(inspection: Inspection, serializer: Any) -> bool:
    """Return True if a serializer without input is there, and the handler reads a whole body."""
    reading = inspection.reading
    reads_whole = reading is not None and reading.reads_whole
    return reads_whole and isinstance(serializer, Serializer) and not FieldNode(serializer).sendable


def requires_nothing(inspection: Inspection, call: SerializerCall | None) -> bool:
    """Return True if nothing is known to be required of the caller.

    The serializer may be one of a partial update, may read what the handler made of the body,
    or may never be made. Where the handler does not tell, it is a partial one for a PATCH.
    """
    if (call is not None and call.partial) or "partial_update" in inspection.calls:
        return True
    if call is None and (alters_body(inspection) or makes_none(inspection)):
        return True
    untold = call is None or call.partial is None or call.serializer_class is None
    return untold and inspection.method == "PATCH"


def alters_body(inspection: Inspection) -> bool:
    """Return True if the view's serializer reads something that the handler made of the body."""
    return inspection.reading is not None and inspection.reading.reads_parts


def makes_none(inspection: Inspection) -> bool:
    """Return True if the handler asks the body for some keys, and no serializer ever reads it."""
    reading = inspection.reading
    return (
        reading is not None
        and reading.reads_keys_alone
        and not reading.serializer_calls
        and "get_serializer" not in reading.calls
    )


def unread_body(inspection: Inspection) -> Body:
    """Return the body that no serializer reads: none, or any, with the keys that are read of it."""
    reading = inspection.reading
    if reading is not None and reading.ignores_body:
        return NONE
    members, handling = key_members(inspection), any_member(inspection.view)
    told = (
        f"The handler reads {listing(member.name for member in members)}"
        if members
        else inspection.attempt(lambda: meant_for(inspection), GUARD, "")
    )
    form = MAYBE if handling.uploads else ""
    for member in members:
        handling = member.handling.under(member.name).union(handling)
    schema = explain({}, ANYTHING, told, form) if told or form else {}
    # Beside what people wrote of the body the keys are members of their own.
    beside = () if inspection.heeds_request else members
    return Body("open", fields=beside, schema=schema, handling=handling)


def serializer_of_rows(inspection: Inspection, call: SerializerCall | None, serializer: Any) -> Any:
    """Return what reads a list where the handler also takes one, None where it does not.

    It does where it says ``many`` of some bodies only, and where a view that makes its
    serializers in a way of its own gives one of many rows for a list.
    """
    if isinstance(serializer, ListSerializer) or inspection.method != "POST":
        return None
    view = inspection.view
    if call is not None and call.many is None:
        return inspection.attempt(lambda: of_rows(view, call), GUARD, None)
    own = getattr(view, "get_serializer", None)
    if own is None or is_drf_code(type(view), "get_serializer"):
        return None
    if call is not None and (call.serializer_class is not None or call.many):
        return None
    rows = attempt(inspection.place, lambda: own(data=[]), GUARD, [], None)
    return rows if isinstance(rows, ListSerializer) else None


def with_rest_of_rows(inspection: Inspection, call: SerializerCall | None, body: Body) -> Body:
    """Return a list whose rows have the fields of the view's serializer beside their own.

    Where a handler reads rows with a serializer of its own, such as one of their keys, and
    gives parts of them to the view's, the rows may have the fields of both.
    """
    narrow = body.kind == "list" and call is not None and call.serializer_class is not None
    if not narrow or inspection.reading is None or not inspection.reading.reads_parts:
        return body
    own = inspection.attempt(lambda: inspection.view.get_serializer(many=True), GUARD, None)
    if own is None:
        return body
    others = serializer_body(inspection, own)
    return body.with_members_of_rows(others)


def serializer_body(
    inspection: Inspection, serializer: Any, *, partial: bool | None = None
) -> Body:
    """Return the body that a serializer reads in the method at hand.

    Args:
        inspection: of the endpoint.
        serializer: the serializer.
        partial: it requires nothing; by default of a PATCH.
    """
    if inspection.method == "PATCH" if partial is None else partial:
        make_partial(serializer)
    inspection.serializer = serializer
    return inspection.attempt(lambda: described(inspection, serializer), GUARD, OPEN)


def takes_nothing(inspection: Inspection) -> bool:
    """Return True if the handler takes no body.

    A DELETE takes one only if it is seen to read it. An extra action takes none if
    nothing in its source can read it: it must not ask for the fields of a serializer
    that it merely inherits, or uses only to answer.
    """
    reading = inspection.reading
    if inspection.method == "DELETE":
        return reading is None or not reading.reads_body
    return inspection.is_extra_action and reading is not None and reading.ignores_body


def make_partial(serializer: Any) -> None:
    """Turn a serializer, and the one inside a list, into those of a partial update."""
    serializer.partial = True
    if isinstance(serializer, ListSerializer):
        make_partial(serializer.child)
