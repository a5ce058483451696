"""The page of an endpoint, and the base class of further pages of a signed-in user."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from django.apps import apps
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from django.views.generic import View
from rest_framework.authentication import BasicAuthentication, SessionAuthentication
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny

from drf_mcp.access.authentication import Caller
from drf_mcp.access.origins import admits
from drf_mcp.browsable import wants_page, wants_texts
from drf_mcp.browsable.frame import Context, Frame, ScriptTexts
from drf_mcp.browsable.tool_card import ToolCard, find_field_facts, find_links
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.routes.registry import registry
from drf_mcp.routes.tool import Tool
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings
from drf_mcp.transports.client_configs import BASIC, CLIENTS, DEFAULT_SCHEME, find_placeholder

# Tools that the home shows without their groups folded.
MOST_UNFOLDED = 10


class BrowsablePage(Frame):
    def __init__(self, server: Any, caller: Caller) -> None:
        super().__init__(server, caller.request, caller.request.path)
        self.caller = caller

    def show(self) -> HttpResponse:
        if wants_texts(self.request):
            return ScriptTexts.respond(self.request)
        context = self._make_context()
        missing = context["template"] == "drf_mcp/missing.html"
        return self.respond(context, 404 if missing else 200, bool(self.user_name))

    def answer(self) -> HttpResponse:
        """Return the answer to a POST of the page's own scripts.

        Raises:
            APIException: if no part of the page answers it, or the part refuses the caller.
        """
        show = self.request.GET.get("show", "")
        answers = (part.answer(show) for part in self.parts)
        answer = next((each for each in answers if each is not None), None)
        if answer is None:
            raise NotFound
        return answer

    def refuse(self, refusal: HttpResponse, reason: str) -> HttpResponse:
        """Return the page that says why the endpoint refuses a browser, with a link to sign in.

        It has the status and the challenge of the response to any other client.
        """
        status = refusal.status_code
        context = {
            **self.make_server_context(),
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

    def _make_context(self) -> Context:
        capability: Any = self.server.tools_capability
        message = RequestContext.of_list(self.caller)
        tools: Mapping[str, Tool] = capability.find_offered_tools(message)
        visible = Visibility(self.caller).of(tools.values())
        cards = [ToolCard(tool, capability, self.parts) for tool in visible]
        groups = [list(group) for _, group in itertools.groupby(cards, key=lambda card: card.view)]
        context = {
            **self.make_server_context(),
            "instructions": self.server.get_instructions(message),
            "user_name": self.user_name,
            # The first card of a view heads its group.
            "groups": [(group[0], group) for group in groups],
            "count": len(cards),
            "hidden": len(tools) - len(cards) if self.is_trusted else 0,
            "is_trusted": self.is_trusted,
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
            return {**context, **self._make_tool_context(name, card, cards)}
        if show == "clients":
            return {**context, **self._make_clients_context()}
        for part in self.parts:
            if show and (own := part.get_page(show, tools)) is not None:
                return {**context, "shown": show, **own}
        size, tokens = sum(card.size for card in cards), sum(card.tokens for card in cards)
        return {
            **context,
            "template": "drf_mcp/tools.html",
            "sections": sorted(
                (section for part in self.parts for section in part.get_home(tools)),
                key=lambda section: section.get("order", 100),
            ),
            "is_folded": len(cards) > MOST_UNFOLDED,
            "size": size,
            "tokens": tokens,
        }

    def _make_tool_context(
        self, name: str, card: ToolCard | None, cards: list[ToolCard]
    ) -> Context:
        if card is None:
            return {"template": "drf_mcp/missing.html", "missing": name}
        offered = {each.tool.name: each.tool for each in cards}
        csrf_header = settings.CSRF_HEADER_NAME.removeprefix("HTTP_").replace("_", "-")
        own_origin = f"{self.request.scheme}://{self.request.get_host()}"
        return {
            "template": "drf_mcp/tool.html",
            "card": card,
            "unnamed_host": "" if admits(own_origin, self.request) else self.request.get_host(),
            "cards_of_apps": [each for part in self.parts for each in part.get_cards(card.tool)],
            "sections": [each for part in self.parts for each in part.get_sections(card.tool)],
            "facts": {
                **card.form,
                "fields": find_field_facts(card.tool, offered),
                "links": find_links(card.tool, offered),
                "example": card.tool.hints.call,
                "endpoint": self.endpoint,
                "rest": own_origin
                + get_script_prefix().rstrip("/")
                + card.tool.endpoint.route.path,
                "csrf": {"header": csrf_header, "token": get_token(self.request)},
                "revision": STATELESS_REVISION,
                "authorization": self.authorization,
                "user": self.user_name,
                # The command on the page then needs the option --endpoint.
                "own": self.caller.view.is_narrowed or "toolset" in self.caller.view.kwargs,
                # With "/" every path would look like a file.
                "media": "" if settings.MEDIA_URL == "/" else settings.MEDIA_URL,
            },
        }

    def _make_clients_context(self) -> Context:
        target: Context = {"url": self.endpoint, "authorization": self.authorization}
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

    @property
    def is_staff(self) -> bool:
        user = self.caller.user
        return bool(self.user_name and user.is_active and getattr(user, "is_staff", False))

    @property
    def user_name(self) -> str:
        user = self.caller.user
        known = user is not None and getattr(user, "is_authenticated", False)
        return str(getattr(user, "get_username", user.__str__)()) if known else ""

    @cached_property
    def authorization(self) -> str | None:
        is_open = all(permission is AllowAny for permission in self.caller.permission_classes)
        # With OAuth the client gets a token itself.
        if is_open or self.caller.resource is not None:
            return None
        request = self.caller.drf_request()
        challenges = (a.authenticate_header(request) for a in self.caller.authenticators)
        scheme = next(filter(None, challenges), DEFAULT_SCHEME).split()[0]
        return f"{scheme} {find_placeholder(scheme)}"


# A form of another page must not act for the user, even without Django's CSRF middleware.
@method_decorator(csrf_protect, name="dispatch")
class SessionPage(View):
    """A page for signed-in users, in the frame of the endpoint's page."""

    frame_class: ClassVar[type[Frame]] = Frame
    endpoint = "drf_mcp:endpoint"
    http_method_names = ["get", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Only by a session: an agent's credential in a header must not act for its user here.
        if SESSION_KEY not in getattr(request, "session", ()) or not request.user.is_authenticated:
            try:
                login_url: str | None = reverse("rest_framework:login")
            except NoReverseMatch:
                login_url = None
            return redirect_to_login(request.get_full_path(), login_url)
        if request.method == "GET" and wants_texts(request):
            return ScriptTexts.respond(request)
        return super().dispatch(request, *args, **kwargs)  # type: ignore[return-value]

    def show_page(self, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        try:
            home = reverse(self.endpoint)
        except NoReverseMatch:
            home = self.request.path
        frame = self.frame_class(Server(registry), self.request, home)
        shared = {
            **frame.make_server_context(),
            "groups": [] if wants_page(self.request) else None,
            "user_name": self.request.user.get_username(),
        }
        return frame.respond({**shared, **context}, status, True)
