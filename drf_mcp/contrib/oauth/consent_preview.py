"""What the consent page shows: the client, and the tools that its token would open."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from oauth2_provider.models import get_access_token_model
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from drf_mcp.access.authentication import Caller, copy_identity
from drf_mcp.access.resources import FoundEndpoint
from drf_mcp.contrib.oauth.backends import find_endpoints_of
from drf_mcp.contrib.oauth.validators import LOOPBACK
from drf_mcp.dispatch.approach import Identities
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import Refused
from drf_mcp.protocol import Message, select_by_headers
from drf_mcp.protocol.constants import PROTOCOL_VERSION_HEADER, STATELESS_REVISION
from drf_mcp.protocol.context import RequestContext
from drf_mcp.tools import Tool

ERA = select_by_headers({PROTOCOL_VERSION_HEADER: STATELESS_REVISION})
MAX_NAME_LENGTH = 60


class ClientCard:
    """A client as pages show it: its own name, and what is known for certain.

    Args:
        application: the client, as django-oauth-toolkit keeps it.
        redirect_uri: where this sign-in sends the code; by default the first of the client.
    """

    def __init__(self, application: Any, redirect_uri: str = "") -> None:
        self.application = application
        self.redirect_uri = redirect_uri or next(iter(application.redirect_uris.split()), "")

    @cached_property
    def name(self) -> str:
        # Without line breaks and characters that change the direction of the text.
        printable = (c if c.isprintable() else " " for c in self.application.name)
        name = " ".join("".join(printable).split())
        if len(name) > MAX_NAME_LENGTH:
            name = f"{name[:MAX_NAME_LENGTH].rstrip()}…"
        return name or _("A client without a name")

    @property
    def is_known(self) -> bool:
        """Whether the project added the client by hand."""
        source = self.application.registration_source
        return bool(source == self.application.RegistrationSource.MANUAL)

    @property
    def publisher(self) -> str:
        """The host of the document that the client published, "" without a document."""
        application = self.application
        is_document = application.registration_source == application.RegistrationSource.CIMD
        return urlsplit(application.client_id).hostname or "" if is_document else ""

    @property
    def destination(self) -> str:
        """Where the browser takes the code: a host, or the scheme of a program."""
        parts = urlsplit(self.redirect_uri)
        if parts.scheme in ("http", "https"):
            return parts.hostname or ""
        return f"{parts.scheme}:"

    @property
    def is_local(self) -> bool:
        return urlsplit(self.redirect_uri).hostname in LOOPBACK

    @property
    def origin(self) -> str:
        """The origin of the redirect URI, as a Content-Security-Policy names it."""
        parts = urlsplit(self.redirect_uri)
        named = parts.scheme in ("http", "https")
        return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"


class PreviewAuthentication(OAuth2Authentication):  # type: ignore[misc]
    """Authenticates the person who is asked, with the token that the client would get."""

    def __init__(self, user: Any, token: Any) -> None:
        self.user = user
        self.token = token

    def authenticate(self, request: Any) -> tuple[Any, Any]:
        return self.user, self.token


class PreviewIdentities(Identities):
    """Sets the token, which is in no database yet, on the request of every view."""

    def introduce(self, request: Request) -> None:
        copy_identity(request, self.caller.authenticate())


class PreviewVisibility(Visibility):
    """Asks every view on behalf of the token."""

    identities_class = PreviewIdentities

    def identify(self, classes: tuple[type, ...], tool: Tool) -> Request:
        return self.caller.authenticate()

    def is_short_of_scopes(self, view: Any) -> bool:
        # A list shows such tools to clients, which may ask for scopes; this token opens none.
        return False


class ConsentPreview:
    """The tools that a person would open to a client by consenting.

    Args:
        request: the request of the person.
        scopes: the scopes that the client asks for.
        resources: the resources of the token.
    """

    def __init__(self, request: HttpRequest, scopes: Sequence[str], resources: Sequence[str]):
        self.request = request
        self.scopes = scopes
        self.resources = resources

    @cached_property
    def endpoints(self) -> list[FoundEndpoint]:
        return find_endpoints_of(self.request, self.resources)

    @property
    def addresses(self) -> list[str]:
        """The addresses besides endpoints that RESOURCE opens to the token."""
        named = {e.describe(self.request) for e in self.endpoints if e.view.get_resource()}
        return sorted({each.uri for each in named if not each.uri.endswith(each.path)})

    @cached_property
    def tools(self) -> list[Tool]:
        found = {tool.name: tool for endpoint in self.endpoints for tool in self.find(endpoint)}
        return list(found.values())

    def find(self, endpoint: FoundEndpoint) -> Iterator[Tool]:
        view = endpoint.view
        request = self.make_request(endpoint)
        view.setup(request, *endpoint.args, **endpoint.kwargs)
        caller = Caller(request, view, [self.make_authentication()], view.get_permissions())
        view.caller, server = caller, view.get_server()
        capability = next(c for c in server.capabilities if c.name == "tools")
        context = RequestContext(Message(None, "tools/list"), ERA, caller)
        try:
            caller.narrowings += tuple(view.get_narrowings())
            yield from PreviewVisibility(caller).of(capability.get_offered_tools(context).values())
        except (APIException, Refused):
            # The endpoint refuses such a token, or there is no such toolset.
            return

    def make_request(self, endpoint: FoundEndpoint) -> HttpRequest:
        request = copy.copy(self.request)
        script = request.path.removesuffix(request.path_info)
        request.method = "POST"
        request.path_info, request.path = endpoint.path, f"{script}{endpoint.path}"
        request.META = {**request.META, "HTTP_AUTHORIZATION": "Bearer preview"}
        return request

    def make_authentication(self) -> PreviewAuthentication:
        token = get_access_token_model()(
            user=self.request.user,
            scope=" ".join(self.scopes),
            expires=timezone.now() + timedelta(minutes=1),
        )
        return PreviewAuthentication(self.request.user, token)

    @property
    def reading(self) -> list[Tool]:
        return [tool for tool in self.tools if tool.annotations["readOnlyHint"]]

    @property
    def writing(self) -> list[Tool]:
        return [tool for tool in self.tools if not tool.annotations["readOnlyHint"]]

    @property
    def changing(self) -> list[Tool]:
        return [tool for tool in self.writing if not tool.annotations["destructiveHint"]]

    @property
    def destroying(self) -> list[Tool]:
        return [tool for tool in self.writing if tool.annotations["destructiveHint"]]
