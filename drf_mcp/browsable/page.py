from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import get_script_prefix
from django.utils.translation import gettext as _
from rest_framework.authentication import BasicAuthentication, SessionAuthentication
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.permissions import AllowAny

from drf_mcp.access.authentication import Caller
from drf_mcp.access.origins import admits
from drf_mcp.browsable import wants_texts
from drf_mcp.browsable.frame import Context, Frame, ScriptTexts
from drf_mcp.browsable.tool_card import ERA, FormFields, ToolCard
from drf_mcp.dispatch.error_texts import ErrorBody
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import contain
from drf_mcp.observability.records import write_record
from drf_mcp.option_types.installed import features
from drf_mcp.protocol import Message
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.settings import chosen_language, mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.client_configs import BASIC, CLIENTS, DEFAULT_SCHEME, find_placeholder
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
            return json.loads(
                self.server.handle_body(json.dumps(message).encode(), None, caller).body
            )

    def get_sender(self) -> dict[str, str]:
        names = ("REMOTE_ADDR", "HTTP_USER_AGENT", "HTTP_ACCEPT_LANGUAGE")
        sent = self.request.META
        return {name: str(sent[name]) for name in names if name in sent}

    def refuse(self, exc: Exception) -> dict[str, Any]:
        # The endpoint's own permissions refuse the other user.
        if not isinstance(exc, APIException):
            raise exc
        return {"error": {"code": exc.status_code, "message": ErrorBody(exc.detail).sentence}}


