"""The argument ``fields``: which paths an answer has, and an answer cut to some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.option_types.spelling import find_nearest

# The selected members by name, each with what is selected inside; None for all of it.
FieldTree: TypeAlias = "dict[str, FieldTree | None]"
Schema = Mapping[str, Any]
# The members of pages that a project's paginator writes.
PAGE_MEMBERS = frozenset({"results", "links", "_links", "count", "total", "meta", "pagination"})


class SelectableFields:
    def __init__(self, output_schema: Schema) -> None:
        members = output_schema.get("properties", {})
        rows = members["results"] if is_page(members) else output_schema
        self.are_many = "items" in rows
        self.row = find_row(rows)

    def find_paths(self) -> list[str]:
        return list(_walk_members(self.row, ""))

    def names_all(self) -> bool:
        return is_closed(self.row)

    def find_unknown(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield the paths that lead to no field. An open schema may have any field."""
        return (path for path in paths if not self._leads_somewhere(path))

    def _leads_somewhere(self, path: str) -> bool:
        schema = self.row
        for name in path.split("."):
            schema = find_row(schema)
            members = schema.get("properties", {})
            if name in members:
                schema = members[name]
                continue
            if not name or not may_have_others(schema):
                return False
            schema = {}
        return True


def find_row(schema: Schema) -> Schema:
    while "items" in schema:
        schema = schema["items"]
    return schema


def may_have_others(schema: Schema) -> bool:
    if "properties" in schema:
        return schema.get("additionalProperties") is True
    types = schema.get("type", "object")
    return "object" in types or "array" in types


def _walk_members(schema: Schema, prefix: str) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        # A name with a dot or comma would be read as a path, or as several names.
        if name == name.strip() != "" and "." not in name and "," not in name:
            yield f"{prefix}{name}"
            yield from _walk_members(find_row(member), f"{prefix}{name}.")


def is_closed(schema: Schema) -> bool:
    members = schema.get("properties", {}).values()
    closed = schema.get("additionalProperties") is not True
    return closed and all(is_closed(find_row(member)) for member in members)


class Omission:
    """Leaves fields out wherever they stand, whatever case a renderer writes their names in.

    Args:
        paths: names of fields, with dots for fields within others.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.paths = [_fold_names(path.split(".")) for path in paths]

    def covers(self, names: Sequence[str]) -> bool:
        """Return whether a path, from the outermost field to the last, leads to such a field."""
        folded = _fold_names(names)
        return any(folded[-len(path) :] == path for path in self.paths)

    def leave_out(self, value: Any, names: tuple[str, ...] = ()) -> Any:
        """Return a JSON value without the fields."""
        if isinstance(value, Mapping):
            inside = {name: (*names, str(name)) for name in value}
            return {
                name: self.leave_out(value[name], path)
                for name, path in inside.items()
                if not self.covers(path)
            }
        is_array = isinstance(value, (list, tuple))
        return [self.leave_out(item, names) for item in value] if is_array else value

    def leave_out_of_schema(self, schema: Any, names: tuple[str, ...] = ()) -> Any:
        """Return the schema of an answer without the fields."""
        left, members = dict(schema), schema.get("properties", {})
        if members:
            kept = {n: m for n, m in members.items() if not self.covers((*names, n))}
            left["properties"] = {
                n: self.leave_out_of_schema(member, (*names, n)) for n, member in kept.items()
            }
        if "required" in schema:
            left["required"] = [n for n in schema["required"] if not self.covers((*names, n))]
        if "items" in schema:
            left["items"] = self.leave_out_of_schema(schema["items"], names)
        return left


def _fold_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.replace("_", "").replace("-", "").lower() for name in names)


class FieldSelection:
    # Of paths as `SelectableFields.find_paths` returns them; without a path all is selected.

    def __init__(self, paths: Iterable[str]) -> None:
        self.tree: FieldTree = {}
        for path in paths:
            *around, last = path.split(".")
            # A member that is selected as a whole stays whole, also where a part is selected too.
            inside: FieldTree | None = self.tree
            for name in around:
                inside = None if inside is None else inside.setdefault(name, {})
            if inside is not None:
                inside[last] = None

    def select(self, data: Any) -> Any:
        if isinstance(data, Mapping) and is_page(data):
            return {**data, "results": self._pick(data["results"], self.tree or None)}
        return self._pick(data, self.tree or None)

    def find_unanswered(self, data: Any) -> list[str]:
        """Return the paths that no row of an answer has; none where there is no row."""
        rows = data["results"] if isinstance(data, Mapping) and is_page(data) else data
        return [".".join(names) for names in _walk_tree(self.tree) if not _has_member(rows, names)]

    @classmethod
    def _pick(cls, value: Any, tree: FieldTree | None) -> Any:
        if tree is None:
            return value
        if isinstance(value, Mapping):
            return {
                name: cls._pick(member, tree[str(name)])
                for name, member in value.items()
                if str(name) in tree
            }
        if isinstance(value, (list, tuple)):
            picked = [cls._pick(item, tree) for item in value]
            # The archive keeps the keys of the objects that the rows were made of.
            if isinstance(value, ReturnList):
                return ReturnList(picked, serializer=value.serializer)
            return picked
        return value


def _walk_tree(tree: FieldTree) -> Iterator[tuple[str, ...]]:
    for name, inside in tree.items():
        if inside is None:
            yield (name,)
        else:
            yield from ((name, *rest) for rest in _walk_tree(inside))


def _has_member(value: Any, names: Sequence[str]) -> bool:
    # An empty list or null does not show which members there are.
    if not names or value is None:
        return True
    if isinstance(value, (list, tuple)):
        return not value or any(_has_member(item, names) for item in value)
    if not isinstance(value, Mapping):
        return False
    return names[0] in value and _has_member(value[names[0]], names[1:])


def infer_schema(value: Any, deepest: int = 4) -> Schema:
    """Return a schema with the names of the members of an answer, or of its first row."""
    if isinstance(value, (list, tuple)):
        return {"items": infer_schema(value[0], deepest) if value else {}}
    if not isinstance(value, Mapping) or not deepest:
        return {}
    members = {str(name): infer_schema(member, deepest - 1) for name, member in value.items()}
    return {"properties": members}


def is_page(members: Collection[str]) -> bool:
    # REST framework's paginators write both; an object alone may have "results" of its own.
    is_own = len(members) > 1 and PAGE_MEMBERS.issuperset(members)
    return "results" in members and ("next" in members or is_own)


def find_nearest_path(path: str, known: Collection[str]) -> str | None:
    # Models also write paths in the envelope, such as data.results.id.
    end = path.rpartition(".")[2]
    matches = (find_nearest(text, known) for text in (path, end))
    return next((found[0] for found in matches if found), None)
