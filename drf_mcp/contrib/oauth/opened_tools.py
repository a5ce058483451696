"""Which tools a token would open, found out before there is one."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from oauth2_provider.models import get_access_token_model
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from drf_mcp.access.authentication import Caller, copy_identity
from drf_mcp.access.metadata import FoundEndpoint
from drf_mcp.contrib.oauth.audiences import find_endpoints_of
from drf_mcp.dispatch.approach import Identities
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import Refused
from drf_mcp.protocol import Message, select_by_headers
from drf_mcp.protocol.constants import PROTOCOL_VERSION_HEADER, STATELESS_REVISION
from drf_mcp.protocol.context import RequestContext
from drf_mcp.tools import Tool

ERA = select_by_headers({PROTOCOL_VERSION_HEADER: STATELESS_REVISION})


class Promised(OAuth2Authentication):  # type: ignore[misc]
    """Takes a caller for the person who is asked, with the token that the client would get."""

    def __init__(self, user: Any, token: Any) -> None:
        self.user = user
        self.token = token

    def authenticate(self, request: Any) -> tuple[Any, Any]:
        return self.user, self.token


class PromisedIdentities(Identities):
    """Has every view know the token, which is in no database yet."""

    def introduce(self, request: Request) -> None:
        copy_identity(request, self.caller.authenticate())


class PromisedVisibility(Visibility):
    """Asks every view on behalf of the token."""

    identities_class = PromisedIdentities

    def identify(self, classes: tuple[type, ...], tool: Tool) -> Request:
        return self.caller.authenticate()

    def is_short_of_scopes(self, view: Any) -> bool:
        # Listed to a client, which may ask for more; not opened by this token.
        return False


class OpenedTools:
    """The tools that a person would open to a client by consenting.

    Args:
        request: the person's own.
        scopes: those that the client asks for.
        resources: what the token would be for.
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
        """What RESOURCE opens beyond the endpoints."""
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
        caller = Caller(request, view, [self.promise()], view.get_permissions())
        view.caller, server = caller, view.get_server()
        capability = next(c for c in server.capabilities if c.name == "tools")
        context = RequestContext(Message(None, "tools/list"), ERA, caller)
        try:
            caller.narrowings += tuple(view.get_narrowings())
            yield from PromisedVisibility(caller).of(capability.get_offered_tools(context).values())
        except (APIException, Refused):
            # The endpoint itself would refuse such a token, or there is no such toolset.
            return

    def make_request(self, endpoint: FoundEndpoint) -> HttpRequest:
        request = copy.copy(self.request)
        script = request.path.removesuffix(request.path_info)
        request.method = "POST"
        request.path_info, request.path = endpoint.path, f"{script}{endpoint.path}"
        request.META = {**request.META, "HTTP_AUTHORIZATION": "Bearer promised"}
        return request

    def promise(self) -> Promised:
        token = get_access_token_model()(
            user=self.request.user,
            scope=" ".join(self.scopes),
            expires=timezone.now() + timedelta(minutes=1),
        )
        return Promised(self.request.user, token)

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
