"""The guards of the core: narrowings, throttles, the time limit; and the timer of a call."""

from __future__ import annotations

import asyncio
import copy
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

from rest_framework.exceptions import APIException, Throttled
from rest_framework.request import Request

from drf_mcp.access.authentication import Caller, copy_identity
from drf_mcp.access.scopes import describe_scopes
from drf_mcp.access.throttles import count_call, find_tightest, warn_of_quota
from drf_mcp.codes import APPROACHING, HANDLING
from drf_mcp.exceptions import TimeLimitExceeded
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import RERUN
from drf_mcp.introspection.inspection import wrapped_queries
from drf_mcp.outcomes import Category, Failure, Outcome, RateLimit
from drf_mcp.settings import mcp_settings


class NarrowingGuard(Guard):
    """Refuses a tool that a narrowing takes away from the caller, such as READ_ONLY."""

    order = 100

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        return find_narrowing_refusal(call.tool, call.caller) or proceed(call)


def find_narrowing_refusal(tool: Any, caller: Caller) -> Outcome | None:
    """Return the outcome of a call of a tool that a narrowing takes away, None for other tools."""
    narrowing = caller.find_narrowing(tool)
    if narrowing is None:
        return None
    message = f"{tool.name} is not available here: {narrowing.write_reason(tool)}."
    advice = (
        "Do not repeat the call: this connection does not offer the tool. Use a tool that "
        "tools/list shows, or tell the user what is missing."
    )
    failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, advice, recoverable=False)
    return Outcome(tool.name, 403, failure=failure)


class ScopeGuard(Guard):
    """Refuses a token without the scopes that TOOL_SCOPES names for the tool."""

    order = 110

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        caller, category = call.caller, Category.AUTHORIZATION
        if not (scopes := caller.find_lacking_scopes(call.tool)):
            return proceed(call)
        advice, message = HANDLING[category].remediation, describe_scopes(scopes)
        # A client that sent a Bearer token is told how to get one with the scopes.
        asks = caller.bearer is not None and caller.resource is not None
        failure = Failure("FORBIDDEN", category, message, advice, scopes=scopes if asks else ())
        return Outcome(call.tool.name, 403, failure=failure)


class CallRefused(Exception):
    """A guard refuses a call, as a view would by raising the exception."""

    def __init__(self, exc: APIException, rate_limit: RateLimit | None = None) -> None:
        super().__init__(exc)
        self.exc = exc
        self.rate_limit = rate_limit


class CallCrashed(Exception):
    """A guard failed around a view, such as at the end of its transaction.

    The cause is logged and answered like an exception of the view.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


def pass_guards(guards: Sequence[Guard], call: CallState, perform: Proceed) -> Outcome:
    """Run a call within guards, the first outermost."""
    for guard in reversed(guards):
        perform = functools.partial(guard, proceed=perform)
    return perform(call)


# SQL that is stopped after the deadline; COMMIT and ROLLBACK always run.
STATEMENTS = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE")


class ThrottleGuard(Guard):
    """Asks the endpoint's throttles, and counts nothing that the view's own throttles count."""

    order = 200

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        if RERUN.get(call):
            return proceed(call)
        tool, known = call.tool, call.caller.authenticate()
        # Some throttles read the method, and let reads pass.
        inner = copy.copy(known._request)
        inner.method = tool.endpoint.method
        request = Request(inner)
        copy_identity(request, known)
        view = tool.endpoint.view(request)
        view.kwargs = call.bound.kwargs
        waits, quota = count_call(call.throttles, request, view, tool.options.throttle_scope)
        if waits:
            seconds = [wait for wait in waits if wait is not None]
            raise CallRefused(Throttled(max(seconds, default=None)), quota)
        outcome = proceed(call)
        tightest = find_tightest((outcome.rate_limit, quota))
        if quota is None or tightest is not quota:
            return outcome
        warnings = [w for w in outcome.warnings if w.code != APPROACHING]
        if outcome.failure is None:
            warnings += warn_of_quota(quota)
        return outcome.changed(rate_limit=quota, warnings=tuple(warnings))


class Deadline:
    """The moment from which a call starts no more statements on a database."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(self.at - time.monotonic(), 0)

    def limit(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return an async callback that is cancelled at the deadline."""

        async def limited(*args: Any, **kwargs: Any) -> Any:
            running = asyncio.ensure_future(callback(*args, **kwargs))
            # Not `wait_for`: a TimeoutError of the view is no deadline.
            done, _ = await asyncio.wait({running}, timeout=self.left)
            if done:
                return running.result()
            running.cancel()
            await asyncio.wait({running})
            if running.cancelled():
                raise TimeLimitExceeded(self.seconds)
            return running.result()

        return limited

    def __call__(self, execute: Callable[..., Any], sql: Any, *args: Any) -> Any:
        if not self.left and str(sql).lstrip(" \n\t(")[:8].upper().startswith(STATEMENTS):
            raise TimeLimitExceeded(self.seconds)
        return execute(sql, *args)


class TimeLimitGuard(Guard):
    """Stops a call at its next query or await after the time limit: see docs/limits.md."""

    order = 400

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        seconds = self.find_seconds(call)
        if not seconds or RERUN.get(call):
            return proceed(call)
        # Binding describes the tool at its first call, which is not the view's time.
        call.bound  # noqa: B018 - reading it binds the arguments
        call.deadline = deadline = Deadline(seconds)
        try:
            with wrapped_queries(deadline):
                return proceed(call)
        finally:
            call.deadline = None

    def find_seconds(self, call: CallState) -> float | None:
        """Return how many seconds a call may take, None or 0 for any number."""
        own: int | None = call.tool.options.time_limit
        return mcp_settings.TIME_LIMIT if own is None else own


class Timer:
    """Counts and times the statements of one call, where TELEMETRY or DEBUG is on."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.queries = 0
        self.query_seconds = self.slowest = 0.0

    def __call__(self, execute: Callable[..., Any], *args: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*args)
        finally:
            seconds = time.perf_counter() - began
            self.queries += 1
            self.query_seconds += seconds
            self.slowest = max(self.slowest, seconds)

    def telemetry(self) -> dict[str, Any]:
        measured = {
            "duration_ms": round((time.perf_counter() - self.started) * 1000, 2),
            "database_queries": self.queries,
            "database_ms": round(self.query_seconds * 1000, 2),
        }
        slowest = {"slowest_query_ms": round(self.slowest * 1000, 2)} if self.queries else {}
        return {**measured, **slowest}
