"""A tool's arguments kept apart: ``{"kwargs": {}, "query": {}, "body": {}}``."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from drf_mcp.introspection.text import listing
from drf_mcp.introspection.types import EndpointSchema, Parameter
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Problem
from drf_mcp.tools.arguments.bound_call import (
    ANSWER,
    BODY,
    PATH,
    QUERY,
    Argument,
    Call,
    CallEncoder,
    parse_json_text,
)
from drf_mcp.tools.arguments.encoders import BodyEncoder
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused
from drf_mcp.tools.arguments.fields import FieldsArgument
from drf_mcp.tools.arguments.flat import FlatArguments, Parts, build_object_schema

GROUPS = {PATH: "kwargs", QUERY: "query", BODY: "body", ANSWER: "query"}


class GroupedArguments(FlatArguments):
    """Arguments kept apart: ``{"kwargs": {...}, "query": {...}, "body": {...}}``.

    What is asked of the answer stands in the query.
    """

    def __init__(
        self,
        endpoint: EndpointSchema,
        bodies: BodyEncoder,
        *,
        extra_query: bool = False,
        selects: bool = False,
    ) -> None:
        self.encoder = CallEncoder(bodies, self.pointer)
        self.keys = endpoint.body.keys
        self.read_only = self.get_read_only_names(endpoint)
        self.open_query = extra_query
        self.groups: dict[str, dict[str, Argument]] = {
            PATH: {p.name: Argument(p.name, PATH, p) for p in endpoint.path},
            QUERY: {p.name: Argument(p.name, QUERY, p) for p in endpoint.query},
            BODY: {
                p.name: Argument(p.name, BODY, p)
                for p in endpoint.body.fields
                if endpoint.body.kind in ("object", "none")
            },
        }
        whole = self.get_whole_body(endpoint)
        self.whole = Argument("body", BODY, whole, whole=True) if whole else None
        self.arguments = tuple(a for group in self.groups.values() for a in group.values())
        self.fields = FieldsArgument.for_endpoint(endpoint) if selects else None
        if self.fields is not None:
            self.groups[QUERY][self.fields.name] = self.fields
        self.present = tuple(
            location
            for location, group in self.groups.items()
            if group or (location == BODY and self.whole) or (location == QUERY and extra_query)
        )

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: an object of up to three objects."""
        properties, required = {}, []
        for location in self.present:
            name = GROUPS[location]
            if location == BODY and self.whole:
                if self.whole.listed:
                    properties[name] = self.whole.schema
                continue
            group = tuple(a for a in self.groups[location].values() if a.listed)
            if group or location == QUERY:
                properties[name] = build_object_schema(group, closed=False)
            if any(argument.required for argument in group):
                required.append(name)
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        """Turn grouped arguments into a `Call`; see `FlatArguments.bind`."""
        problems = self.refusals(arguments)
        if problems:
            raise ArgumentsRefused(problems)
        parts: Parts = {PATH: [], QUERY: [], BODY: [], ANSWER: []}
        for location in self.present:
            value = self.group(location, arguments)
            if location == BODY and self.whole:
                parts[BODY] = [] if value is None else [(self.whole, self.whole.read(value))]
                continue
            for name, member in (value or {}).items():
                argument = self.groups[location].get(name) or Argument(
                    name, location, Parameter(name, {})
                )
                parts[argument.location].append((argument, argument.read(member)))
        return self.called(arguments, parts)

    def refusals(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each unknown and each missing argument, in its group."""
        names = {GROUPS[location] for location in self.present}
        problems = ArgumentErrors(known=names).find_unknown(arguments)
        for location in self.present:
            if location == BODY and self.whole:
                continue
            problems += self.group_refusals(location, self.group(location, arguments))
        # What the view would miss is told only where it is not going to be asked.
        return problems + self.missing(arguments) if problems else []

    def group(self, location: str, arguments: Mapping[str, Any]) -> Any:
        """Return what was sent as a group, parsed when a client sent it as a string."""
        value = arguments.get(GROUPS[location])
        return value if location == BODY and self.whole else parse_json_text(value, dict)

    def group_refusals(self, location: str, value: Any) -> list[Problem]:
        """Return what is wrong with the names of one group."""
        group, prefix = self.groups[location], f"/{GROUPS[location]}"
        if value is not None and not isinstance(value, Mapping):
            return [ArgumentErrors(prefix).not_an_object(value)]
        given = value or {}
        known = [name for name, argument in group.items() if argument.listed]
        others = given if location == QUERY and self.open_query else group.keys() - known
        read_only = self.read_only if location == BODY else ()
        errors = ArgumentErrors(prefix, known, unlisted=others, read_only=read_only)
        return errors.find_unknown(given) + [
            errors.missing_argument(name)
            for name, argument in group.items()
            if location == PATH and argument.required and given.get(name) is None
        ]

    def missing(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each missing argument of the query and the body."""
        given = {location: self.group(location, arguments) for location in self.present}
        return [
            ArgumentErrors(f"/{GROUPS[argument.location]}").missing_argument(argument.name)
            for argument in self.arguments
            if argument.required
            and argument.location != PATH
            and isinstance(given[argument.location] or {}, Mapping)
            and argument.is_missing_in(given[argument.location] or {})
        ]

    def pointer(self, argument: Argument) -> str:
        """Return the JSON pointer of an argument, below its group."""
        group = f"/{GROUPS[argument.location]}"
        return group if argument.whole else f"{group}/{JSONPointer.escape(argument.name)}"

    def changed(self, arguments: Mapping[str, Any], query: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments with other values in the query group."""
        return {**arguments, "query": {**(self.group(QUERY, arguments) or {}), **query}}

    def gathered(self, values: Iterable[tuple[Argument, Any]]) -> dict[str, Any]:
        """Return arguments as the caller would have sent them, in their groups."""
        groups: dict[str, Any] = {}
        for argument, value in values:
            name = GROUPS[argument.location]
            if argument.whole:
                groups[name] = value
            else:
                groups.setdefault(name, {})[argument.name] = value
        return groups

    def whole_body_pointer(self) -> str:
        """Return the JSON pointer of a body that is no object of fields, "" if it is one."""
        return "/body" if self.whole else ""

    def body_pointer(self, first: str | int = 0) -> str:
        """Return the JSON pointer that pointers into the body start with, "" without a body."""
        return "/body" if BODY in self.present else ""

    def get_whole_body(self, endpoint: EndpointSchema) -> Parameter | None:
        """Return the body where it is or may be no object: one argument, also for one or many."""
        body = endpoint.body
        if body.kind != "either":
            return super().get_whole_body(endpoint)
        names = listing(parameter.name for parameter in body.fields if parameter.listed)
        words = f"One object with {names}, or an array of such objects."
        handling = body.handling
        for parameter in body.fields:
            handling = handling.union(parameter.handling.under(parameter.name))
        return Parameter("body", {"description": words}, handling=handling)
