"""What a renderer wrote, beside the data that a view gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList

from drf_mcp.dispatch.shown_rows import find_return_lists

# Mappings inside one another that are followed.
DEEPEST = 3


def keep_serializers(data: Any, rendered: Any, depth: int = 0) -> Any:
    """Return what was rendered, in which the values that serializers wrote name them again.

    The serializers know of which objects the rows are.
    """
    if isinstance(data, ReturnDict) and isinstance(rendered, dict):
        return ReturnDict(rendered, serializer=data.serializer)
    if isinstance(data, ReturnList) and isinstance(rendered, list) and len(rendered) == len(data):
        return ReturnList(rendered, serializer=data.serializer)
    if depth < DEEPEST and has_same_members(data, rendered):
        return {
            name: keep_serializers(value, rendered[name], depth + 1)
            for name, value in pair_members(data, rendered)
        }
    return rendered if depth else find_wrapped(data, rendered)


def find_wrapped(data: Any, rendered: Any) -> Any:
    """Return what was rendered around the rows of a view's data.

    They are known where one list alone has as many items.
    """
    around = {"": rendered}
    for _pointer, each in find_return_lists(data):
        holders, places = [around], []
        for holder in holders:
            for name, value in holder.items():
                if isinstance(value, dict):
                    holders.append(value)
                elif isinstance(value, list) and len(value) == len(each):
                    places.append((holder, name))
        if len(places) == 1:
            holder, name = places[0]
            holder[name] = ReturnList(holder[name], serializer=each.serializer)
    return around[""]


def find_rendered(part: Any, data: Any, rendered: Any, depth: int = 0) -> Any:
    """Return what was rendered for a part of a view's data; the part itself where that is unknown.

    Args:
        part: the very object.
    """
    if part is data:
        return rendered
    if depth < DEEPEST and has_same_members(data, rendered):
        for name, value in pair_members(data, rendered):
            found = find_rendered(part, value, rendered[name], depth + 1)
            if found is not part:
                return found
    return part


def has_same_members(data: Any, rendered: Any) -> bool:
    return isinstance(data, Mapping) and isinstance(rendered, dict) and len(data) == len(rendered)


def pair_members(data: Mapping[Any, Any], rendered: dict[str, Any]) -> list[tuple[str, Any]]:
    # The names that were rendered, each with the value of the data. A renderer may rename keys, as
    # that of camel case does: then their order tells.
    members = zip(rendered, data.values(), strict=True)
    return [(name, data.get(name, value)) for name, value in members]
