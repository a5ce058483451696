from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import Body, EndpointSchema, Parameter
from drf_mcp.json_text import parse_json_text
from drf_mcp.outcomes import Problem
from drf_mcp.spelling import find_same
from drf_mcp.tools.arguments.base import Arguments, Values
from drf_mcp.tools.arguments.call import ANSWER, BODY, CONTROL, PATH, QUERY, Argument
from drf_mcp.tools.arguments.errors import ArgumentErrors

EXTRA_QUERY = gettext_noop("Further query parameters, as name: value.")


class FlatArguments(Arguments):
    # On a clash the body keeps the name and the others become NAME_path or NAME_query.
    def __init__(self, endpoint: EndpointSchema, *args: Any, **options: Any) -> None:
        super().__init__(endpoint, *args, **options)
        self.named = {argument.name: argument for argument in self.arguments}
        if self.fields is not None:
            self.name_further(self.fields, self.named)
        self.controls = tuple(self.name_further(each, self.named) for each in self.controls)
        self.required = tuple(a.name for a in self.arguments if a.required and a.location == PATH)
        # The names of arguments by those of the URL that are taken as well.
        self.url_names = {
            name: argument.name
            for argument in self.arguments
            if argument.location == PATH and argument.parameter.shown_as == argument.name
            if (name := make_portable_name(argument.parameter.name)) not in self.named
        }

    def get_arguments(self, endpoint: EndpointSchema) -> Iterator[Argument]:
        body = [self.make_argument(p, BODY) for p in endpoint.body.fields]
        if whole := self.get_whole_body(endpoint.body):
            body.append(self.make_argument(whole, BODY, whole=True))
        listed, unlisted = ([a for a in body if a.listed is wanted] for wanted in (True, False))
        path = [self.make_argument(p, PATH) for p in endpoint.path]
        taken = {argument.name for argument in (*body, *path)}
        path = [self.show_key(argument, taken) for argument in path]
        query = [self.make_argument(p, QUERY) for p in endpoint.query]
        if self.extra_query:
            extra = Parameter("query", {"type": "object", "description": _(EXTRA_QUERY)})
            query.append(self.make_argument(extra, QUERY, whole=True))
        names: dict[int, str] = {}
        # An argument that the schema leaves out gets one of the names that the others leave free.
        for argument in (*listed, *path, *query, *unlisted):
            names[id(argument)] = self.get_free_name(argument, names.values())
        for argument in (*path, *query, *listed, *unlisted):
            yield self.rename(argument, names[id(argument)])

    def show_key(self, argument: Argument, taken: Collection[str]) -> Argument:
        # As rows call it: callers copy the key from a row.
        name = argument.parameter.shown_as
        is_free = name and name not in taken and argument.name == argument.parameter.name
        return replace(argument, name=name) if is_free else argument

    def rename(self, argument: Argument, name: str) -> Argument:
        parameter = argument.parameter
        if argument.location == PATH and name != make_portable_name(argument.name):
            # Beside the new value in the body.
            words = _("The present %(name)s") % {"name": argument.name}
            schema = explain(parameter.schema, words)
            parameter = replace(parameter, schema=schema)
        return replace(argument, name=name, parameter=parameter)

    def get_whole_body(self, body: Body) -> Parameter | None:
        if body.kind != "either":
            return super().get_whole_body(body)
        schema = explain(body.schema or {}, _("Several at once, instead of the fields of one"))
        return Parameter("items", schema, handling=body.handling)

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        if self.items is not None:
            return dict(self.items.describe())
        return self.get_object_schema(self.named.values(), closed=True)

    def find_problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        # Nearly every call passes these comparisons, and goes no further.
        if arguments.keys() <= self.named.keys():
            for name in self.required:
                if arguments.get(name) is None:
                    break
            else:
                return []
        body = [a for a in self.arguments if a.location == BODY and a.whole]
        lacking = [a.name for a in self.arguments if a.required and a.is_missing_in(arguments)]
        errors = ArgumentErrors(
            known=[*(a.name for a in self.named.values() if a.listed), *self.further_names],
            holder=next((argument.name for argument in body if not argument.json_type), ""),
            unlisted=[name for name, argument in self.named.items() if not argument.listed],
            # The value of a read-only field may be that of a key by another name.
            read_only={name for name in self.read_only if not find_same(name, lacking)},
            renamed={argument.parameter.name: argument.name for argument in self.arguments},
        )
        twice = [name for name in self.url_names if name in arguments]
        unknown = errors.find_unknown({n: v for n, v in arguments.items() if n not in twice})
        unknown += [errors.differing_names(self.url_names[name], name) for name in twice]
        return errors.put_first(unknown, list(map(errors.missing_argument, lacking)))

    def find_lacking(self, arguments: Mapping[str, Any]) -> list[Problem]:
        lacking = [a.name for a in self.arguments if a.required and a.is_missing_in(arguments)]
        return list(map(ArgumentErrors().missing_argument, lacking))

    def use_own_names(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        for name, own in self.url_names.items():
            if name in arguments:
                value = arguments[name]
                if str(arguments.get(own, value)) == str(value):
                    others = {n: v for n, v in arguments.items() if n != name}
                    arguments = {own: value, **others}
        return arguments

    def get_values(self, arguments: Mapping[str, Any]) -> Values:
        named = self.named
        return [(named[name], value) for name, value in arguments.items() if name in named]


class GroupedArguments(Arguments):
    # ``{"kwargs": {...}, "query": {...}, "body": {...}}``
    groups = {PATH: "kwargs", QUERY: "query", BODY: "body", ANSWER: "query", CONTROL: "query"}

    def __init__(self, endpoint: EndpointSchema, *args: Any, **options: Any) -> None:
        super().__init__(endpoint, *args, **options)
        self.whole = next((a for a in self.arguments if a.whole), None)
        by_name: dict[str, dict[str, Argument]] = {PATH: {}, QUERY: {}, BODY: {}}
        for argument in self.arguments:
            if not argument.whole:
                by_name[argument.location][argument.name] = argument
        if self.fields is not None:
            self.fields = replace(self.fields, group=self.groups[ANSWER])
            by_name[QUERY][self.fields.name] = self.fields
        group = by_name[QUERY]
        self.controls = tuple(self.name_further(each, group) for each in self.controls)
        self.by_name = {
            location: group
            for location, group in by_name.items()
            if group or (location == QUERY and self.extra_query)
        }

    def get_arguments(self, endpoint: EndpointSchema) -> Iterator[Argument]:
        yield from (self.make_argument(p, PATH) for p in endpoint.path)
        yield from (self.make_argument(p, QUERY) for p in endpoint.query)
        if whole := self.get_whole_body(endpoint.body):
            yield self.make_argument(whole, BODY, whole=True)
        elif endpoint.body.kind in ("object", "none"):
            yield from (self.make_argument(p, BODY) for p in endpoint.body.fields)

    def get_whole_body(self, body: Body) -> Parameter | None:
        if body.kind != "either":
            return super().get_whole_body(body)
        names = join_values(parameter.name for parameter in body.fields if parameter.listed)
        words = _("One object with %(names)s, or an array of such objects.") % {"names": names}
        return Parameter("body", {"description": words}, handling=body.all_handling)

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        if self.items is not None:
            return dict(self.items.describe())
        properties, required = {}, []
        for location, by_name in self.by_name.items():
            name, group = self.groups[location], self.get_object_schema(by_name.values())
            if group["properties"] or location == QUERY:
                properties[name] = group
            if "required" in group:
                required.append(name)
        if self.whole is not None and self.whole.listed:
            properties[self.whole.group] = self.whole.parameter.schema
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": required} if required else schema

    def merge(self, shared: Mapping[str, Any], item: Mapping[str, Any]) -> Mapping[str, Any]:
        both = [name for name in item if isinstance(shared.get(name), Mapping)]
        joined = {n: {**shared[n], **item[n]} for n in both if isinstance(item[n], Mapping)}
        return {**shared, **item, **joined}

    def find_problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        groups = [self.groups[location] for location in self.by_name]
        if self.whole is not None:
            groups.append(self.whole.group)
        groups += self.further_names
        errors = ArgumentErrors(known=groups)
        unknown = errors.find_unknown(arguments)
        for location in self.by_name:
            unknown += self.find_group_problems(location, self.get_group(location, arguments))
        problems = errors.put_first(unknown, list(self.find_missing(arguments, PATH)))
        # The view names its missing arguments itself, unless it is not going to be asked.
        return [*problems, *self.find_missing(arguments, QUERY, BODY)] if problems else []

    def find_lacking(self, arguments: Mapping[str, Any]) -> list[Problem]:
        return list(self.find_missing(arguments, PATH, QUERY, BODY))

    def find_group_problems(self, location: str, value: Any) -> list[Problem]:
        by_name, prefix = self.by_name[location], f"/{self.groups[location]}"
        if value is not None and not isinstance(value, Mapping):
            return [ArgumentErrors(prefix).not_an_object(value)]
        group = value or {}
        known = [name for name, argument in by_name.items() if argument.listed]
        unlisted = group if location == QUERY and self.extra_query else by_name.keys() - known
        read_only = self.read_only if location == BODY else ()
        renamed = {argument.parameter.name: name for name, argument in by_name.items()}
        errors = ArgumentErrors(
            prefix, known, unlisted=unlisted, read_only=read_only, renamed=renamed
        )
        return errors.find_unknown(group)

    def find_missing(self, arguments: Mapping[str, Any], *locations: str) -> Iterator[Problem]:
        for location in locations:
            group = self.get_group(location, arguments) or {}
            if isinstance(group, Mapping):
                errors = ArgumentErrors(f"/{self.groups[location]}")
                for name, argument in self.by_name.get(location, {}).items():
                    if argument.required and argument.is_missing_in(group):
                        yield errors.missing_argument(name)

    def get_group(self, location: str, arguments: Mapping[str, Any]) -> Any:
        # Some clients send an object as a string.
        return parse_json_text(arguments.get(self.groups[location]), dict)

    def get_values(self, arguments: Mapping[str, Any]) -> Values:
        values: Values = []
        for location, by_name in self.by_name.items():
            group = self.get_group(location, arguments)
            for name, value in group.items() if isinstance(group, Mapping) else ():
                argument = by_name.get(name)
                if argument is None:
                    argument = self.make_argument(Parameter(name, {}), location)
                values.append((argument, value))
        if self.whole is not None and arguments.get(self.whole.group) is not None:
            values.append((self.whole, arguments[self.whole.group]))
        return values

    def get_body_pointer(self, step: str | int) -> str:
        return "/body" if self.whole is not None or BODY in self.by_name else ""
