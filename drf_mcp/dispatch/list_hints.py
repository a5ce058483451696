"""Where a caller finds what was not found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.codes import HANDLING
from drf_mcp.outcomes import Category, Outcome

FIRST_PAGE = gettext_noop("Start at the first page, and go on with the arguments of the next.")


class ListHint:
    """Names the list in which an object that a tool did not find would stand.

    Args:
        tool: a `drf_mcp.tools.tool.Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def add_to(self, outcome: Outcome) -> Outcome:
        failure = outcome.failure
        if failure is None or failure.category is not Category.NOT_FOUND:
            return outcome
        if failure.remediation not in ("", HANDLING[Category.NOT_FOUND].remediation):
            return outcome
        hint = self.text
        return outcome.changed(failure=replace(failure, remediation=hint)) if hint else outcome

    @property
    def text(self) -> str:
        name, endpoint = self.tool.list_tool, self.tool.endpoint
        if name is not None:
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            return text % {"tool": name}
        is_list = endpoint.standard_action == "list"
        has_pages = is_list and getattr(endpoint.view_class, "pagination_class", None)
        return _(FIRST_PAGE) if has_pages else ""
