"""The way to a view that is asked something: as the call would take it, and not counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.apps import apps
from django.db import connections, router, transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.request import Request

from drf_mcp.access.authentication import Caller, copy_identity
from drf_mcp.dispatch.middleware import (
    BareCallback,
    CallHandler,
    CallPassage,
    is_asynchronous,
    keep_thread_state,
    transactions,
)
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.introspection.inspection import negotiate


def find_written_databases() -> list[str]:
    """Return the aliases of the databases that the routers let models be written to."""
    written = {router.db_for_write(model) for model in apps.get_models()}
    return [alias for alias in connections if alias in written]


@contextmanager
def undoing(aliases: Collection[str]) -> Iterator[None]:
    """Roll back what is written to databases meanwhile, whatever happens."""
    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(transaction.atomic(using=alias))
            stack.callback(transaction.set_rollback, True, using=alias)
        yield


Found = TypeVar("Found")
Look = Callable[..., Found]
"""Called with a view and REST framework's request, and with what the URL captured."""

NEGOTIATED = frozenset({"accepted_renderer", "accepted_media_type", "version", "versioning_scheme"})


class Identities:
    """Authenticates a caller once for all views that have the same authentication classes.

    Raises:
        APIException: if the caller is not let into the endpoint.
    """

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        own = caller.authenticate()
        # Of several classes only the view that was called knows which one it was.
        own = caller.answered or own if caller.is_guess else own
        # An instance that was set up may find another user than the view's own does.
        is_plain = not any(map(vars, caller.authenticators))
        self.known: dict[tuple[type, ...], Request] = (
            {caller.authentication_classes: own} if is_plain else {}
        )

    @cached_property
    def databases(self) -> list[str]:
        """The aliases of the databases that models are written to."""
        return find_written_databases()

    def introduce(self, request: Request) -> None:
        """Give a view's request the identity that its authenticators found before."""
        classes = tuple(map(type, request.authenticators or ()))
        known = self.known.setdefault(classes, request)
        if known is not request:
            copy_identity(request, known)

    def make_request(self, view: Any, inner: Any) -> Request:
        """Return the request of a view that is asked its permissions and nothing else."""
        request = LazyRequest(inner, authenticators=view.get_authenticators())
        request.__dict__["permission_view"] = view
        self.introduce(request)
        return request


class LazyRequest(Request):
    """A request that is negotiated when a permission reads the result, which few do."""

    def __getattr__(self, name: str) -> Any:
        if name in NEGOTIATED and "permission_view" in self.__dict__:
            negotiate(self.__dict__.pop("permission_view"))
            return getattr(self, name)
        return super().__getattr__(name)  # type: ignore[misc]


