"""``CALL_MIDDLEWARE``: middleware around each call, which sees the path of the tool.

Django's own handler runs it, with the request of the call in the place of the one that a
client would have sent.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction
from django.core.exceptions import ImproperlyConfigured, MiddlewareNotUsed
from django.core.handlers.base import BaseHandler
from django.core.signals import setting_changed
from django.http import Http404
from django.http.response import HttpResponse, HttpResponseBase
from django.urls import ResolverMatch, get_urlconf, set_urlconf
from django.utils import timezone, translation
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from drf_mcp.access.authentication_reuse import PreAuthenticator, is_bare
from drf_mcp.dispatch.errors.exceptions import get_exception_status
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings

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
        self,
        request: ToolRequest,
        match: ResolverMatch,
        callback: Callable[..., HttpResponseBase] | None = None,
    ) -> None:
        self.request = request
        self.match = match
        self.callback = callback or match.func
        self.requested = self.resource
        request.passage = self
        # Django resolves within the middleware.
        request.resolver_match = None

    @property
    def resource(self) -> tuple[str, Any]:
        return self.request.path_info, getattr(self.request, "urlconf", None)

    def keep(self, response: HttpResponseBase) -> None:
        if isinstance(response, Response) and response.is_rendered:
            self.response, self.rendered = response, response.content

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

    @classmethod
    def of_settings(cls) -> CallHandler | None:
        middleware = mcp_settings.CALL_MIDDLEWARE
        if not middleware:
            return None
        with lock:
            return make_call_handler(tuple(middleware))

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
        request.passage.keep(response)
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


def as_http_would(callback: Callable[..., Any], *limits: Any) -> Callable[..., HttpResponseBase]:
    # In the transactions that Django's handler would put the callback in.
    atomic: Any = transactions.make_view_atomic(callback)
    if not is_asynchronous(callback):
        return atomic  # type: ignore[no-any-return]
    for limit in filter(None, limits):
        atomic = limit.limit(atomic)
    return async_to_sync(atomic)


@functools.lru_cache(maxsize=4096)
def is_asynchronous(callback: Callable[..., Any]) -> bool:
    return iscoroutinefunction(callback)


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
            authenticators = PreAuthenticator(request).find_authenticators()
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
        return self.run(view, request, *args, **kwargs)

    def by(self, make_view: Callable[[], Any]) -> Callable[..., HttpResponseBase]:
        """Return what answers by another instance, in the transactions of the callback."""

        def respond(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            return self.run(make_view(), request, *args, **kwargs)

        vars(respond).update(vars(self))
        atomic: Callable[..., HttpResponseBase] = transactions.make_view_atomic(respond)
        return atomic

    def bind(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """Give an instance of the view a request, and its handlers."""
        if self.actions is None:
            view.setup(request, *args, **kwargs)
            return
        for method, action in view.action_map.items():
            setattr(view, method, getattr(view, action))
        view.request, view.args, view.kwargs = request, args, kwargs

    def run(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the response of an instance of the view."""
        self.bind(view, request, *args, **kwargs)
        response: HttpResponseBase = view.dispatch(request, *args, **kwargs)
        return response
