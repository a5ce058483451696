"""The rows of an earlier answer, looked for in the answer of now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from drf_mcp.json_text import JSONPointer

# The names under which rows show their primary keys, as far as no serializer says.
IDENTIFIERS = ("id", "pk", "uuid", "slug", "url")


class Row:
    """The row of a list that an item is, or stands in."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        tokens = (item["pointer"] or "").split("/")[1:]
        places = [index for index, token in enumerate(tokens) if token.isdecimal()]
        self.item = item
        # None where the item is in no list.
        self.place: int | None = places[0] if places else None
        self.list_path = [JSONPointer.unescape(token) for token in tokens[: self.place]]
        # The way from the row to the item.
        self.inner_path = [
            JSONPointer.unescape(token)
            for token in (tokens[self.place + 1 :] if self.place is not None else ())
        ]
        self.is_whole = self.place is not None and not self.inner_path
        self.value = item["value"] if self.is_whole else item.get("row")

    def get_key(self, names: Iterable[str]) -> str | None:
        if not isinstance(self.value, Mapping):
            return None
        return next((str(self.value[n]) for n in names if self.value.get(n) is not None), None)


class NewAnswer:
    """The answer that an earlier call has now."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.shown: dict[tuple[str, ...], set[str | None]] = {}

    def shows(self, row: Row) -> bool:
        # By its primary key, else by the item itself.
        key = row.get_key(IDENTIFIERS)
        path = [*row.list_path, "*", *([] if key is not None else row.inner_path)]
        place = (*path, "key" if key is not None else "value")
        if place not in self.shown:
            rows = list(find_rows(self.tree, row.list_path))
            self.shown[place] = (
                {Row({"pointer": "/0", "value": value}).get_key(IDENTIFIERS) for value in rows}
                if key is not None
                else {dump(found) for value in rows for found in find(value, row.inner_path)}
            )
        return (dump(row.item["value"]) if key is None else key) in self.shown[place]


def dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


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
