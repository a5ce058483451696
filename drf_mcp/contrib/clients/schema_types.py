"""The types of a client's code, read from the JSON Schemas of tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import Self

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
SCALARS = {each: ValueType(each) for each in ("string", "integer", "number", "boolean", "null")}


class UniqueNames:
    """Names of which none is given twice."""

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
        records: in an order in which each comes after those that it names.
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
        if isinstance(choices, list) and choices and all(map(self._is_literal, choices)):
            return ValueType("literal", literals=tuple(dict.fromkeys(map(json.dumps, choices))))
        types = schema.get("type") or ("object" if "properties" in schema else ())
        branches = schema.get("anyOf") or schema.get("oneOf")
        if not types and isinstance(branches, list):
            return self._unite(self.read(each, name, depth + 1) for each in branches)
        every = [types] if isinstance(types, str) else types
        return self._unite(self._read_one(each, schema, name, depth) for each in every)

    def _is_literal(self, value: Any) -> bool:
        return value is None or isinstance(value, (str, int))

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
        return SCALARS.get(kind, ANYTHING)

    def read_arguments(self, schema: Mapping[str, Any], name: str) -> Record:
        members, is_open = self._read_members(schema, name, 0)
        record = Record(self.names.take(name), members, is_open)
        self.found[record.name] = record
        return record

    def _read_members(
        self, schema: Mapping[str, Any], name: str, depth: int
    ) -> tuple[tuple[RecordMember, ...], bool]:
        required = schema.get("required", ())
        members = tuple(
            RecordMember(
                name=each,
                type=self.read(inner, name + write_pascal_case(each), depth + 1),
                required=each in required,
                description=clean(self._get_description(inner)),
            )
            for each, inner in schema.get("properties", {}).items()
        )
        others = schema.get("additionalProperties", False)
        return members, bool(others) or others == {}

    def _get_description(self, schema: Any) -> str:
        return str(schema.get("description", "")) if isinstance(schema, Mapping) else ""

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
