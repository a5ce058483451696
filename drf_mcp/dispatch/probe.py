"""The one way to ask a view something for a caller: permissions, or the object of a URL."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from inspect import isawaitable
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.apps import apps
from django.core.exceptions import PermissionDenied
from django.db import connections, router, transaction
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.exceptions import APIException, MethodNotAllowed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller, copy_identity, is_undecorated
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.refusals import find_refusal
from drf_mcp.dispatch.request import (
    NOTHING_SENT,
    MiddlewareCall,
    ToolRequest,
    find_call_handler,
    keep_thread_state,
    needs_callback,
    prepare_callback,
    set_up_view,
    transactions,
)
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.exceptions import catch
from drf_mcp.introspection.field_selection import Omission
from drf_mcp.introspection.source.members import unwrap_function
from drf_mcp.introspection.unknown import AskedRequest, Notes, UnknownKwargs, UnknownRequest
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

REFUSALS = (APIException, PermissionDenied, Http404)
# Packages whose decorators refuse no caller, except ``django.contrib.auth``.
PACKAGES = frozenset({"adrf", "contextlib", "django", "drf_spectacular", "rest_framework"})
Found = TypeVar("Found")
Look = Callable[..., Found]
"""Called with a view and REST framework's request, and with what the URL captured."""


class Intercepted(APIException):
    """Middleware, or a step of the view before its handler, has answered."""

    def __init__(self, response: HttpResponseBase) -> None:
        super().__init__(getattr(response, "data", None))
        self.status_code = response.status_code
        seconds = response.get("Retry-After", "")
        self.wait = int(seconds) if seconds.isdigit() else None


class Answered(BaseException):
    """Ends the request of a question, so that no code of the view runs after its answer."""


def find_written_databases() -> list[str]:
    """Return the aliases of the databases that the routers let models be written to."""
    written = {router.db_for_write(model) for model in apps.get_models()}
    return [alias for alias in connections if alias in written]


@contextmanager
def rolling_back(aliases: Collection[str] | None = None) -> Iterator[None]:
    """Roll back what is written meanwhile, by default to any of `find_written_databases`."""
    with ExitStack() as stack:
        for alias in find_written_databases() if aliases is None else aliases:
            stack.enter_context(transaction.atomic(using=alias))
            stack.callback(transaction.set_rollback, True, using=alias)
        yield


class Identities:
    """Authenticates a caller once for all views that have the same authentication classes.

    Attributes:
        known: an authenticated request by authentication classes.
        is_shared: whether views of any authentication classes share one request.

    Raises:
        APIException: if the endpoint refuses the caller.
    """

    def __init__(self, caller: Caller, *, is_shared: bool = False) -> None:
        self.caller = caller
        self.is_shared = is_shared
        self.known: dict[tuple[type, ...], Request] = {}
        own = caller.authenticate()
        if caller.is_guess and caller.view_request is not None:
            own = caller.view_request
        # An instance with attributes may find another user than the view's own instance does.
        if not any(map(vars, caller.authenticators)):
            self.known[caller.authentication_classes] = own

    def set_identity(self, request: Request) -> None:
        """Set the user on a view's request, as authenticated for an earlier view."""
        if self.is_shared:
            copy_identity(request, self.caller.authenticate())
            return
        classes = tuple(map(type, request.authenticators or ()))
        known = self.known.setdefault(classes, request)
        if known is not request:
            copy_identity(request, known)


