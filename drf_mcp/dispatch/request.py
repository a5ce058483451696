"""The request that a tool's view gets, and the callback that answers it.

`ToolRequest` is the caller's request with the method, path, query and body of the tool.
`CallHandler` runs CALL_MIDDLEWARE around it.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.core.handlers.base import BaseHandler
from django.core.signals import setting_changed
from django.http import Http404, HttpRequest, QueryDict
from django.http.response import HttpResponse, HttpResponseBase
from django.urls import ResolverMatch, get_urlconf, set_urlconf
from django.utils import timezone, translation
from django.utils.functional import cached_property
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

from drf_mcp.access.authentication import is_undecorated
from drf_mcp.access.throttles import note_throttles
from drf_mcp.arguments.call import Call, FilesBody
from drf_mcp.dispatch.errors import find_exception_status
from drf_mcp.exceptions import catch
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.settings import mcp_settings

# Attributes of the outer request that describe its own method, path, query and body.
OUTER_ONLY = frozenset(
    {
        "GET",
        "POST",
        "FILES",
        "headers",
        "accepted_types",
        "accepted_types_by_precedence",
        # REST framework's negotiation, since 3.18.
        "_parsed_accept_list",
        "_encoding",
        "_post",
        "_files",
        "_upload_handlers",
        "resolver_match",
    }
)
# Headers about the body of the MCP message, the encoding of its response, or a cached response. A
# message may be a batch of several calls: no key of its own names one.
OUTER_HEADERS = frozenset(
    f"HTTP_{name.replace('-', '_').upper()}"
    for name in (
        "Accept-Encoding",
        "Idempotency-Key",
        "If-Match",
        "If-None-Match",
        "If-Modified-Since",
        "If-Unmodified-Since",
        "If-Range",
        "Range",
        "Transfer-Encoding",
        "Content-Encoding",
        "Content-Disposition",
    )
) | {"REQUEST_URI", "RAW_URI"}
ACCEPT = "application/json, */*;q=0.5"
NOTHING_SENT = Call({})


class ToolRequest(HttpRequest):
    """The request of a tool's view.

    It has the attributes that middleware set on the request to the endpoint, and the method, path,
    query and body of the tool.

    Attributes:
        is_mcp_request: True, for code that behaves differently in a tool.
        caller: the `Caller`.
        mcp_call: the `CallState` of the call; None where a `Probe` asks the view.
        middleware_call: the `MiddlewareCall` that runs CALL_MIDDLEWARE around the request.
        throttles: what `note_throttles` notes of the view, None where no view authenticated.
    """

    is_mcp_request = True
    middleware_call: Any = None
    throttles: Any = None

    def __init__(
        self, caller: Any, method: str, path_info: str, sent: Call = NOTHING_SENT, call: Any = None
    ) -> None:
        own, outer, body = self.__dict__, caller.request, sent.body
        own.update(caller.attributes)
        for name in OUTER_ONLY & own.keys():
            del own[name]
        self.caller = caller
        self.mcp_call = call
        self.method = method
        self.path_info = path_info
        self.path = outer.path.removesuffix(outer.path_info) + path_info
        self.COOKIES = outer.COOKIES
        self.resolver_match = None
        self._get_scheme = outer._get_scheme
        self.META = {
            **outer.META,
            "REQUEST_METHOD": method,
            "PATH_INFO": path_info,
            "QUERY_STRING": sent.query_string,
            "CONTENT_TYPE": sent.content_type,
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_ACCEPT": ACCEPT,
        }
        for name in OUTER_HEADERS & self.META.keys():
            del self.META[name]
        if sent.disposition:
            self.META["HTTP_CONTENT_DISPOSITION"] = sent.disposition
        if sent.headers:
            self.META.update(sent.headers)
        if "environ" in own:
            self.environ = self.META
        if type(body) is FilesBody:
            # Like a socket, it can be read once.
            own.pop("_body", None)
            self._stream, self._read_started = body.open(), False
        else:
            self._body = body  # type: ignore[assignment]
            self._stream = io.BytesIO(body)  # type: ignore[arg-type]
            self._read_started = True
        self._set_content_type_params(self.META)  # type: ignore[attr-defined]

    @cached_property
    def GET(self) -> QueryDict:  # type: ignore[override]
        return QueryDict(self.META["QUERY_STRING"], encoding=self.encoding)

    @property
    def POST(self) -> Any:
        if "_post" not in self.__dict__:
            self._load_post_and_files()
        return self._post

    @POST.setter
    def POST(self, value: Any) -> None:
        self._post = value

    @property
    def FILES(self) -> Any:  # type: ignore[override]
        if "_files" not in self.__dict__:
            self._load_post_and_files()
        return self._files  # type: ignore[attr-defined]

    @property
    def user(self) -> Any:
        # The session's user, until REST framework authenticates.
        try:
            return self.__dict__["user"]
        except KeyError:
            raise AttributeError("user") from None

    @user.setter
    def user(self, value: Any) -> None:
        self.__dict__["user"] = value
        self.caller.request.user = value

    @property
    def auth(self) -> Any:
        try:
            return self.__dict__["auth"]
        except KeyError:
            raise AttributeError("auth") from None

    @auth.setter
    def auth(self, value: Any) -> None:
        # REST framework sets the user first and ``auth`` second: now both are known.
        self.__dict__["auth"] = value
        self.caller.request.auth = value
        if self.mcp_call is not None and self.throttles is None:
            view = _find_authenticating_view()
            self.throttles = note_throttles(view) if view is not None else None
        if not self.caller.admitted:
            self.caller.admit(self.user, value, self.mcp_call and self.mcp_call.tool)


def _find_authenticating_view() -> Any:
    """Return the view that authenticates a `ToolRequest`, called by the setter of its ``auth``.

    A view makes its throttles, asks them and forgets them, so they have to be noted before. No code
    of ours runs between the making of the view and its throttles, except this setter, and REST
    framework hands it a user and an ``auth``. Its caller, REST framework's request, has the view.
    """
    setting = sys._getframe(2).f_locals.get("self")
    return (getattr(setting, "parser_context", None) or {}).get("view")


GetResponse = Callable[[Any], Any]


class MiddlewareCall:
    """One request on its way through CALL_MIDDLEWARE.

    Attributes:
        raised: the last exception that the view or a middleware raised.
        substitute: the response that the outer middleware got instead of the exception.
        response: REST framework's response, as the innermost middleware got it.
        rendered: the content of that response.
    """

    raised: Exception | None = None
    substitute: HttpResponse | None = None
    response: Response | None = None
    rendered: bytes = b""

    def __init__(
        self, request: ToolRequest, match: ResolverMatch, callback: Callable[..., HttpResponseBase]
    ) -> None:
        self.request = request
        self.match = match
        self.callback = callback
        self.requested = self.resource
        request.middleware_call = self
        # Middleware sees no match before the URL is resolved, as over HTTP.
        request.resolver_match = None

    @property
    def resource(self) -> tuple[str, Any]:
        """The path and the URLconf, which middleware may change."""
        return self.request.path_info, getattr(self.request, "urlconf", None)

    def is_altered(self, response: HttpResponseBase) -> bool:
        """Return whether middleware has changed the view's response, or replaced it."""
        return response is not self.response or response.content != self.rendered


