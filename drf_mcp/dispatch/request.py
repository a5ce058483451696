"""The request that a tool's view sees: the caller's own, for another resource.

Around it runs ``CALL_MIDDLEWARE``, by Django's own handler: the middleware of each call, which
sees the path of the tool.
"""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.core.handlers.base import BaseHandler
from django.core.signals import setting_changed
from django.http import Http404, HttpRequest, QueryDict
from django.http.request import HttpHeaders
from django.http.response import HttpResponse, HttpResponseBase
from django.urls import ResolverMatch, get_urlconf, set_urlconf
from django.utils import timezone, translation
from django.utils.functional import cached_property
from rest_framework.exceptions import APIException
from rest_framework.generics import GenericAPIView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.response import Response

from drf_mcp.access.authentication_reuse import is_bare, pre_authenticate
from drf_mcp.dispatch.errors import get_exception_status
from drf_mcp.exceptions import contain
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import Call, FilesBody

# Attributes of the outer request that describe its own method, path, query and body.
OUTER_ONLY = frozenset(
    {
        "GET",
        "POST",
        "FILES",
        "headers",
        "accepted_types",
        "accepted_types_by_precedence",
        "_encoding",
        "_post",
        "_files",
        "_upload_handlers",
        "resolver_match",
    }
)
# Headers that speak of the outer message, of how to send the answer or of a cached copy of it.
OUTER_HEADERS = frozenset(
    {
        "HTTP_ACCEPT_ENCODING",
        # One message may hold several calls.
        "HTTP_IDEMPOTENCY_KEY",
        "HTTP_IF_MATCH",
        "HTTP_IF_NONE_MATCH",
        "HTTP_IF_MODIFIED_SINCE",
        "HTTP_IF_UNMODIFIED_SINCE",
        "HTTP_IF_RANGE",
        "HTTP_RANGE",
        "HTTP_TRANSFER_ENCODING",
        "HTTP_CONTENT_ENCODING",
        "HTTP_CONTENT_DISPOSITION",
        "REQUEST_URI",
        "RAW_URI",
    }
)
ACCEPT = "application/json, */*;q=0.5"
NOTHING_SENT = Call({})


def parse_accept() -> Any:
    # As REST framework's negotiation keeps it for the time of a request, from 3.18 on.
    parse = getattr(DefaultContentNegotiation(), "_get_parsed_accept_list", None)
    sample = HttpRequest()
    sample.META["HTTP_ACCEPT"] = ACCEPT
    return parse(sample) if parse else ()


PARSED_ACCEPT = parse_accept()


class MetaHeaders(HttpHeaders):
    """The headers of a request, each read from ``META`` when it is asked for.

    Making all of them takes longer than binding the arguments of a call.
    """

    def __init__(self, meta: Mapping[str, str]) -> None:
        self.meta = meta

    @cached_property
    def _store(self) -> Any:  # type: ignore[override]
        return HttpHeaders(self.meta)._store

    def __getitem__(self, key: str) -> str:
        name = key.replace("-", "_").upper()
        if name in self.UNPREFIXED_HEADERS:
            # Some servers give them with a prefix as well.
            return super().__getitem__(key)
        return self.meta[f"HTTP_{name}"]

    def get(self, key: str, default: Any = None) -> Any:
        # That of a mapping makes an exception of a header that was not sent.
        name = key.replace("-", "_").upper()
        if name in self.UNPREFIXED_HEADERS:
            return super().get(key, default)
        return self.meta.get(f"HTTP_{name}", default)


