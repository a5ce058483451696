from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from django.utils.datastructures import MultiValueDict

from drf_mcp.arguments.call import (
    ANSWER,
    BODY,
    CONTROL,
    PATH,
    QUERY,
    Argument,
    Call,
    write_query,
    write_query_text,
)
from drf_mcp.arguments.encoders import EncodedBody, holds_upload
from drf_mcp.arguments.errors import (
    MAX_UNKNOWN,
    ArgumentsRefused,
    find_unknown,
    mask_secrets,
    suggest,
)
from drf_mcp.arguments.layout import ArgumentLayout, Places, Values, get_free_name
from drf_mcp.arguments.uploads import read_files
from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.text import describe_accepted, join_values
from drf_mcp.introspection.types import ANY, Body, EndpointSchema, Parameter, Place
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.outcomes import MISSING, Problem

# About what HTTP servers take.
MAX_QUERY_LENGTH = 8190
EXTRA_QUERY = "Further query parameters, as name: value."


class Arguments(ArgumentLayout):
    """Binds what a caller sent to the path, query and body of a request.

    The view validates values. Names are checked here, since a view ignores unknown ones.
    """

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        for name in self.url_names:
            if name in arguments:
                arguments = self.use_own_names(arguments)
                break
        if self.items is not None and self.items.are_sent(arguments):
            call: Call = self.items.bind(arguments)
            return call
        return self.bind_one(arguments)

    def bind_one(self, arguments: Mapping[str, Any], places: Places = ()) -> Call:
        problems = self.find_problems(arguments, places)
        parts, wrong = self.read_values(arguments)
        if problems or wrong:
            raise ArgumentsRefused([*(problems or self.find_missing(arguments)), *wrong])
        encoder, encoded, query_string = self.encoder, EncodedBody(), ""
        for argument, value in parts[QUERY]:
            # Each value has a separator: such a list is not written first.
            if type(value) is list and 2 * len(value) > MAX_QUERY_LENGTH:
                raise self.refuse_length(argument)
        try:
            if parts[BODY] or encoder.expected:
                if self.uploading and encoder.files:
                    # Only the values of these are searched for files: others may be long.
                    may_hold = [v for a, v in parts[BODY] if a.uploads]
                    encoder = encoder.files if holds_upload(may_hold) else encoder
                encoded = encoder.encode(self.get_body(parts[BODY]))
            if parts[QUERY]:
                query_string = write_query(parts[QUERY])
        except (ValueError, TypeError, RecursionError) as exc:
            message = f"The arguments cannot be sent as a request: {exc}"
            remediation = "Correct the value and call again."
            raise ArgumentsRefused([Problem("invalid", message, remediation=remediation)]) from exc
        kwargs, controls, length = {}, {}, len(query_string)
        for argument, value in parts[PATH]:
            kwargs[argument.parameter.name] = value
            length += len(value) if type(value) is str else 0
        if length > MAX_QUERY_LENGTH:
            every = parts[PATH] + parts[QUERY]
            raise self.refuse_length(max(every, key=lambda each: len(write_query([each])))[0])
        for argument, value in parts[CONTROL]:
            if value is not None:
                controls[argument.parameter.name] = value
        return Call(
            arguments,
            kwargs=kwargs,
            query_string=query_string,
            body=encoded.content,
            content_type=encoded.content_type if encoded.content else "",
            disposition=encoded.disposition,
            fields=parts[ANSWER][0][1] if parts[ANSWER] else (),
            many=self.many,
            controls=controls,
        )

    def read_values(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Values], list[Problem]]:
        # All wrong values are reported together.
        wrong: list[Problem] = []
        parts: dict[str, Values] = {PATH: [], QUERY: [], BODY: [], ANSWER: [], CONTROL: []}
        for argument, value in self.get_values(arguments):
            parameter = argument.parameter
            try:
                value = argument.read(value) if argument.is_parsed else value
            except ArgumentsRefused as exc:
                wrong += exc.problems
                continue
            if argument.members:
                wrong += find_dropped(argument, value, self.keys, self.write_only)
            if argument.uploads:
                value = read_files(value, argument.uploads, argument.pointer, wrong)
            if parameter.closed is not None and value is not None:
                wrong += find_ignored(argument, value, parameter.closed)
            parts[argument.location] += [(argument, value)]
        return parts, wrong

    def get_body(self, values: Values) -> Any:
        fields = {}
        for argument, value in values:
            if not argument.whole:
                fields[argument.parameter.name] = value
                continue
            if len(values) == 1:
                return value
            message = "'%(name)s' is the whole body, so no other field of it can be sent."
            advice = "Send either '%(name)s' or the fields of one object, then call again."
            named = {"name": argument.name}
            problem = Problem(
                code="invalid",
                message=message % named,
                pointer=argument.pointer,
                remediation=advice % named,
            )
            raise ArgumentsRefused([problem])
        return fields

    def refuse_length(self, longest: Argument) -> ArgumentsRefused:
        # Servers answer a longer URL with 414 (RFC 9110, 15.5.15).
        limit = MAX_QUERY_LENGTH
        problem = Problem(
            code="max_length",
            message=f"The URL of the request would have more than {limit} bytes of arguments.",
            pointer=longest.pointer,
            accepted=f"at most {limit} bytes in all arguments of the path and query",
            remediation=f"Shorten '{longest.name}', or send it in parts, one call each.",
        )
        return ArgumentsRefused([problem])

    def get_whole_body(self, body: Body) -> Parameter | None:
        schema, value_info = body.schema or {}, body.value_info
        if body.kind == "list":
            return Parameter("items", schema, required=True, value_info=value_info)
        if body.kind == "open":
            schema = {"description": "The request body, any JSON value.", **schema}
            return Parameter("body", schema, value_info=value_info)
        if body.schema is None:
            return None
        return Parameter("body", schema, value_info=value_info, listed=False)

    # --- From a request back to arguments -------------------------------------------------------

    def get_arguments_of_body(self, body: Any) -> dict[str, Any]:
        """Return the arguments that make a body, without the members that are no argument."""
        listed = [a for a in self.arguments if a.location == BODY and a.listed]
        fields = [a for a in listed if not a.whole]
        whole = next((a for a in listed if a.whole), None)
        if whole is not None and (isinstance(body, list) or not fields):
            is_row = whole.json_type == "array" and not isinstance(body, list)
            return self.change({}, [(whole, [body] if is_row else body)])
        members = body if isinstance(body, Mapping) else {}
        found = [a for a in fields if a.parameter.name in members]
        return self.change({}, [(a, members[a.parameter.name]) for a in found])

    def from_request(
        self, kwargs: Mapping[str, Any], query: MultiValueDict[str, str], body: Any = MISSING
    ) -> dict[str, Any]:
        """Return the arguments of the call that would make a request."""
        found = ((each, each.find_in_request(kwargs, query, body)) for each in self.arguments)
        return self.change({}, [pair for pair in found if pair[1] is not MISSING])

    def replace_control(self, arguments: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the arguments with another value for a guard's argument, by the guard's name."""
        control = next(each for each in self.controls if each.parameter.name == name)
        return self.change(arguments, [(control, value)])


class FlatArguments(Arguments):
    # On a clash the body keeps the name; the others become NAME_path or NAME_query.
    def get_arguments(self, endpoint: EndpointSchema) -> Iterable[Argument]:
        body = [self.make_argument(p, BODY) for p in endpoint.body.fields]
        if whole := self.get_whole_body(endpoint.body):
            body.append(self.make_argument(whole, BODY, whole=True))
        path = [self.make_argument(p, PATH) for p in endpoint.path]
        taken = {argument.name for argument in (*body, *path)}
        for index, argument in enumerate(path):
            # Callers copy the key from an answer, which has it under this name.
            shown = argument.parameter.shown_as
            if shown and shown not in taken and argument.name == argument.parameter.name:
                path[index] = replace(argument, name=shown)
        query = [self.make_argument(p, QUERY) for p in endpoint.query]
        if self.extra_query:
            extra = Parameter("query", {"type": "object", "description": EXTRA_QUERY})
            query.append(self.make_argument(extra, QUERY, whole=True))
        # Arguments that the schema leaves out come last, and get other names on a clash.
        listed, unlisted = ([a for a in body if a.listed is wanted] for wanted in (True, False))
        named: dict[str, Argument] = {}
        for argument in (*listed, *path, *query, *unlisted):
            name = get_free_name(argument, named)
            named[name] = self.rename(argument, name)
        # The path and the query come first.
        return sorted(named.values(), key=lambda argument: argument.location == BODY)

    def rename(self, argument: Argument, name: str) -> Argument:
        parameter = argument.parameter
        if argument.location == PATH and name != make_portable_name(argument.name):
            # The argument of the body is the new value.
            words = f"The present {argument.name}"
            schema = explain(parameter.schema, words)
            parameter = replace(parameter, schema=schema)
        return replace(argument, name=name, parameter=parameter)

    def get_whole_body(self, body: Body) -> Parameter | None:
        if body.kind != "either":
            return super().get_whole_body(body)
        schema = explain(body.schema or {}, "Several at once, instead of the fields of one")
        return Parameter("items", schema, value_info=body.value_info)


class GroupedArguments(Arguments):
    # ``{"kwargs": {...}, "query": {...}, "body": {...}}``; ``body`` may be a list or any value.
    groups = {PATH: "kwargs", QUERY: "query", BODY: "body", ANSWER: "query", CONTROL: "query"}

    def get_arguments(self, endpoint: EndpointSchema) -> Iterator[Argument]:
        yield from (self.make_argument(p, PATH) for p in endpoint.path)
        yield from (self.make_argument(p, QUERY) for p in endpoint.query)
        if whole := self.get_whole_body(endpoint.body):
            argument = self.make_argument(replace(whole, required=False), BODY, whole=True)
            yield replace(argument, name=self.groups[BODY])
        elif endpoint.body.kind in ("object", "none"):
            yield from (self.make_argument(p, BODY) for p in endpoint.body.fields)

    def get_whole_body(self, body: Body) -> Parameter | None:
        if body.kind != "either":
            return super().get_whole_body(body)
        names = join_values(parameter.name for parameter in body.fields if parameter.listed)
        words = f"One object with {names}, or an array of such objects."
        return Parameter("body", {"description": words}, value_info=body.all_value_info)

    def get_body_pointer(self, step: str | int | None = None) -> str:
        has_body = any(argument.location == BODY for argument in self.arguments)
        return "/body" if has_body and step is not None else super().get_body_pointer(step)


# --- Query parameters -----------------------------------------------------------------------------


def find_ignored(argument: Argument, value: Any, closed: ClosedSet) -> list[Problem]:
    """Return problems of the first values of a query parameter that the view ignores."""
    problems: list[Problem] = []
    several = type(value) is list
    for index, item in enumerate(value if several else (value,)):
        for part in islice(closed.find_ignored(write_query_text(item)), MAX_UNKNOWN):
            nearest = next(iter(find_nearest(part, closed.get_candidates(part))), "")
            words = describe_accepted(closed.get_schema())
            advice = f"Send {words}."
            problem = Problem(
                code=closed.code,
                message=closed.get_message(part),
                pointer=f"{argument.pointer}/{index}" if several else argument.pointer,
                received=mask_secrets(part),
                accepted=words or "none",
                remediation=advice if words and not nearest else suggest(nearest, ""),
            )
            problems.append(problem)
        if len(problems) >= MAX_UNKNOWN:
            break
    return problems[:MAX_UNKNOWN]


def find_reversed(values: Values) -> Iterator[Problem]:
    """Yield a problem for each range that ends before it begins."""
    bounds = [(argument, value) for argument, value in values if argument.parameter.part]
    for (lower, low), (upper, high) in product(bounds, bounds):
        start: Any = lower.parameter.part
        end: Any = upper.parameter.part
        if not start.bounds_with(end):
            continue
        first, last = start.read(low), end.read(high)
        try:
            is_after = first is not None and last is not None and bool(first > last)
        except TypeError:
            continue  # the filter judges values that cannot be compared
        if is_after:
            facts = {"lower": lower.name, "upper": upper.name, "value": high}
            remediation = "Exchange '%(lower)s' and '%(upper)s', or leave one of them out."
            yield Problem(
                code="reversed_range",
                message="The range ends before it begins, so nothing lies in it.",
                pointer=lower.pointer,
                received=mask_secrets(low),
                accepted="at most {value}, the value of '{upper}'".format(**facts),
                remediation=remediation % facts,
            )


# --- Members of nested objects --------------------------------------------------------------------


def find_dropped(
    argument: Argument, value: Any, keys: Mapping[Place, Place], secret: Collection[str]
) -> list[Problem]:
    """Return problems of the first unknown or read-only members, which nested serializers ignore.

    Args:
        keys: the places whose keys the view's parser renames.
    """
    renamed = {place[-1] for place in keys.values()}
    problems: list[Problem] = []
    for place, names in argument.members.items():
        for pointer, member in walk(value, place, argument.pointer):
            problems += find_unknown(
                member,
                names.writable,
                pointer,
                unlisted=renamed,
                read_only=names.read_only,
                secret=secret,
            )
            if len(problems) >= MAX_UNKNOWN:
                return problems[:MAX_UNKNOWN]
    return problems


def walk(value: Any, place: Place, pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects at a place of a value, each with its pointer."""
    if not place:
        if isinstance(value, Mapping):
            yield pointer, value
        return
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        members = [pair for pair in value.items() if place[0] in (ANY, pair[0])]
    elif place[0] == ANY and isinstance(value, list):
        members = enumerate(value)
    for name, member in members:
        yield from walk(member, place[1:], JSONPointer.from_parent(pointer, str(name)))