class Approach:
    """Brings a request to the view of a tool, on behalf of a caller.

    The view gets the request of the call, through CALL_MIDDLEWARE and by the same identity. No
    throttle counts it.

    Args:
        kwargs: the path kwargs.
        query_string, body, content_type: those of the call.
        identities: those of the caller, where several views are asked.

    Attributes:
        view: the instance that was asked last.
        is_counted: True for a call whose throttles count, as they do over HTTP.
        keeps_locks: True if what is written is not undone, so that locks of rows last.

    Raises:
        APIException: if the caller is not let into the endpoint.
    """

    is_counted = False
    keeps_locks = False

    def __init__(
        self,
        caller: Caller,
        tool: Any,
        kwargs: Mapping[str, Any] | None = None,
        query_string: str = "",
        body: Any = b"",
        content_type: str = "",
        identities: Identities | None = None,
    ) -> None:
        self.caller = caller
        self.tool = tool
        self.endpoint = tool.endpoint
        self.kwargs = kwargs or {}
        self.query_string = query_string
        self.body = body
        self.content_type = content_type
        self.identities = identities or Identities(caller)
        self.view: Any = None

    @cached_property
    def path(self) -> str | None:
        """The path of the request, None where the route takes no such kwargs."""
        # Kwargs that are too few or too many are no path of the route either.
        route = self.endpoint.route
        known = self.kwargs.keys() <= route.kwargs.keys()
        path: str | None = route.build(self.kwargs) if known else None
        return path

    @cached_property
    def match(self) -> ResolverMatch | None:
        """What Django's resolver finds at the path, None where that is another route."""
        if self.path is None:
            return None
        match: ResolverMatch | None = self.endpoint.route.match(
            self.path, self.kwargs, self.caller.request
        )
        return match

    @property
    def is_routed(self) -> bool:
        """Whether the route takes the kwargs; otherwise only the permissions can be asked."""
        return self.match is not None

    @property
    def is_decorated(self) -> bool:
        """Whether something around the view may refuse the call: it is not asked."""
        return BareCallback.of(self.endpoint.route.callback) is None

    def answer_by(
        self, look: Look[HttpResponseBase] | None, raised: list[Exception] | None = None
    ) -> Callable[..., HttpResponseBase]:
        """Return a callback that runs the view with another handler, and counts no throttle.

        Args:
            look: the handler, which gets the view first; None for the view's own.
            raised: gets what the view answers with an error.
        """
        callback, method = self.endpoint.route.callback, self.endpoint.method.lower()

        def answer(request: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            self.view = view = self.make_view(request.resolver_match)  # type: ignore[arg-type]
            BareCallback(callback).bind(view, request, *args, **kwargs)
            initial, handle_exception = view.initial, view.handle_exception

            def begin(request: Any, *args: Any, **kwargs: Any) -> Any:
                self.identities.introduce(request)
                begun = initial(request, *args, **kwargs)
                if look is not None:
                    # After the view's own steps, some of which wrap the handler.
                    is_async = is_asynchronous(self.endpoint.handler)
                    setattr(view, method, partial(defer(look) if is_async else look, view))
                return begun

            def keep(exc: Exception) -> Any:
                if raised is not None:
                    raised.append(exc)
                return handle_exception(exc)

            view.initial, view.handle_exception = begin, keep
            response: Any = view.dispatch(request, *args, **kwargs)
            return async_to_sync(wait_for)(response) if isawaitable(response) else response

        # A queryset may lock its rows, which takes a transaction.
        atomic: Callable[..., HttpResponseBase] = transactions.make_view_atomic(answer)
        return atomic

    def make_view(self, match: ResolverMatch) -> Any:
        view = self.endpoint.view()
        view.args, view.kwargs = match.args, match.kwargs
        if not self.is_counted:
            view.check_throttles = lambda request: None
        return view

    def make_request(self, path: str | None) -> ToolRequest:
        sent = (self.query_string, self.body, self.content_type)
        request = ToolRequest(self.caller, self.endpoint.method, path or "", *sent)
        request.has_standard_negotiation = self.endpoint.has_standard_negotiation
        return request

    def respond(
        self, callback: Callable[..., HttpResponseBase], request: ToolRequest | None = None
    ) -> HttpResponseBase:
        # Raises Http404 where the route takes no such kwargs.
        if self.match is None:
            raise Http404
        return self.pass_middleware(callback, request or self.make_request(self.path), self.match)

    def respond_alone(self, callback: Callable[..., HttpResponseBase]) -> HttpResponseBase:
        """Return what a callback answers within CALL_MIDDLEWARE, at the path of any object."""
        route = self.endpoint.route
        match = ResolverMatch(route.callback, (), dict(self.kwargs), route=route.match_route)
        return self.pass_middleware(callback, self.make_request(route.path), match)

    def ask_middleware(self, ask: Callable[[], Found]) -> Found | None:
        """Return what is found within CALL_MIDDLEWARE, None where that refuses the path."""
        found: list[Found] = []

        def respond(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
            found.append(ask())
            return HttpResponse(status=204)

        if self.is_routed:
            self.respond(respond)
        else:
            self.respond_alone(respond)
        return found[0] if found else None

    def pass_middleware(
        self,
        callback: Callable[..., HttpResponseBase],
        request: ToolRequest,
        match: ResolverMatch,
    ) -> HttpResponseBase:
        outer = vars(self.caller.request)
        known: dict[str, Any] = {n: outer[n] for n in ("user", "auth") if n in outer}
        middleware = CallHandler.of_settings()
        try:
            if middleware is None:
                request.resolver_match = match
                return callback(request, *match.args, **match.kwargs)
            # Middleware may write, such as a trace of each request.
            with keep_thread_state(), self.undoing():
                return middleware.answer(CallPassage(request, match, callback))
        finally:
            # A view that authenticates in its own way leaves its user on the caller's request.
            outer.update(known)

    def undoing(self) -> AbstractContextManager[None]:
        """Undo what is written meanwhile; a lock that is to last would be undone as well."""
        return nullcontext() if self.keeps_locks else undoing(self.identities.databases)


async def wait_for(response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return await response


def defer(handler: Callable[..., HttpResponseBase]) -> Callable[..., Awaitable[HttpResponseBase]]:
    """Return a handler for a view whose own are asynchronous."""

    async def answer(*args: Any, **kwargs: Any) -> HttpResponseBase:
        return await sync_to_async(handler)(*args, **kwargs)

    return answer
