"""A tool's arguments: the names the caller sees, and the request they become.

Flat arguments put path, query and body side by side; grouped ones keep them apart
as ``{"kwargs": {}, "query": {}, "body": {}}``. Either way nothing is validated
here: the view is the judge. Only names are checked, since an unknown argument is
a mistake that no view would notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.schemas.endpoint import EndpointSchema, Parameter
from drf_mcp.schemas.names import portable_name
from drf_mcp.tools.bodies import BodyEncoder
from drf_mcp.tools.calls import BODY, PATH, QUERY, Argument, Call, make_call, parsed
from drf_mcp.tools.refusals import (
    ArgumentsRefused,
    escape,
    missing_argument,
    not_an_object,
    unknown_arguments,
)

GROUPS = {PATH: "kwargs", QUERY: "query", BODY: "body"}
EXTRA_QUERY = Parameter(
    "query", {"type": "object", "description": "Further query parameters, as name: value."}
)


class FlatArguments:
    """Path, query and body arguments side by side.

    On a clash the body keeps the name and the others become ``NAME_path`` or
    ``NAME_query``; names that clients refuse are made portable and mapped back.
    """

    def __init__(
        self, endpoint: EndpointSchema, bodies: BodyEncoder, *, extra_query: bool = False
    ) -> None:
        self.bodies = bodies
        self.keys = endpoint.body.keys
        self.arguments = tuple(flat_arguments(endpoint, extra_query))
        self.named = {argument.name: argument for argument in self.arguments}
        self.required = tuple(a.name for a in self.arguments if a.required and a.location == PATH)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments: one plain, closed object."""
        return object_schema(self.arguments, closed=True)

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        """Turn arguments into a `Call`.

        Raises:
            ArgumentsRefused: on an unknown argument, a missing path argument, or a
                value that cannot be encoded.
        """
        if not arguments.keys() <= self.named.keys():
            raise ArgumentsRefused(self.refusals(arguments))
        if any(arguments.get(name) is None for name in self.required):
            raise ArgumentsRefused(self.refusals(arguments))
        parts: dict[str, list[tuple[Argument, Any]]] = {PATH: [], QUERY: [], BODY: []}
        for name, value in arguments.items():
            argument = self.named[name]
            parts[argument.location].append((argument, argument.read(value)))
        return make_call(arguments, parts, self.bodies, self.pointer)

    def refusals(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each unknown and each missing argument."""
        return unknown_arguments(arguments, "", self.named) + [
            missing_argument(argument.name, "")
            for argument in self.arguments
            if argument.required and lacks(arguments, argument)
        ]

    def pointer(self, argument: Argument) -> str:
        """Return the JSON pointer of an argument."""
        return f"/{escape(argument.name)}"

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
        """Return the JSON pointer of the argument that is the whole body, "" if none is."""
        whole = next((a for a in self.arguments if a.location == BODY and a.whole), None)
        return self.pointer(whole) if whole else ""

    def body_pointer(self) -> str:
        """Return the JSON pointer that pointers into the body start with."""
        return self.whole_body_pointer()


class GroupedArguments(FlatArguments):
    """Arguments kept apart: ``{"kwargs": {...}, "query": {...}, "body": {...}}``."""

    def __init__(
        self, endpoint: EndpointSchema, bodies: BodyEncoder, *, extra_query: bool = False
    ) -> None:
        self.bodies = bodies
        self.keys = endpoint.body.keys
        self.open_query = extra_query
        self.groups = {
            PATH: {p.name: Argument(p.name, PATH, p) for p in endpoint.path},
            QUERY: {p.name: Argument(p.name, QUERY, p) for p in endpoint.query},
            BODY: {p.name: Argument(p.name, BODY, p) for p in endpoint.body.fields},
        }
        whole = whole_body(endpoint)
        self.whole = Argument("body", BODY, whole, whole=True) if whole else None
        self.arguments = tuple(a for group in self.groups.values() for a in group.values())
        self.present = tuple(
            location
            for location, group in self.groups.items()
            if group or (location == BODY and self.whole) or (location == QUERY and extra_query)
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments: an object of up to three objects."""
        properties, required = {}, []
        for location in self.present:
            name = GROUPS[location]
            if location == BODY and self.whole:
                properties[name] = self.whole.schema
                continue
            group = tuple(self.groups[location].values())
            properties[name] = object_schema(group, closed=False)
            if any(argument.required for argument in group):
                required.append(name)
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        """Turn grouped arguments into a `Call`; see `FlatArguments.bind`."""
        problems = self.refusals(arguments)
        if problems:
            raise ArgumentsRefused(problems)
        parts: dict[str, list[tuple[Argument, Any]]] = {PATH: [], QUERY: [], BODY: []}
        for location in self.present:
            value = self.group(location, arguments)
            if location == BODY and self.whole:
                parts[BODY] = [] if value is None else [(self.whole, self.whole.read(value))]
                continue
            for name, member in (value or {}).items():
                argument = self.groups[location].get(name) or Argument(
                    name, location, Parameter(name, {})
                )
                parts[location].append((argument, argument.read(member)))
        return make_call(arguments, parts, self.bodies, self.pointer)

    def refusals(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each unknown and each missing argument, in its group."""
        names = {GROUPS[location] for location in self.present}
        problems = unknown_arguments(arguments, "", names)
        for location in self.present:
            if location == BODY and self.whole:
                continue
            problems += self.group_refusals(location, self.group(location, arguments))
        # What the view would miss is told only where it is not going to be asked.
        return problems + self.missing(arguments) if problems else []

    def group(self, location: str, arguments: Mapping[str, Any]) -> Any:
        """Return what was sent as a group, parsed when a client sent it as a string."""
        value = arguments.get(GROUPS[location])
        return value if location == BODY and self.whole else parsed(value, dict)

    def group_refusals(self, location: str, value: Any) -> list[Problem]:
        """Return what is wrong with the names of one group."""
        group, prefix = self.groups[location], f"/{GROUPS[location]}"
        if value is not None and not isinstance(value, Mapping):
            return [not_an_object(prefix, value)]
        given = value or {}
        known = group if not (location == QUERY and self.open_query) else {**group, **given}
        return unknown_arguments(given, prefix, known) + [
            missing_argument(name, prefix)
            for name, argument in group.items()
            if location == PATH and argument.required and given.get(name) is None
        ]

    def missing(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each missing argument of the query and the body."""
        given = {location: self.group(location, arguments) for location in self.present}
        return [
            missing_argument(argument.name, f"/{GROUPS[argument.location]}")
            for argument in self.arguments
            if argument.required
            and argument.location != PATH
            and isinstance(given[argument.location] or {}, Mapping)
            and lacks(given[argument.location] or {}, argument)
        ]

    def pointer(self, argument: Argument) -> str:
        """Return the JSON pointer of an argument, below its group."""
        group = f"/{GROUPS[argument.location]}"
        return group if argument.whole else f"{group}/{escape(argument.name)}"

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

    def body_pointer(self) -> str:
        """Return the JSON pointer that pointers into the body start with, "" without a body."""
        return "/body" if BODY in self.present else ""


def lacks(given: Mapping[str, Any], argument: Argument) -> bool:
    """Return whether an argument is missing; null is a value, though none for a path."""
    value = given.get(argument.name, MISSING)
    return value is MISSING or (value is None and argument.location == PATH)


def flat_arguments(endpoint: EndpointSchema, extra_query: bool) -> Iterator[Argument]:
    """Yield the arguments of an endpoint under names that are portable and differ."""
    whole = whole_body(endpoint)
    body = [Argument(whole.name, BODY, whole, whole=True)] if whole else []
    body += [Argument(p.name, BODY, p) for p in endpoint.body.fields]
    path = [Argument(p.name, PATH, p) for p in endpoint.path]
    query = [Argument(p.name, QUERY, p) for p in endpoint.query]
    if extra_query:
        query.append(Argument(EXTRA_QUERY.name, QUERY, EXTRA_QUERY, whole=True))
    names: dict[int, str] = {}
    taken: set[str] = set()
    for argument in (*body, *path, *query):
        names[id(argument)] = free_name(argument, taken)
        taken.add(names[id(argument)])
    for argument in (*path, *query, *body):
        yield Argument(names[id(argument)], argument.location, argument.parameter, argument.whole)


def free_name(argument: Argument, taken: set[str]) -> str:
    """Return a portable name that no earlier argument has."""
    name = portable_name(argument.name)
    if name in taken:
        name = portable_name(f"{argument.name}_{argument.location}")
    number = 2
    while name in taken:
        name, number = portable_name(f"{argument.name}_{argument.location}_{number}"), number + 1
    return name


def whole_body(endpoint: EndpointSchema) -> Parameter | None:
    """Return the one argument that is the whole body, for list and open bodies."""
    schema = endpoint.body.schema or {}
    if endpoint.body.kind == "list":
        return Parameter("items", schema, required=True, handling=endpoint.body.handling)
    if endpoint.body.kind == "open":
        return Parameter("body", {"description": "The request body, any JSON value.", **schema})
    return None


def object_schema(arguments: Sequence[Argument], *, closed: bool) -> dict[str, Any]:
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
