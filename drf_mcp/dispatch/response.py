"""A view's response as an outcome: the same for tools and for plain REST consumers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList

from drf_mcp.access.throttles import find_rate_limit, warn_of_quota
from drf_mcp.dispatch.content import BODILESS, AnswerEncoder, Content, ContentReader, find_location
from drf_mcp.dispatch.errors import ErrorMapper
from drf_mcp.dispatch.pages import ListedPage, read_page
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import SoftDetail, attempt
from drf_mcp.interaction.call_context import CallContext, notes_of
from drf_mcp.introspection.field_selection import Omission
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import MISSING, Failure, Outcome, Source, Warning

ACCEPTED = 202
Recognizer = Callable[..., "Outcome | None"]
"""Reads the outcome out of a body and its HTTP status; None if the body is no envelope. ``named``
is the envelope that the view is said to write."""


@dataclass
class ViewResponse:
    """A view's response, with the body read.

    Attributes:
        status: the HTTP status.
        content: the body.
        headers: the response's headers.
        view: the view instance, None where the response does not have it.
        request: the request, Django's or REST framework's.
        excepted: True if an exception handler made the response, with any status.
        query_string: the query string of the request.
        media_type: the media type of a rendered body, "" where the data was read unrendered.
        given: the data that was rendered, None where the data was read unrendered.
    """

    status: int
    content: Content
    headers: Mapping[str, str] = field(default_factory=dict)
    view: Any = None
    request: Any = None
    excepted: bool = False
    query_string: str = ""
    media_type: str = ""
    given: Any = None

    @classmethod
    def read(cls, response: HttpResponseBase, request: ToolRequest) -> ViewResponse:
        """Read ``response.data`` where rendering would not change the data, else the bytes."""
        middleware_call, shown = request.middleware_call, cast("Any", response)
        is_rest = isinstance(response, Response)
        is_altered = middleware_call is not None and middleware_call.is_altered(response)
        is_plain = is_rest and not is_altered and shown.status_code not in BODILESS
        if is_plain and (
            # Rendering an error would lose the codes of its ErrorDetails.
            shown.status_code < (300 if shown.exception else 400) or shown.data is None
        ):
            # A response from a cache has no renderer. Another renderer may change the data.
            # Post-render callbacks, such as `cache_page` has, need the response rendered.
            renderer = getattr(response, "accepted_renderer", None)
            is_plain = (
                (type(renderer) is JSONRenderer or getattr(renderer, "renders_envelope", False))
                and not shown._is_rendered
                and not shown._post_render_callbacks
            )
        media_type, given = "", None
        if is_plain:
            content = Content(find_location(shown) if shown.data is None else shown.data)
        else:
            render = getattr(response, "render", None)
            shown = render() if render else shown
            if not is_altered and getattr(shown, "is_enveloped", False):
                content = Content(shown.data)
            else:
                uri, reads = request.build_absolute_uri(), request.method == "GET"
                content = ContentReader(shown, uri, reads=reads).read()
                if isinstance(shown, Response) and not is_altered and content.data is not None:
                    given = shown.data
                    content = replace(content, data=keep_serializers(given, content.data))
            media_type = shown.get("Content-Type", "")
        try:
            view = shown.renderer_context["view"]
        except (AttributeError, KeyError):
            view = None
        return cls(
            status=shown.status_code,
            content=content,
            headers=shown.headers,
            view=view,
            request=request,
            excepted=getattr(shown, "exception", False),
            query_string=request.META["QUERY_STRING"],
            media_type=media_type,
            given=given,
        )

    @property
    def soft_detail(self) -> SoftDetail:
        data = self.content.data
        given = data if self.given is None else self.given
        # A project's exception handler may put the detail into other objects.
        around = [given]
        for each in around:
            if isinstance(each, SoftDetail):
                answer = _find_rendered(each.answer, given, data)
                return SoftDetail(each.errors, answer, each.remediation)
            if isinstance(each, Mapping):
                around += [value for value in each.values() if isinstance(value, Mapping)]
        return SoftDetail(dict(data) if isinstance(data, Mapping) else {"detail": data}, None, "")


NOTHING = Outcome("", 200)


def build_outcome(
    response: ViewResponse,
    tool: str,
    make_mapper: Callable[[], ErrorMapper],
    recognize: Recognizer | None = None,
) -> Outcome:
    """Return the outcome of a view's response, with the notes of its `CallContext`.

    Args:
        tool: the name of the tool.
        make_mapper: returns the `ErrorMapper`, which finds the arguments that an error is about.
        recognize: returns the outcome in a view's own envelope.
    """
    status, content, view = response.status, response.content, response.view
    data = content.data
    own = None if recognize is None else _find_own_outcome(response, recognize)
    # The status of an error wins over an envelope of a success.
    if own is not None and own.failure is None and status >= 400:
        own = None
    failure = pagination = None
    limited: tuple[Warning, ...] = ()
    if own is not None:
        data, failure, pagination = own.data, own.failure, own.pagination
    else:
        failure, data = _find_failure(response, make_mapper)
        is_page = getattr(view, "is_page", True) and isinstance(data, (list, *OBJECTS))
        if failure is None and status < 300 and is_page:
            pagination, limited = read_page(_make_page(response, make_mapper))
    base = own or NOTHING
    quota = base.rate_limit
    if quota is None:
        noted = getattr(response.request, "throttles", None)
        quota = find_rate_limit(view, noted, status, response.headers)
    outcome = base.changed(
        tool=tool,
        status=status,
        data=data,
        failure=failure,
        pagination=pagination,
        content=content.blocks,
        fidelity=content.fidelity or base.fidelity,
        rate_limit=quota,
        warnings=(*base.warnings, *limited, *content.warnings),
    )
    # Where accepted work goes on, unless it is the data.
    place = {"location": response.headers.get("Location", "")}
    if status == ACCEPTED and place["location"] and data != place:
        outcome = outcome.changed(meta={**place, **outcome.meta})
    notes = notes_of(response.request)
    if notes is not None:
        outcome = _add_notes(outcome, notes)
    if quota is not None and failure is None:
        outcome = outcome.changed(warnings=(*outcome.warnings, *warn_of_quota(quota)))
    return outcome if outcome.source.version else add_version(outcome, notes, view)


def _find_own_outcome(response: ViewResponse, recognize: Recognizer) -> Outcome | None:
    """Return the outcome in a view's own envelope, its data as the renderer wrote them."""
    data, given, status = response.content.data, response.given, response.status
    own = None if given is None else recognize(given, status)
    if own is None:
        return recognize(data, status)
    if own.failure is None and isinstance(data, dict) and "data" in data:
        return own.changed(data=data["data"])
    return own


