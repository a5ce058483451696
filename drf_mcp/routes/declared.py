"""The arguments that the options ``query``, ``body`` and ``input_schema`` of a tool declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from drf_mcp.arguments.call import PATH, QUERY, find_possible_names
from drf_mcp.arguments.fields import IDS
from drf_mcp.introspection.portable import write_portable
from drf_mcp.introspection.types import (
    NO_INFO,
    Body,
    EndpointSchema,
    Parameter,
    Place,
    Upload,
    ValueInfos,
    keep_uploads,
    read_value_info,
    walk_schema,
)
from drf_mcp.routes.options import KEYWORD, ToolOptions


class DeclaredArguments:
    """Adds the arguments of the options ``query``, ``body`` and ``input_schema`` to a schema."""

    def __init__(self, options: ToolOptions, *, portable: bool) -> None:
        self.options = options
        self.portable = portable

    def add_to(self, endpoint: EndpointSchema) -> EndpointSchema:
        options, body = self.options, endpoint.body
        endpoint = replace(endpoint, query=self._get_query(endpoint.query))
        if options.body is not None and body.kind != "list":
            endpoint = replace(endpoint, body=self.get_body(body, options.body))
        if options.input_schema is None:
            return endpoint
        return replace(endpoint, body=self._add_unknown_names(endpoint, options.input_schema))

    def _get_query(self, query: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        parameters = {parameter.name: parameter for parameter in query}
        for name, schema in (self.options.query or {}).items():
            described = parameters.pop(name, None)
            parameters[name] = self.get_parameter(name, schema).known_as(described)
        return tuple(parameters.values())

    def get_parameter(self, name: str, schema: Mapping[str, Any]) -> Parameter:
        keywords = {key: value for key, value in schema.items() if key != "required"}
        header = {KEYWORD: schema[KEYWORD]} if KEYWORD in schema else {}
        return Parameter(
            name,
            {**write_portable(keywords), **header} if self.portable else keywords,
            required=schema.get("required") is True,
            multiple="repeat" if schema.get("type") == "array" else None,
        )

    def get_body(self, body: Body, schemas: Mapping[str, Mapping[str, Any]]) -> Body:
        fields = {parameter.name: parameter for parameter in body.fields}
        for name, schema in schemas.items():
            declared = self.get_parameter(name, schema)
            value_info = self._make_value_info(fields.get(name, declared).value_info, schema)
            fields[name] = replace(declared, multiple=None, value_info=value_info)
        if body.kind == "either":
            return replace(body, fields=tuple(fields.values()))
        every, opened_by = tuple(fields.values()), body.opened_by
        return Body("object", fields=every, keys=body.keys, opened_by=opened_by)

    def _make_value_info(self, known: ValueInfos, schema: Mapping[str, Any]) -> ValueInfos:
        kind = schema.get("type")

        # A member that was read as a file is none where the declared type excludes it.
        def may_be_file(place: Place, upload: Upload) -> bool:
            if kind is None:
                return True
            fits = kind == "string" or (kind == "array" and place != ())
            return fits and upload.sure and not upload.by_name

        value_info = dict(keep_uploads(known, may_be_file))
        for place, declared in read_value_info(schema).items():
            info = value_info.get(place, NO_INFO)
            value_info[place] = replace(
                info,
                upload=declared.upload or info.upload,
                is_secret=declared.is_secret or info.is_secret,
            )
        for place, part in walk_schema(schema):
            if part.get("additionalProperties") and place in value_info:
                value_info[place] = replace(value_info[place], members=None)
        return value_info

    def _add_unknown_names(self, endpoint: EndpointSchema, input_schema: Mapping[str, Any]) -> Body:
        body, properties = endpoint.body, input_schema.get("properties", {})
        if body.kind == "list" or (body.kind == "open" and "body" in properties):
            return body
        grouped = properties.get("body", {}).get("properties", {})
        known = {"kwargs", "query", "body", *((IDS,) if self.options.many else ())}
        for parameter in (*body.fields, *endpoint.path, *endpoint.query):
            # Fallback name on a clash.
            names = (islice(find_possible_names(parameter.name, each), 2) for each in (PATH, QUERY))
            known |= {parameter.name, *chain(*names)}
        further = tuple(
            Parameter(name, dict(schema) if isinstance(schema, Mapping) else {})
            for name, schema in (grouped or properties).items()
            if name not in known
        )
        if further:
            kind = "either" if body.kind == "either" else "object"
            body = replace(body, kind=kind, fields=(*body.fields, *further))
        declared = properties.get("body", {}) if grouped else input_schema
        is_open = bool(declared.get("additionalProperties"))
        return body.open("the input_schema") if is_open else body
