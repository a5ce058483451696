"""What the app adds to the page of an endpoint.

Who may call a tool, the findings, and the same call as two users.
"""

from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError

from drf_mcp.browsable.frame import PagePart
from drf_mcp.contrib.operators.lint import CAUSES, ToolLint, find_all
from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.errors import find_sentence
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import Tool
from drf_mcp.features import Caller
from drf_mcp.observability.records import write_record
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.transports.http import read_body
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint

# Decisions that say nothing about other people's rows.
SHOWN_TO_ALL = frozenset({"narrowing", "endpoint", "permission", "throttle"})
ANONYMOUS = "anonymous"
MOST_USERS = 2
# An audit names the other user as the caller; these headers are the superuser's.
SENDER = ("REMOTE_ADDR", "HTTP_USER_AGENT", "HTTP_ACCEPT_LANGUAGE")


class OperatorsPart(PagePart):
    def get_links(self) -> Mapping[str, str]:
        return {"findings": _("Findings")} if self.page.is_trusted else {}

    def get_page(self, show: str, tools: Mapping[str, Tool]) -> Mapping[str, Any] | None:
        if show not in self.get_links():
            return None
        causes = {cause.cause: cause for cause in CAUSES}
        grouped = itertools.groupby(find_all(tools), key=lambda finding: finding.cause)
        found = [(causes[name], list(findings)) for name, findings in grouped]
        return {"template": "drf_mcp_operators/findings.html", "causes": found}

    def get_cards(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        def trace(user: Any) -> PermissionTrace:
            return PermissionTrace(tool, user, narrowings=self.page.caller.narrowings)

        steps = list(trace(self.page.caller.user if self.page.user_name else None).steps)
        if not self.page.is_trusted:
            steps = [step for step in steps if step.allows and step.kind in SHOWN_TO_ALL]
        card: dict[str, Any] = {"template": "drf_mcp_operators/access.html", "steps": steps}
        card["staff"] = self.page.is_staff
        if self.page.is_staff and (asked := self.page.request.GET.get("as", "").strip()):
            users: Any = get_user_model()._default_manager
            user = attempt(lambda: users.get_by_natural_key(asked), None)
            card |= {"asked": asked, "trace": user and trace(user)}
        return [card]

    def get_sections(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        folder, sections = "drf_mcp_operators", list[Mapping[str, Any]]()
        if _may_compare(self.page.caller) and _is_comparable(tool):
            sections.append({"template": f"{folder}/comparison.html"})
        if self.page.is_trusted and (found := [*ToolLint(tool).find()]):
            sections.append({"template": f"{folder}/findings_of_tool.html", "findings": found})
        return sections

    def answer(self, show: str) -> HttpResponse | None:
        if show != "comparison":
            return None
        return _compare_users(self.page.caller)

    def get_audience(self, tool: Tool) -> str:
        if not self.page.is_staff:
            return ""
        asked = attempt(PermissionTrace(tool, None).ask_permissions, [])
        needs = dict.fromkeys(permission.find_audience() for permission in asked)
        return "; ".join(filter(None, needs)) or _("anybody")


# --- The same call as two users -------------------------------------------------------------


def _may_compare(caller: Caller) -> bool:
    """Return whether an authenticated caller may make the calls of other users."""
    user = caller.user
    return bool(
        isinstance(caller.successful_authenticator, SessionAuthentication)
        and getattr(user, "is_active", False)
        and getattr(user, "is_superuser", False)
    )


def _is_comparable(tool: Tool) -> bool:
    return tool.endpoint.method == "GET" and bool(tool.annotations["readOnlyHint"])


class ComparedEndpoint(LocalEndpoint):
    """The endpoint of a superuser who compares, as other users call it."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller.request.path_info)
        self.caller = caller

    def make_caller(self, user: Any = None, authorization: str | None = None) -> Caller:
        other, sent = super().make_caller(user, authorization), self.caller.request.META
        other.narrowings += self.caller.narrowings
        other.request.META.update({key: str(sent[key]) for key in SENDER if key in sent})
        return other


def _compare_users(caller: Caller) -> HttpResponse:
    """Make one call as each of several users, and return the answers in the order of the users.

    The caller is a superuser with a session of this site and a CSRF token. The calls run at this
    endpoint, with its permissions and narrowings, and are recorded under the names of both users.

    Raises:
        APIException: if the caller may not compare, or the request is not valid.
    """
    caller.authenticate()
    if not _may_compare(caller):
        raise PermissionDenied(_("Only a superuser who is signed in to this site compares users."))
    # The project's own session authentication may leave it out.
    SessionAuthentication().enforce_csrf(caller.drf_request())
    try:
        asked = json.loads(read_body(caller.request))
    except (ValueError, RecursionError):
        asked = None
    asked = asked if isinstance(asked, dict) else {}
    name, arguments, users = asked.get("tool"), asked.get("arguments"), asked.get("users")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ValidationError(_("A comparison has a tool and its arguments."))
    if not isinstance(users, list) or not 1 <= len(users) <= MOST_USERS:
        raise ValidationError(_("A comparison has up to %(count)d users.") % {"count": MOST_USERS})
    endpoint = ComparedEndpoint(caller)
    tool = endpoint.tools.get(name)
    if tool is None or not _is_comparable(tool):
        text = _("%(tool)s is no tool of this endpoint that a GET serves.")
        raise ValidationError(text % {"tool": name})
    found = [find_user(str(user)) for user in users]
    answers = [_call_as(user, endpoint, name, arguments) for user in found]
    response = JsonResponse({"answers": answers})
    response["Cache-Control"] = "no-store"
    return response


def find_user(username: str) -> Any:
    users: Any = get_user_model()
    try:
        user = users._default_manager.get_by_natural_key(username)
    except users.DoesNotExist:
        user = None
    if user is None and username == ANONYMOUS:
        return None
    if user is None or not user.is_active:
        raise ValidationError(_("No active user is named %(user)s.") % {"user": username})
    return user


def _call_as(
    user: Any, endpoint: ComparedEndpoint, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    label = ANONYMOUS if user is None else user.get_username()
    own = endpoint.caller.user.get_username()
    fields = {"tool": name, "user": label, "by": own}
    write_record(logging.WARNING, "%s called as %s by %s", (name, label, own), fields)
    meta = {CLIENT_INFO_KEY: {"name": f"compared by {own}", "version": "1"}}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    started = time.perf_counter()
    try:
        body = InProcessClient(user, endpoint=endpoint).send("tools/call", params)
    except APIException as exc:
        # The endpoint's own permissions refuse the other user.
        sentence = find_sentence(exc.detail)
        body = {"error": {"code": exc.status_code, "message": sentence}}
    took = (time.perf_counter() - started) * 1000
    return {"user": label, "milliseconds": round(took, 1), "body": body}
