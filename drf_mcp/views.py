"""The HTTP door: one synchronous view, which Django adapts under ASGI."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import DisallowedHost, ImproperlyConfigured
from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.throttling import BaseThrottle

from drf_mcp.access.authentication import (
    Caller,
    describe_access_error,
    resolve_authentication_classes,
)
from drf_mcp.access.narrowing import TOOLSETS_META, Narrowing, find_toolset, narrow_by_header
from drf_mcp.access.origins import ForeignOrigin, check_media_type, check_origin
from drf_mcp.access.resources import ProtectedResource
from drf_mcp.browsable import is_for_scripts, wants_page
from drf_mcp.dispatch.error_bodies import find_sentence
from drf_mcp.dispatch.failures import report_unexpected
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import ProtocolError, Refused, catch
from drf_mcp.observability.records import report_refusal
from drf_mcp.option_types.installed import features, find_app
from drf_mcp.option_types.kinds import refuse_wrong_values
from drf_mcp.protocol import encode_era_error
from drf_mcp.routes.options import check_endpoint_options
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.server import Server
from drf_mcp.settings import ENDPOINT_KINDS, mcp_settings
from drf_mcp.transports.http import (
    find_request_id,
    is_stream_wanted,
    make_json_response,
    make_response,
    open_stream,
    read_body,
)

if TYPE_CHECKING:
    from drf_mcp.browsable.page import BrowsablePage


def without_login_and_transaction(view: Any) -> Callable[..., HttpResponse]:
    # Django's LoginRequiredMiddleware would redirect to a page.
    view = login_not_required(view)
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return view  # type: ignore[no-any-return]


class MCPView(View):
    """An MCP endpoint (2026-07-28, basic/transports/streamable-http).

    Every attribute may be given to ``as_view``; None takes the project's setting.

    Attributes:
        server_class: what answers the messages; its capabilities can be chosen by subclassing.
        registry: the tools served.
        envelope_class: the shape of results.
        tools: patterns, as in INCLUDE, that leave only the tools which one of them matches.
        read_only: True leaves only the tools that read.
        toolsets: the patterns of the sets that a URL or a header can ask for, by name; None for
            TOOLSETS. A URL asks with the path argument ``toolset``.
        tool_options: options of every tool that has none of its own by that name, as `ToolOptions`
            has them.
        feature_attributes: attributes of installed apps, which `as_view` takes by their names.
        server_name, server_title, server_version, instructions: what the server says of itself.
        authentication_classes: how to find out who is calling.
        permission_classes: who may call, asked before any view's own permissions.
        throttle_classes: how often tools may be called, asked for each call.
        browsable_page: whether a browser is shown the tools.
        authorization_servers: the issuers whose tokens are taken, for OAuth.
        scopes: the scopes that every token needs.
        resource: the canonical URI that tokens are for; by default the endpoint's own address.
    """

    # False for a view that only takes the callers of an endpoint: no catalog lists it.
    serves_mcp = True
    server_class: type[Server] = Server
    registry: Registry = registry
    envelope_class: type[Envelope] | None = None
    authentication_classes: Sequence[type[BaseAuthentication]] | None = None
    permission_classes: Sequence[type] | None = None
    tools: Sequence[str] | None = None
    read_only: bool = False
    toolsets: Mapping[str, Sequence[str]] | None = None
    tool_options: Mapping[str, Any] | None = None
    feature_attributes: Mapping[str, Any] = MappingProxyType({})
    server_name: str | None = None
    server_title: Any = None
    server_version: str | None = None
    instructions: Any = None
    throttle_classes: Sequence[type[BaseThrottle]] | None = None
    browsable_page: bool | None = None
    authorization_servers: Sequence[str] | None = None
    scopes: Sequence[str] | None = None
    resource: str | None = None
    http_method_names = ["get", "post"]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponse]:
        """Return the view: authenticated by itself and in no transaction of its own.

        Each call runs in the transaction that its own view would have; one around
        all of them would let a failed call of a batch spoil the others.

        Raises:
            ImproperlyConfigured: on an attribute of a wrong kind.
        """
        declared = features.view_attributes
        for name in initkwargs.keys() - declared.keys():
            if hasattr(cls, name) or not (app := find_app("view_attributes", name)):
                continue
            if apps.is_installed("drf_mcp"):
                text = f"The attribute {name} is of an app: add {app!r} to INSTALLED_APPS."
                raise ImproperlyConfigured(text)
            # A project that takes this package out may leave its URLs for the moment.
            del initkwargs[name]
        feature_attributes = {
            name: initkwargs.pop(name, getattr(cls, name, setting.default))
            for name, setting in declared.items()
        }
        own = {name: initkwargs.get(name, getattr(cls, name)) for name in ENDPOINT_KINDS}
        kinds = {**ENDPOINT_KINDS, **{name: setting.kind for name, setting in declared.items()}}
        refuse_wrong_values(kinds, {**own, **feature_attributes}, f"{cls.__name__}.as_view()")
        check_endpoint_options(own["tool_options"] or {})
        view: Any = super().as_view(feature_attributes=feature_attributes, **initkwargs)
        return without_login_and_transaction(csrf_exempt(view))

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.is_for_scripts = is_for_scripts(request, self.browsable_page)
        except ImproperlyConfigured as exc:
            return self._failure_response(exc)
        # Whatever is raised, the client gets a JSON-RPC error.
        with catch() as caught:
            return self.handle_request(request, *args, **kwargs)
        return self._failure_response(caught.exception)

    def handle_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.check_request(request)
        # Authentication classes read it whose credentials are for tools only.
        request.is_mcp_request = True  # type: ignore[attr-defined]
        self.caller = Caller(request, self, self.get_authenticators(), self.get_permissions())
        try:
            self.caller.narrowings += tuple(self.find_narrowings())
        except Refused:
            # A caller without valid credentials does not learn which toolsets exist.
            self.caller.authenticate()
            raise
        self.server = self.get_server()
        # Set by `drf_mcp.test.MCPClient`.
        self.server.force_envelope = getattr(request, "_force_envelope", None)
        return super().dispatch(request, *args, **kwargs)  # type: ignore[return-value]

    def check_request(self, request: HttpRequest) -> None:
        check_media_type(request)
        check_origin(request)

    def get_server(self) -> Server:
        """Return the server that answers the request."""
        server = self.server_class(self.registry, self.envelope_class)
        server.name = self.server_name or server.name
        server.title = self.server_title or server.title
        server.version = self.server_version or server.version
        server.tool_options = self.tool_options or server.tool_options
        server.view = self
        server.view_attributes = self.feature_attributes
        server.is_live = hasattr(self.request, "scope")
        if self.instructions is not None:
            server.instructions = self.instructions
        if "toolset" in self.kwargs:
            server.toolset = self.kwargs["toolset"]
        return server

    def choose(self, name: str) -> Any:
        """Return an attribute of the endpoint, the project's setting where it is None."""
        own = getattr(self, name)
        return getattr(mcp_settings, name.upper()) if own is None else own

    @property
    def is_narrowed(self) -> bool:
        return self.read_only or self.tools is not None

    def find_narrowings(self) -> Iterator[Narrowing]:
        """Yield what takes tools away in this request: the endpoint, its toolset, the header.

        Raises:
            Refused: if there is no such toolset.
        """
        if self.is_narrowed:
            tools = None if self.tools is None else tuple(self.tools)
            yield Narrowing("this endpoint", tools, self.read_only)
        if "toolset" in self.kwargs:
            name = self.kwargs["toolset"]
            yield Narrowing(f"the toolset {name}", self._find_toolset(name))
        if TOOLSETS_META in self.request.META:
            yield narrow_by_header(self.request.META[TOOLSETS_META], self._find_toolset)

    def _find_toolset(self, name: str) -> tuple[str, ...]:
        tools = self.registry.tools(getattr(self.request, "urlconf", None))
        return find_toolset(name, self.choose("toolsets"), tools.values())

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Return what finds out who is calling, in its order."""
        return [made() for made in resolve_authentication_classes(self.authentication_classes)]

    def get_permissions(self) -> list[Any]:
        """Return what decides who may call the endpoint."""
        return [made() for made in self.choose("permission_classes")]

    def get_throttles(self) -> list[BaseThrottle]:
        """Return what decides how often tools may be called, made anew for each request."""
        return [made() for made in self.choose("throttle_classes")]

    def get_authorization_servers(self) -> Sequence[str]:
        """Return the issuers whose tokens are taken, none if the endpoint has no OAuth.

        Asked without a request as well.
        """
        return self.choose("authorization_servers")  # type: ignore[no-any-return]

    def get_scopes(self) -> Sequence[str]:
        """Return the scopes that every token needs."""
        return self.choose("scopes")  # type: ignore[no-any-return]

    def get_resource(self) -> str | None:
        """Return the canonical URI that tokens are for, None for the endpoint's own address."""
        own: str | None = self.resource or mcp_settings.RESOURCE
        return own

    def make_protected_resource(self, path: str) -> ProtectedResource:
        """Return the endpoint in the terms of OAuth.

        Args:
            path: the endpoint's path below the script prefix.
        """
        return ProtectedResource(self, self.request, path)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not wants_page(request, self.browsable_page):
            return self.http_method_not_allowed(request)
        page = self.get_page()
        try:
            return page.show()
        except APIException as exc:
            return page.refuse(self._access_error_response(exc), find_sentence(exc.detail))

    def get_page(self) -> BrowsablePage:
        # Imported here: a server that no browser visits does not load the page.
        from drf_mcp.browsable.page import BrowsablePage

        return BrowsablePage(self.server, self.caller)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.is_for_scripts:
            return self.get_page().answer()
        body = read_body(request)

        def respond() -> HttpResponse:
            reply = self.server.handle_body(body, request.headers, self.caller)
            return make_response(reply)  # type: ignore[no-any-return]

        def respond_later() -> HttpResponse:
            # A stream calls this after `dispatch`, which would have caught the exception.
            with catch() as caught:
                return respond()
            return self._failure_response(caught.exception)

        if not is_stream_wanted(request, body):
            return respond()
        stream = open_stream(request, respond_later)
        self.caller.channel = stream.channel
        return stream.get_response()  # type: ignore[return-value]

    def http_method_not_allowed(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        # GET would open a stream and DELETE end a session: there are none.
        return HttpResponseNotAllowed(["POST"])

    def _access_error_response(self, exc: APIException) -> HttpResponse:
        error = describe_access_error(self.caller, exc)
        headers = {"WWW-Authenticate": error.challenge} if error.challenge else None
        sentence = f"{find_sentence(exc.detail)} {error.advice}".rstrip()
        return self.error_response(Refused(error.status, sentence, headers=headers))

    def _failure_response(self, exc: Exception) -> HttpResponse:
        if isinstance(exc, Refused):
            report_refusal(Caller(self.request, self, [], []), exc)
            return self.error_response(exc)
        if isinstance(exc, APIException):
            # The challenge is made by an authentication class, which may fail.
            with catch() as caught:
                return self._access_error_response(exc)
            exc = caught.exception
        if isinstance(exc, DisallowedHost):
            return self.error_response(Refused(400, "This host is not allowed."))
        return self.error_response(report_unexpected(exc, self.request))

    def error_response(self, exc: ProtocolError) -> HttpResponse:
        # A page of another origin gets an error without an id (transports, "Security").
        id = None if isinstance(exc, ForeignOrigin) else find_request_id(self.request)
        body = encode_era_error(id, exc, self.request.headers)
        return make_json_response(exc.http_status, body, exc.headers)