class ToolRequest(HttpRequest):
    """The request of a tool's view.

    It carries everything that middleware put on the request to the endpoint, and
    method, path, query and body of its own. ``is_mcp_request`` is True, ``caller`` the `Caller`.
    """

    is_mcp_request = True
    # The way through CALL_MIDDLEWARE, while it is on it.
    passage: Any = None

    def __init__(
        self,
        caller: Any,
        method: str,
        path_info: str,
        sent: Call = NOTHING_SENT,
        call: Any = None,
    ) -> None:
        own, outer, body = self.__dict__, caller.request, sent.body
        own.update(caller.attributes)
        for name in OUTER_ONLY & own.keys():
            del own[name]
        self.caller = caller
        # The `CallState` that the view answers; None where it is asked something else.
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
            # As from a socket: to be read once.
            own.pop("_body", None)
            self._stream, self._read_started = body.open(), False
        else:
            self._body = body  # type: ignore[assignment]
            self._stream = io.BytesIO(body)  # type: ignore[arg-type]
            self._read_started = True
        if ";" in sent.content_type:
            self._set_content_type_params(self.META)  # type: ignore[attr-defined]
        else:
            self.content_type, self.content_params = sent.content_type, {}

    @property
    def _parsed_accept_list(self) -> list[Any]:
        # As REST framework's own negotiation reads the header. Parsing it for each call anew would
        # be a tenth of what the call costs.
        call, is_own = self.mcp_call, self.META.get("HTTP_ACCEPT") is ACCEPT
        if not is_own or call is None or not call.tool.endpoint.has_standard_negotiation:
            raise AttributeError("_parsed_accept_list")
        return [*PARSED_ACCEPT]

    @cached_property
    def headers(self) -> MetaHeaders:
        return MetaHeaders(self.META)

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
        # The session's, until authentication says otherwise.
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
        # REST framework sets the user first and this second: now both are known.
        self.__dict__["auth"] = value
        self.caller.request.auth = value
        if not self.caller.admitted:
            self.caller.admit(self.user, value, self.mcp_call and self.mcp_call.tool)


Link = Callable[[Any], Any]


class CallPassage:
    """The way of one request through the middleware and back.

    Attributes:
        raised: the last exception that a view or middleware let out.
        substitute: the response that middleware further out was given for it.
        response: REST framework's response as it left the innermost middleware.
        rendered: its bytes then.
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
        request.passage = self
        # Django resolves within the middleware.
        request.resolver_match = None

    @property
    def resource(self) -> tuple[str, Any]:
        return self.request.path_info, getattr(self.request, "urlconf", None)

    def is_altered(self, response: HttpResponseBase) -> bool:
        return response is not self.response or response.content != self.rendered

    def substitute_for(self, exc: Exception) -> HttpResponse:
        # Middleware further out sees the status of Django's own page.
        self.raised, self.substitute = exc, HttpResponse(status=get_exception_status(exc))
        return self.substitute


class CallHandler(BaseHandler):
    """Django's handler for calls."""

    def __init__(self, middleware: Sequence[Any]) -> None:
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        chain: Link = self.contain_exceptions(self._get_response)
        for factory in reversed(middleware):
            chain = self.wrap(factory, chain)
        self._middleware_chain: Link = chain

    def answer(self, passage: CallPassage) -> HttpResponseBase:
        response: HttpResponseBase = self._middleware_chain(passage.request)
        if passage.raised is not None and response is passage.substitute:
            raise passage.raised
        return response

    def wrap(self, factory: Any, link: Link) -> Link:
        # A call is synchronous: middleware is asynchronous only where it can be nothing else.
        is_async = not getattr(factory, "sync_capable", True)
        if is_async and not getattr(factory, "async_capable", False):
            raise ImproperlyConfigured(f"{factory!r} is neither sync_capable nor async_capable.")
        try:
            middleware = factory(self.adapt_method_mode(is_async, link, False))
        except MiddlewareNotUsed:
            return link
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
        return self.contain_exceptions(self.adapt_method_mode(False, middleware, is_async))

    def contain_exceptions(self, link: Link) -> Link:
        # As each link of Django's own chain does.

        def respond(request: ToolRequest) -> Any:
            return contain(functools.partial(link, request), request.passage.substitute_for)

        return respond

    def _get_response(self, request: ToolRequest) -> HttpResponseBase:
        response: HttpResponseBase = super()._get_response(request)  # type: ignore[misc]
        if isinstance(response, Response) and response.is_rendered:
            passage = request.passage
            passage.response, passage.rendered = response, response.content
        return response

    def resolve_request(self, request: ToolRequest) -> tuple[Any, Any, Any]:  # type: ignore[override]
        passage: CallPassage = request.passage
        match = passage.match
        if passage.resource != passage.requested:
            match = super().resolve_request(request)
            if (match.func, match.route) != (passage.match.func, passage.match.route):
                raise Http404("Middleware leads the request to another route.")
        request.resolver_match = match
        return passage.callback, match.args, match.kwargs


