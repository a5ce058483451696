"""What a server offers: its capabilities, with their methods and their lists in pages."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams
from drf_mcp.protocol.eras import Era

Item = TypeVar("Item")


class Capability:
    """One capability of a server: its methods, and their place in the protocol.

    A subclass listed in `Server.capability_classes` is advertised and served in each revision
    that `result_members` names. A handler takes a `RequestContext`, makes sure that the caller
    is authenticated, and returns the members of the result.

    Attributes:
        name: the member of the capabilities object that advertises the capability.
        is_extension: whether the name is that of an extension, advertised among the others.
        annotates: whether it adds to what other capabilities advertise, and is asked after them.
        methods: the name of the handler by MCP method.
        name_parameters: the member of ``params`` that the Mcp-Name header repeats, by method.
        result_members: the members of each result by revision and method. A method without an
            entry does not exist in the revision. A result with ``ttlMs`` may be cached.
    """

    name: ClassVar[str]
    is_extension: ClassVar[bool] = False
    annotates: ClassVar[bool] = False
    methods: ClassVar[Mapping[str, str]] = {}
    name_parameters: ClassVar[Mapping[str, str]] = {}
    result_members: ClassVar[Mapping[str, Mapping[str, frozenset[str]]]] = {}

    def __init__(self, server: Any) -> None:
        self.server = server

    @property
    def is_on(self) -> bool:
        """Whether the server offers the capability at all."""
        return True

    def get_capability_object(self, era: Era) -> Mapping[str, Any] | None:
        """Return the options that are advertised to clients; None to advertise nothing."""
        return {} if self.is_on and era.revision in self.result_members else None

    def advertise(self, era: Era, capabilities: dict[str, Any]) -> None:
        """Add the capability to the capabilities object."""
        options = self.get_capability_object(era)
        if options is not None:
            place = capabilities.setdefault("extensions", {}) if self.is_extension else capabilities
            place[self.name] = options

    def get_instructions(self, context: Any) -> str:
        """Return a text about the capability for the instructions of the server, or "".

        Args:
            context: the `RequestContext` of the message.
        """
        return ""

    def get_result_members(self, method: str, era: Era) -> frozenset[str] | None:
        """Return the members of a method's result; None where there is no such method."""
        if method not in self.methods or not self.is_on:
            return None
        return self.result_members.get(era.revision, {}).get(method)


@functools.lru_cache(maxsize=16)
def join_name_parameters(capability_classes: tuple[type[Capability], ...]) -> Mapping[str, str]:
    return {k: v for each in capability_classes for k, v in each.name_parameters.items()}


def cut_page(
    items: Sequence[Item],
    params: Mapping[str, Any],
    size: int | None,
    key: Callable[[Item], str],
    see: Callable[[int, int | None], Sequence[Item]] | None = None,
) -> tuple[Sequence[Item], str | None]:
    """Return a page of a list, and the cursor of the next page (server/utilities/pagination).

    The cursor is None on the last page.

    Args:
        items: everything that is listed.
        params: the params of the request, with its ``cursor``.
        size: the number of items of a page; None for one page.
        key: returns what identifies an item.
        see: takes the index of the first item and the largest number of items, and returns the
            items that the caller sees; None if the caller sees all.

    Raises:
        InvalidParams: on a cursor that no page gave.
    """
    start = 0 if params.get("cursor") is None else _find_start(params["cursor"], map(key, items))
    most = None if size is None else size + 1
    seen = items[start:][:most] if see is None else see(start, most)
    if size is None or len(seen) <= size:
        return seen, None
    return seen[:size], base64.urlsafe_b64encode(key(seen[size - 1]).encode()).decode()


def _find_start(cursor: Any, keys: Iterable[str]) -> int:
    try:
        return list(keys).index(base64.urlsafe_b64decode(cursor).decode()) + 1
    except (TypeError, ValueError, binascii.Error):
        raise InvalidParams(_("Invalid cursor.")) from None
