from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.portable import PortableWriter
from drf_mcp.introspection.types import Body, EndpointSchema, Handling, Parameter
from drf_mcp.tools.arguments.fields import IDS
from drf_mcp.tools.options import KEYWORD, ToolOptions


class DeclaredArguments:
    """Adds the arguments of the options ``query``, ``body`` and ``input_schema`` to a schema."""

    def __init__(self, options: ToolOptions, *, portable: bool) -> None:
        self.options = options
        self.portable = portable

    def add_to(self, endpoint: EndpointSchema) -> EndpointSchema:
        options, body = self.options, endpoint.body
        endpoint = replace(endpoint, query=self.get_query(endpoint.query))
        if options.body is not None and body.kind != "list":
            endpoint = replace(endpoint, body=self.get_body(body, options.body))
        if options.input_schema is None:
            return endpoint
        return replace(endpoint, body=self.add_unknown_names(endpoint, options.input_schema))

    def get_query(self, query: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        declared = {
            name: self.get_parameter(name, schema)
            for name, schema in (self.options.query or {}).items()
        }
        described = {parameter.name: parameter for parameter in query}
        others = tuple(parameter for parameter in query if parameter.name not in declared)
        own = tuple(p.known_as(described.get(p.name)) for p in declared.values())
        return (*others, *own)

    def get_parameter(self, name: str, schema: Mapping[str, Any]) -> Parameter:
        keywords = {key: value for key, value in schema.items() if key != "required"}
        header = {KEYWORD: schema[KEYWORD]} if KEYWORD in schema else {}
        return Parameter(
            name,
            {**PortableWriter.write(keywords), **header} if self.portable else keywords,
            required=schema.get("required") is True,
            multiple="repeat" if schema.get("type") == "array" else None,
        )

    def get_body(self, body: Body, schemas: Mapping[str, Mapping[str, Any]]) -> Body:
        fields = {parameter.name: parameter for parameter in body.fields}
        for name, schema in schemas.items():
            declared = self.get_parameter(name, schema)
            handling = self.get_handling(fields.get(name, declared).handling, schema)
            fields[name] = replace(declared, multiple=None, handling=handling)
        if body.kind == "either":
            return replace(body, fields=tuple(fields.values()))
        return Body("object", fields=tuple(fields.values()))

    def get_handling(self, known: Handling, schema: Mapping[str, Any]) -> Handling:
        # A member that was read as a file is none where the declared type excludes it.
        declared = Handling.of_schema(schema)
        uploads = {p: u for p, u in known.uploads.items() if u.sure and not u.by_name}
        if "type" not in schema:
            uploads = dict(known.uploads)
        elif schema["type"] not in ("string", "array"):
            uploads = {}
        secrets = known.secrets | declared.secrets
        return replace(known, uploads={**uploads, **declared.uploads}, secrets=secrets)

    def add_unknown_names(self, endpoint: EndpointSchema, input_schema: Mapping[str, Any]) -> Body:
        body, properties = endpoint.body, input_schema.get("properties", {})
        if body.kind == "list" or (body.kind == "open" and "body" in properties):
            return body
        grouped = properties.get("body", {}).get("properties", {})
        known = set(self.find_known_names(endpoint))
        further = tuple(
            Parameter(name, dict(schema) if isinstance(schema, Mapping) else {})
            for name, schema in (grouped or properties).items()
            if name not in known
        )
        kind = "either" if body.kind == "either" else "object"
        return replace(body, kind=kind, fields=(*body.fields, *further)) if further else body

    def find_known_names(self, endpoint: EndpointSchema) -> Iterator[str]:
        for parameter in (*endpoint.body.fields, *endpoint.path, *endpoint.query):
            yield parameter.name
            yield make_portable_name(parameter.name)
            # The names of flat arguments after a clash.
            yield from (make_portable_name(f"{parameter.name}_{at}") for at in ("path", "query"))
        yield from ("kwargs", "query", "body", *((IDS,) if self.options.many else ()))
