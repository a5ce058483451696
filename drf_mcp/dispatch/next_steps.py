"""Adds to failures and empty lists which tools, values or rows would help."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest

from drf_mcp.codes import HANDLING, Severity
from drf_mcp.dispatch.error_texts import (
    CODE_REMEDIES,
    LOOK_FIRST,
    PROBLEM_REMEDIES,
    UNKNOWN_EFFECT,
    describe_wait,
)
from drf_mcp.dispatch.violations import REFERENCE
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.findings import attempt
from drf_mcp.introspection.text import join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, Warning
from drf_mcp.tools.arguments.binding import find_reversed
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument, Call
from drf_mcp.tools.arguments.errors import mask_member

EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")
REPEATING = (CODE_REMEDIES["TIME_LIMIT_EXCEEDED"], UNKNOWN_EFFECT.advice)
# What REST framework's paginators say of a page that does not exist.
MISSING_PAGES = ("invalid_page_message", "invalid_cursor_message")
EXISTING = "Use %(tool)s to find existing ids, then call again with one of them."


def quote_names(arguments: Iterable[Argument]) -> str:
    return join_values(f"'{argument.name}'" for argument in arguments)


def is_empty(outcome: Outcome) -> bool:
    """Return whether the answer is a list without rows, and no page past the last one."""
    rows, page = outcome.data, outcome.pagination
    if isinstance(rows, OBJECTS):
        rows = rows.get("results")
    return rows == [] and outcome.failure is None and not (page and page.total_count)


def explain_empty_list(tool: Any, call: Call) -> Iterator[Warning]:
    """Yield a warning with what the arguments explain of an empty list, without any query."""
    sent = tool.arguments.get_values(call.arguments)
    values = [(argument, value) for argument, value in sent if value not in (None, "", [])]
    queries = [pair for pair in values if pair[0].location == QUERY]
    sentences = []
    for problem in find_reversed(queries):
        text = f"{problem.path}: {problem.message} {problem.remediation}"
        sentences.append(f"No rows: {text}")
    if names := quote_names(argument for argument, _ in values if argument.location == PATH):
        text = "No rows, and nothing says that the object of %(names)s exists."
        if tool.list_tool:
            text = (
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            )
        sentences.append(text % {"names": names, "tool": tool.list_tool})
    if sentences := sentences or [*explain_filters([argument for argument, _ in queries])]:
        yield Warning(EMPTY, " ".join(sentences), Severity.INFO)


def explain_filters(arguments: Sequence[Argument]) -> Iterator[str]:
    chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
    if chosen:
        yield (
            f"No rows fit {quote_names(chosen)}. Leave out one at a time to see rows, and how "
            "their values are written."
        )
    for argument in chosen:
        schema: Any = argument.parameter.schema
        finder = FieldSchema.of(schema.get("items", schema)).meaning.finder
        if finder:
            facts = {"tool": finder, "argument": argument.name}
            yield "{tool} lists what '{argument}' takes.".format(**facts)


def name_missing_rows(failure: Failure, tool: Any, request: HttpRequest) -> Failure:
    """Return the failure of a broken reference with a problem for each key of no row."""
    if failure.message != REFERENCE[0]:
        return failure
    # The connection may be unusable. A body need not be JSON, and one with files has been read.
    problems = attempt(lambda: tuple(find_missing_rows(tool, request.body)), ())
    if not problems:
        return failure
    return replace(failure, problems=problems, remediation=problems[0].remediation)


def find_missing_rows(tool: Any, content: bytes) -> Iterator[Problem]:
    body = json.loads(content)
    columns = () if tool.endpoint.model is None else tool.endpoint.model._meta.concrete_fields
    models: Mapping[str, Any] = {
        name: column.related_model for column in columns for name in (column.name, column.attname)
    }
    sent: list[tuple[Argument, Any, Any]] = [
        (argument, models.get(argument.parameter.name), body[argument.parameter.name])
        for argument in tool.arguments.arguments
        if argument.location == BODY and body.get(argument.parameter.name) is not None
    ]
    references = [each for each in sent if each[1] is not None]
    # Which one of several is missing would tell which of the others exist, maybe out of sight.
    for argument, model, value in references if len(references) == 1 else ():
        if model._base_manager.filter(pk=value).exists():
            continue
        remediation = PROBLEM_REMEDIES["does_not_exist"]
        if finder := tool.related.find_list(model):
            remediation = EXISTING % {"tool": finder}
        yield Problem(
            code="does_not_exist",
            message="No object has this key.",
            pointer=argument.pointer,
            received=mask_member(argument.name, value),
            remediation=remediation,
        )


def advise_looking(failure: Failure, tool: Any) -> Failure:
    """Return a failure that may have changed something, without the advice to call again."""
    seconds = failure.context.get("retry_after_seconds")
    waiting = describe_wait(seconds)
    standard = HANDLING[failure.category].remediation
    repeating = ("", standard, f"{waiting} before calling again.", *REPEATING)
    is_unclear = failure.category in (Category.INTERNAL, Category.UNAVAILABLE)
    if tool.reads or not is_unclear or failure.remediation not in repeating:
        return failure
    advice = LOOK_FIRST
    if seconds is not None:
        advice = f"{waiting}, then {LOOK_FIRST[0].lower()}{LOOK_FIRST[1:]}"
    if failure.category is Category.INTERNAL:
        advice += " Report the request id."
    return replace(failure, remediation=advice)


def add_hints(outcome: Outcome, tool: Any) -> Outcome:
    """Return a failed outcome with the tool that lists existing ids, or with the tools that change
    the state of the object."""
    if outcome.failure is not None:
        outcome = outcome.changed(failure=advise_looking(outcome.failure, tool))
    failure = outcome.failure
    if failure is None or (failure.problems and failure.problems[0].pointer):
        # The problem of an argument has a remediation.
        return outcome
    # The remediations of failures that the state of an object may explain.
    states = [HANDLING[each].remediation for each in (Category.VALIDATION, Category.CONFLICT)]
    if failure.remediation in (*states, CODE_REMEDIES["CONFLICT"]):
        changes = tool.explain_state(failure.message)
        advice = f"{failure.remediation} {changes}"
        # A problem without an argument has the remediation of the failure.
        problems = tuple(
            replace(problem, remediation=advice) if not problem.pointer else problem
            for problem in failure.problems
        )
        advised = replace(failure, remediation=advice, problems=problems)
        return outcome.changed(failure=advised) if changes else outcome
    general = ("", HANDLING[Category.NOT_FOUND].remediation)
    if failure.category is not Category.NOT_FOUND or failure.remediation not in general:
        return outcome
    endpoint = tool.endpoint
    paginator = getattr(endpoint.view_class, "pagination_class", None)
    is_paged = endpoint.standard_action == "list" and paginator is not None
    # Of a nested list, either the page or the parent object does not exist.
    texts = [getattr(paginator, name, "") for name in MISSING_PAGES]
    if is_paged and (tool.list_tool is None or failure.message in map(str, texts)):
        hint = "Start at the first page, and go on with the arguments of the next."
    elif tool.list_tool is not None:
        hint = EXISTING % {"tool": tool.list_tool}
    else:
        return outcome
    return outcome.changed(failure=replace(failure, remediation=hint))
