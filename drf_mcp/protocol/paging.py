"""Lists in pages (2026-07-28, server/utilities/pagination)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams

Item = TypeVar("Item")


def cut_page(
    items: Sequence[Item],
    params: Mapping[str, Any],
    size: int | None,
    key: Callable[[Item], str],
    see: Callable[[int, int | None], Sequence[Item]] | None = None,
) -> tuple[Sequence[Item], str | None]:
    """Return a page, and the cursor of the next one; None on the last.

    Args:
        items: everything that is listed.
        params: those of the request, with its ``cursor``.
        size: items of a page; None for all on one page.
        key: what identifies an item.
        see: returns those of the items from a place on that the caller sees, at most so many;
            None if the caller sees all.

    Raises:
        InvalidParams: on a cursor that no page gave.
    """
    start = 0 if params.get("cursor") is None else find_start(params["cursor"], map(key, items))
    most = None if size is None else size + 1
    seen = items[start:][:most] if see is None else see(start, most)
    if size is None or len(seen) <= size:
        return seen, None
    return seen[:size], base64.urlsafe_b64encode(key(seen[size - 1]).encode()).decode()


def find_start(cursor: Any, keys: Any) -> int:
    try:
        return list(keys).index(base64.urlsafe_b64decode(cursor).decode()) + 1
    except (TypeError, ValueError, binascii.Error):
        raise InvalidParams(_("Invalid cursor.")) from None