class BrowsablePage(Frame):
    def __init__(self, server: Any, caller: Caller) -> None:
        super().__init__(server, caller.request, caller.request.path)
        self.caller = caller

    def show(self) -> HttpResponse:
        if wants_texts(self.request):
            return ScriptTexts.respond(self.request)
        context = self.get_context()
        missing = context["template"] == "drf_mcp/missing.html"
        return self.respond(context, 404 if missing else 200, bool(self.user_name))

    def compare(self) -> HttpResponse:
        return UserComparison(self.server, self.caller, self.offered_tools).respond()

    def refuse(self, refusal: HttpResponse, reason: str) -> HttpResponse:
        """Return the page that says why the endpoint refuses a browser, and where to sign in.

        It has the status and the challenge of the response to any other client.
        """
        status = refusal.status_code
        context = {
            **self.get_server_context(),
            "template": "drf_mcp/refused.html",
            "reason": reason,
            "status": status,
            "knows_browsers": any(
                issubclass(c, (SessionAuthentication, BasicAuthentication))
                for c in self.caller.authentication_classes
            ),
        }
        response = self.respond(context, status, status != 401)
        if "WWW-Authenticate" in refusal:
            response["WWW-Authenticate"] = refusal["WWW-Authenticate"]
        return response

    def get_context(self) -> Context:
        capability, message, tools = self.capability, self.message, self.offered_tools
        visible = Visibility(self.caller).of(tools.values())
        cards = [ToolCard(tool, capability, self.parts) for tool in visible]
        context = {
            **self.get_server_context(),
            "instructions": self.server.get_instructions(message),
            "user_name": self.user_name,
            "groups": self.group(cards),
            "count": len(cards),
            "hidden": len(tools) - len(cards) if self.is_trusted else 0,
        }
        if self.is_staff:
            context["hidden_tools"] = [
                ToolCard(tool, capability, self.parts)
                for tool in tools.values()
                if tool not in visible
            ]
        name, show = self.request.GET.get("tool"), self.request.GET.get("show")
        if name:
            card = next((card for card in cards if card.tool.name == name), None)
            return {**context, **self.get_tool_context(name, card, cards)}
        if show == "clients":
            return {**context, **self.get_clients_context()}
        for part in self.parts:
            if show and (own := part.get_page(show, tools)) is not None:
                return {**context, "shown": show, **own}
        return {**context, **self.get_tools_context(cards)}

    @property
    def message(self) -> RequestContext:
        return RequestContext(Message(None, "tools/list"), ERA, self.caller)

    @cached_property
    def capability(self) -> Any:
        return next(c for c in self.server.capabilities if c.name == "tools")

    @cached_property
    def offered_tools(self) -> Mapping[str, Tool]:
        tools: Mapping[str, Tool] = self.capability.get_offered_tools(self.message)
        return tools

    def get_tools_context(self, cards: list[ToolCard]) -> Context:
        return {
            "template": "drf_mcp/tools.html",
            "size": sum(card.size for card in cards),
            "tokens": sum(card.tokens for card in cards),
        }

    def get_tool_context(self, name: str, card: ToolCard | None, cards: list[ToolCard]) -> Context:
        if card is None:
            return {"template": "drf_mcp/missing.html", "missing": name}
        csrf_header = settings.CSRF_HEADER_NAME.removeprefix("HTTP_").replace("_", "-")
        own_origin = f"{self.request.scheme}://{self.request.get_host()}"
        return {
            "template": "drf_mcp/tool.html",
            "card": card,
            "unnamed_host": "" if admits(own_origin, self.request) else self.request.get_host(),
            "compares": self.is_staff
            and UserComparison.is_open_to(self.caller)
            and UserComparison.takes(card.tool),
            "cards_of_apps": [each for part in self.parts for each in part.get_cards(card.tool)],
            "sections": [each for part in self.parts for each in part.get_sections(card.tool)],
            "facts": {
                **card.form,
                "fields": FormFields(card.tool, {c.tool.name: c.tool for c in cards}).get_facts(),
                "example": self.get_example(card.tool),
                "endpoint": self.endpoint_url,
                "rest": own_origin
                + get_script_prefix().rstrip("/")
                + card.tool.endpoint.route.path,
                "csrf": {"header": csrf_header, "token": get_token(self.request)},
                "revision": STATELESS_REVISION,
                "authorization": self.authorization,
                "user": self.user_name,
                # The shown command has to name an endpoint that has options of its own.
                "own": self.caller.view.is_narrowed or "toolset" in self.caller.view.kwargs,
                "media": self.get_media_url(),
            },
        }

    def get_clients_context(self) -> Context:
        target: Context = {"url": self.endpoint_url, "authorization": self.authorization}
        clients = [client(mcp_settings.SERVER_NAME, **target) for client in CLIENTS.values()]
        scheme, _, placeholder = (self.authorization or "").partition(" ")
        resource = self.caller.resource
        return {
            "template": "drf_mcp/clients.html",
            "clients": clients,
            "authorization": self.authorization,
            "client_cards": [
                card
                for part in self.parts
                for card in part.get_client_cards(self.authorization or "")
            ],
            "is_public": self.request.is_secure(),
            "sign_in": {
                "servers": resource.authorization_servers if resource else [],
                "placeholder": placeholder,
                "is_basic": scheme == BASIC,
                "makes_tokens": apps.is_installed("rest_framework.authtoken"),
            },
        }

    def get_media_url(self) -> str:
        # With such a MEDIA_URL every path would look like a file.
        return "" if settings.MEDIA_URL in ("", "/") else settings.MEDIA_URL

    def get_example(self, tool: Tool) -> Context:
        # Example values are taken from rows that the caller sees; anonymous callers get none.
        arguments = tool.hints.call
        if not self.user_name or tool.options.input_schema is not None:
            return arguments
        for feature in features.hooks["find_example"]:
            find = partial(feature.find_example, tool, self.caller.user)
            if example := contain(find, lambda exc: None):
                return dict(example.arguments)
        return arguments

    def group(self, cards: list[ToolCard]) -> list[tuple[ToolCard, list[ToolCard]]]:
        # The first card of a view heads its group.
        by_view = itertools.groupby(cards, key=lambda card: card.view)
        groups = [list(group) for _, group in by_view]
        return [(group[0], group) for group in groups]

    @property
    def is_staff(self) -> bool:
        user = self.caller.user
        return bool(self.user_name and user.is_active and getattr(user, "is_staff", False))

    @property
    def user_name(self) -> str:
        user = self.caller.user
        known = user is not None and getattr(user, "is_authenticated", False)
        return str(getattr(user, "get_username", user.__str__)()) if known else ""

    @property
    def endpoint_url(self) -> str:
        return self.request.build_absolute_uri(self.request.path)

    @cached_property
    def authorization(self) -> str | None:
        is_open = all(permission is AllowAny for permission in self.caller.permission_classes)
        # With OAuth a client gets its token itself.
        if is_open or self.caller.resource is not None:
            return None
        request = self.caller.drf_request()
        challenges = (a.authenticate_header(request) for a in self.caller.authenticators)
        scheme = next(filter(None, challenges), DEFAULT_SCHEME).split()[0]
        return f"{scheme} {find_placeholder(scheme)}"
