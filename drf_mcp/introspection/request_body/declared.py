"""Bodies that people wrote down, and the members that they left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from drf_mcp.introspection.portable import PortableWriter
from drf_mcp.introspection.types import ANY, PLAIN, Body, Handling, Parameter, Place, Schema, Upload


class SchemaHandling:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = dict(schema)

    def get_handling(self) -> Handling:
        uploads, forms, secrets, unread = {}, {}, [], set()
        for place, part in self.walk(self.schema):
            if part.get("writeOnly") is True or place[:-1] in unread:
                unread.add(place)
            if part.get("format") == "binary":
                uploads[place] = Upload()
            if part.get("type") in ("array", "object"):
                forms[place] = "parts"
            if part.get("format") == "password" or (place in unread and self.may_be_text(part)):
                secrets.append(place)
        return Handling(uploads, forms, frozenset(secrets))

    def walk(self, schema: Any, place: Place = ()) -> Iterator[tuple[Place, Schema]]:
        if not isinstance(schema, dict):
            return
        yield place, schema
        for name, member in (schema.get("properties") or {}).items():
            yield from self.walk(member, (*place, name))
        yield from self.walk(schema.get("items"), (*place, ANY))

    def may_be_text(self, schema: Schema) -> bool:
        if "enum" in schema or str(schema.get("format", "")).startswith(("date", "time")):
            return False
        if schema.get("type") in ("array", "object"):
            return not (schema.get("items") or schema.get("properties"))
        return schema.get("type") not in ("integer", "number", "boolean")


class DeclaredBody:
    def __init__(self, inspection: Any, schema: Schema) -> None:
        self.inspection = inspection
        self.schema = PortableWriter(schema).combine() if "allOf" in schema else schema

    def get_body(self) -> Body:
        schema, shaped = self.schema, self.inspection.shaped
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices:
            bodies = (type(self)(self.inspection, choice).get_body() for choice in choices)
            return reduce(Body.union, bodies)
        if schema.get("type") == "array":
            handling = SchemaHandling(schema).get_handling()
            return Body("list", schema=shaped(schema), handling=handling)
        if not schema.get("properties"):
            handling = Handling({(): Upload()}) if schema.get("format") == "binary" else PLAIN
            return Body("open", schema=shaped(schema), handling=handling)
        return Body("object", fields=tuple(self.get_fields(schema["properties"])))

    def get_fields(self, members: Mapping[str, Schema]) -> Iterator[Parameter]:
        required = () if self.inspection.method == "PATCH" else self.schema.get("required", ())
        for name, member in members.items():
            handling = SchemaHandling(member).get_handling()
            shaped = self.inspection.shaped(member)
            yield Parameter(name, shaped, name in required, handling=handling)


class CompletedBody:
    def __init__(self, body: Body, own: Body) -> None:
        self.body = body
        self.own = own
        self.fields = {field.name: field for field in own.fields}

    def get_body(self) -> Body:
        body, own = self.body, self.own
        keys = {**own.keys, **body.keys}
        if body.kind == "open":
            handling = reduce(Handling.union, self.get_handlings(), body.handling)
            return replace(body, handling=handling, keys=keys)
        if body.kind == "object" and own.kind in ("list", "either"):
            body = body.union(replace(own, kind="list", fields=()))
        if body.kind == "none" and own.kind == "open":
            body = replace(body, schema=own.schema, handling=own.handling)
        if body.kind in ("list", "either"):
            body = replace(body, handling=body.handling.union(own.handling))
        listed = tuple(map(self.complete_field, body.fields))
        return replace(body, fields=(*listed, *self.get_unlisted(body)), keys=keys)

    def get_handlings(self) -> Iterator[Handling]:
        yield self.own.handling
        for field in self.own.fields:
            yield field.handling.under(field.name)

    def complete_field(self, field: Parameter) -> Parameter:
        own = self.fields.get(field.name, field).handling
        uploads = {place: upload for place, upload in own.uploads.items() if upload.sure}
        return replace(field, handling=field.handling.union(replace(own, uploads=uploads)))

    def get_unlisted(self, body: Body) -> Iterator[Parameter]:
        listed = {field.name for field in body.fields}
        for name, field in self.fields.items():
            if name not in listed:
                yield replace(field, required=False, listed=False)