def _find_failure(
    response: ViewResponse, make_mapper: Callable[[], ErrorMapper]
) -> tuple[Failure | None, Any]:
    """Return the failure of a response and its data, None and the body for a success."""
    status, data, headers = response.status, response.content.data, response.headers
    if status >= 400:
        return make_mapper().from_response(status, data, headers), data
    if status >= 300 and (location := headers.get("Location")):
        is_login = leads_to_login(location, getattr(response.request, "path", ""))
        if is_login or is_moved(status, getattr(response.request, "method", "")):
            return make_mapper().from_redirect(location, is_login=is_login), None
    if response.excepted and status < 300 and data is not None:
        detail = response.soft_detail
        failure, answer = make_mapper().from_soft_failure(detail), detail.answer
        if response.given is detail and isinstance(data, Mapping):
            # As the renderer wrote it.
            answer = data.get("data", answer)
        return replace(failure, body=data), answer
    return None, data


def _make_page(response: ViewResponse, make_mapper: Callable[[], ErrorMapper]) -> ListedPage:
    data, view = response.content.data, response.view
    # Reading the attribute makes the paginator, which most views need for a list only.
    own = vars(view) if view is not None else {}
    paginator = own.get("_paginator") or own.get("paginator")
    if paginator is None and isinstance(data, OBJECTS) and "results" in data and "next" in data:
        paginator = getattr(view, "paginator", None)
    path = getattr(response.request, "path", "")
    query_string = response.query_string
    return ListedPage(data, response.headers, path, query_string, paginator, make_mapper)


def _add_notes(outcome: Outcome, notes: CallContext) -> Outcome:
    return outcome.changed(
        content=outcome.content + notes.content if notes.blocks else outcome.content,
        warnings=(*outcome.warnings, *notes.warnings),
        suggestions=(*outcome.suggestions, *notes.suggestions),
        telemetry={**outcome.telemetry, **notes.telemetry},
        meta={**outcome.meta, **notes.meta},
    )


def add_version(outcome: Outcome, notes: CallContext | None, view: Any) -> Outcome:
    """Return an outcome with the version of its content, and the hash of that version."""
    # Both from the call context, or both from the view: a hash belongs to one version.
    version = content_hash = ""
    if notes is not None:
        version, content_hash = notes.content_version, notes.content_hash
    if not version and (attribute := getattr(view, "mcp_version", None)):
        version, content_hash = str(attribute), str(getattr(view, "mcp_content_hash", None) or "")
    if not version and not content_hash:
        return outcome
    return outcome.changed(source=Source(version, outcome.source.content_hash or content_hash))


