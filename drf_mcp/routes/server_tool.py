"""Tools of the server's own, to which no URL leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from django.http import HttpRequest
from django.urls import ResolverMatch
from django.urls.resolvers import RegexPattern, RoutePattern
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import copy_identity
from drf_mcp.arguments.call import Call
from drf_mcp.arguments.errors import (
    MASK,
    ArgumentsRefused,
    KnownNames,
    missing_argument,
    not_an_object,
)
from drf_mcp.json_text import OBJECTS, parse_json_text
from drf_mcp.outcomes import Problem
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.options import ToolOptions
from drf_mcp.routes.related import RelatedTools
from drf_mcp.routes.route import Route
from drf_mcp.routes.tool import Tool


class ServerToolView(APIView):
    """The view of a tool to which no URL leads.

    The endpoint has authenticated the caller, and asked its permissions.
    """

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [JSONRenderer]
    versioning_class = None
    # The project's own schemas do not describe it.
    schema = None

    def perform_authentication(self, request: Request) -> None:
        copy_identity(request, request._request.caller.authenticate())  # type: ignore[attr-defined]


class ServerRoute(Route):
    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        return ResolverMatch(self.callback, (), {}, route=self.match_route)


class ServerEndpoint(Endpoint):
    has_http_request = False


class ServerTool(Tool):
    """A tool of the server's own, whose view is called like the view of a route.

    `ToolSource.get_tools` returns such tools.
    """

    @classmethod
    def make(
        cls,
        name: str,
        view_class: type[APIView] = ServerToolView,
        method: str = "GET",
        **options: Any,
    ) -> Self:
        """Return a tool.

        Args:
            name: the name of the tool.
            view_class: answers the calls, by the handler of the method.
            method: the HTTP method; a tool of another method than GET changes something.
            options: as of `mcp_tool`; ``title``, ``description`` and the arguments, ``query``,
                ``body`` or ``input_schema``.
        """
        patterns = (RegexPattern(r"^/"), RoutePattern(f"mcp/{name}", is_endpoint=True))
        endpoint = ServerEndpoint(ServerRoute(None, patterns, view_class.as_view()), method, None)
        return cls(name, endpoint, ToolOptions.of(**options), RelatedTools({}, {}))


@dataclass(frozen=True, eq=False)
class RedirectingTool(ServerTool):
    """A tool whose calls become calls of another tool, by `CallState.redirect`.

    Attributes:
        naming: the argument that names the other tool.
        holder: the argument with the arguments of the other tool.
        problems: why a call cannot become a call of another tool.
    """

    naming: ClassVar[str]
    holder: ClassVar[str]
    problems: tuple[Problem, ...] = ()

    controls = ()

    def read(self, arguments: Any) -> tuple[dict[str, Any], list[Problem]]:
        """Return the arguments of a call, and their problems."""
        sent = {} if arguments is None else arguments
        if not isinstance(sent, OBJECTS):
            return {}, [not_an_object(sent)]
        # Some clients send an object as a string.
        inner = parse_json_text(sent.get(self.holder), dict)
        known = (self.naming, self.holder)
        problems = KnownNames(known, holders=[self.holder]).check(sent)
        if inner is not None and not isinstance(inner, OBJECTS):
            problems.insert(0, not_an_object(inner, f"/{self.holder}"))
        if sent.get(self.naming) is None:
            problems.insert(0, missing_argument(f"/{self.naming}"))
        return {**sent, self.holder: inner}, problems

    def bind(self, arguments: Any, caller: Any = None) -> Call:
        # Only a call that could not be redirected is bound.
        raise ArgumentsRefused(self.problems)

    def refusing(self, *problems: Problem) -> Self:
        """Return the tool with the problems of a call, which its `bind` raises."""
        return replace(self, problems=problems)

    def sanitize_arguments(self, arguments: Any) -> Any:
        # Only the other tool knows which of its arguments are secret.
        if not isinstance(arguments, Mapping):
            return None if arguments is None else MASK
        shown = str(arguments.get(self.naming))[:128]
        return {name: shown if name == self.naming else MASK for name in arguments}