lock = threading.Lock()


@functools.lru_cache(maxsize=8)
def make_call_handler(middleware: tuple[Any, ...]) -> CallHandler:
    return CallHandler(middleware)


def get_call_handler() -> CallHandler:
    with lock:
        return make_call_handler(tuple(mcp_settings.CALL_MIDDLEWARE))


@contextmanager
def keep_thread_state() -> Iterator[None]:
    urlconf = get_urlconf()
    with (
        translation.override(translation.get_language()),
        timezone.override(timezone.get_current_timezone()),
    ):
        try:
            yield
        finally:
            set_urlconf(urlconf)


def forget_call_handlers(**kwargs: Any) -> None:
    # Any setting that changed may be one that middleware reads when it is made.
    make_call_handler.cache_clear()


setting_changed.connect(forget_call_handlers)
transactions = BaseHandler()


def prepare_callback(callback: Callable[..., Any], *limits: Any) -> Callable[..., HttpResponseBase]:
    """Return what answers a request as Django lets a route's callback answer it.

    Args:
        limits: the deadline and the channel that end a coroutine, None for none.
    """
    respond: Callable[..., Any] = transactions.make_view_atomic(callback)
    if not is_asynchronous(callback):
        return respond
    for limit in limits:
        respond = respond if limit is None else limit.limit(respond)
    return async_to_sync(respond)


@functools.lru_cache(maxsize=4096)
def is_asynchronous(callback: Callable[..., Any]) -> bool:
    return iscoroutinefunction(callback)


def is_decorated(callback: Callable[..., Any]) -> bool:
    """Return whether something around a view may refuse a call, which only the callback asks."""
    return BareCallback.of(callback) is None


class BareCallback:
    """Answers for a callback as ``as_view`` makes it, which no decorator wraps.

    It is called in its place where the endpoint authenticates for the view.
    """

    cls: Callable[..., Any]
    initkwargs: Mapping[str, Any]
    actions: dict[str, str] | None = None

    def __init__(self, callback: Callable[..., Any]) -> None:
        # With what decorators said of it, such as the databases on which no transaction is wanted.
        vars(self).update(vars(callback))

    @classmethod
    @functools.lru_cache(maxsize=4096)
    def of(cls, callback: Callable[..., Any]) -> BareCallback | None:
        """Return what answers for a callback, None where only the callback itself can."""
        return None if is_asynchronous(callback) or not is_bare(callback) else cls(callback)

    def __call__(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Before any code of the view runs.
        try:
            authenticators = pre_authenticate(request)
        except APIException as exc:
            # The dispatcher knows why, and says it in the place of this response.
            return HttpResponse(status=exc.status_code)
        view = self.cls(**self.initkwargs)
        if authenticators is not None:
            view.get_authenticators = lambda: authenticators
        if self.actions is not None:
            if "get" in self.actions:
                self.actions.setdefault("head", self.actions["get"])
            view.action_map = self.actions
        self.bind(view, request, *args, **kwargs)
        response: HttpResponseBase = view.dispatch(request, *args, **kwargs)
        return response

    def bind(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """Give an instance of the view a request, and its handlers."""
        if self.actions is None:
            view.setup(request, *args, **kwargs)
            return
        for method, action in view.action_map.items():
            setattr(view, method, getattr(view, action))
        view.request, view.args, view.kwargs = request, args, kwargs


# --- The object of a URL ------------------------------------------------------------------------


def names_an_object(view: Any) -> bool:
    if not isinstance(view, GenericAPIView):
        return False
    has_rows = getattr(view, "queryset", None) is not None or not is_drf_code(
        type(view), "get_queryset"
    )
    return has_rows and (view.lookup_url_kwarg or view.lookup_field) in view.kwargs


def get_named_object(view: Any) -> Any:
    """Return the object that a view's URL names, None for a view of no object."""
    return view.get_object() if names_an_object(view) else None
