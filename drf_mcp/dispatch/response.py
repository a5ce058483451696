"""A view's response as an outcome: the same for tools and for plain REST consumers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from drf_mcp.access.limits import get_rate_limit, warn_of_quota
from drf_mcp.codes import PLAIN_WARNINGS
from drf_mcp.dispatch.content import BODILESS, Content, ContentReader
from drf_mcp.dispatch.errors import ArgumentLocator, ErrorMapper
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import SoftDetail
from drf_mcp.interaction.call_context import CallContext, call_context, notes_of
from drf_mcp.interaction.responses import BlockResponse
from drf_mcp.introspection.field_selection import is_page
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Outcome, Pagination, Warning

NO_NOTES = CallContext()
PAGE_SIZE_LIMITED = "PAGE_SIZE_LIMITED"
Recognizer = Callable[[Any, int], "Outcome | None"]
"""Reads the outcome out of a body and its HTTP status; None if the body is no envelope."""


@dataclass(frozen=True)
class ViewResponse:
    """A view's response, its body read.

    Attributes:
        status: the HTTP status.
        content: the body.
        headers: the response's headers.
        view: the view instance, None if the response does not name it.
        request: the request it answered, Django's or REST framework's.
        excepted: True if an exception handler wrote it, whatever the status.
        query_string: the query that was answered.
        media_type: of the body, "" where its data were read unrendered.
    """

    status: int
    content: Content
    headers: Mapping[str, str] = field(default_factory=dict)
    view: Any = None
    request: Any = None
    excepted: bool = False
    query_string: str = ""
    media_type: str = ""

    @classmethod
    def read(
        cls,
        response: HttpResponseBase,
        request: ToolRequest,
        query_string: str,
        reader_class: type[ContentReader] = ContentReader,
    ) -> ViewResponse:
        # Rendered where its data cannot be taken as it is.
        if isinstance(response, BlockResponse):
            call_context(request).attach(*response.blocks)
        media_type = ""
        altered = request.passage is not None and request.passage.is_altered(response)
        if not altered and has_plain_data(response):
            content = Content(response.data)  # type: ignore[attr-defined]
        else:
            render = getattr(response, "render", None)
            response = render() if render else response
            if not altered and getattr(response, "is_enveloped", False):
                content = Content(response.data)  # type: ignore[union-attr]
            else:
                content = reader_class(response, request.build_absolute_uri()).read()
            media_type = response.get("Content-Type", "")
        return cls(
            status=response.status_code,
            content=content,
            headers=response.headers,
            view=getattr(response, "renderer_context", {}).get("view"),
            request=request,
            excepted=getattr(response, "exception", False),
            query_string=query_string,
            media_type=media_type,
        )

    @property
    def soft_detail(self) -> SoftDetail:
        data = self.content.data
        if isinstance(data, SoftDetail):
            return data
        body = data if isinstance(data, Mapping) else {"detail": data}
        nested = (value for value in body.values() if isinstance(value, SoftDetail))
        return next(nested, None) or SoftDetail(dict(body), None, "")


MapErrors = Callable[[ArgumentLocator], ErrorMapper]


def build_outcome(
    response: ViewResponse,
    tool: str,
    arguments: ArgumentLocator,
    map_errors: MapErrors,
    recognize: Recognizer | None = None,
) -> Outcome:
    """Return the outcome of a view's response, with what the view said while it ran."""
    status, content, view = response.status, response.content, response.view
    own = recognize(content.data, status) if recognize is not None else None
    # A success counts for nothing where the HTTP status says otherwise.
    is_wrong = own is not None and own.failure is None and status >= 400
    outcome = read_data(response, arguments, map_errors) if own is None or is_wrong else own
    notes = notes_of(response.request) or NO_NOTES
    quota = outcome.rate_limit
    if quota is None and view is not None and (view.throttle_classes or status == 429):
        quota = get_rate_limit(view, status, response.headers)
    # The view's own envelope says them, else the call context, else attributes of the view.
    version, content_hash = outcome.version, outcome.content_hash
    if not version:
        version, own_hash = notes.content_version, notes.content_hash
        if not version and (attribute := getattr(view, "mcp_version", None)):
            # A hash of one version is not taken for that of another.
            version, own_hash = str(attribute), str(getattr(view, "mcp_content_hash", None) or "")
        content_hash = content_hash or own_hash
    return outcome.changed(
        tool=tool,
        content=content.blocks + notes.content if notes.blocks else content.blocks,
        fidelity=content.fidelity or outcome.fidelity,
        rate_limit=quota,
        warnings=(
            *outcome.warnings,
            *content.warnings,
            *notes.warnings,
            *(warn_of_quota(quota) if quota and outcome.failure is None else ()),
        ),
        suggestions=(*outcome.suggestions, *notes.suggestions),
        telemetry={**outcome.telemetry, **notes.telemetry},
        meta={**outcome.meta, **notes.meta} if notes.meta else outcome.meta,
        version=version,
        content_hash=content_hash,
        media_type=response.media_type,
    )