class Probe:
    """Asks the view of a tool for a caller, and runs nothing that changes data.

    The view gets the request of the call, through CALL_MIDDLEWARE and with the caller's identity.
    No throttle counts the request. Where the view refuses the caller, the methods raise what the
    view raises: an APIException, PermissionDenied or Http404.

    Args:
        call: the call whose request the view gets.
        identities: authenticate the caller once for the views of a list; by default each view
            authenticates the request of its own path.

    Attributes:
        request: the last request to the view.
        view: the last instance of the view.
        found: what ``look`` returned, one item for each run.
        raised: the exceptions that the view answered.
        refusal: why the permissions refuse the caller whatever the call sends, None if they do not.
        is_counted: True if the view's throttles count the first request of the probe.
        is_call: True for a call that is made once more, the only request that may write.
        keeps_locks: True if what is written is not rolled back, so that locks of rows last.

    Raises:
        APIException: if the endpoint refuses the caller.
    """

    is_counted = False
    is_call = False
    keeps_locks = False

    def __init__(
        self,
        caller: Caller,
        tool: Any,
        call: Call = NOTHING_SENT,
        identities: Identities | None = None,
    ) -> None:
        self.caller = caller
        self.endpoint = tool.endpoint
        self.omission = Omission(tool.options.omit)
        self.identities = identities
        caller.authenticate()
        if tool.options.hidden and call is not NOTHING_SENT:
            call = tool.arguments.fix(call, caller)
        self.call = call
        self.view: Any = None
        self.handler: Any = None
        self.found: list[Any] = []
        self.raised: list[Exception] = []
        self.refusal: Exception | None = None

    # --- Questions ------------------------------------------------------------------------------

    def check_permissions(self) -> None:
        """Ask the view's permissions, but no object's permissions."""
        if self.match is not None:
            self.ask(lambda view, request, *args, **kwargs: None)
        else:
            self.check_permissions_alone()

    def check_permissions_alone(self, prepare: Callable[[Any], object] | None = None) -> None:
        """Ask the view's permissions and run no other step of it.

        A permission that reads unknown arguments does not refuse.

        Args:
            prepare: called with the view before its permissions.
        """
        response = self.judge_permissions(prepare)
        if response is not None:
            raise Intercepted(response)
        if self.refusal is not None:
            raise self.refusal

    def judge_permissions(
        self, prepare: Callable[[Any], object] | None = None, passed: ToolRequest | None = None
    ) -> HttpResponseBase | None:
        """Find out whether a permission refuses the caller, whatever the call sends: `refusal`.

        Returns:
            The response of CALL_MIDDLEWARE that refused the path, None where it let it pass.

        Args:
            prepare: called with the view before its permissions.
            passed: another tool's request that CALL_MIDDLEWARE let pass, and does not run again.
        """

        def answer(inner: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            view, names = self.view, self.endpoint.route.kwargs
            is_known = self.call is not NOTHING_SENT
            request_class = AskedRequest if is_known else UnknownRequest
            request = request_class(inner, authenticators=view.get_authenticators())
            request.notes, request.view, view.request = Notes(), view, request
            view.kwargs = kwargs if is_known else UnknownKwargs(names, request.notes)
            if not is_known:
                request.has_placeholders = bool(names)
                vars(inner.resolver_match)["kwargs"] = view.kwargs
            with request.notes.quiet():
                if self.identities is not None:
                    self.identities.set_identity(request)
                if type(view).perform_authentication is not APIView.perform_authentication:
                    view.perform_authentication(request)
                request.user  # noqa: B018 - reading it authenticates
            if prepare is not None:
                prepare(view)
            self.refusal = find_refusal(view, request)
            return HttpResponse(status=204)

        self.view, self.refusal = self.endpoint.view(), None
        response = self.respond(answer, with_kwargs=False, passed=passed)
        return None if response.status_code == 204 else response

    def ask(self, look: Look[Found]) -> Found:
        """Run ``look`` instead of the view's handler, and return its result."""
        self.found, self.raised = [], []
        response = self.respond(self.make_callback(look))
        if self.found:
            return self.found[0]  # type: ignore[no-any-return]
        raise self.describe_refusal(response)

    def describe_refusal(self, response: HttpResponseBase) -> Exception:
        if self.raised and isinstance(self.raised[-1], REFUSALS):
            return self.raised[-1]
        return Intercepted(response)

    def ask_middleware(self, ask: Callable[[], Found]) -> Found | None:
        """Return what ``ask`` returns within CALL_MIDDLEWARE, None where that refuses the path."""
        found: list[Found] = []

        def answer(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
            found.append(ask())
            return HttpResponse(status=204)

        self.respond(answer, with_kwargs=self.match is not None)
        return found[0] if found else None

    def read(self) -> ViewResponse:
        """Return the response of the view's handler; its method has to be safe."""
        with self.rolling_back():
            answer = ViewResponse.read(self.run(), self.request)
        if not self.omission.paths:
            return answer
        data = self.omission.leave_out(AnswerEncoder().plain(answer.content.data))
        return replace(answer, content=replace(answer.content, data=data))

    def run(self) -> HttpResponseBase:
        callback = self.endpoint.route.callback
        if not needs_callback(callback):
            return self.respond(self.make_callback())
        self._refuse_write()
        return self.respond(prepare_callback(callback))

    @property
    def writes(self) -> bool:
        return self.endpoint.method not in SAFE_METHODS

    def _refuse_write(self) -> None:
        if self.writes and not self.is_call:
            raise MethodNotAllowed(self.endpoint.method)

    # --- The way to the view --------------------------------------------------------------------

    @cached_property
    def path(self) -> str | None:
        # None where the route has other kwargs.
        route, kwargs = self.endpoint.route, self.call.kwargs
        path: str | None = route.build(kwargs) if kwargs.keys() <= route.kwargs.keys() else None
        return path

    @cached_property
    def match(self) -> ResolverMatch | None:
        # None where Django's resolver finds another route at the path.
        if self.path is None:
            return None
        route, request = self.endpoint.route, self.caller.request
        match: ResolverMatch | None = route.match(self.path, self.call.kwargs, request)
        return match

    def make_callback(self, look: Look[Any] | None = None) -> Callable[..., HttpResponseBase]:
        """Return a callback that runs the view, its throttles only if the probe `is_counted`.

        Args:
            look: called instead of the view's handler, for `found`; None for the handler.
        """
        callback, method = self.endpoint.route.callback, self.endpoint.method.lower()
        if look is None:
            self._refuse_write()

        def answer(request: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            self.view = view = self.endpoint.view()
            view.args, view.kwargs = args, kwargs
            if self.is_counted:
                self.is_counted = False
            else:
                view.check_throttles = lambda request: None
            set_up_view(callback, view, request, *args, **kwargs)
            initial, handle_exception = view.initial, view.handle_exception

            def begin(request: Any, *args: Any, **kwargs: Any) -> Any:
                if self.identities is not None:
                    self.identities.set_identity(request)
                begun = initial(request, *args, **kwargs)
                self.handler = getattr(view, method, None)
                if look is not None:
                    # After the view's own steps, which may wrap the handler.
                    self._replace_handler(view, handle)
                return begun

            def handle(*args: Any, **kwargs: Any) -> Response:
                if look is not None:
                    self.found.append(look(view, *args, **kwargs))
                if not self.keeps_locks:
                    raise Answered
                return Response(status=204)

            def keep(exc: Exception) -> Any:
                self.raised.append(exc)
                return handle_exception(exc)

            view.initial, view.handle_exception = begin, keep
            if look is not None and self.writes:
                # The view's own dispatch() may call the handler by itself.
                self._replace_handler(view, handle)
            with suppress(Answered):
                response: Any = view.dispatch(request, *args, **kwargs)
                return async_to_sync(wait_for)(response) if isawaitable(response) else response
            return HttpResponse(status=204)

        # A queryset that locks its rows needs a transaction.
        atomic: Callable[..., HttpResponseBase] = transactions.make_view_atomic(answer)
        return atomic

    def _replace_handler(self, view: Any, handle: Callable[..., Response]) -> None:
        endpoint = self.endpoint
        method, is_async = endpoint.method.lower(), iscoroutinefunction(endpoint.handler)
        for name in {method, endpoint.handler_name} if self.writes else {method}:
            setattr(view, name, _make_coroutine(handle) if is_async else handle)

    def respond(
        self,
        callback: Callable[..., HttpResponseBase],
        *,
        with_kwargs: bool = True,
        passed: ToolRequest | None = None,
    ) -> HttpResponseBase:
        """Call a callback instead of the route's own, and return its response.

        Args:
            with_kwargs: False where the kwargs are not known: the path then has placeholders.
            passed: see `judge_permissions`.

        Raises:
            Http404: if the route takes no such kwargs.
        """
        route, kwargs = self.endpoint.route, dict(self.call.kwargs)
        if with_kwargs:
            path, match = self.path, self.match
        else:
            path = route.path
            match = ResolverMatch(route.callback, (), kwargs, route=route.match_route)
        if match is None or path is None:
            raise Http404
        self.request = request = ToolRequest(self.caller, self.endpoint.method, path, self.call)
        outer = vars(self.caller.request)
        known: dict[str, Any] = {n: outer[n] for n in ("user", "auth") if n in outer}
        try:
            if passed is not None:
                own = vars(request)
                own.update({n: value for n, value in vars(passed).items() if n not in own})
            if passed is not None or not mcp_settings.CALL_MIDDLEWARE:
                request.resolver_match = match
                return callback(request, *match.args, **match.kwargs)
            # Middleware may write, such as a trace of each request.
            with keep_thread_state(), self.rolling_back():
                return find_call_handler().answer(MiddlewareCall(request, match, callback))
        finally:
            # A view that authenticates in its own way leaves its user on the caller's request.
            outer.update(known)

    def rolling_back(self) -> AbstractContextManager[None]:
        """Roll back what is written meanwhile, unless locks are to last: they would end as well."""
        return nullcontext() if self.keeps_locks else rolling_back()


@functools.lru_cache(maxsize=4096)
def can_be_asked(endpoint: Any) -> bool:
    """Return whether no decorator can refuse callers: a `Probe` runs no decorator."""
    callback = endpoint.route.callback
    layers = [layer for layer, _ in unwrap_function(callback)]
    # Packages for asynchronous views make callbacks of their own.
    is_plain = is_undecorated(callback) or (iscoroutinefunction(callback) and len(layers) == 1)
    # The last function of a handler is the handler itself.
    around = [layer for layer, is_wrapper in unwrap_function(endpoint.handler) if is_wrapper]
    if not is_plain:
        around += [layer for layer in layers if not is_undecorated(layer)]
    return (is_plain or bool(layers)) and all(
        module.partition(".")[0] in PACKAGES and not module.startswith("django.contrib.auth")
        for module in _find_modules(around)
    )


def _find_modules(layers: Sequence[Any]) -> Iterator[str]:
    for layer in layers:
        yield str(layer.__globals__["__name__"])
        # What ``method_decorator`` was given.
        given = inspect.getclosurevars(layer).nonlocals.get("decorators", ())
        for each in given if isinstance(given, (list, tuple)) else (given,):
            yield str(getattr(each, "__module__", ""))


def is_taken_away(caller: Caller, tool: Any) -> bool:
    """Return whether a narrowing, a scope or a feature refuses all calls of a tool."""
    if caller.find_narrowing(tool) is not None or caller.find_lacking_scopes(tool):
        return True
    with catch() as caught:
        return any(refuses(tool, caller) for refuses in features.hooks["refuses"])
    logger.warning(
        "Whether %s is refused could not be decided", tool.name, exc_info=caught.exception
    )
    return True


def _make_coroutine(handle: Callable[..., Response]) -> Callable[..., Awaitable[Response]]:
    # A real coroutine function: before Python 3.12, inspect knows no object of `sync_to_async`.
    async def handle_awaited(*args: Any, **kwargs: Any) -> Response:
        return await sync_to_async(handle)(*args, **kwargs)

    return handle_awaited


async def wait_for(response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return await response
