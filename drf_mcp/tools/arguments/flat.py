"""A tool's arguments: the names the caller sees, and the request they become.

Flat arguments put path, query and body side by side. Nothing is validated here: the view
is the judge. Only names are checked, since an unknown argument is a mistake that no view
would notice.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.names import portable_name
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
)
from drf_mcp.tools.arguments.encoders import BodyEncoder
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused
from drf_mcp.tools.arguments.fields import FieldsArgument

Parts: TypeAlias = dict[str, list[tuple[Argument, Any]]]
"""The values of arguments by location."""

INSTEAD = "Several at once, instead of the fields of one"
EXTRA_QUERY = Parameter(
    "query", {"type": "object", "description": "Further query parameters, as name: value."}
)


class FlatArguments:
    """Path, query and body arguments side by side.

    On a clash the body keeps the name and the others become ``NAME_path`` or
    ``NAME_query``; names that clients refuse are made portable and mapped back.

    Args:
        endpoint: the description of the endpoint.
        bodies: encodes the body.
        extra_query: there is an open ``query`` argument for undeclared parameters.
        selects: fields of the answer may be asked for.

    Attributes:
        arguments: those that become the request, also the ones that the schema leaves out.
        fields: the one that names fields of the answer; None if there is none.
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
        self.arguments = tuple(self.build_arguments(endpoint, extra_query))
        self.fields = FieldsArgument.for_endpoint(endpoint) if selects else None
        answer = (self.fields,) if self.fields else ()
        self.named = {argument.name: argument for argument in (*self.arguments, *answer)}
        self.required = tuple(a.name for a in self.arguments if a.required and a.location == PATH)

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: one plain, closed object."""
        listed = tuple(argument for argument in self.named.values() if argument.listed)
        return build_object_schema(listed, closed=True)

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        """Turn arguments into a `Call`.

        Raises:
            ArgumentsRefused: on an unknown argument or field, a missing path argument, or
                a value that cannot be encoded.
        """
        if not arguments.keys() <= self.named.keys():
            raise ArgumentsRefused(self.refusals(arguments))
        if any(arguments.get(name) is None for name in self.required):
            raise ArgumentsRefused(self.refusals(arguments))
        parts: Parts = {PATH: [], QUERY: [], BODY: [], ANSWER: []}
        for name, value in arguments.items():
            argument = self.named[name]
            parts[argument.location].append((argument, argument.read(value)))
        return self.called(arguments, parts)

    def called(self, arguments: Mapping[str, Any], parts: Parts) -> Call:
        """Return the call of arguments that were sorted by location."""
        call = self.encoder.encode(arguments, parts)
        if self.fields is None or not parts[ANSWER]:
            return call
        _, value = parts[ANSWER][0]
        return replace(call, fields=self.fields.asked(value, self.pointer(self.fields)))

    def refusals(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each unknown and each missing argument."""
        listed = [name for name, argument in self.named.items() if argument.listed]
        unlisted = [name for name, argument in self.named.items() if not argument.listed]
        errors = ArgumentErrors(
            known=listed, holder=self.holder(), unlisted=unlisted, read_only=self.read_only
        )
        return errors.find_unknown(arguments) + [
            errors.missing_argument(argument.name)
            for argument in self.arguments
            if argument.required and argument.is_missing_in(arguments)
        ]

    def holder(self) -> str:
        """Return the name of the argument that takes any members of the body, "" if none does."""
        body = (a for a in self.arguments if a.location == BODY and a.whole)
        return next((argument.name for argument in body if not argument.json_type), "")

    def pointer(self, argument: Argument) -> str:
        """Return the JSON pointer of an argument."""
        return f"/{JSONPointer.escape(argument.name)}"

    def moved(
        self, arguments: Mapping[str, Any], query: Mapping[str, str]
    ) -> Mapping[str, Any] | None:
        """Return arguments with other query parameters; None if no argument stands for one."""
        changes = {
            argument.name: argument.from_text(query[argument.parameter.name])
            for argument in self.arguments
            if argument.location == QUERY and argument.parameter.name in query
        }
        return self.changed(arguments, changes) if changes else None

    def changed(self, arguments: Mapping[str, Any], query: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments with other values for query arguments."""
        return {**arguments, **query}

    def gathered(self, values: Iterable[tuple[Argument, Any]]) -> dict[str, Any]:
        """Return arguments as the caller would have sent them, from their values."""
        return {argument.name: value for argument, value in values}

    def whole_body_pointer(self) -> str:
        """Return the JSON pointer of the argument that is always the body, "" if none is."""
        body = [a for a in self.arguments if a.location == BODY and a.listed]
        return self.pointer(body[0]) if len(body) == 1 and body[0].whole else ""

    def body_pointer(self, first: str | int = 0) -> str:
        """Return the JSON pointer that pointers into the body start with.

        Args:
            first: what a path into the body starts with, the index of a list's item if it
                is a number.
        """
        whole = next((a for a in self.arguments if a.location == BODY and a.whole), None)
        if whole is None or not isinstance(first, int):
            return self.whole_body_pointer()
        return self.pointer(whole)

    def get_read_only_names(self, endpoint: EndpointSchema) -> frozenset[str]:
        """Return the names in the answer of a write; those that it takes are arguments as well."""
        is_write = endpoint.body.kind in ("object", "either")
        return frozenset(endpoint.output.get("properties", ())) if is_write else frozenset()

    def build_arguments(self, endpoint: EndpointSchema, extra_query: bool) -> Iterator[Argument]:
        """Yield the arguments of an endpoint under names that are portable and differ.

        What the schema leaves out takes the names that are free.
        """
        whole = self.get_whole_body(endpoint)
        body = [Argument(p.name, BODY, p) for p in endpoint.body.fields]
        body += [Argument(whole.name, BODY, whole, whole=True)] if whole else []
        listed, others = ([a for a in body if a.listed is wanted] for wanted in (True, False))
        path = [Argument(p.name, PATH, p) for p in endpoint.path]
        query = [Argument(p.name, QUERY, p) for p in endpoint.query]
        if extra_query:
            query.append(Argument(EXTRA_QUERY.name, QUERY, EXTRA_QUERY, whole=True))
        names: dict[int, str] = {}
        taken: set[str] = set()
        for argument in (*listed, *path, *query, *others):
            names[id(argument)] = choose_argument_name(argument, taken)
            taken.add(names[id(argument)])
        for argument in (*path, *query, *listed, *others):
            yield replace(argument, name=names[id(argument)])

    def get_whole_body(self, endpoint: EndpointSchema) -> Parameter | None:
        """Return the argument that is the whole body, for bodies that are or may be no object."""
        schema, handling = endpoint.body.schema or {}, endpoint.body.handling
        if endpoint.body.kind == "list":
            return Parameter("items", schema, required=True, handling=handling)
        if endpoint.body.kind == "either":
            return Parameter("items", explain(schema, INSTEAD), handling=handling)
        if endpoint.body.kind == "open":
            schema = {"description": "The request body, any JSON value.", **schema}
            return Parameter("body", schema, handling=handling)
        if endpoint.body.schema is None:
            return None
        return Parameter("body", schema, handling=handling, listed=False)


def choose_argument_name(argument: Argument, taken: set[str]) -> str:
    """Return a portable name that no earlier argument has."""
    name = portable_name(argument.name)
    if name in taken:
        name = portable_name(f"{argument.name}_{argument.location}")
    number = 2
    while name in taken:
        name, number = portable_name(f"{argument.name}_{argument.location}_{number}"), number + 1
    return name


def build_object_schema(arguments: Sequence[Argument], *, closed: bool) -> dict[str, Any]:
    """Return an object schema with a property per argument."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: argument.schema for argument in arguments},
    }
    required = [argument.name for argument in arguments if argument.required]
    if required:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    return schema