def read_data(response: ViewResponse, arguments: ArgumentLocator, map_errors: MapErrors) -> Outcome:
    data, status = response.content.data, response.status
    if status >= 400:
        failure = map_errors(arguments).from_response(status, data, response.headers)
        return Outcome("", status, data=data, failure=failure)
    if response.excepted and status < 300 and data is not None:
        detail = response.soft_detail
        failure = map_errors(arguments).from_soft_failure(detail)
        return Outcome("", status, data=detail.answer, failure=failure, body=data)
    # Not before: reading the paginator of a view makes one.
    has_pages = isinstance(data, OBJECTS) and is_page(data)
    paginator = getattr(response.view, "paginator", None) if has_pages else None
    if paginator is None:
        return Outcome("", status, data=data)
    page = read_page(paginator, data, response.query_string, arguments)
    warnings = () if page is None else tuple(find_limit(paginator, page, response.query_string))
    return Outcome("", status, data=data, pagination=page, warnings=warnings)


def has_plain_data(response: HttpResponseBase) -> bool:
    # Whether ``response.data`` is to be read as it is, unrendered.
    if not isinstance(response, Response) or response.status_code in BODILESS:
        return False
    # Rendering an error loses its codes.
    if (response.status_code >= 400 or response.exception) and response.data is not None:
        return True
    # A response out of a cache has forgotten its renderer.
    renderer = getattr(response, "accepted_renderer", None)
    # Another renderer may change the data, and a callback that waits for the rendering, such as
    # a cache's, has to be served.
    return (
        not response.is_rendered
        and (type(renderer) is JSONRenderer or getattr(renderer, "renders_envelope", False))
        and not response._post_render_callbacks  # type: ignore[attr-defined]
    )


def new_request_id() -> str:
    # The log and the caller know one call under it. Models read digits in groups of three: twelve
    # are four tokens, where as many bits of hexadecimal are eight.
    return f"req_{int.from_bytes(os.urandom(8), 'big') % 10**12:012}"


# --- The position of a page in its list, read from the paginator's own answer --------------------


def read_page(
    paginator: Any, data: Mapping[str, Any], query_string: str, arguments: ArgumentLocator
) -> Pagination | None:
    # None where the link to the next page leads nowhere that is known.
    link, count = data["next"], data.get("count")
    if not isinstance(link, (str, type(None))):
        return None
    changes = find_changes(link, query_string) if link else {}
    if link is not None and not changes:
        return None
    page = getattr(paginator, "page", None)
    size: Any
    if page is not None and hasattr(page, "paginator"):
        size = int(page.paginator.per_page)
    else:
        size = getattr(paginator, "limit", None) or getattr(paginator, "page_size", None)
    attributes = ("cursor_query_param", "page_query_param", "offset_query_param")
    names = (getattr(paginator, attribute, "") for attribute in attributes)
    cursor = next((changes[name] for name in names if name in changes), None)
    return Pagination(
        has_more=link is not None,
        total_count=count if isinstance(count, int) else None,
        page_size=size if isinstance(size, int) else None,
        page=getattr(page, "number", None),
        cursor=next(iter(changes.values()), None) if cursor is None else cursor,
        next=arguments.replace_query(changes) if changes else None,
    )


def find_changes(link: str, query_string: str) -> dict[str, str]:
    known = set(query_string.split("&"))
    pairs = [pair for pair in link.partition("?")[2].split("&") if pair not in known]
    parts = [pair.partition("=") for pair in pairs]
    there = {name: value for name, _, value in parts}
    if "%" in link or "+" in link:
        there = {unquote_plus(name): unquote_plus(value) for name, value in there.items()}
    # Of several, some may only be encoded in another way.
    here = parse_qs(query_string, keep_blank_values=True) if len(there) > 1 else {}
    return {name: value for name, value in there.items() if value not in here.get(name, ())}


def find_limit(paginator: Any, page: Pagination, query_string: str) -> Iterator[Warning]:
    # The warning of a page that has fewer rows than were asked for.
    name = getattr(paginator, "page_size_query_param", None)
    name = name or getattr(paginator, "limit_query_param", None)
    if not page.has_more or not name or name not in query_string:
        return
    pairs = [pair.partition("=") for pair in query_string.split("&")]
    asked = [value for parameter, _equals, value in pairs if parameter == name]
    if page.page_size and asked and asked[-1].isdecimal() and int(asked[-1]) > page.page_size:
        facts = {"name": name, "count": page.page_size, "asked": asked[-1]}
        text = _("%(name)s is at most %(count)d, not %(asked)s: read on with 'next'.")
        yield Warning(PAGE_SIZE_LIMITED, text % facts, PLAIN_WARNINGS[PAGE_SIZE_LIMITED])
