"""What a view answered, as an outcome: the same for tools and for plain REST consumers."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drf_mcp.envelopes.recognition import recognised
from drf_mcp.exceptions import SoftDetail
from drf_mcp.notes import Notes, notes_of
from drf_mcp.outcomes import Outcome, RateLimit, Warning
from drf_mcp.pages import pagination_of
from drf_mcp.problems import ArgumentLocator, response_failure, soft_failure
from drf_mcp.rate_limits import approaching, rate_limit_of


NO_NOTES = Notes()


@dataclass(frozen=True)
class Answer:
    """What a view answered.

    Attributes:
        status: the HTTP status.
        data: the body as data; None if there is none.
        headers: the response's headers.
        view: the view instance, None if the response does not name it.
        blocks: content blocks of a body that is no data.
        query_string: the query that was answered.
    """

    status: int
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    view: Any = None
    blocks: tuple[Mapping[str, Any], ...] = ()
    query_string: str = ""


def outcome_of(tool: str, answer: Answer, arguments: ArgumentLocator) -> Outcome:
    """Return the outcome of an answer.

    Args:
        tool: the tool's name.
        answer: what the view answered.
        arguments: finds the arguments that an error or a link speaks of.
    """
    outcome = recognised(answer.data, answer.status) or plain_outcome(answer, arguments)
    quota = outcome.rate_limit or quota_of(answer)
    notes = notes_of(answer.view.request) if answer.view is not None else None
    notes = notes or NO_NOTES
    return replace(
        outcome,
        tool=tool,
        content=answer.blocks,
        rate_limit=quota,
        warnings=(*outcome.warnings, *notes.warnings, *quota_warnings(quota, outcome)),
        suggestions=(*outcome.suggestions, *notes.suggestions),
        telemetry={**outcome.telemetry, **notes.telemetry},
    )


def new_request_id() -> str:
    """Return an id under which the log and the caller know one call."""
    return f"req_{secrets.token_hex(8)}"


def plain_outcome(answer: Answer, arguments: ArgumentLocator) -> Outcome:
    """Return the outcome of an answer that is data, an error body or a soft failure."""
    data, status = answer.data, answer.status
    if isinstance(data, SoftDetail):
        return Outcome("", status, data=data.answer, failure=soft_failure(data, arguments))
    if status >= 400:
        failure = response_failure(status, data, answer.headers, arguments)
        return Outcome("", status, data=data, failure=failure)
    page = pagination_of(answer.view, data, answer.query_string, arguments.moved)
    return Outcome("", status, data=data, pagination=page)


def quota_of(answer: Answer) -> RateLimit | None:
    """Return what is left of the caller's quota, None where nothing counts."""
    return None if answer.view is None else rate_limit_of(answer.view, answer.headers)


def quota_warnings(quota: RateLimit | None, outcome: Outcome) -> Iterator[Warning]:
    """Yield the warning that a success leaves little of the quota."""
    warning = approaching(quota) if quota is not None and outcome.failure is None else None
    if warning is not None:
        yield warning
