"""The tools that help after a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.codes import HANDLING
from drf_mcp.dispatch.errors.remediation import CODE_REMEDIES
from drf_mcp.outcomes import Category, Failure, Outcome
from drf_mcp.tools.state_fields import StateFields

STATES = (Category.VALIDATION, Category.CONFLICT)
FIRST_PAGE = gettext_noop("Start at the first page, and go on with the arguments of the next.")


class ListHint:
    """Names the list that has what was not found, or the tools that change what stood in the way.

    Args:
        tool: a `drf_mcp.tools.tool.Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def add_to(self, outcome: Outcome) -> Outcome:
        failure = outcome.failure
        if failure is None or (failure.problems and failure.problems[0].pointer):
            # What is wrong with an argument says how to mend it.
            return outcome
        if failure.remediation in get_state_advice():
            return outcome.changed(failure=self.add_changes(failure))
        if failure.category is not Category.NOT_FOUND:
            return outcome
        if failure.remediation not in ("", HANDLING[Category.NOT_FOUND].remediation):
            return outcome
        hint = self.text
        return outcome.changed(failure=replace(failure, remediation=hint)) if hint else outcome

    def add_changes(self, failure: Failure) -> Failure:
        changes = StateFields(self.tool).explain(failure.message)
        if not changes:
            return failure
        advice = f"{failure.remediation} {changes}"
        # One that is no argument's says what the failure says.
        problems = (
            replace(problem, remediation=advice) if not problem.pointer else problem
            for problem in failure.problems
        )
        return replace(failure, remediation=advice, problems=tuple(problems))

    @property
    def text(self) -> str:
        name, endpoint = self.tool.list_tool, self.tool.endpoint
        if name is not None:
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            return text % {"tool": name}
        is_list = endpoint.standard_action == "list"
        has_pages = is_list and getattr(endpoint.view_class, "pagination_class", None)
        return _(FIRST_PAGE) if has_pages else ""


def get_state_advice() -> tuple[str, ...]:
    """Return what is said where the state of an object may be the reason."""
    advice = CODE_REMEDIES["CONFLICT"]
    return (*(HANDLING[each].remediation for each in STATES), _(advice))
