"""What a project said of a tool's arguments, over what was described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.introspection import portable as portable_schema
from drf_mcp.introspection import portable_name
from drf_mcp.introspection.describer import Body, EndpointSchema, Parameter
from drf_mcp.introspection.request_body.handling import schema_handling
from drf_mcp.introspection.types import Handling
from drf_mcp.tools.mirrored import KEYWORD
from drf_mcp.tools.options import ToolOptions


def with_said(described: EndpointSchema, options: ToolOptions, *, portable: bool) -> EndpointSchema:
    """Return a description with what ``query``, ``body`` and ``input_schema`` add to it."""
    declared = {
        name: declared_parameter(name, schema, portable=portable)
        for name, schema in (options.query or {}).items()
    }
    closed = {p.name: p.closed for p in described.query}
    others = tuple(p for p in described.query if p.name not in declared)
    own = tuple(replace(p, closed=closed.get(p.name)) for p in declared.values())
    described = replace(described, query=(*others, *own))
    if options.body is not None and described.body.kind != "list":
        members = with_members(described.body, options.body, portable=portable)
        described = replace(described, body=members)
    if options.input_schema is None:
        return described
    return replace(described, body=with_names(described, options.input_schema))


def declared_parameter(name: str, schema: Mapping[str, Any], *, portable: bool) -> Parameter:
    """Return a parameter that was declared; in a query an array repeats its name."""
    plain = {key: value for key, value in schema.items() if key != "required"}
    header = {KEYWORD: schema[KEYWORD]} if KEYWORD in schema else {}
    return Parameter(
        name,
        {**portable_schema(plain), **header} if portable else plain,
        required=schema.get("required") is True,
        multiple="repeat" if schema.get("type") == "array" else None,
    )


def with_members(body: Body, members: Mapping[str, Mapping[str, Any]], *, portable: bool) -> Body:
    """Return a body with declared members, in the place of described ones of their names."""
    fields = {parameter.name: parameter for parameter in body.fields}
    for name, schema in members.items():
        declared = declared_parameter(name, schema, portable=portable)
        known = fields.get(name, declared).handling
        fields[name] = replace(declared, multiple=None, handling=declared_handling(known, schema))
    if body.kind == "either":
        return replace(body, fields=tuple(fields.values()))
    return Body("object", fields=tuple(fields.values()), keys=body.keys)


def declared_handling(known: Handling, schema: Mapping[str, Any]) -> Handling:
    """Return what has to be known of a declared member; its type may say that it is no file."""
    said = schema_handling(dict(schema))
    uploads = {p: u for p, u in known.uploads.items() if u.sure and not u.by_name}
    if "type" not in schema:
        uploads = dict(known.uploads)
    elif schema["type"] not in ("string", "array"):
        uploads = {}
    secrets = known.secrets | said.secrets
    return replace(known, uploads={**uploads, **said.uploads}, secrets=secrets)


def with_names(described: EndpointSchema, written: Mapping[str, Any]) -> Body:
    """Return the body with the names that a written input schema has and nothing else takes."""
    body, members = described.body, written.get("properties", {})
    if body.kind == "list" or (body.kind == "open" and "body" in members):
        return body
    grouped = members.get("body", {}).get("properties", {})
    known = set(known_names(described))
    further = tuple(
        Parameter(name, dict(schema) if isinstance(schema, Mapping) else {})
        for name, schema in (grouped or members).items()
        if name not in known
    )
    kind = "either" if body.kind == "either" else "object"
    return replace(body, kind=kind, fields=(*body.fields, *further)) if further else body


def known_names(described: EndpointSchema) -> Iterator[str]:
    """Yield the names of the arguments that were described, and of those with a part to play."""
    for parameter in (*described.body.fields, *described.path, *described.query):
        yield parameter.name
        yield portable_name(parameter.name)
        yield from (portable_name(f"{parameter.name}_{at}") for at in ("path", "query"))
    yield from ("kwargs", "query", "body")
