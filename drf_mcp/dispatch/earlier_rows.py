"""The rows of an earlier answer, looked for in the answer of now."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from drf_mcp.json_text import JSONPointer

# The names under which rows show their primary keys, as far as no serializer says.
IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")
ENCODER = json.JSONEncoder(sort_keys=True)


class Row:
    """The row of a list that an item is, or stands in."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        tokens = (item["pointer"] or "").split("/")[1:]
        places = [index for index, token in enumerate(tokens) if token.isdecimal()]
        # None where the item is in no list.
        self.place: int | None = places[0] if places else None
        self.place_in_list = int(tokens[self.place]) if self.place is not None else 0
        self.list_path = tuple(map(JSONPointer.unescape, tokens[: self.place]))
        # The way from the row to the item.
        inner = tokens[self.place + 1 :] if self.place is not None else ()
        self.inner_path = tuple(map(JSONPointer.unescape, inner))
        self.is_whole = self.place is not None and not inner
        self.part = item["value"]
        self.value = self.part if self.is_whole else item.get("row")

    def with_part(self, part: Any) -> Row:
        """Return the same for one of the values that an item holds."""
        row = copy.copy(self)
        row.part = part
        row.value = part if self.is_whole else self.value
        return row

    def get_key(self, names: Iterable[str]) -> str | None:
        if not isinstance(self.value, Mapping):
            return None
        return next((str(self.value[n]) for n in names if self.value.get(n) is not None), None)


class NewAnswer:
    """The answer that an earlier call has now."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.shown: dict[Any, set[Any]] = {}

    def shows(self, row: Row) -> bool:
        # By its primary key, else by the item itself.
        key = row.get_key(IDENTIFIERS)
        if key is not None:
            return key in self.get_shown(row.list_path, None)
        return identify(row.part) in self.get_shown(row.list_path, row.inner_path)

    def get_shown_values(self, row: Row) -> Sequence[Any]:
        # Of the values of a list that are one item. Most often nothing has changed, and two texts
        # are compared sooner than thousands of values.
        if row.is_whole:
            rows = list(islice(find_rows(self.tree, row.list_path), row.place_in_list, None))
            if ENCODER.encode(rows[: len(row.part)]) == ENCODER.encode(row.part):
                return row.part  # type: ignore[no-any-return]
        elif row.get_key(IDENTIFIERS) is not None:
            return row.part if self.shows(row) else []
        shown = self.get_shown(row.list_path, row.inner_path)
        return [value for value in row.part if identify(value) in shown]

    def get_shown(self, *place: Any) -> set[Any]:
        if place not in self.shown:
            self.shown[place] = set(self.find_identities(*place))
        return self.shown[place]

    def find_identities(
        self, list_path: Iterable[str], inner_path: Iterable[str] | None
    ) -> Iterator[Any]:
        whole = Row({"pointer": "/0", "value": None})
        for value in find_rows(self.tree, list_path):
            if inner_path is None:
                yield whole.with_part(value).get_key(IDENTIFIERS)
            else:
                yield from map(identify, find(value, inner_path))


def identify(value: Any) -> Any:
    # Only equal values of one type are the same JSON.
    return ENCODER.encode(value) if isinstance(value, (dict, list)) else (type(value), value)


def find(tree: Any, path: Iterable[str]) -> Iterator[Any]:
    for name in path:
        if isinstance(tree, list):
            tree = dict(enumerate(tree)).get(int(name) if name.isdecimal() else -1)
        else:
            tree = tree.get(name) if isinstance(tree, Mapping) else None
        if tree is None:
            return
    yield tree


def find_rows(tree: Any, path: Iterable[str]) -> Iterator[Any]:
    # Of a list, or of an object with numbers for names.
    for found in find(tree, path):
        if isinstance(found, Mapping):
            yield from found.values()
        elif isinstance(found, list):
            yield from found
