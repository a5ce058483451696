"""The tools of a caller with the types of a client's code, read from their JSON Schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException
from typing_extensions import Self

from drf_mcp.envelopes import Envelope, PlainEnvelope
from drf_mcp.settings import override_language
from drf_mcp.tools.results import choose_envelope_class, find_success, make_envelope
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint

# Types inside one another; compilers give up on a few hundred brackets.
MAX_DEPTH = 20
WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class ValueType:
    """A type.

    Attributes:
        kind: ``any``, ``literal``, ``list``, ``map``, ``record``, ``union``, or a type of JSON
            Schema: ``string``, ``integer``, ``number``, ``boolean``, ``null``.
        parts: the types of a union; the type of the values of a list or map.
        literals: the values of a literal, as JSON.
        record: of an object with named members.
    """

    kind: str
    parts: tuple[ValueType, ...] = ()
    literals: tuple[str, ...] = ()
    record: Record | None = None


@dataclass(frozen=True)
class RecordMember:
    name: str
    type: ValueType
    required: bool
    description: str


@dataclass(frozen=True)
class Record:
    """An object with named members; ``is_open`` if it may have others."""

    name: str
    members: tuple[RecordMember, ...]
    is_open: bool


ANYTHING = ValueType("any")
SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
NONE = type(None)


class UniqueNames:
    """Gives names, none of them twice."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, name: str) -> str:
        free, number = name, 2
        while free in self.taken:
            free, number = f"{name}{number}", number + 1
        self.taken.add(free)
        return free


def write_pascal_case(text: str) -> str:
    words = "".join(word[:1].upper() + word[1:] for word in WORD.findall(text))
    return f"X{words}" if not words or words[0].isdigit() else words


def clean(text: str) -> str:
    """Return a description without the characters that source code may not hold."""
    printable = (each if each.isprintable() or each == "\n" else " " for each in text)
    return "".join(printable).strip()


class TypeReader:
    """Reads schemas. Objects with the same members are one record, unless it is of arguments.

    Attributes:
        found: the records, in an order in which each comes after those that it names.
    """

    def __init__(self, names: UniqueNames) -> None:
        self.names = names
        self.found: dict[Any, Record] = {}

    @property
    def records(self) -> Iterator[Record]:
        return iter(self.found.values())

    def read(self, schema: Any, name: str, depth: int = 0) -> ValueType:
        """Return the type of the values that a schema takes; ``name`` is for its records."""
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
            return ANYTHING
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        known = isinstance(choices, list) and all(isinstance(c, (str, int, NONE)) for c in choices)
        if choices and known:
            return ValueType("literal", literals=tuple(dict.fromkeys(map(json.dumps, choices))))
        types = schema.get("type") or ("object" if "properties" in schema else ())
        branches = schema.get("anyOf") or schema.get("oneOf")
        if not types and isinstance(branches, list):
            return self._unite(self.read(each, name, depth + 1) for each in branches)
        every = [types] if isinstance(types, str) else types
        return self._unite(self._read_one(each, schema, name, depth) for each in every)

    def _read_one(self, kind: Any, schema: Mapping[str, Any], name: str, depth: int) -> ValueType:
        if kind == "array":
            item = self.read(schema.get("items"), f"{name}Item", depth + 1)
            return ValueType("list", (item,))
        if kind == "object" and schema.get("properties"):
            key = self._read_members(schema, name, depth)
            if key not in self.found:
                self.found[key] = Record(self.names.take(name), *key)
            return ValueType("record", record=self.found[key])
        if kind == "object":
            values = self.read(schema.get("additionalProperties"), f"{name}Value", depth + 1)
            return ValueType("map", (values,))
        return ValueType(kind) if kind in SCALARS else ANYTHING

    def read_arguments(self, schema: Mapping[str, Any], name: str) -> Record:
        record = Record(self.names.take(name), *self._read_members(schema, name, 0))
        self.found[record.name] = record
        return record

    def _read_members(
        self, schema: Mapping[str, Any], name: str, depth: int
    ) -> tuple[tuple[RecordMember, ...], bool]:
        members = []
        for each, inner in schema.get("properties", {}).items():
            kind = self.read(inner, name + write_pascal_case(each), depth + 1)
            text = str(inner.get("description", "")) if isinstance(inner, Mapping) else ""
            is_required = each in schema.get("required", ())
            members.append(RecordMember(each, kind, is_required, clean(text)))
        others = schema.get("additionalProperties", False)
        return tuple(members), bool(others) or others == {}

    def _unite(self, types: Iterable[ValueType]) -> ValueType:
        flat = (part for each in types for part in (each.parts if each.kind == "union" else [each]))
        parts = tuple(dict.fromkeys(flat))
        if not parts or ANYTHING in parts:
            return ANYTHING
        # Null is read last.
        ordered = sorted(parts, key=lambda part: part.kind == "null")
        return ordered[0] if len(ordered) == 1 else ValueType("union", tuple(ordered))


