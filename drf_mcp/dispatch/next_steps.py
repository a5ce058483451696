"""Adds to failures and empty lists which tools, values or rows would help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from rest_framework.exceptions import NotFound

from drf_mcp.arguments.call import PATH, QUERY, Argument, Call
from drf_mcp.arguments.errors import mask_secrets
from drf_mcp.arguments.table import Values
from drf_mcp.codes import (
    CODE_REMEDIES,
    HANDLING,
    LOOK_FIRST,
    UNKNOWN_EFFECT,
    Category,
    Severity,
    describe_wait,
)
from drf_mcp.introspection.text import join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Failure, Outcome, Problem, Warning

EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")
REPEATING = (CODE_REMEDIES["TIME_LIMIT_EXCEEDED"], UNKNOWN_EFFECT.remediation)
# What REST framework's paginators say of a page that does not exist.
MISSING_PAGES = ("invalid_page_message", "invalid_cursor_message")
# What Django's `get_object_or_404` says.
MISSING_ROW = re.compile(r"No (\w+) matches the given query\.\Z")
WORD = re.compile(r"\w+")
EXISTING = "Use %(tool)s to find existing ids, then call again with one of them."


def _quote_names(arguments: Iterable[Argument]) -> str:
    return join_values(f"'{argument.name}'" for argument in arguments)


def is_empty(outcome: Outcome) -> bool:
    """Return whether the answer is a list without rows, and no page past the last one."""
    rows, page = outcome.data, outcome.pagination
    if isinstance(rows, OBJECTS):
        rows = rows.get("results")
    return rows == [] and outcome.failure is None and not (page and page.total_count)


def explain_empty_list(tool: Any, call: Call) -> Iterator[Warning]:
    """Yield a warning with what the arguments explain of an empty list, without any query."""
    sent = tool.arguments.find_values(call.arguments)
    values = [(argument, value) for argument, value in sent if value not in (None, "", [])]
    queries = [pair for pair in values if pair[0].location == QUERY]
    sentences = []
    for problem in _find_reversed(queries):
        text = f"{problem.path}: {problem.message} {problem.remediation}"
        sentences.append(f"No rows: {text}")
    if names := _quote_names(argument for argument, _ in values if argument.location == PATH):
        text = "No rows, and nothing says that the object of %(names)s exists."
        if tool.list_tool:
            text = (
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            )
        sentences.append(text % {"names": names, "tool": tool.list_tool})
    if sentences := sentences or [*_explain_filters([argument for argument, _ in queries])]:
        yield Warning(EMPTY, " ".join(sentences), Severity.INFO)


def _find_reversed(values: Values) -> Iterator[Problem]:
    """Yield a problem for each range that ends before it begins."""
    bounds = [(argument, value) for argument, value in values if argument.parameter.part]
    for (lower, low), (upper, high) in product(bounds, bounds):
        start: Any = lower.parameter.part
        end: Any = upper.parameter.part
        if not start.bounds_with(end):
            continue
        first, last = start.read(low), end.read(high)
        try:
            is_after = first is not None and last is not None and bool(first > last)
        except TypeError:
            continue  # the filter judges values that cannot be compared
        if is_after:
            facts = {"lower": lower.name, "upper": upper.name, "value": high}
            remediation = "Exchange '%(lower)s' and '%(upper)s', or leave one of them out."
            yield Problem(
                code="reversed_range",
                message="The range ends before it begins, so nothing lies in it.",
                pointer=lower.pointer,
                received=mask_secrets(low),
                accepted="at most {value}, the value of '{upper}'".format(**facts),
                remediation=remediation % facts,
            )


def _explain_filters(arguments: Sequence[Argument]) -> Iterator[str]:
    chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
    if chosen:
        yield (
            f"No rows fit {_quote_names(chosen)}. Leave out one at a time to see rows, and how "
            "their values are written."
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


def _find_list_of_missing(message: str, tool: Any) -> str | None:
    """Return the list of the object that was not found, None where no tool lists it."""
    own, named = tool.endpoint.model, MISSING_ROW.match(message)
    is_own = named is not None and own is not None and own._meta.object_name == named[1]
    if is_own or message == str(NotFound.default_detail) or not tool.related:
        return tool.list_tool  # type: ignore[no-any-return]
    lists: Mapping[Any, str] = tool.related.by_model
    if named is not None:
        found = [each for each in lists if each._meta.object_name == named[1]]
        return lists[found[0]] if len(found) == 1 else None
    # A message of the project's own may name one model.
    words = f" {' '.join(WORD.findall(message.casefold()))} "
    found = [each for each in {*lists, own} - {None} if _names_model(words, each)]
    is_other = len(found) == 1 and found[0] is not own
    return lists[found[0]] if is_other else tool.list_tool


def _names_model(words: str, model: Any) -> bool:
    names = (model._meta.object_name, model._meta.verbose_name)
    return any(f" {str(name).casefold()} " in words for name in names)


def add_hints(outcome: Outcome, tool: Any) -> Outcome:
    """Return a failed outcome with the tool that lists existing ids."""
    if outcome.failure is not None:
        outcome = outcome.changed(failure=advise_looking(outcome.failure, tool))
    failure = outcome.failure
    if failure is None or (failure.problems and failure.problems[0].pointer):
        # The problem of an argument has a remediation.
        return outcome
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
    elif listing := _find_list_of_missing(failure.message, tool):
        hint = EXISTING % {"tool": listing}
    else:
        return outcome
    return outcome.changed(failure=replace(failure, remediation=hint))
