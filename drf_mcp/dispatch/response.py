"""What a view answered, as an outcome: the same for tools and for plain REST consumers."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drf_mcp.codes import HANDLING
from drf_mcp.dispatch.errors.mapper import ArgumentLocator, response_failure, soft_failure
from drf_mcp.dispatch.pagination import pagination_of
from drf_mcp.dispatch.throttling import approaching, rate_limit_of
from drf_mcp.envelopes import parse_own_envelope
from drf_mcp.exceptions import SoftDetail
from drf_mcp.interaction.call_context import CallContext, notes_of
from drf_mcp.introspection.field_selection import select
from drf_mcp.outcomes import Category, Failure, Fidelity, Outcome, RateLimit, Warning
from drf_mcp.tools import Tool

NO_NOTES = CallContext()


@dataclass(frozen=True)
class ViewResponse:
    """What a view answered.

    Attributes:
        status: the HTTP status.
        data: the body as data; None if there is none.
        headers: the response's headers.
        view: the view instance, None if the response does not name it.
        request: the request it answered, Django's or REST framework's.
        excepted: True if an exception handler wrote it, whatever the status.
        blocks: content blocks of a body that is no data.
        fidelity: how much of the body was read; None for all of it.
        warnings: what is missing of it, and why.
        query_string: the query that was answered.
    """

    status: int
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    view: Any = None
    request: Any = None
    excepted: bool = False
    blocks: tuple[Mapping[str, Any], ...] = ()
    fidelity: Fidelity | None = None
    warnings: tuple[Warning, ...] = ()
    query_string: str = ""


def build_outcome(tool: str, answer: ViewResponse, arguments: ArgumentLocator) -> Outcome:
    """Return the outcome of an answer.

    Args:
        tool: the tool's name.
        answer: what the view answered.
        arguments: finds the arguments that an error or a link speaks of.
    """
    outcome = own_envelope(answer) or plain_outcome(answer, arguments)
    quota = outcome.rate_limit or quota_of(answer)
    notes = notes_of(answer.request) or NO_NOTES
    version, content_hash = source_of(outcome, notes, answer.view)
    return outcome.changed(
        tool=tool,
        content=answer.blocks,
        fidelity=answer.fidelity or outcome.fidelity,
        rate_limit=quota,
        warnings=(
            *outcome.warnings,
            *answer.warnings,
            *notes.warnings,
            *quota_warnings(quota, outcome),
        ),
        suggestions=(*outcome.suggestions, *notes.suggestions),
        telemetry={**outcome.telemetry, **notes.telemetry},
        version=version,
        content_hash=content_hash,
    )


def source_of(outcome: Outcome, notes: CallContext, view: Any) -> tuple[str, str]:
    """Return the version of what was read and its hash, as said nearest to the answer.

    That is the view's own envelope, else the notes of the call, else attributes of the view.
    A hash said for one version is not taken for another.
    """
    if outcome.version:
        return outcome.version, outcome.content_hash
    version, content_hash = notes.content_version, notes.content_hash
    if not version and (own := getattr(view, "mcp_version", None)):
        version, content_hash = str(own), str(getattr(view, "mcp_content_hash", None) or "")
    return version, outcome.content_hash or content_hash


def new_request_id() -> str:
    """Return an id under which the log and the caller know one call."""
    return f"req_{secrets.token_hex(8)}"


def own_envelope(answer: ViewResponse) -> Outcome | None:
    """Return the outcome that the view's own envelope tells of, None if there is none.

    One that tells of a success counts for nothing where the HTTP status says otherwise.
    """
    outcome = parse_own_envelope(answer.data, answer.status)
    told_wrong = outcome is not None and outcome.failure is None and answer.status >= 400
    return None if told_wrong else outcome


def plain_outcome(answer: ViewResponse, arguments: ArgumentLocator) -> Outcome:
    """Return the outcome of an answer that is data, an error body or a soft failure."""
    data, status = answer.data, answer.status
    if status >= 400:
        failure = response_failure(status, data, answer.headers, arguments)
        return Outcome("", status, data=data, failure=failure)
    if answer.excepted and status < 300 and data is not None:
        detail = soft_detail(data)
        failure = soft_failure(detail, arguments)
        return Outcome("", status, data=detail.answer, failure=failure, body=data)
    page = pagination_of(answer.view, data, answer.query_string, arguments.moved)
    return Outcome("", status, data=data, pagination=page)


def unanswered(tool: Tool, status: int, failure: Failure, request_id: str = "") -> Outcome:
    """Return the outcome of a call whose view gave no answer.

    Of what would have been read nothing but the view's class can say the version.
    """
    route = tool.endpoint.route
    version = route.initkwargs.get("mcp_version") or getattr(route.view_class, "mcp_version", "")
    return Outcome(
        tool.name,
        status,
        failure=failure,
        request_id=request_id,
        version=version if isinstance(version, str) else "",
    )


def soft_detail(body: Any) -> SoftDetail:
    """Return the detail of a `SoftFailure` in what an exception handler made of it."""
    if isinstance(body, SoftDetail):
        return body
    members = body if isinstance(body, Mapping) else {"detail": body}
    nested = (value for value in members.values() if isinstance(value, SoftDetail))
    return next(nested, None) or SoftDetail(dict(members), None, "")


def narrowed(outcome: Outcome, fields: Iterable[str]) -> Outcome:
    """Return the outcome, of a success only the fields of these paths."""
    if outcome.failure is not None:
        return outcome
    return outcome.changed(data=select(outcome.data, fields))


def pointed(outcome: Outcome, tool: Tool) -> Outcome:
    """Return the outcome, one of nothing found with the way to find what there is."""
    failure = outcome.failure
    if failure is None or failure.category is not Category.NOT_FOUND:
        return outcome
    if failure.remediation not in ("", HANDLING[Category.NOT_FOUND].remediation):
        return outcome
    if tool.list_tool is not None:
        hint = f"Use {tool.list_tool} to find existing ids, then call again with one of them."
    elif tool.endpoint.standard_action == "list" and is_paged(tool):
        hint = "Start at the first page, and go on with the arguments of the next."
    else:
        return outcome
    return outcome.changed(failure=replace(failure, remediation=hint))


def is_paged(tool: Tool) -> bool:
    """Return whether a tool's view has pages, of which one may not be there."""
    return getattr(tool.endpoint.view_class, "pagination_class", None) is not None


def quota_of(answer: ViewResponse) -> RateLimit | None:
    """Return what is left of the caller's quota, None where nothing counts."""
    if answer.view is None:
        return None
    return rate_limit_of(answer.view, answer.status, answer.headers)


def quota_warnings(quota: RateLimit | None, outcome: Outcome) -> Iterator[Warning]:
    """Yield the warning that a success leaves little of the quota."""
    warning = approaching(quota) if quota is not None and outcome.failure is None else None
    if warning is not None:
        yield warning