def hide_errors(response: ViewResponse, hidden: Iterable[str]) -> ViewResponse:
    """Return an error without what it says of arguments that the caller did not send."""
    data = response.content.data
    shown = Omission(hidden).leave_out(data)
    if data and not shown:
        shown = {"detail": "A value was refused that the server adds to this call."}
    return replace(response, content=replace(response.content, data=shown))


def omit_fields(outcome: Outcome, omit: Callable[[Any], Any]) -> Outcome:
    """Return an outcome without the fields of its tool's option ``omit``."""
    encoder, failure = AnswerEncoder(), outcome.failure

    def clean(value: Any) -> Any:
        if value is None or value is MISSING:
            return value
        # The values of a project's own encoder are no JSON before it writes them.
        return omit(attempt(lambda: encoder.plain(value), value))

    data = keep_serializers(outcome.data, clean(outcome.data))
    if failure is not None:
        problems = (replace(each, context=clean(each.context)) for each in failure.problems)
        parts = {n: clean(getattr(failure, n)) for n in ("context", "details", "data", "body")}
        failure = replace(failure, problems=tuple(problems), **parts)
    return outcome.changed(data=data, failure=failure, meta=clean(outcome.meta))


def new_request_id() -> str:
    # The same in the log and in the result. Models read three digits as one token: twelve digits
    # are four tokens, and as many bits in hexadecimal are eight.
    return f"req_{int.from_bytes(os.urandom(8), 'big') % 10**12:012}"


# --- Redirects ----------------------------------------------------------------------------------

LOGIN = re.compile(r"(?:^|[/_-])(?:log[_-]?in|sign[_-]?in|logon)(?:[/_.-]|\Z)", re.IGNORECASE)
# Requests that may end at the login page: it comes after a logout, a registration, a new password.
ENDS_THERE = re.compile(
    r"(?:^|[/_-])(?:(?:log|sign)[_-]?(?:out|off|up)|regist\w*|passwords?)(?:[/_.-]|\Z)",
    re.IGNORECASE,
)
# They say to make the request again at another place; 302 and 303 answer a request that was made.
MOVED = frozenset({301, 307, 308})


def leads_to_login(location: str, path: str) -> bool:
    """Return whether a redirect of a request to a path leads to a login page."""
    parts = urlsplit(location)
    own = attempt(lambda: urlsplit(resolve_url(settings.LOGIN_URL)).path, "")
    if (parts.path == own or LOGIN.search(parts.path)) and not ENDS_THERE.search(path):
        return True
    # A login page gets the path to lead back there.
    back = parse_qs(parts.query).get(REDIRECT_FIELD_NAME, ())
    return any(urlsplit(each).path == path for each in back)


def is_moved(status: int, method: str) -> bool:
    """Return whether a redirect says that a request that changes something was not made."""
    return status in MOVED and method not in SAFE_METHODS


# --- The rows of a view's data in what a renderer made of the data -------------------------------

# How many mappings inside one another are searched.
DEEPEST = 3


def keep_serializers(data: Any, rendered: Any, depth: int = 0) -> Any:
    """Return rendered data with the serializers of the view's data.

    A serializer has the objects that the rows were made from.
    """
    if isinstance(data, ReturnDict) and isinstance(rendered, dict):
        return ReturnDict(rendered, serializer=data.serializer)
    if isinstance(data, ReturnList) and isinstance(rendered, list) and len(rendered) == len(data):
        return ReturnList(rendered, serializer=data.serializer)
    if members := _pair_members(data, rendered, depth):
        return {name: keep_serializers(value, rendered[name], depth + 1) for name, value in members}
    return rendered


def _find_rendered(part: Any, data: Any, rendered: Any, depth: int = 0) -> Any:
    """Return what was rendered for a part of a view's data, the part where it is not found."""
    if part is data:
        return rendered
    for name, value in _pair_members(data, rendered, depth):
        found = _find_rendered(part, value, rendered[name], depth + 1)
        if found is not part:
            return found
    return part


def _pair_members(data: Any, rendered: Any, depth: int) -> list[tuple[str, Any]]:
    """Return the rendered names with the values of the view's data."""
    are_objects = isinstance(data, Mapping) and isinstance(rendered, dict)
    if depth >= DEEPEST or not are_objects or len(data) != len(rendered):
        return []
    # A renderer may rename keys, such as to camel case, but keeps their order.
    members = zip(rendered, data.values(), strict=True)
    return [(name, data.get(name, value)) for name, value in members]