@dataclass(frozen=True)
class ClientTool:
    """A tool in a client's code.

    Attributes:
        arguments: the record of them.
        data: the type of the data, named ``data_name``.
        envelope: the contract of its results, "" where the result is the data itself.
    """

    name: str
    description: str
    arguments: Record
    data: ValueType
    data_name: str
    envelope: str

    @classmethod
    def read(
        cls,
        reader: TypeReader,
        name: str,
        description: str,
        input_schema: Mapping[str, Any],
        data_schema: Any,
        envelope: str,
    ) -> Self:
        pascal = write_pascal_case(name)
        arguments = reader.read_arguments(input_schema, f"{pascal}Arguments")
        data_name = f"{pascal}Data"
        data = reader.read(data_schema, data_name)
        if data.record is None or data.record.name != data_name:
            data_name = reader.names.take(data_name)
        return cls(name, clean(description), arguments, data, data_name, envelope)


class ClientTools:
    """Reads tools into types.

    Args:
        reserved: names that the language's own code has.
    """

    def __init__(self, endpoint: LocalEndpoint, reserved: frozenset[str]) -> None:
        self.endpoint = endpoint
        self.capability = endpoint.make_server().tools_capability
        self.reader = TypeReader(UniqueNames(reserved))

    @override_language()
    def read_all(self, tools: Mapping[str, Tool], user: Any) -> list[ClientTool]:
        made = [self._read_tool(tool) for tool in tools.values()]
        default = make_envelope(choose_envelope_class(None, self.capability.server.envelope_class))
        for each in self._list_further(user):
            if each["name"] not in self.endpoint.registry.tools():
                facts = (each["name"], each.get("description", ""), each["inputSchema"])
                data = find_data_schema({}, default)
                made.append(ClientTool.read(self.reader, *facts, data, default.contract))
        return made

    def _list_further(self, user: Any) -> Iterator[dict[str, Any]]:
        client = InProcessClient(user, endpoint=self.endpoint)
        params: dict[str, Any] = {}
        while True:
            try:
                page = client.send("tools/list", params)["result"]
            except APIException:
                # The endpoint does not let the caller in.
                return
            yield from page["tools"]
            if "nextCursor" not in page:
                return
            params = {"cursor": page["nextCursor"]}

    def _read_tool(self, tool: Tool) -> ClientTool:
        output = tool.options.output_schema
        if not isinstance(output, Mapping):
            # Several objects are answered by a list.
            output = {} if tool.takes_items else tool.schema.output
        envelope = self.capability.get_envelope(tool)
        data = find_data_schema(output, envelope)
        facts = (tool.name, tool.description, tool.input_schema)
        return ClientTool.read(self.reader, *facts, data, envelope.contract)


def find_data_schema(output: Mapping[str, Any], envelope: Envelope) -> Any:
    if not output or not envelope.contract:
        return output if isinstance(envelope, PlainEnvelope) else None
    schema = find_success(envelope.schema(dict(output)) or {}).get("data")
    # The "ok" contract has a page's rows alone, and null of some failures.
    values = schema.get("anyOf", [schema]) if isinstance(schema, Mapping) else [None]
    properties = values[0].get("properties", {}) if isinstance(values[0], Mapping) else {}
    is_rows = envelope.contract == "ok" and properties.keys() == {"results"}
    return properties["results"] if is_rows else values[0]
