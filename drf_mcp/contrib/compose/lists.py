"""Lists in a program: whole, or said to be a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_mcp.outcomes import PAGE_MEMBERS, Outcome

ONE_PAGE = "PAGE_SIZE_LIMITED"
# `ListReader.say_part` says it for a program.
MORE_ROWS = "MORE_ROWS"
# The rows of a page where the paginator has no largest size.
MOST_ROWS = 500
SIZES = ("page_size_query_param", "limit_query_param")
# The attributes of paginators that name the parameter which chooses a page.
PLACES = ("page_query_param", "offset_query_param", "cursor_query_param")


class ListReader:
    """Reads the list of a tool, whose paginator has parameters for the place and for the size."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        endpoint = tool.endpoint
        own = getattr(endpoint.view_class, "pagination_class", None)
        self.paginator = endpoint.route.initkwargs.get("pagination_class", own)
        names = ("page_size", "default_limit")
        sizes = (getattr(self.paginator, name, None) for name in names)
        self.size = next((each for each in sizes if isinstance(each, int)), 0)
        limits = (getattr(self.paginator, each, None) for each in ("max_page_size", "max_limit"))
        self.largest = max(next(filter(None, limits), MOST_ROWS), self.size)

    def _find_sent(self, names: Sequence[str], arguments: Mapping[str, Any]) -> list[str]:
        """Return the arguments of some parameters of the paginator that a call sends."""
        if self.paginator is None:
            return []
        parameters = {getattr(self.paginator, name, None) for name in names}
        sent = self.tool.arguments.find_values(arguments)
        return [argument.name for argument, _v in sent if argument.parameter.name in parameters]

    def chooses_page(self, arguments: Mapping[str, Any]) -> bool:
        return bool(self._find_sent(PLACES, arguments))

    def enlarge(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with the largest size of a page, unless they choose a page."""
        names = (getattr(self.paginator, each, None) for each in SIZES)
        name = next(filter(None, names), None)
        is_paged = self.size or self._find_sent(SIZES, arguments)
        if name is None or not is_paged or self.chooses_page(arguments):
            return arguments
        return self.tool.arguments.replace_query(arguments, {name: str(self.largest)}) or arguments

    def read(self, outcome: Outcome) -> tuple[Any, Mapping[str, Any] | None, str]:
        """Return the rows, the arguments of the next page, and a warning if none are known.

        A page with members of its own stays an object with its rows in "results".
        """
        data, page = outcome.data, outcome.pagination
        if outcome.is_page and isinstance(data, Mapping) and "results" in data:
            assert page is not None
            rest = {name: value for name, value in data.items() if name not in PAGE_MEMBERS}
            lacks = page.has_more and page.next is None
            value = rest["results"] if rest.keys() == {"results"} else rest
            return value, page.next, self._say_part() if lacks else ""
        following = None if page is None else page.next
        if page is not None and page.has_more is not None:
            may_be_part = page.has_more and (following is None or find_rows(data) is None)
        else:
            may_be_part = self._may_be_part(data)
        return data, None if may_be_part else following, self._say_part() if may_be_part else ""

    def _may_be_part(self, data: Any) -> bool:
        """Return whether rows, in a form that is no page of REST framework, fill a page."""
        if self.paginator is None or self.tool.endpoint.standard_action != "list":
            return False
        members = data.values() if isinstance(data, Mapping) else [data]
        lengths = [len(each) for each in members if isinstance(each, (list, tuple))]
        return max(lengths, default=0) in {self.size, self.largest} - {0}

    def join(self, parts: Sequence[Any]) -> Any:
        """Return all rows of several pages."""
        first, name = parts[0], find_rows(parts[0])
        if isinstance(first, Mapping):
            return {**first, name: [row for part in parts for row in part[name]]}
        return [row for part in parts for row in part]

    def _say_part(self) -> str:
        name = self.tool.name
        return f"{name} gave the rows of one page, and there may be more: they have no argument."

    def say_page(self, arguments: Mapping[str, Any]) -> str:
        names = " and ".join(f"'{name}'" for name in self._find_sent(PLACES, arguments))
        return f"{self.tool.name} gave one page of its rows. It gives all of them without {names}."


def find_rows(data: Any) -> str | None:
    """Return the member of a page that has its rows, "" where the page is a list, else None."""
    if not isinstance(data, Mapping):
        return "" if isinstance(data, (list, tuple)) else None
    names = [str(name) for name, value in data.items() if isinstance(value, (list, tuple))]
    return "results" if "results" in names else names[0] if len(names) == 1 else None
