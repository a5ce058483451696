"""JSON pointers of the arguments that a view's errors are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from drf_mcp.arguments.call import BODY, QUERY, Argument, Call
from drf_mcp.arguments.errors import (
    MASK,
    MORE,
    SHOWN_VALUES,
    Shortener,
    find_secret_members,
    mask_pair,
    mask_text,
)
from drf_mcp.arguments.table import ArgumentTable
from drf_mcp.introspection.field_schema import FILES, FieldSchema
from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.text import describe_accepted
from drf_mcp.introspection.types import ANY
from drf_mcp.json_text import OBJECTS, JSONPointer, walk_objects
from drf_mcp.outcomes import MISSING

NUMBER = re.compile(r"\s*-?\d+(\.\d*)?\s*")


class ArgumentPointers:
    def __init__(self, arguments: ArgumentTable, call: Call) -> None:
        self.arguments = arguments
        self.call = call

    def knows(self, name: str | int) -> bool:
        if isinstance(name, int):
            return bool(self._find_body_pointer(name))
        name = self._find_client_path((name,))[0]
        return name in self.arguments.by_own_name or self.passes(name)

    def passes(self, name: str | int) -> bool:
        passes_to, sent = self.arguments.passes_to, self.call.arguments
        return bool(passes_to) and not self.arguments.groups and name in sent

    def sends_list(self) -> bool:
        whole = self.arguments.whole_body
        return whole is not None and isinstance(whole.read(self.received(whole.pointer)), list)

    def _find_body_pointer(self, step: str | int | None = None) -> str:
        """Return the pointer of the argument that is the whole body, "" where there is none.

        Args:
            step: the first step of a path into the body; an integer is the index of an item.
        """
        body = [a for a in self.arguments.arguments if a.location == BODY]
        if group := self.arguments.groups.get(BODY):
            return f"/{group}" if body and step is not None else self._find_only_pointer(body)
        whole = self.arguments.whole_body
        if whole is not None and isinstance(step, int):
            return whole.pointer
        return self._find_only_pointer(body)

    def _find_only_pointer(self, body: Sequence[Argument]) -> str:
        listed = [a for a in body if a.listed]
        return listed[0].pointer if len(listed) == 1 and listed[0].whole else ""

    def _find_client_path(self, path: Sequence[str | int]) -> Sequence[str | int]:
        # The view's names become the clients' where a parser renames keys.
        keys = self.arguments.keys
        if not keys:
            return path
        place = tuple(ANY if isinstance(part, int) else part for part in path)
        for length in range(len(path), 0, -1):
            if place[:length] in keys:
                pairs = zip(path, keys[place[:length]], strict=False)
                renamed = [own if isinstance(own, int) else key for own, key in pairs]
                return (*renamed, *path[length:])
        return path

    def pointer(self, path: Sequence[str | int]) -> str:
        """Return the pointer of the argument at a path, "" for the whole request.

        Args:
            path: the view's names, such as ``("lines", 0, "quantity")``.
        """
        if not path:
            return self._find_body_pointer()
        path = self._find_client_path(path)
        if argument := self.arguments.by_own_name.get(path[0]):
            return argument.pointer + JSONPointer.from_path(path[1:])
        if self.passes(path[0]):
            return JSONPointer.from_path(path)
        if part := self._find_part(str(path[0])):
            return part
        body = self._find_body_pointer(path[0])
        whole = body + JSONPointer.from_path(path) if body else ""
        if whole and self.received(whole) is not MISSING:
            return whole
        return self._find_inside(JSONPointer.from_path(path)) or whole

    def _find_inside(self, pointer: str) -> str:
        # A serializer may have been given a part of the body: an object in the arguments.
        inside = [
            JSONPointer.from_path(place) + pointer
            for place, value in walk_objects(self.call.arguments)
            if place and JSONPointer(pointer).find_in(value, MISSING) is not MISSING
        ]
        return inside[0] if len(inside) == 1 else ""

    def _find_part(self, name: str) -> str:
        """Return the pointer of the parameter that a filter refused, "" for none."""
        # A filter with several parameters reports its errors under one name.
        sent = [
            (argument, part, value)
            for argument in self.arguments.arguments
            if argument.location == QUERY and (part := argument.parameter.part) is not None
            if part.filter == name
            if (value := self.received(argument.pointer)) not in (MISSING, None, "")
        ]
        refused = [each for each in sent if each[1].read(each[2]) is None]
        return next((argument.pointer for argument, _, _ in (*refused, *sent)), "")

    def replace_query(self, query: Mapping[str, str]) -> Mapping[str, Any] | None:
        return self.arguments.replace_query(self.call.arguments, query)

    def received(self, pointer: str) -> Any:
        value = JSONPointer(pointer).find_in(self.call.arguments, MISSING)
        if value is MISSING or sounds_secret(pointer):
            return value if value is MISSING else MASK
        return self.mask(Shortener(SHOWN_VALUES, silent=True).shorten(value), pointer)

    def mask(self, value: Any, pointer: str, schema: Any = None) -> Any:
        """Return a value without secrets.

        Args:
            schema: the schema of the value, to mask unknown members too: one may be a secret with a
                mistyped name.
        """
        if secret := self.arguments.write_only:
            place = "/".join(token for token in pointer.split("/") if not token.isdecimal())
            # A client may send an object with secrets in it as a text.
            if place in secret or (
                isinstance(value, str) and any(each.startswith(f"{place}/") for each in secret)
            ):
                return MASK
        if isinstance(value, str):
            return mask_text(value)
        schema = schema if isinstance(schema, Mapping) else {}
        if isinstance(value, list):
            items = schema.get("items")
            shown = enumerate(mask_pair(value))
            return [self.mask(item, f"{pointer}/{i}", items) for i, item in shown]
        if not isinstance(value, OBJECTS):
            return value
        masked, known, hidden = {}, schema.get("properties"), find_secret_members(value)
        for name, member in value.items():
            place = JSONPointer.from_parent(pointer, str(name))
            is_shown = (known is None or name in known or name == MORE) and name not in hidden
            masked[name] = self.mask(member, place, (known or {}).get(name)) if is_shown else MASK
        return masked

    def accepted(self, pointer: str) -> str | None:
        return describe_accepted(_find_schema(self.arguments, pointer), self.received(pointer))

    def misfits(self, pointer: str) -> bool:
        value = self.received(pointer)
        if not isinstance(value, str) or value == MASK:
            return False
        schema = _find_schema(self.arguments, pointer)
        if schema.get("type") in ("integer", "number"):
            return NUMBER.fullmatch(value) is None
        # A pattern of ECMAScript may be none of Python.
        with suppress(re.error):
            return "pattern" in schema and re.search(schema["pattern"], value) is None
        return False

    def optional(self, pointer: str) -> bool:
        parent, _, token = pointer.rpartition("/")
        # Where a list of objects may be sent as well, no field of one object is required.
        if not parent and self.arguments.whole_body is not None:
            return False
        name, schema = JSONPointer.unescape(token), _find_schema(self.arguments, parent)
        return name in schema.get("properties", {}) and name not in schema.get("required", ())

    def is_file(self, pointer: str) -> bool:
        return FieldSchema.of(_find_schema(self.arguments, pointer)).kind in FILES


def _find_schema(arguments: ArgumentTable, pointer: str) -> dict[str, Any]:
    schema: dict[str, Any] = arguments.schema
    for token in JSONPointer(pointer).path:
        child = schema.get("properties", {}).get(token)
        if child is None and token.isdecimal():
            child = schema.get("items")
        if not isinstance(child, dict):
            return {}
        schema = child
    return schema
