"""One description for several callers: what any of them may send."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from drf_mcp.introspection.field_schema import facts_of, with_facts
from drf_mcp.introspection.text import explain
from drf_mcp.introspection.types import Body, Handling, Parameter, Schema


def either(first: Schema, second: Schema) -> Schema:
    """Return a schema that takes whatever one of two takes.

    What they say alike is kept; enumerations and members are joined; a member is
    required if both require it.
    """
    if first == second and facts_of(first) == facts_of(second):
        return first
    common = {name: value for name, value in first.items() if second.get(name) == value}
    facts = facts_of(first)
    both = with_facts(common, facts) if facts == facts_of(second) else common
    if "description" in first:
        both = both | {"description": first["description"]}
    if "enum" in first and "enum" in second:
        both["enum"] = first["enum"] + [v for v in second["enum"] if v not in first["enum"]]
    if "items" in first and "items" in second:
        both["items"] = either(first["items"], second["items"])
    if "properties" in first and "properties" in second:
        both["properties"] = joined(first["properties"], second["properties"])
        others = second.get("required", ())
        required = [name for name in first.get("required", ()) if name in others]
        both.pop("required", None)
        return {**both, **({"required": required} if required else {})}
    return both


def joined(first: dict[str, Schema], second: dict[str, Schema]) -> dict[str, Schema]:
    """Return the members of one object or of another."""
    members = {name: either(first[name], second.get(name, first[name])) for name in first}
    return {**second, **members}


def either_body(first: Body, second: Body) -> Body:
    """Return a body that takes whatever one of two takes."""
    if first == second:
        return first
    keys = {**second.keys, **first.keys}
    if first.kind != second.kind or first.kind == "either":
        if not {first.kind, second.kind} <= {"object", "list", "either"}:
            return Body("open", schema={})
        return replace(one_or_many(first, second), keys=keys)
    if first.kind == "object":
        return Body("object", fields=either_fields(first.fields, second.fields), keys=keys)
    schema = either(first.schema or {}, second.schema or {})
    handling = both_handled(first.handling, second.handling)
    return Body(first.kind, schema=schema, handling=handling, keys=keys)


def one_or_many(first: Body, second: Body) -> Body:
    """Return a body that is one object or a list of them, as two bodies say."""
    bodies = (first, second)
    schemas = [body.schema for body in bodies if body.schema is not None]
    fields = reduce(either_fields, (body.fields for body in bodies if body.kind != "list"))
    return Body(
        "either",
        fields=tuple(optional(parameter) for parameter in fields),
        schema=reduce(either, schemas),
        handling=both_handled(first.handling, second.handling),
    )


def with_members_of_rows(body: Body, other: Body) -> Body:
    """Return a list body whose rows may have the members of another's, none of them required."""
    rows, others = ((part.schema or {}).get("items", {}) for part in (body, other))
    if "properties" not in rows or "properties" not in others:
        return replace(body, schema={**(body.schema or {}), "items": {}})
    properties = {**others["properties"], **rows["properties"]}
    schema = {**(body.schema or {}), "items": {**rows, "properties": properties}}
    return replace(body, schema=schema, handling=both_handled(body.handling, other.handling))


def optional(parameter: Parameter) -> Parameter:
    """Return a member that may be left out where a list is sent instead of its object."""
    words = "Required for one object" if parameter.required else ""
    return replace(parameter, schema=explain(parameter.schema, words), required=False)


def either_fields(
    first: tuple[Parameter, ...], second: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Return the members of one body or of another; required are those that both require."""
    others = {parameter.name: parameter for parameter in second}
    fields = {
        parameter.name: either_field(parameter, others.pop(parameter.name, None))
        for parameter in first
    }
    fields.update({name: either_field(parameter, None) for name, parameter in others.items()})
    return tuple(fields.values())


def either_field(first: Parameter, second: Parameter | None) -> Parameter:
    """Return a member as one caller or another may send it."""
    if second is None:
        return replace(first, required=False)
    return replace(
        first,
        schema=either(first.schema, second.schema),
        required=first.required and second.required,
        handling=both_handled(first.handling, second.handling),
        listed=first.listed or second.listed,
        closed=first.closed if first.closed == second.closed else None,
    )


def both_handled(first: Handling, second: Handling) -> Handling:
    """Return what has to be known of the values of one or of the other."""
    return Handling(
        {**second.uploads, **first.uploads},
        {**second.forms, **first.forms},
        first.secrets | second.secrets,
        {**second.relations, **first.relations},
    )
