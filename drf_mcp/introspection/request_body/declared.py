"""Bodies that people wrote down as a schema."""

from __future__ import annotations

from functools import reduce

from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.portable import PortableWriter
from drf_mcp.introspection.request_body.handling import schema_handling
from drf_mcp.introspection.types import PLAIN, Body, Handling, Parameter, Schema, Upload


def written_body(inspection: Inspection, schema: Schema) -> Body:
    """Return the body that a schema describes, its references resolved.

    Of a choice between several objects the body takes the members of each.
    """
    if "allOf" in schema:
        schema = PortableWriter(schema).combine()
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return reduce(Body.union, (written_body(inspection, choice) for choice in choices))
    if schema.get("type") == "array":
        return Body("list", schema=inspection.shaped(schema), handling=schema_handling(schema))
    if not schema.get("properties"):
        handling = Handling({(): Upload()}) if schema.get("format") == "binary" else PLAIN
        return Body("open", schema=inspection.shaped(schema), handling=handling)
    required = () if inspection.method == "PATCH" else schema.get("required", ())
    return Body(
        "object",
        fields=tuple(
            Parameter(
                name,
                inspection.shaped(member),
                name in required,
                handling=schema_handling(member),
            )
            for name, member in schema["properties"].items()
        ),
    )
