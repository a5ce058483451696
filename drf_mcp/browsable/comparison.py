"""The same call as two users, for superusers and tools with GET."""

from __future__ import annotations

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

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.errors.body import ErrorBody
from drf_mcp.exceptions import contain
from drf_mcp.observability.logging import write_record
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.settings import chosen_language
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.http import read_body
from drf_mcp.transports.local_endpoint import LocalEndpoint

ANONYMOUS = "anonymous"
MOST_USERS = 2
METHOD = "GET"


class UserComparison:
    """Makes one call as each of several users.

    The caller is a superuser with a session of this site and a CSRF token. The calls run at this
    endpoint, with its permissions and narrowings, and are recorded under the names of both users.

    Args:
        server: the endpoint's server.
        caller: the superuser.
        tools: the endpoint's tools by name.
    """

    def __init__(self, server: Any, caller: Caller, tools: Mapping[str, Tool]) -> None:
        self.server = server
        self.caller = caller
        self.tools = tools
        self.request = caller.request

    @staticmethod
    def is_open_to(caller: Caller) -> bool:
        """Return whether an authenticated caller may call as others."""
        user = caller.user
        return bool(
            isinstance(caller.successful_authenticator, SessionAuthentication)
            and getattr(user, "is_active", False)
            and getattr(user, "is_superuser", False)
        )

    @staticmethod
    def takes(tool: Tool) -> bool:
        return tool.endpoint.method == METHOD and bool(tool.annotations["readOnlyHint"])

    def respond(self) -> HttpResponse:
        """Return the answers as JSON, in the order of the users.

        Raises:
            APIException: if the caller may not compare, or the request is not valid.
        """
        self.caller.authenticate()
        if not self.is_open_to(self.caller):
            raise PermissionDenied(
                _("Only a superuser who is signed in to this site compares users.")
            )
        # The project's own session authentication may leave it out.
        SessionAuthentication().enforce_csrf(self.caller.drf_request())
        name, arguments, users = self.read()
        endpoint = contain(lambda: LocalEndpoint(self.request.path_info), lambda exc: None)
        tool = None if endpoint is None else endpoint.tools.get(name)
        if endpoint is None or tool is None or not self.takes(tool):
            text = _("%(tool)s is no tool of this endpoint that a GET serves.")
            raise ValidationError(text % {"tool": name})
        answers = [self.call(endpoint, tool, arguments, user) for user in users]
        response = JsonResponse({"answers": answers})
        response["Cache-Control"] = "no-store"
        return response

    def read(self) -> tuple[str, Mapping[str, Any], Sequence[Any]]:
        asked = contain(lambda: json.loads(read_body(self.request)), lambda exc: None)
        asked = asked if isinstance(asked, dict) else {}
        name, arguments, users = asked.get("tool"), asked.get("arguments"), asked.get("users")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise ValidationError(_("A comparison has a tool and its arguments."))
        if not isinstance(users, list) or not 1 <= len(users) <= MOST_USERS:
            text = _("A comparison has up to %(count)d users.")
            raise ValidationError(text % {"count": MOST_USERS})
        return name, arguments, [self.find_user(str(user)) for user in users]

    def find_user(self, username: str) -> Any:
        users: Any = get_user_model()._default_manager
        user = contain(lambda: users.get_by_natural_key(username), lambda exc: None)
        if user is None and username == ANONYMOUS:
            return None
        if user is None or not user.is_active:
            raise ValidationError(_("No active user is named %(user)s.") % {"user": username})
        return user

    def call(
        self, endpoint: LocalEndpoint, tool: Tool, arguments: Mapping[str, Any], user: Any
    ) -> dict[str, Any]:
        label = ANONYMOUS if user is None else user.get_username()
        own = self.caller.user.get_username()
        fields = {"tool": tool.name, "user": label, "by": own}
        write_record(logging.WARNING, "%s called as %s by %s", (tool.name, label, own), fields)
        caller = endpoint.make_caller(user)
        caller.narrowings += self.caller.narrowings
        # An audit names the other user as the caller; these headers are the superuser's.
        caller.request.META.update(self.get_sender())
        meta = {
            PROTOCOL_VERSION_KEY: STATELESS_REVISION,
            CLIENT_INFO_KEY: {"name": f"compared by {own}", "version": "1"},
            CLIENT_CAPABILITIES_KEY: {},
        }
        params = {"name": tool.name, "arguments": arguments, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        started = time.perf_counter()
        body = contain(lambda: self.answer(message, caller), self.refuse)
        took = (time.perf_counter() - started) * 1000
        return {"user": label, "milliseconds": round(took, 1), "body": body}

    def answer(self, message: Mapping[str, Any], caller: Caller) -> Any:
        # As the endpoint does, whatever language the reader of the page has.
        with chosen_language():
            return json.loads(self.server.answer(json.dumps(message).encode(), None, caller).body)

    def get_sender(self) -> dict[str, str]:
        names = ("REMOTE_ADDR", "HTTP_USER_AGENT", "HTTP_ACCEPT_LANGUAGE")
        sent = self.request.META
        return {name: str(sent[name]) for name in names if name in sent}

    def refuse(self, exc: Exception) -> dict[str, Any]:
        # The endpoint's own permissions refuse the other user.
        if not isinstance(exc, APIException):
            raise exc
        return {"error": {"code": exc.status_code, "message": ErrorBody(exc.detail).sentence}}
