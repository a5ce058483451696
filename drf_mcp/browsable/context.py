"""What stands on the page: the server, the tools, one tool, clients or findings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import get_script_prefix
from rest_framework.permissions import AllowAny

from drf_mcp.access.authentication import Caller
from drf_mcp.access.origins import admits
from drf_mcp.browsable.form_data import tool_facts
from drf_mcp.browsable.presenters import ERA, ToolCard
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.observability.records import RequestContext
from drf_mcp.operators.client_configs import DEFAULT_SCHEME, PLACEHOLDER, configurations
from drf_mcp.operators.lint import findings_of, tool_findings
from drf_mcp.operators.permission_trace import Step, explain
from drf_mcp.protocol import Message
from drf_mcp.protocol.constants import REVISIONS, STATELESS_REVISION
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool
from drf_mcp.tools.capability import ToolsCapability

TOLD_TO_ALL = frozenset({"endpoint", "permission", "throttle"})


def contents(server: Server, caller: Caller) -> dict[str, Any]:
    """Return the context of the page that a request asks for.

    ``?tool=NAME`` asks for one tool, ``?show=clients`` and ``?show=findings`` for these.

    Raises:
        APIException: if the endpoint does not let the caller in.
    """
    request = caller.request
    capability = next(c for c in server.capabilities if isinstance(c, ToolsCapability))
    every = capability.get_tools(RequestContext(Message(None, "tools/list"), ERA, caller))
    cards = [ToolCard(tool, capability) for tool in Visibility(caller).of(every.values())]
    trusted = settings.DEBUG or bool(getattr(caller.user, "is_staff", False))
    context: dict[str, Any] = {
        **server_facts(server, request),
        "user_name": user_name(caller.user),
        "groups": grouped(cards),
        "count": len(cards),
        "hidden": len(every) - len(cards) if trusted else 0,
        "trusted": trusted,
    }
    name, show = request.GET.get("tool"), request.GET.get("show")
    if name:
        return {**context, **one_tool(name, cards, caller, trusted)}
    if show == "clients":
        return {**context, "template": "drf_mcp/clients.html", "clients": clients(caller)}
    if show == "findings" and trusted:
        return {**context, "template": "drf_mcp/findings.html", **findings(every)}
    size, tokens = sum(card.size for card in cards), sum(card.tokens for card in cards)
    return {**context, "template": "drf_mcp/tools.html", "size": size, "tokens": f"{tokens:,}"}


def one_tool(name: str, cards: list[ToolCard], caller: Caller, trusted: bool) -> dict[str, Any]:
    """Return the context of a tool's own page, or of the one that says there is none."""
    card = next((card for card in cards if card.name == name), None)
    if card is None:
        return {"template": "drf_mcp/missing.html", "missing": name}
    request = caller.request
    return {
        "template": "drf_mcp/tool.html",
        "card": card,
        "unnamed_host": "" if admits(own_origin(request)) else request.get_host(),
        "steps": decisions(card.tool, caller, trusted),
        "findings": list(tool_findings(card.tool)) if trusted else [],
        "facts": {
            **tool_facts(card.tool),
            "endpoint": endpoint_url(request),
            "rest": own_origin(request) + prefixed(card.path),
            "csrf": {"header": csrf_header(), "token": get_token(request)},
            "revision": STATELESS_REVISION,
            "authorization": authorization(caller),
        },
    }


def decisions(tool: Tool, caller: Caller, trusted: bool) -> list[Step]:
    """Return what decides over the caller's call; how many rows there are is not for everybody."""
    user = caller.user if user_name(caller.user) else None
    steps = explain(tool, user).steps
    return [step for step in steps if trusted or (step.allows and step.kind in TOLD_TO_ALL)]


def server_facts(server: Server, request: HttpRequest) -> dict[str, Any]:
    """Return what the server says of itself to anybody."""
    info = server.get_server_info()
    return {
        "server_name": info["name"],
        "server_title": info.get("title") or info["name"],
        "server_version": info["version"],
        "revisions": REVISIONS,
        "envelope": mcp_settings.ENVELOPE_CLASS.__name__,
        "home": request.path,
        "endpoint": endpoint_url(request),
        "instructions": server.get_instructions(),
    }


def endpoint_url(request: HttpRequest) -> str:
    """Return the address that clients are given."""
    return request.build_absolute_uri(request.path)


def own_origin(request: HttpRequest) -> str:
    """Return the origin that a browser sends with the calls of the page."""
    return f"{request.scheme}://{request.get_host()}"


def prefixed(path: str) -> str:
    """Return a path of the URLconf below the prefix that the project is served under."""
    return get_script_prefix().rstrip("/") + path


def csrf_header() -> str:
    """Return the name of the header that carries the CSRF token."""
    return settings.CSRF_HEADER_NAME.removeprefix("HTTP_").replace("_", "-")


def user_name(user: Any) -> str:
    """Return the caller's name, "" for an anonymous one."""
    known = user is not None and getattr(user, "is_authenticated", False)
    return str(getattr(user, "get_username", user.__str__)()) if known else ""


def grouped(cards: list[ToolCard]) -> list[tuple[ToolCard, list[ToolCard]]]:
    """Return the tools by view, each group behind its first."""
    by_view = itertools.groupby(cards, key=lambda card: card.tool.endpoint.view_class)
    groups = [list(group) for _, group in by_view]
    return [(group[0], group) for group in groups]


def clients(caller: Caller) -> list[tuple[str, Any]]:
    """Return what to paste into each client, by the client's name."""
    url, name = endpoint_url(caller.request), mcp_settings.SERVER_NAME
    return list(configurations(url, name, authorization(caller)).items())


def authorization(caller: Caller) -> str | None:
    """Return what clients send as Authorization, None where nobody is asked who they are."""
    if all(permission is AllowAny for permission in caller.permission_classes):
        return None
    request = caller.drf_request()
    challenges = (a.authenticate_header(request) for a in caller.authenticators)
    challenge = next(filter(None, challenges), DEFAULT_SCHEME)
    return f"{challenge.split()[0]} {PLACEHOLDER}"


def findings(tools: Mapping[str, Tool]) -> dict[str, Any]:
    """Return what could be better: of all tools together, and of each that it is about."""
    by_tool = [(tool, list(tool_findings(tool))) for tool in tools.values()]
    return {
        "general": [finding for finding in findings_of(tools) if finding.place == "DRF_MCP"],
        "found": [(tool, found) for tool, found in by_tool if found],
    }
