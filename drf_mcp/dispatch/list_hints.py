"""What helps after a failure or an empty list: other tools, and the arguments that found no row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.codes import HANDLING, Severity
from drf_mcp.dispatch.errors.exceptions import DatabaseRule
from drf_mcp.dispatch.errors.remediation import CODE_REMEDIES, PROBLEM_REMEDIES
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.text import join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, Warning
from drf_mcp.tools.arguments.base import find_reversed
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument, Call
from drf_mcp.tools.arguments.errors import mask_member
from drf_mcp.tools.related_tools import StateFields
from drf_mcp.tools.tool import Tool

EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")


class EmptyList:
    """A list without rows, as the arguments of its call explain it; nothing is asked of a database.

    Args:
        tool: the list tool.
        call: the call that gave no rows.
    """

    def __init__(self, tool: Tool, call: Call) -> None:
        self.tool = tool
        sent = tool.arguments.get_values(call.arguments)
        self.values = [(argument, value) for argument, value in sent if value not in (None, "", [])]

    @classmethod
    def is_outcome(cls, outcome: Outcome) -> bool:
        if outcome.failure is not None:
            return False
        data = outcome.data
        rows = data.get("results") if isinstance(data, OBJECTS) else data
        if not isinstance(rows, list) or rows:
            return False
        # A window past the last row is empty as well.
        return outcome.pagination is None or not outcome.pagination.total_count

    def find_warnings(self) -> Iterator[Warning]:
        sentences = [*self.explain_ranges(), *self.explain_parents()]
        sentences = sentences or [*self.explain_filters()]
        if sentences:
            yield Warning(EMPTY, " ".join(sentences), Severity.INFO)

    def explain_ranges(self) -> Iterator[str]:
        values = [pair for pair in self.values if pair[0].location == QUERY]
        for problem in find_reversed(values):
            sentences = f"{problem.path}: {problem.message} {problem.remediation}"
            yield _("No rows: %(problem)s") % {"problem": sentences}

    def explain_parents(self) -> Iterator[str]:
        names = self.get_names(a for a, _ in self.values if a.location == PATH)
        finder = self.tool.list_tool if names else ""
        if finder:
            yield _(
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            ) % {"names": names, "tool": finder}
        elif names:
            text = _("No rows, and nothing says that the object of %(names)s exists.")
            yield text % {"names": names}

    def explain_filters(self) -> Iterator[str]:
        arguments = [a for a, _ in self.values if a.location == QUERY]
        chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
        if chosen:
            yield _(
                "No rows fit %(names)s. Leave out one at a time to see rows, and how their values"
                " are written."
            ) % {"names": self.get_names(chosen)}
        for argument in chosen:
            schema: Any = argument.parameter.schema
            finder = FieldSchema.of(schema.get("items", schema)).meaning.finder
            if finder:
                facts = {"tool": finder, "argument": argument.name}
                yield _("%(tool)s lists what '%(argument)s' takes.") % facts

    def get_names(self, arguments: Iterator[Argument] | list[Argument]) -> str:
        return join_values(f"'{argument.name}'" for argument in arguments)


class MissingRows:
    """The foreign keys in the body of a call that broke a reference.

    Args:
        tool: the tool that was called.
        content: the body of its request.
    """

    def __init__(self, tool: Tool, content: bytes) -> None:
        self.tool = tool
        self.content = content

    def add_to(self, failure: Failure) -> Failure:
        """Return the failure with the arguments whose rows do not exist."""
        if failure.message != _(DatabaseRule.REFERENCE.value[0]):
            return failure
        # The connection may be unusable, and a body need not be JSON.
        none: tuple[Problem, ...] = ()
        problems = attempt(self.tool.name, lambda: tuple(self.find_problems()), "", [], none)
        if not problems:
            return failure
        return replace(failure, problems=problems, remediation=problems[0].remediation)

    def find_problems(self) -> Iterator[Problem]:
        body = json.loads(self.content)
        for argument in self.tool.arguments.arguments if isinstance(body, Mapping) else ():
            name = argument.parameter.name
            if argument.location == BODY and body.get(name) is not None:
                model = self.find_model(name)
                if model is not None and not model._base_manager.filter(pk=body[name]).exists():
                    yield self.get_problem(argument, model, body[name])

    def find_model(self, name: str) -> Any:
        model = self.tool.endpoint.model
        columns = () if model is None else model._meta.concrete_fields
        field = next((each for each in columns if name in (each.name, each.attname)), None)
        return getattr(field, "related_model", None)

    def get_problem(self, argument: Any, model: Any, value: Any) -> Problem:
        advice = PROBLEM_REMEDIES["does_not_exist"]
        remediation = _(advice).format(name=f"'{argument.name}'")
        if finder := self.tool.related.find_list(model):
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            remediation = text % {"tool": finder}
        return Problem(
            code="does_not_exist",
            message=_("No object has this key."),
            pointer=argument.pointer,
            received=mask_member(argument.name, value),
            remediation=remediation,
        )


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
