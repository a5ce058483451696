"""The members of a body: the fields of the serializer that reads it."""

from __future__ import annotations

from typing import Any

from rest_framework.serializers import ListSerializer, Serializer

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.fields.shared import SharedDescription
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.request_body.files import key_member
from drf_mcp.introspection.request_body.handling import handling_of
from drf_mcp.introspection.request_body.keys import keys_beside
from drf_mcp.introspection.request_body.parsers import reads_json
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.overrides import CONVERSIONS, converts_like_drf, is_drf_code
from drf_mcp.introspection.types import (
    PLAIN,
    AnyField,
    Body,
    Handling,
    Parameter,
    Parameters,
    Schema,
)

OPEN = Body("open", schema={})
BESIDE = "Read beside the fields of the serializer."
HAND_OVER = (
    "Describe the body with @mcp_tool(body=...), or begin to_internal_value() and"
    " run_validation() with super() and their argument, unchanged."
)


def described(inspection: Inspection, serializer: Any) -> Body:
    """Return the body that a serializer reads."""
    if isinstance(serializer, ListSerializer):
        schema = inspection.shaped({"type": "array", **DescribedField(serializer).input_schema})
        return Body("list", schema=schema, handling=handled(inspection, serializer))
    if not isinstance(serializer, Serializer):
        inspection.find("The serializer declares no fields.", "Derive it from Serializer.")
        return OPEN
    name = type(serializer).__name__
    if converts_like_drf(serializer):
        fields = members(inspection, serializer)
        return Body("object", fields=with_further(inspection, serializer, fields))
    inspection.find(f"{name} reads its input itself.", HAND_OVER)
    if keeps_names(type(serializer)):
        fields = names(inspection, serializer)
        return Body("object", fields=with_further(inspection, serializer, fields))
    return OPEN


def with_further(inspection: Inspection, serializer: Any, fields: Parameters) -> Parameters:
    """Return the fields of a serializer and what is read of a body beside them, of any type."""
    found: list[str] = []
    found = inspection.attempt(
        lambda: SharedDescription(serializer).get("keys", lambda: keys_beside(serializer)),
        GUARD,
        found,
    )
    reading = inspection.reading
    by_handler = (*reading.keys, *reading.files) if reading is not None else ()
    known = {field.name for field in fields}
    further = (key for key in dict.fromkeys((*found, *by_handler)) if key not in known)
    return (*fields, *(key_member(inspection, key, BESIDE) for key in further))


def keeps_names(serializer_class: type) -> bool:
    """Return True if a serializer with its own way to read input still reads its fields."""
    for method in CONVERSIONS:
        if not is_drf_code(serializer_class, method):
            reading = read_handler(serializer_class, method)
            if reading is None or method not in reading.calls:
                return False
    return True


def names(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer by name, the rest in words: it may take other values."""
    listed = FieldNode(serializer).listed
    return tuple(
        Parameter(
            name,
            intended_member(inspection, field),
            handling=handled(inspection, field),
            listed=name in listed,
        )
        for name, field in FieldNode(serializer).sendable.items()
    )


def intended_member(inspection: Inspection, field: AnyField) -> Schema:
    """Return the open schema of one field of the body, what it is meant to be in words."""
    needed = "Meant to be required" if FieldNode(field).is_required else ""
    return inspection.attempt(
        lambda: inspection.shaped(explain(DescribedField(field).intended_schema, needed)), GUARD, {}
    )


def members(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer, described once for all endpoints if that is sound."""
    view = inspection.view
    # What annotations say of a field is the schema class's to know, whatever the view.
    annotated = inspection.annotations is not None and type(view.schema)
    manner = ("input", serializer.partial, inspection.portable, reads_json(view), annotated)
    return SharedDescription(serializer).get(
        manner, lambda: own_members(inspection, serializer), inspection.findings
    )


def own_members(inspection: Inspection, serializer: Any) -> Parameters:
    """Return the fields of a serializer, each described on its own guard."""
    remarks: dict[str, str] = {}
    remarks = inspection.attempt(lambda: FieldNode(serializer).uniqueness, GUARD, remarks)
    listed = FieldNode(serializer).listed
    return tuple(
        Parameter(
            name,
            member(inspection, field, remarks.get(name, "")),
            FieldNode(field).is_required,
            handling=handled(inspection, field),
            listed=name in listed,
        )
        for name, field in FieldNode(serializer).sendable.items()
    )


def member(inspection: Inspection, field: AnyField, remark: str) -> Schema:
    """Return the schema of one field of the body, open if the field cannot be described."""
    remedy = f"Let the field {field.field_name!r} be built without a caller. {GUARD}"
    return inspection.attempt(
        lambda: inspection.shaped(explain(DescribedField(field).input_schema, remark)), remedy, {}
    )


def handled(inspection: Inspection, field: AnyField) -> Handling:
    """Return what has to be known of a field's values beside their schema."""
    takes_json = reads_json(inspection.view)
    return inspection.attempt(lambda: handling_of(field, takes_json=takes_json), GUARD, PLAIN)
