"""Jobs: a view answers 202 with a URL, which says how its work is and what came of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.urls import Resolver404, get_script_prefix, resolve

from drf_mcp.exposure import Tool
from drf_mcp.features import Call, CallState, Encoded, RequestContext
from drf_mcp.observability.records import record_call
from drf_mcp.outcomes import Outcome

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3
URL_MEMBERS = ("status_url", "job_url", "url")
STATE_MEMBERS = ("status", "state")
# What APIs call work that is not over.
UNFINISHED = frozenset(
    re.findall(
        r"\w+",
        "accepted created enqueued executing in_progress new not_started pending processing "
        "progress queued ready received retry running scheduled started starting submitted "
        "waiting working",
    )
)


class JobAnswer(NamedTuple):
    """What the URL of a job says.

    Attributes:
        is_over: whether the work has ended.
        message: how the work is, "" where the answer does not say.
        result: the result of a tool that gives this answer.
    """

    is_over: bool
    message: str
    result: Mapping[str, Any]


def find_url(response: Any) -> str:
    """Return the absolute URL that a response names, "" for none."""
    url = response.headers.get("Location", "")
    data = response.content.data
    if not url and response.status == 202 and isinstance(data, Mapping):
        url = next((data[n] for n in URL_MEMBERS if isinstance(data.get(n), str)), "")
    return response.request.build_absolute_uri(url) if url else ""


class JobReader:
    """Asks the URLs of jobs as the caller, by the tools that the endpoint has for them."""

    def __init__(self, server: Any, context: RequestContext) -> None:
        self.server = server
        self.context = context

    def find(self, url: str) -> tuple[Tool, Call] | None:
        """Return the tool that reads a URL with its call, None where the caller has none."""
        request, urlconf = self.context.caller.request, self.context.urlconf
        parts = urlsplit(urljoin(request.build_absolute_uri(), url))
        prefix = get_script_prefix()
        if parts.netloc != request.get_host() or not parts.path.startswith(prefix):
            return None
        path = "/" + parts.path[len(prefix) :]
        try:
            match = resolve(path, urlconf or settings.ROOT_URLCONF)
        except Resolver404:
            return None
        found = self.server.registry.tool_at(match, "GET", urlconf)
        tools = self.server.tools_capability.get_tools(self.context)
        tool = tools.get(found.name) if found is not None else None
        if tool is None or self.context.caller.find_narrowing(tool) is not None:
            return None
        kwargs = tool.endpoint.route.find_captured(match)
        return tool, Call({}, kwargs, parts.query)

    def ask(self, url: str) -> JobAnswer | None:
        """Return what a URL says, None where the caller can no longer ask it."""
        capability = self.server.tools_capability
        for _ in range(MOST_REDIRECTS):
            found = self.find(url)
            if found is None:
                return None
            tool, bound = found
            params = {"name": tool.name, "arguments": {}}
            context = self.context.for_params(self.context.message.method, params)
            call = CallState(tool, {}, context.caller, context, self.server)
            call.bound = bound
            started = time.perf_counter()
            outcome: Outcome = capability.make_dispatcher().dispatch(call)
            following = call.response and find_url(call.response)
            if outcome.status not in REDIRECTS or not following:
                break
            url = following
        result, outcome = capability.write_result(outcome, call)
        record_call(self.context, tool, outcome, result, started)
        state, is_away = "", False
        if outcome.failure is not None:
            is_away = outcome.status >= 500 or outcome.status == 429
        elif isinstance(data := outcome.data, Mapping):
            state = next((data[n] for n in STATE_MEMBERS if isinstance(data.get(n), str)), "")
        is_over = not is_away and outcome.status != 202 and normalize(state) not in UNFINISHED
        plain = {n: json.loads(v) if isinstance(v, Encoded) else v for n, v in result.items()}
        return JobAnswer(is_over, state, {"resultType": "complete", **plain})


def normalize(state: str) -> str:
    return state.strip().lower().replace(" ", "_").replace("-", "_")
