# Nothing is validated here: the view is the judge. Only names are checked, since an unknown
# argument is a mistake that no view would notice.

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from django.utils.translation import gettext as _

from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.types import Body, EndpointSchema, Parameter
from drf_mcp.json_text import parse_json_text
from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import (
    ANSWER,
    BODY,
    CONTROL,
    PATH,
    QUERY,
    Argument,
    Call,
    write_query,
)
from drf_mcp.tools.arguments.encoders import BodyEncoder
from drf_mcp.tools.arguments.errors import ArgumentsRefused, beside_whole_body
from drf_mcp.tools.arguments.fields import FieldsArgument
from drf_mcp.tools.arguments.ids import IdsArgument
from drf_mcp.tools.arguments.uploads import UploadPlaces
from drf_mcp.tools.arguments.values import QueryValues, URLValues, find_dropped

Values: TypeAlias = list[tuple[Argument, Any]]


class Arguments:
    """The arguments of a tool, bound to the path, query and body of a request.

    Attributes:
        arguments: those that become the request, also the ones that the schema leaves out.
        fields: the argument that names fields of the answer; None for none.
        many: the path kwarg of which the argument ``ids`` has several values; "" for none.
        controls: the arguments that guards read, by the caller's names.
        items: the `Items` of a write that takes several objects at once; None for one.
        groups: the argument that holds the arguments of a location, by location.
    """

    groups: ClassVar[Mapping[str, str]] = {}
    items: Any = None

    def __init__(
        self,
        endpoint: EndpointSchema,
        encoder: BodyEncoder,
        *,
        extra_query: bool = False,
        fields: FieldsArgument | None = None,
        many: str = "",
        controls: Iterable[Parameter] = (),
    ) -> None:
        self.encoder = encoder
        self.keys = endpoint.body.keys
        self.extra_query = extra_query
        self.fields = fields
        self.many = many
        self.controls = tuple(self.make_argument(parameter, CONTROL) for parameter in controls)
        # What a write answers and does not take is refused as read-only, not as unknown.
        is_write = endpoint.body.kind in ("object", "either")
        self.read_only = frozenset(endpoint.output.get("properties", ()) if is_write else ())
        self.arguments = tuple(self.get_arguments(endpoint))
        self.uploading = [a for a in self.arguments if a.parameter.handling.uploads]
        self.has_nested = any(a.parameter.handling.nested for a in self.arguments)

    def get_arguments(self, endpoint: EndpointSchema) -> Iterable[Argument]:
        raise NotImplementedError

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def find_problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        raise NotImplementedError

    def find_lacking(self, arguments: Mapping[str, Any]) -> list[Problem]:
        raise NotImplementedError

    def get_values(self, arguments: Mapping[str, Any]) -> Values:
        raise NotImplementedError

    def make_argument(
        self, parameter: Parameter, location: str, *, whole: bool = False
    ) -> Argument:
        group = self.groups.get(location, "")
        if location == PATH and parameter.name == self.many:
            return IdsArgument.for_key(parameter, group)
        return Argument(parameter.name, location, parameter, whole, group)

    def get_free_name(self, argument: Argument, taken: Collection[str]) -> str:
        name = make_portable_name(argument.name)
        if name in taken:
            name = make_portable_name(f"{argument.name}_{argument.location}")
        number = 2
        while name in taken:
            name = make_portable_name(f"{argument.name}_{argument.location}_{number}")
            number += 1
        return name

    def name_further(self, argument: Argument, named: dict[str, Argument]) -> Argument:
        name = self.get_free_name(argument, named)
        named[name] = replace(argument, name=name)
        return named[name]

    def get_control_pointer(self, name: str) -> str:
        """Return the JSON pointer of the argument that guards know by a name."""
        return next((a.pointer for a in self.controls if a.parameter.name == name), "")

    def get_whole_body(self, body: Body) -> Parameter | None:
        schema, handling = body.schema or {}, body.handling
        if body.kind == "list":
            return Parameter("items", schema, required=True, handling=handling)
        if body.kind == "open":
            schema = {"description": _("The request body, any JSON value."), **schema}
            return Parameter("body", schema, handling=handling)
        if body.schema is None:
            return None
        return Parameter("body", schema, handling=handling, listed=False)

    def get_object_schema(
        self, arguments: Iterable[Argument], *, closed: bool = False
    ) -> dict[str, Any]:
        listed = [argument for argument in arguments if argument.listed]
        properties = {argument.name: argument.parameter.schema for argument in listed}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required := [argument.name for argument in listed if argument.required]:
            schema["required"] = required
        if closed:
            schema["additionalProperties"] = False
        return schema

    # --- Binding ------------------------------------------------------------------------------

    @property
    def further_names(self) -> list[str]:
        return [] if self.items is None else [self.items.name]

    def merge(self, shared: Mapping[str, Any], item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of one call: those that all share, and those of an item."""
        return {**shared, **item}

    def use_own_names(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments by their own names, where they have others that are taken."""
        return arguments

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        arguments = self.use_own_names(arguments)
        if self.items is not None and self.items.are_meant(arguments):
            call: Call = self.items.bind(arguments)
            return call
        return self.bind_one(arguments)

    def bind_one(self, arguments: Mapping[str, Any]) -> Call:
        problems = self.find_problems(arguments)
        parts, wrong = self.read_values(arguments)
        if problems or wrong:
            raise ArgumentsRefused([*(problems or self.find_lacking(arguments)), *wrong])
        body = self.get_body(parts[BODY])
        try:
            files = self.find_files(body) if self.uploading else ()
            encoder = self.encoder.get_encoder(body, files)
            content = encoder.encode(body)
            query = [p for a, value in parts[QUERY] for p in a.get_query_pairs(value)]
            query_string = write_query(query) if query else ""
        except (ValueError, TypeError, RecursionError) as exc:
            message = _("The arguments cannot be sent as a request: %(reason)s") % {"reason": exc}
            remediation = _("Correct the value and call again.")
            raise ArgumentsRefused([Problem("invalid", message, remediation=remediation)]) from exc
        length = len(query_string)
        for _argument, value in parts[PATH]:
            length += len(value) if type(value) is str else 0
        if length > mcp_settings.MAX_QUERY_LENGTH:
            raise ArgumentsRefused([URLValues(parts[PATH] + parts[QUERY]).too_long(length)])
        return Call(
            arguments,
            {argument.parameter.name: value for argument, value in parts[PATH]},
            query_string,
            content,
            encoder.content_type if content else "",
            encoder.disposition if content else "",
            parts[ANSWER][0][1] if parts[ANSWER] else (),
            self.many,
            {a.parameter.name: v for a, v in parts[CONTROL] if v is not None},
        )

    def get_body(self, values: Values) -> Any:
        for argument, value in values:
            if argument.whole and len(values) > 1:
                raise ArgumentsRefused([beside_whole_body(argument)])
            if argument.whole:
                return value
        if values or self.encoder.expected:
            return {argument.parameter.name: value for argument, value in values}
        return MISSING

    def read_values(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Values], list[Problem]]:
        # One wrong value hides no other.
        parts: dict[str, Values] = {PATH: [], QUERY: [], BODY: [], ANSWER: [], CONTROL: []}
        problems: list[Problem] = []
        for argument, value in self.get_values(arguments):
            try:
                parts[argument.location].append((argument, argument.read(value)))
            except ArgumentsRefused as exc:
                problems += exc.problems
        if self.has_nested:
            problems += find_dropped(parts[BODY], self.keys)
        if self.uploading:
            parts[BODY] = [(a, self.read_upload(a, value, problems)) for a, value in parts[BODY]]
        if parts[QUERY]:
            problems += QueryValues(parts[QUERY]).find_problems()
        return parts, problems

    def read_upload(self, argument: Argument, value: Any, problems: list[Problem]) -> Any:
        uploads = argument.parameter.handling.uploads
        places = UploadPlaces(uploads, mcp_settings.MAX_UPLOAD_BYTES)
        return places.read(value, argument.pointer, problems) if uploads else value

    def find_files(self, body: Any) -> Iterable[Any]:
        # Values with files among them. The other values may be long, and are not looked through.
        if not isinstance(body, dict):
            return [body]
        return [body if a.whole else body.get(a.parameter.name) for a in self.uploading]

    # --- From the view's names back to arguments ------------------------------------------------

    def get_arguments_of(self, values: Iterable[tuple[Argument, Any]]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for argument, value in values:
            if not argument.group:
                arguments[argument.name] = value
            elif argument.whole:
                arguments[argument.group] = value
            else:
                arguments.setdefault(argument.group, {})[argument.name] = value
        return arguments

    def get_arguments_of_body(self, body: Any) -> dict[str, Any]:
        # What no listed argument takes, such as a read-only member, is left out.
        listed = [a for a in self.arguments if a.location == BODY and a.listed]
        fields = [a for a in listed if not a.whole]
        whole = next((a for a in listed if a.whole), None)
        if whole is not None and (isinstance(body, list) or not fields):
            is_row = whole.json_type == "array" and not isinstance(body, list)
            return self.get_arguments_of([(whole, [body] if is_row else body)])
        members = body if isinstance(body, Mapping) else {}
        found = [a for a in fields if a.parameter.name in members]
        return self.get_arguments_of((a, members[a.parameter.name]) for a in found)

    def rebuild_call(self, view: Any, body: Any) -> Call:
        values = ((argument, argument.find_in_request(view, body)) for argument in self.arguments)
        return Call(self.get_arguments_of(pair for pair in values if pair[1] is not MISSING))

    def replace_query(
        self, arguments: Mapping[str, Any], query: Mapping[str, str]
    ) -> Mapping[str, Any] | None:
        changes = {
            argument.name: argument.from_text(query[argument.parameter.name])
            for argument in self.arguments
            if argument.location == QUERY and argument.parameter.name in query
        }
        group = self.groups.get(QUERY)
        if not changes or group is None:
            return {**arguments, **changes} if changes else None
        return {
            **arguments,
            group: {**(parse_json_text(arguments.get(group), dict) or {}), **changes},
        }

    def replace_control(self, arguments: Mapping[str, Any], name: str, value: Any) -> Any:
        # ``name`` is the guard's own; the value is left out where it is `MISSING`.
        control = next(each for each in self.controls if each.parameter.name == name)
        value = {} if value is MISSING else {control.name: value}
        members = arguments
        if control.group:
            members = parse_json_text(arguments.get(control.group), dict) or {}
        members = {**{n: v for n, v in members.items() if n != control.name}, **value}
        return {**arguments, control.group: members} if control.group else members

    def get_whole_body_pointer(self) -> str:
        body = [a for a in self.arguments if a.location == BODY and a.listed]
        return body[0].pointer if len(body) == 1 and body[0].whole else ""

    def get_body_pointer(self, step: str | int) -> str:
        # ``step`` begins a path into the body; an index is that of an item of a list.
        whole = next((a for a in self.arguments if a.location == BODY and a.whole), None)
        if whole is None or not isinstance(step, int):
            return self.get_whole_body_pointer()
        return whole.pointer
