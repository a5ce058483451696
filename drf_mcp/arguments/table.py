"""The table of a tool's arguments: each row has a name, a place in the request, and a path."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from drf_mcp.arguments.call import ANSWER, BODY, CONTROL, PATH, QUERY, Argument, find_possible_names
from drf_mcp.arguments.encoders import choose_encoder
from drf_mcp.arguments.errors import (
    KnownNames,
    Remarks,
    missing_argument,
    not_an_object,
    put_first,
    refuse_other_name,
)
from drf_mcp.arguments.fields import FieldsArgument, IdsArgument
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.field_selection import Omission
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import ANY, Body, EndpointSchema, Parameter, Schema
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.option_types.spelling import find_synonym
from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.settings import mcp_settings

Values: TypeAlias = list[tuple[Argument, Any]]
# The arguments of each place in a call, with the names that belong there; None for all names. A
# bulk call has two places: around the items, and in an item.
Places: TypeAlias = Sequence[tuple[Mapping[str, Any], Container[str] | None]]
ArgumentType = TypeVar("ArgumentType", bound=Argument)

# ``{"kwargs": {...}, "query": {...}, "body": {...}}``; ``body`` may be a list or any value.
GROUPS = {PATH: "kwargs", QUERY: "query", BODY: "body", ANSWER: "query", CONTROL: "query"}
EXTRA_QUERY = "Further query parameters, as name: value."
CLOSED = {"additionalProperties": False}
EXTRA_BODY = "Further members of the body, as name: value."


class ArgumentTable:
    """The arguments of a tool, by the names and groups in which callers send them.

    Attributes:
        groups: the name of the group for each location; {} for flat arguments.
        arguments: the arguments that make the request, unlisted ones too.
        hidden: the arguments that the option ``hidden`` has, with their values or functions.
        by_group: all arguments by group and name; "" without a group.
        by_own_name: the arguments by the view's own names.
        fields: the argument that selects fields of the answer; None for none.
        many: the path kwarg for which ``ids`` has several values; "" for none.
        controls: the arguments that guards read.
        items: the `Items` of a write that takes several objects at once; None for a single one.
        unread: the locations in which unknown code may read arguments that are not described.
        passes_to: the location of unknown arguments; "" where they are refused.
    """

    items: Any = None

    def __init__(self, tool: Any) -> None:
        endpoint: EndpointSchema = tool.schema
        self.encoder = choose_encoder(tool.view, endpoint.body)
        self.is_change = tool.endpoint.method == "PATCH" and endpoint.body.kind == "object"
        self.keys = endpoint.body.keys
        self.extra_query: bool = tool.extra_query
        self.many: str = tool.endpoint.many or ""
        # A write refuses other fields of its answer as read-only, not as unknown.
        is_write = endpoint.body.kind in ("object", "either")
        self.read_only = frozenset(endpoint.output.get("properties", ()) if is_write else ())
        opened = {QUERY: endpoint.query_opened_by, BODY: endpoint.body.opened_by}
        self.unread = frozenset(location for location in opened if opened[location])
        self.passes_to = _find_place_to_pass(tool.endpoint.method, self.unread, endpoint.body)
        self.groups: Mapping[str, str] = GROUPS if mcp_settings.ARGUMENTS == "grouped" else {}
        lay_out = self._lay_out_in_groups if self.groups else self._lay_out_side_by_side
        self.arguments = tuple(lay_out(endpoint))
        self.hidden: Values = list(self._take_hidden(tool.options.hidden or {}, tool.endpoint))
        self.by_group: dict[str, dict[str, Argument]] = {
            group: {} for group in ("", *self.groups.values())
        }
        self.by_own_name: dict[str | int, Argument] = {}
        for argument in self.arguments:
            self.by_group[argument.group][argument.name] = argument
        # The body wins over the query, and the query over the path.
        for argument in sorted(
            self.arguments, key=lambda each: (BODY, QUERY, PATH).index(each.location)
        ):
            self.by_own_name.setdefault(argument.parameter.name, argument)
        fields = FieldsArgument.for_endpoint(endpoint) if tool.takes_fields else None
        fields = fields and replace(fields, omission=Omission(tool.options.omit))
        self.fields = fields and self.add(fields)
        made = (Argument(parameter.name, CONTROL, parameter) for parameter in tool.controls)
        self.controls = tuple(map(self.add, made))
        self.open_groups = {self.groups[each] for each in self.unread if self.groups}
        if self.whole_body is not None:
            self.open_groups.discard("body")
        if not self.extra_query:
            kept = {"", *self.open_groups}
            self.by_group = {g: own for g, own in self.by_group.items() if own or g in kept}
        outermost = self.by_group[""]
        # A key that is named as in answers is accepted under its name in the URL too.
        self.url_names = {
            name: argument.name
            for argument in outermost.values()
            if argument.location == PATH and argument.parameter.shown_as == argument.name
            if (name := make_portable_name(argument.parameter.name)) not in outermost
        }
        # Signatures are written in Python, which has no argument `from`.
        self.url_names |= {
            f"{name}_": name
            for name in filter(keyword.iskeyword, outermost)
            if f"{name}_" not in outermost
        }
        self.uploading = [a for a in self.arguments if a.uploads]

    # --- Rows ---------------------------------------------------------------------------------

    def _take_hidden(self, values: Mapping[str, Any], endpoint: Any) -> Iterator[Any]:
        known = {argument.name: argument for argument in self.arguments}
        self.arguments = tuple(each for each in self.arguments if each.name not in values)
        self.undeclared = values.keys() - known.keys()
        # Code may read what nothing describes.
        place = BODY if endpoint.method in ("POST", "PUT", "PATCH") else QUERY
        for name, value in values.items():
            yield known.get(name) or Argument(name, place, Parameter(name, {})), value

    def make(self, parameter: Parameter, location: str, *, whole: bool = False) -> Argument:
        group = "" if whole and location == BODY else self.groups.get(location, "")
        if location == PATH and parameter.name == self.many:
            return IdsArgument.for_key(parameter, group)
        return Argument(parameter.name, location, parameter, whole, group)

    def add(self, argument: ArgumentType) -> ArgumentType:
        group = self.groups.get(argument.location, "")
        named = self.by_group[group]
        name = _find_free_name(argument, named)
        named[name] = added = replace(argument, name=name, group=group)
        return added

    def _lay_out_side_by_side(self, endpoint: EndpointSchema) -> Iterable[Argument]:
        body = [self.make(p, BODY) for p in endpoint.body.fields]
        if whole := self._find_whole_body(endpoint.body):
            body.append(self.make(whole, BODY, whole=True))
        path = [self.make(p, PATH) for p in endpoint.path]
        keys = {
            place: argument for place, argument in enumerate(path) if argument.parameter.shown_as
        }
        for place, key in keys.items():
            # Callers copy the key from an answer, which has it under this name.
            shown = key.parameter.shown_as
            others = (argument.name for argument in path if argument is not key)
            if shown not in others and key.name == key.parameter.name:
                path[place] = replace(key, name=shown)
        # The key of an object has one name in all tools, so the body names its new value.
        named_keys = {path[place].name for place in keys}
        body = [_rename_new_value(a) if a.name in named_keys else a for a in body]
        query = [self.make(p, QUERY) for p in endpoint.query]
        # Where an unknown argument is refused, an object takes what unknown code may read.
        names_place = self.unread and not self.passes_to
        if self.extra_query or (names_place and QUERY in self.unread):
            extra = Parameter("query", {"type": "object", "description": EXTRA_QUERY})
            query.append(self.make(extra, QUERY, whole=True))
        if names_place and BODY in self.unread and endpoint.body.kind in ("object", "none"):
            body = [each for each in body if not each.whole]
            extra = Parameter("body", {"type": "object", "description": EXTRA_BODY})
            body.append(self.make(extra, BODY, whole=True))
        # On a clash the body keeps the name; the others become NAME_path or NAME_query. Arguments
        # that the schema leaves out come last, and get other names on a clash.
        listed, unlisted = ([a for a in body if a.listed is wanted] for wanted in (True, False))
        named: dict[str, Argument] = {}
        for argument in (*listed, *path, *query, *unlisted):
            name, parameter = _find_free_name(argument, named), argument.parameter
            if argument.location == PATH and name != make_portable_name(argument.name):
                # The argument of the body is the new value.
                schema = explain(parameter.schema, f"The present {argument.name}")
                parameter = replace(parameter, schema=schema)
            named[name] = replace(argument, name=name, parameter=parameter)
        # The path and the query come first.
        return sorted(named.values(), key=lambda argument: argument.location == BODY)

    def _lay_out_in_groups(self, endpoint: EndpointSchema) -> Iterable[Argument]:
        yield from (self.make(p, PATH) for p in endpoint.path)
        yield from (self.make(p, QUERY) for p in endpoint.query)
        if whole := self._find_whole_body(endpoint.body):
            whole = replace(whole, required=False)
            yield replace(self.make(whole, BODY, whole=True), name=self.groups[BODY])
        elif endpoint.body.kind in ("object", "none"):
            yield from (self.make(p, BODY) for p in endpoint.body.fields)

    def _find_whole_body(self, body: Body) -> Parameter | None:
        schema, value_info = body.schema or {}, body.value_info
        if body.kind == "list":
            return Parameter("items", schema, required=True, value_info=value_info)
        if body.kind == "open":
            described = {"description": "The request body, any JSON value."}
            schema = FieldSchema(described).with_meaning(json_type="object") | schema
            return Parameter("body", schema, value_info=value_info)
        if body.kind == "either" and self.groups:
            names = join_values(parameter.name for parameter in body.fields if parameter.listed)
            words = f"One object with {names}, or an array of such objects."
            any_object = FieldSchema({"description": words}).with_meaning(json_type="object")
            return Parameter("body", any_object, value_info=body.all_value_info)
        if body.kind == "either":
            schema = explain(schema, "Several at once, instead of the fields of one")
            return Parameter("items", schema, value_info=value_info)
        if body.schema is None:
            return None
        return Parameter("body", schema, value_info=value_info, listed=False)

    @property
    def every(self) -> Iterator[Argument]:
        return (argument for named in self.by_group.values() for argument in named.values())

    @functools.cached_property
    def whole_body(self) -> Argument | None:
        """The argument that is the whole body, None for none."""
        return next((a for a in self.arguments if a.location == BODY and a.whole), None)

    # --- Schema -------------------------------------------------------------------------------

    @functools.cached_property
    def schema(self) -> Schema:
        if self.items is not None:
            return dict(self.items.describe())
        schema = self.make_object_schema([a for a in self.every if a.listed])
        if self.extra_query and self.groups:
            schema["properties"].setdefault(self.groups[QUERY], self.make_object_schema(()))
        return schema if self.passes_to and not self.groups else {**schema, **CLOSED}

    @functools.cached_property
    def full_schema(self) -> Schema:
        """The schema with unlisted arguments, to mask values by."""
        properties = self.make_object_schema(self.every)["properties"]
        if self.extra_query and self.groups:
            properties[self.groups[QUERY]] = {}
        return {"properties": {**self.schema["properties"], **properties}}

    def make_object_schema(self, arguments: Iterable[Argument]) -> Schema:
        schema: Schema = {"type": "object", "properties": {}}
        required: dict[str, None] = {}
        for argument in arguments:
            place = schema
            if argument.group:
                empty = {"type": "object", "properties": {}}
                place = schema["properties"].setdefault(argument.group, empty)
            place["properties"][argument.name] = argument.parameter.schema
            if argument.required:
                required[argument.group or argument.name] = None
                if argument.group:
                    place.setdefault("required", []).append(argument.name)
        return {**schema, "required": list(required)} if required else schema

    @functools.cached_property
    def write_only(self) -> frozenset[str]:
        """The pointers of the values that no answer may repeat, without the indexes of items."""
        found: set[str] = set()
        for argument in self.every:
            for place, info in argument.parameter.value_info.items():
                if info.is_secret or (info.upload is not None and info.upload.sure):
                    names = (name for name in place if name != ANY)
                    found.add(argument.pointer + JSONPointer.from_path(names))
        items = () if self.items is None else (f"/{self.items.name}{each}" for each in found)
        return frozenset((*found, *items))

    # --- Names --------------------------------------------------------------------------------

    def use_own_names(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with the tool's name of a key in place of its name in the URL."""
        for name, own in self.url_names.items():
            if name in arguments:
                value = arguments[name]
                if str(arguments.get(own, value)) == str(value):
                    others = {n: v for n, v in arguments.items() if n != name}
                    arguments = {own: value, **others}
        return arguments

    def _find_group(self, group: str, arguments: Mapping[str, Any]) -> Any:
        # Some clients send an object as a string.
        return parse_json_text(arguments.get(group), dict) if group else arguments

    def find_problems(
        self, arguments: Mapping[str, Any], places: Places = (), remarks: Remarks | None = None
    ) -> list[Problem]:
        """Return the problems of the names of arguments.

        The view reports missing arguments itself, unless other problems keep it from being asked.

        Args:
            places: the arguments of each place, () for a call with one place.
            remarks: takes the names that are not refused.
        """
        missing = self.find_missing(arguments)
        # Nearly every call ends here, in a fifth of the time.
        if not self.groups and not missing and self.by_group[""].keys() >= arguments.keys():
            return []
        unknown = [
            problem
            for sent, names in places or ((arguments, None),)
            for group in self.by_group
            for problem in self.find_unknown(group, sent, names, remarks)
        ]
        path = {argument.pointer for argument in self.arguments if argument.location == PATH}
        in_path = [problem for problem in missing if problem.pointer in path]
        if not unknown and not in_path:
            return []
        first = in_path if self.groups else missing
        return [*put_first(unknown, first), *(each for each in missing if each not in first)]

    def find_missing(self, arguments: Mapping[str, Any]) -> list[Problem]:
        missing = []
        for argument in (each for each in self.arguments if each.required):
            group = self._find_group(argument.group, arguments) or {}
            if isinstance(group, Mapping) and argument.is_missing_in(group):
                missing.append(missing_argument(argument.pointer))
        return missing

    def find_unknown(
        self,
        group: str,
        arguments: Mapping[str, Any],
        names: Container[str] | None,
        remarks: Remarks | None,
    ) -> list[Problem]:
        """Return the problems of unknown names, which suggest known names among ``names``."""
        named, sent = self.by_group[group], self._find_group(group, arguments)
        if sent is not None and not isinstance(sent, Mapping):
            return [not_an_object(sent, f"/{group}")]
        sent = sent or {}
        known = [n for n, a in named.items() if a.listed and (names is None or n in names)]
        lacking = [a.name for a in named.values() if a.required and a.is_missing_in(sent)]
        takes_any = self.extra_query and group and group == self.groups[QUERY]
        has_body = group == self.groups.get(BODY, "")
        further = [] if self.items is None else [self.items.name]
        further = [name for name in further if names is None or name in names]
        twice = [] if group else [name for name in self.url_names if name in sent]
        # In a bulk call, what is next to the items is no member of a body.
        is_around = names is not None and bool(further)
        passes = group in self.open_groups if self.groups else bool(self.passes_to)
        # ``id`` may be read-only in the body, and sent for a missing ``pk``.
        read_only = {n for n in self.read_only if has_body and not find_synonym(n, lacking)}
        checked = KnownNames(
            known if group else [*filter(None, self.by_group), *known, *further],
            unlisted=sent if takes_any else named.keys() - known,
            read_only=() if BODY in self.unread and not passes else read_only,
            renamed={argument.parameter.name: name for name, argument in named.items()},
            lacking=lacking,
            passes=passes and not is_around,
            holders=[] if self.groups else self._holders,
            secret=self.write_only,
        )
        others = {name: value for name, value in sent.items() if name not in twice}
        problems = checked.check(others, f"/{group}" if group else "", remarks)
        return problems + [refuse_other_name(self.url_names[name], name) for name in twice]

    @functools.cached_property
    def _holders(self) -> list[str]:
        """The arguments that take members with any name."""
        whole = [argument for argument in self.arguments if argument.whole]
        return [
            a.name for a in whole if self.is_extra(a) or (a.location == BODY and not a.json_type)
        ]

    def is_extra(self, argument: Argument) -> bool:
        """Return whether an argument is an object of members that unknown code may read."""
        is_declared = argument.location == QUERY and self.extra_query
        is_unread = argument.location in self.unread and not self.passes_to
        is_object = argument.whole and argument.json_type == "object"
        return is_object and is_unread and not is_declared

    # --- Values -------------------------------------------------------------------------------

    def merge(self, shared: Mapping[str, Any], item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of one item, with the arguments that all items share."""
        merged = {**shared, **item}
        for group in self.by_group:
            one, other = shared.get(group), item.get(group)
            if isinstance(one, Mapping) and isinstance(other, Mapping):
                merged[group] = {**one, **other}
        return merged

    def find_values(self, arguments: Mapping[str, Any]) -> Values:
        """Return the arguments of the table that a caller sent, with their values."""
        values: Values = []
        for group, named in self.by_group.items():
            sent = self._find_group(group, arguments)
            for name, value in sent.items() if isinstance(sent, Mapping) else ():
                if row := named.get(name) or self._make_further(name, group):
                    is_group = bool(self.groups) and not group
                    values += [(row, value)] if value is not None or not is_group else []
        return values

    def _make_further(self, name: str, group: str) -> Argument | None:
        # An argument that nothing describes, and that is passed on.
        location = self.passes_to
        if self.groups:
            location = {self.groups[QUERY]: QUERY, self.groups[BODY]: BODY}.get(group, "")
        is_known = name in self.by_group or name in self.url_names
        further = Argument(name, location, Parameter(name, {}, listed=False), group=group)
        return further if location and not (is_known and not group) else None

    def change(
        self, arguments: Mapping[str, Any], values: Iterable[tuple[Argument, Any]]
    ) -> dict[str, Any]:
        """Return the arguments with these values; `MISSING` takes an argument out."""
        changed = dict(arguments)
        for argument, value in values:
            members = changed
            if argument.group:
                group = self._find_group(argument.group, changed)
                members = changed[argument.group] = dict(group or {})
            members.pop(argument.name, None)
            if value is not MISSING:
                members[argument.name] = value
        return changed

    def replace_query(
        self, arguments: Mapping[str, Any], query: Mapping[str, str]
    ) -> Mapping[str, Any] | None:
        """Return the arguments with other values for parameters of the query, None for none."""
        found = [a for a in self.arguments if a.location == QUERY and a.parameter.name in query]
        changes = [(a, a.from_text(query[a.parameter.name])) for a in found]
        # Unknown arguments are passed to a query that unknown code reads.
        passed = self.passes_to == QUERY and not self.groups
        others = query.keys() - {a.parameter.name for a in found} if passed else ()
        taken = self.by_own_name.keys() | {a.parameter.name for a, _ in self.hidden}
        unknown = {name: query[name] for name in others if name not in taken}
        if not changes and not unknown:
            return None
        return {**self.change(arguments, changes), **unknown}

    def replace_control(self, arguments: Mapping[str, Any], name: str, value: Any) -> Any:
        """Return the arguments with another value for a guard's argument, by the guard's name."""
        control = next(each for each in self.controls if each.parameter.name == name)
        return self.change(arguments, [(control, value)])

    def leave_notes_out(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without those that may differ between two tries of one call."""
        notes = [each for each in self.controls if each.parameter.role == "note"]
        return self.change(arguments, [(each, MISSING) for each in notes])

    def find_control_pointer(self, name: str) -> str:
        return next((a.pointer for a in self.controls if a.parameter.name == name), "")

    def find_arguments_of_body(self, body: Any) -> dict[str, Any]:
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
        self, kwargs: Mapping[str, Any], query: Any, body: Any = MISSING
    ) -> dict[str, Any]:
        """Return the arguments of the call that would make a request."""
        found = ((each, each.find_in_request(kwargs, query, body)) for each in self.arguments)
        return self.change({}, [pair for pair in found if pair[1] is not MISSING])


def _rename_new_value(argument: Argument) -> Argument:
    """Return an argument of the body that has the name of the object's key under another name."""
    schema = explain(argument.parameter.schema, f"The new {argument.name}")
    parameter = replace(argument.parameter, schema=schema)
    return replace(argument, name=f"new_{argument.name}", parameter=parameter)


def _find_place_to_pass(method: str, unread: Collection[str], body: Body) -> str:
    """Return the location of unknown arguments; "" where they are refused."""
    if method == "GET":
        return QUERY if QUERY in unread else ""
    # A change may be to the wrong rows where a mistyped argument goes to the wrong place.
    has_members = body.kind in ("object", "none", "either")
    return BODY if unread == {BODY} and has_members and method != "DELETE" else ""


def _find_free_name(argument: Argument, taken: Container[str]) -> str:
    names = find_possible_names(argument.name, argument.location)
    return next(name for name in names if name not in taken)
