"""The position of a page in its list, read from the paginator's own answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from django.utils.translation import gettext as _

from drf_mcp.codes import PLAIN_WARNINGS
from drf_mcp.outcomes import Pagination, Warning

PAGE_SIZE_LIMITED = "PAGE_SIZE_LIMITED"

ReplaceQuery = Callable[[Mapping[str, str]], "Mapping[str, Any] | None"]
"""Returns the call's arguments with other query parameters, None if one has no argument."""


class PageReader:
    """Reads the position of a page of one of REST framework's shapes."""

    def __init__(self, paginator: Any, data: Mapping[str, Any], query_string: str) -> None:
        self.paginator = paginator
        self.data = data
        self.query_string = query_string

    def read(self, replace_query: ReplaceQuery) -> Pagination | None:
        # None where the link to the next page leads nowhere that is known.
        link, count = self.data["next"], self.data.get("count")
        if not isinstance(link, (str, type(None))):
            return None
        changes = self.find_changes(link) if link else {}
        if link is not None and not changes:
            return None
        return Pagination(
            has_more=link is not None,
            total_count=count if isinstance(count, int) else None,
            page_size=self.get_page_size(),
            page=getattr(getattr(self.paginator, "page", None), "number", None),
            cursor=self.get_cursor(changes),
            next=replace_query(changes) if changes else None,
        )

    def find_changes(self, link: str) -> dict[str, str]:
        known = set(self.query_string.split("&"))
        pairs = [pair for pair in link.partition("?")[2].split("&") if pair not in known]
        parts = [pair.partition("=") for pair in pairs]
        there = {name: value for name, _, value in parts}
        if "%" in link or "+" in link:
            there = {unquote_plus(name): unquote_plus(value) for name, value in there.items()}
        # Of several, some may only be encoded in another way.
        here = parse_qs(self.query_string, keep_blank_values=True) if len(there) > 1 else {}
        return {name: value for name, value in there.items() if value not in here.get(name, ())}

    def find_warnings(self, page: Pagination) -> Iterator[Warning]:
        """Yield the warning of a page that has fewer rows than were asked for."""
        paginator = self.paginator
        name = getattr(paginator, "page_size_query_param", None)
        name = name or getattr(paginator, "limit_query_param", None)
        if not page.has_more or not name or name not in self.query_string:
            return
        pairs = [pair.partition("=") for pair in self.query_string.split("&")]
        asked = [value for parameter, _equals, value in pairs if parameter == name]
        if page.page_size and asked and asked[-1].isdecimal() and int(asked[-1]) > page.page_size:
            facts = {"name": name, "count": page.page_size, "asked": asked[-1]}
            text = _("%(name)s is at most %(count)d, not %(asked)s: read on with 'next'.")
            yield Warning(PAGE_SIZE_LIMITED, text % facts, PLAIN_WARNINGS[PAGE_SIZE_LIMITED])

    def get_page_size(self) -> int | None:
        page = getattr(self.paginator, "page", None)
        if page is not None and hasattr(page, "paginator"):
            return int(page.paginator.per_page)
        size = getattr(self.paginator, "limit", None) or getattr(self.paginator, "page_size", None)
        return size if isinstance(size, int) else None

    def get_cursor(self, changes: Mapping[str, str]) -> str | None:
        for attribute in ("cursor_query_param", "page_query_param", "offset_query_param"):
            name = getattr(self.paginator, attribute, "")
            if name in changes:
                return changes[name]
        return next(iter(changes.values()), None)