class CallHandler(BaseHandler):
    """Django's handler, with CALL_MIDDLEWARE instead of MIDDLEWARE."""

    def __init__(self, middleware: Sequence[Any]) -> None:
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        chain: GetResponse = self._contain_exceptions(self._get_response)
        for factory in reversed(middleware):
            chain = self.load(factory, chain)
        self._middleware_chain: GetResponse = chain

    def answer(self, middleware_call: MiddlewareCall) -> HttpResponseBase:
        response: HttpResponseBase = self._middleware_chain(middleware_call.request)
        if middleware_call.raised is not None and response is middleware_call.substitute:
            raise middleware_call.raised
        return response

    def load(self, factory: Any, get_response: GetResponse) -> GetResponse:
        """Return the chain with one more middleware around it, as `BaseHandler.load_middleware`."""
        # A call is synchronous: middleware is asynchronous only if it cannot be synchronous.
        is_async = not getattr(factory, "sync_capable", True)
        if is_async and not getattr(factory, "async_capable", False):
            raise ImproperlyConfigured(f"{factory!r} is neither sync_capable nor async_capable.")
        try:
            middleware = factory(self.adapt_method_mode(is_async, get_response, False))
        except MiddlewareNotUsed:
            return get_response
        if middleware is None:
            raise ImproperlyConfigured(f"Middleware factory {factory!r} returned None.")
        for name, hooks in (
            ("process_template_response", self._template_response_middleware),
            ("process_exception", self._exception_middleware),
        ):
            if hasattr(middleware, name):
                hooks.append(self.adapt_method_mode(False, getattr(middleware, name)))
        if hasattr(middleware, "process_view"):
            hook = self.adapt_method_mode(False, middleware.process_view)
            self._view_middleware.insert(0, hook)
        return self._contain_exceptions(self.adapt_method_mode(False, middleware, is_async))

    def _contain_exceptions(self, get_response: GetResponse) -> GetResponse:
        # As `convert_exception_to_response` around each middleware of Django's own chain.

        def respond(request: ToolRequest) -> Any:
            with catch() as caught:
                return get_response(request)
            # The outer middleware sees the status that Django would answer.
            call, exc = request.middleware_call, caught.exception
            call.raised, call.substitute = exc, HttpResponse(status=find_exception_status(exc))
            return call.substitute

        return respond

    def _get_response(self, request: ToolRequest) -> HttpResponseBase:
        response: HttpResponseBase = super()._get_response(request)  # type: ignore[misc]
        if isinstance(response, Response) and response.is_rendered:
            middleware_call = request.middleware_call
            middleware_call.response, middleware_call.rendered = response, response.content
        return response

    def resolve_request(self, request: ToolRequest) -> tuple[Any, Any, Any]:  # type: ignore[override]
        call: MiddlewareCall = request.middleware_call
        match = call.match
        if call.resource != call.requested:
            match = super().resolve_request(request)
            if (match.func, match.route) != (call.match.func, call.match.route):
                raise Http404("Middleware leads the request to another route.")
        request.resolver_match = match
        return call.callback, match.args, match.kwargs


