"""The position of a page in its list, and the arguments of the next page.

The paginator says what comes next, whatever shape it gives the page; where a view paginates without
one, its answer has to have a link to another page of the same list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qs, parse_qsl, unquote_plus, urlencode, urlsplit

from drf_mcp.codes import PLAIN_WARNINGS
from drf_mcp.dispatch.errors import ArgumentLocator, ErrorMapper
from drf_mcp.exceptions import attempt
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import MISSING, Pagination, Warning

PAGE_SIZE_LIMITED, MORE_ROWS = "PAGE_SIZE_LIMITED", "MORE_ROWS"
STOCK = frozenset({"next", "previous", "results"})
# Attributes of paginators: the parameters that choose a page, and that choose its size.
PLACES = ("cursor_query_param", "page_query_param", "offset_query_param")
SIZES = ("page_size_query_param", "limit_query_param")
# Members of an answer around its links, such as HAL's and JSON:API's.
AROUND = ("links", "_links", "meta", "pagination", "paging", "page", "page_info")
NEXT = ("next", "next_link", "next_url", "next_page_url", "nextLink")
# Members that have a value for a parameter.
VALUES = {
    **dict.fromkeys(("next_page", "nextPage"), "page"),
    **dict.fromkeys(("next_cursor", "nextCursor"), "cursor"),
    **dict.fromkeys(("next_offset", "nextOffset"), "offset"),
    "next_page_token": "page_token",
    "nextPageToken": "pageToken",
}
NUMBERS = ("page", "current_page", "currentPage", "page_number", "number")
LAST = ("pages", "total_pages", "totalPages", "num_pages", "page_count", "last_page")
MORE = ("has_next", "has_more", "hasNext", "hasMore")
COUNTS = ("count", "total", "total_count", "totalCount", "total_items", "totalElements")
COUNT_HEADERS = ("X-Total-Count", "X-Total", "Total-Count", "X-Count", "X-WP-Total")
# One link of a Link header (RFC 8288).
LINK = re.compile(r"<([^>]*)>([^<]*)")
NEXT_RELATION = re.compile(r"""\brel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)""", re.I)
UNREACHED = "More rows follow, and no argument leads to them. Filter for what you need."


@dataclass
class ListedPage:
    """A page of a list, as a view answers it.

    Attributes:
        paginator: the paginator of the view, None where the view has none.
        is_stock: True for an answer with the members of REST framework's paginators.
    """

    data: Any
    headers: Mapping[str, str]
    path: str
    query_string: str
    paginator: Any
    make_mapper: Callable[[], ErrorMapper]

    @property
    def arguments(self) -> ArgumentLocator:
        return self.make_mapper().arguments

    @property
    def is_stock(self) -> bool:
        return isinstance(self.data, OBJECTS) and "results" in self.data and "next" in self.data

    def find_next(self) -> Any:
        """Return the link to the next page, None for the last page, `MISSING` if neither is known.

        A paginator's own link may be a number or a cursor.
        """
        if self.is_stock:
            link = self.data["next"]
            if isinstance(link, str) and ("?" in link or "/" in link):
                return link
            if link is None and (self.paginator is not None or self.data.keys() >= STOCK):
                return None
        ask = getattr(self.paginator, "get_next_link", None)
        # A paginator that was not used has neither a page nor a request.
        link = MISSING if ask is None else attempt(ask, MISSING)
        if link is MISSING:
            link = self._find_shown_link()
        return self._find_shown_number() if link is MISSING else link

    def _find_shown_link(self) -> Any:
        named = LINK.findall(self.headers.get("Link", ""))
        links = [link for link, relation in named if NEXT_RELATION.search(relation)]
        for link in (*links, *_find_links(self.data)):
            parts = _split_link(link)
            is_same = not parts.path or unquote_plus(parts.path) == self.path
            if is_same and parts.query and find_changes(link, self.query_string):
                return link
        return MISSING

    def _find_shown_number(self) -> Any:
        # As a link, where the tool has the parameter that the answer seems to speak of.
        for parameter, value in _find_page_numbers(self.data):
            if value is None:
                return None
            if self.arguments.knows(parameter):
                return f"?{urlencode({parameter: value})}"
        return MISSING

    def find_changes(self, link: Any) -> dict[str, str]:
        """Return the query parameters that the link to the next page changes."""
        url = _read_link(link)
        if "?" in url:
            return find_changes(url, self.query_string)
        names = [getattr(self.paginator, name, None) for name in PLACES]
        name = next(filter(None, names), None)
        is_value = isinstance(link, (int, str)) and not isinstance(link, bool)
        if name is None or not is_value or "/" in str(link):
            return {}
        return {name: str(link)}

    def find_count(self) -> int | None:
        """Return the rows of all pages, as far as the answer says it."""
        if self.is_stock:
            return _as_number(self.data.get("count"))
        members = [each.get(name) for each in _find_page_members(self.data) for name in COUNTS]
        texts = [self.headers.get(name, "") for name in COUNT_HEADERS]
        numbers = [*map(_as_number, members), *(int(text) for text in texts if text.isdecimal())]
        shown = [number for number in numbers if number is not None]
        if not shown or self.paginator is None:
            return next(iter(shown), None)
        pages = getattr(getattr(self.paginator, "page", None), "paginator", self.paginator)
        counted = attempt(lambda: _as_number(pages.count), None)
        return counted if counted in shown else None

    def find_size(self) -> int | None:
        pages = getattr(getattr(self.paginator, "page", None), "paginator", None)
        sizes = [getattr(pages, "per_page", None)]
        sizes += [getattr(self.paginator, name, None) for name in ("limit", "page_size")]
        return _as_number(next(filter(None, sizes), None))

    def says_more(self) -> bool:
        """Return whether the answer says that more rows follow, without a link to them."""
        members = _find_page_members(self.data) if _has_rows(self.data) else []
        return any(each.get(name) is True for each in members for name in MORE) or any(
            value is not None for _parameter, value in _find_page_numbers(self.data)
        )


def read_page(page: ListedPage) -> tuple[Pagination | None, tuple[Warning, ...]]:
    """Return the position of a page, and a warning where rows may be missed."""
    link = page.find_next()
    if link is MISSING:
        if not page.says_more():
            return None, ()
        return Pagination(has_more=True, own=True), (_warn(MORE_ROWS, UNREACHED),)
    changes = page.find_changes(link)
    # A single parameter that changes is the cursor, whatever its name.
    places = [getattr(page.paginator, each, "") for each in PLACES] if len(changes) > 1 else ()
    name = next((each for each in (*places, *changes) if each in changes), "")
    following = None
    if name and page.arguments.replace_query({name: changes[name]}):
        following = page.arguments.replace_query(changes)
    # Links that the arguments do not follow stay in the data.
    is_followed = page.is_stock and (page.paginator is not None or page.data.keys() >= STOCK)
    pagination = Pagination(
        has_more=link is not None,
        total_count=page.find_count(),
        page_size=page.find_size(),
        page=_as_number(getattr(getattr(page.paginator, "page", None), "number", None)),
        cursor=changes.get(name),
        next=following,
        own=not is_followed or (link is not None and following is None),
    )
    if link is None:
        return pagination, ()
    if following is None:
        return pagination, (_warn(MORE_ROWS, UNREACHED),)
    return pagination, tuple(_warn_of_size(page, pagination))


def _warn_of_size(page: ListedPage, pagination: Pagination) -> Iterator[Warning]:
    name = next(filter(None, (getattr(page.paginator, each, None) for each in SIZES)), "")
    asked = parse_qs(page.query_string).get(name, [""])[-1]
    size = pagination.page_size
    if size and asked.isdecimal() and int(asked) > size:
        text = f"{name} is at most {size}, not {asked}: read on with 'next'."
        yield _warn(PAGE_SIZE_LIMITED, text)


def _warn(code: str, text: str) -> Warning:
    return Warning(code, text, PLAIN_WARNINGS[code])


def _as_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# --- Links ----------------------------------------------------------------------------------------


def _find_page_members(data: Any, depth: int = 2) -> Sequence[Mapping[str, Any]]:
    """Return the objects of an answer that may describe a page."""
    if not isinstance(data, OBJECTS):
        return []
    inner = [data.get(name) for name in AROUND] if depth else []
    return [data, *(each for part in inner for each in _find_page_members(part, depth - 1))]


def _find_links(data: Any) -> Iterator[str]:
    for members in _find_page_members(data):
        found = [members.get(name) for name in NEXT]
        for name in AROUND[:2]:
            # Links may also be a list, each with its relation.
            each = members.get(name)
            links = [o for o in each if isinstance(o, OBJECTS)] if isinstance(each, list) else []
            found += [link for link in links if link.get("rel") == "next"]
        yield from filter(None, map(_read_link, found))


def _read_link(link: Any) -> str:
    if isinstance(link, OBJECTS):
        link = link.get("href") or link.get("url")
    return link if isinstance(link, str) else ""


def _find_page_numbers(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield parameters with their values for the next page, None on the last page."""
    for members in _find_page_members(data) if _has_rows(data) else ():
        for name, parameter in VALUES.items():
            if isinstance(value := members.get(name, False), (int, str)) and value is not False:
                yield parameter, value
            elif value is None:
                yield parameter, None
        numbers, lasts = ([_as_number(members.get(n)) for n in names] for names in (NUMBERS, LAST))
        number, last = next(filter(None, numbers), None), next(filter(None, lasts), None)
        if number is not None and last is not None:
            yield "page", number + 1 if number < last else None


def _has_rows(data: Any) -> bool:
    return isinstance(data, OBJECTS) and any(isinstance(each, list) for each in data.values())


def _split_link(link: str) -> SplitResult:
    # What an answer has by the name of a link may be none, such as "http://[".
    return attempt(lambda: urlsplit(link), SplitResult("", "", "", "", ""))


def find_changes(link: str, query_string: str) -> dict[str, str]:
    """Return the query parameters of a link that a query has not."""
    here = parse_qs(query_string, keep_blank_values=True)
    there = parse_qsl(_split_link(link).query, keep_blank_values=True)
    return {name: value for name, value in there if value not in here.get(name, ())}
