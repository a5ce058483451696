"""Where a page stands in its list, read off what the view's paginator answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from drf_mcp.introspection.field_selection import is_page
from drf_mcp.outcomes import Pagination

ReplaceQuery = Callable[[Mapping[str, str]], Mapping[str, Any] | None]


def pagination_of(
    view: Any, data: Any, query_string: str, replace_query: ReplaceQuery
) -> Pagination | None:
    """Return where a page stands; None if the answer is no page of a stock shape.

    Args:
        view: the view instance that answered, with its paginator.
        data: its answer.
        query_string: the query it answered.
        replace_query: returns the call's arguments with other query parameters, None if an
            argument stands for none of them.
    """
    if not isinstance(data, Mapping) or not is_page(data):
        return None
    # Reading the paginator of a view makes one.
    paginator = getattr(view, "paginator", None)
    if paginator is None or not isinstance(data["next"], (str, type(None))):
        return None
    link, count = data["next"], data.get("count")
    changes = moved_parameters(link, query_string)
    if link is not None and not changes:
        return None
    page = getattr(paginator, "page", None)
    return Pagination(
        has_more=link is not None,
        total_count=count if isinstance(count, int) else None,
        page_size=page_size(paginator),
        page=getattr(page, "number", None),
        cursor=moving_value(paginator, changes),
        next=replace_query(changes) if changes else None,
    )


def moved_parameters(link: str | None, query_string: str) -> dict[str, str]:
    """Return the query parameters in which the next page's link differs from the call."""
    if not link:
        return {}
    written = set(query_string.split("&"))
    pairs = [pair for pair in link.partition("?")[2].split("&") if pair not in written]
    parts = [pair.partition("=") for pair in pairs]
    there = {unquote_plus(name): unquote_plus(value) for name, _, value in parts}
    # Of several, some may only be written in another way.
    here = parse_qs(query_string, keep_blank_values=True) if len(there) > 1 else {}
    return {name: value for name, value in there.items() if value not in here.get(name, ())}


def page_size(paginator: Any) -> int | None:
    """Return the rows of a full page, None if the paginator does not say."""
    page = getattr(paginator, "page", None)
    if page is not None and hasattr(page, "paginator"):
        return int(page.paginator.per_page)
    size = getattr(paginator, "limit", None) or getattr(paginator, "page_size", None)
    return size if isinstance(size, int) else None


def moving_value(paginator: Any, changes: Mapping[str, str]) -> str | None:
    """Return the value of the parameter that turns the page, None on the last one."""
    for attribute in ("cursor_query_param", "page_query_param", "offset_query_param"):
        name = getattr(paginator, attribute, "")
        if name in changes:
            return changes[name]
    return next(iter(changes.values()), None)
