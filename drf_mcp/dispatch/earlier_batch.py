"""What a caller may still read of the answer to an earlier call about several objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from drf_mcp.dispatch.earlier_call import EarlierCall, Items
from drf_mcp.json_text import JSONPointer
from drf_mcp.tools.tool import Tool

# Items by their numbers in the archive.
Numbered: TypeAlias = dict[int, Mapping[str, Any]]


class EarlierBatch:
    """Asks of each object what a call about it alone would be asked.

    Args:
        kwargs: the path kwargs of the call; that of the objects has a list of values.
    """

    def __init__(
        self, visibility: Any, tool: Tool, kwargs: Mapping[str, Any], query_string: str
    ) -> None:
        self.visibility = visibility
        self.tool = tool
        self.kwargs = kwargs
        self.query_string = query_string
        self.many = next((name for name, value in kwargs.items() if isinstance(value, list)), "")

    def get_readable_items(self, items: Items) -> Items:
        """Return the items that the caller may still read, in their order."""
        if not self.many:
            return self.ask(self.kwargs, items)
        kept: Numbered = {}
        by_object: dict[int, Numbered] = {}
        for number, item in enumerate(items):
            path = JSONPointer(item["pointer"] or "").path
            if not path or item["value"] is None:
                # The notes beside the answer are of no object, and a miss shows nothing.
                kept[number] = item
            elif len(path) == 1 and "length" in item:
                kept[number] = self.hide_values(item, int(path[0]))
            else:
                by_object.setdefault(int(path[0]), {})[number] = item
        for place, numbered in by_object.items():
            kept |= self.ask_about(place, numbered)
        return [kept[number] for number in sorted(kept)]

    def hide_values(self, item: Mapping[str, Any], first: int) -> Mapping[str, Any]:
        # One item for several objects, each of which is a single value.
        values = [
            value if value is None or self.ask_about(place, {0: {**item, "value": value}}) else None
            for place, value in enumerate(item["value"], first)
        ]
        return {**item, "value": values}

    def ask_about(self, place: int, numbered: Numbered) -> Numbered:
        kwargs = {**self.kwargs, self.many: self.kwargs[self.many][place]}
        own = [self.get_item_of_one(item, number) for number, item in numbered.items()]
        return {
            item["number"]: {
                **numbered[item["number"]],
                **{name: item[name] for name in ("value", "length") if name in item},
            }
            for item in self.ask(kwargs, own)
        }

    def get_item_of_one(self, item: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        # In the answer about one object nothing is in the row of the object.
        pointer = JSONPointer.from_path(JSONPointer(item["pointer"]).path[1:])
        members = {name: value for name, value in item.items() if name != "row"}
        return {**members, "pointer": pointer, "number": number}

    def ask(self, kwargs: Mapping[str, Any], items: Items) -> Items:
        return EarlierCall.get_readable_items(
            self.visibility, self.tool, kwargs, self.query_string, items
        )