@functools.lru_cache(maxsize=8)
def _make_call_handler(middleware: tuple[Any, ...]) -> CallHandler:
    return CallHandler(middleware)


def find_call_handler() -> CallHandler:
    return _make_call_handler(tuple(mcp_settings.CALL_MIDDLEWARE))


@contextmanager
def keep_thread_state() -> Iterator[None]:
    """Restore language, time zone and URLconf, which middleware may set for the thread."""
    urlconf = get_urlconf()
    with (
        translation.override(translation.get_language()),
        timezone.override(timezone.get_current_timezone()),
    ):
        try:
            yield
        finally:
            set_urlconf(urlconf)


def _forget_call_handlers(**kwargs: Any) -> None:
    # Middleware may read any setting when it is made.
    _make_call_handler.cache_clear()


setting_changed.connect(_forget_call_handlers)
transactions = BaseHandler()


def prepare_callback(callback: Callable[..., Any], *limits: Any) -> Callable[..., HttpResponseBase]:
    """Return a callback in the transaction that Django would open for it, and synchronous.

    Args:
        limits: the deadline and the channel that end an asynchronous callback, None for none.
    """
    respond: Callable[..., Any] = transactions.make_view_atomic(callback)
    if not iscoroutinefunction(callback):
        return respond
    for limit in limits:
        respond = respond if limit is None else limit.limit(respond)
    return async_to_sync(respond)


def needs_callback(callback: Callable[..., Any]) -> bool:
    """Return whether only the route's own callback can answer, and no instance of the view.

    A decorator around the view may refuse a call, and an asynchronous view runs in an event loop.
    """
    return iscoroutinefunction(callback) or not is_undecorated(callback)


def set_up_view(callback: Any, view: Any, request: Any, *args: Any, **kwargs: Any) -> None:
    """Set the request and the handlers on an instance of a view, as ``as_view`` does."""
    if getattr(callback, "actions", None) is None:
        view.setup(request, *args, **kwargs)
        return
    for method, action in view.action_map.items():
        setattr(view, method, getattr(view, action))
    view.request, view.args, view.kwargs = request, args, kwargs


# --- The object of a URL ------------------------------------------------------------------------


def get_named_object(view: Any) -> Any:
    """Return the object that a view's URL names, None for a view of no object."""
    if not isinstance(view, GenericAPIView):
        return None
    own = getattr(view, "queryset", None)
    has_rows = own is not None or not is_drf_code(type(view), "get_queryset")
    is_named = (view.lookup_url_kwarg or view.lookup_field) in view.kwargs
    return view.get_object() if has_rows and is_named else None
