"""The quotas of REST framework's throttles, of views and of the endpoint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle, SimpleRateThrottle
from rest_framework.views import APIView

from drf_mcp.codes import APPROACHING, WARNING_SEVERITIES
from drf_mcp.exceptions import Refused, attempt
from drf_mcp.outcomes import RateLimit, Warning, iso_time, period_name

LOW_SHARE = 0.1


def get_key(throttle: Any, request: Any, view: Any) -> Any:
    """Return the cache key by which a throttle counts a request, None where it does not count."""
    if isinstance(throttle, ScopedRateThrottle):
        throttle.scope = getattr(view, throttle.scope_attr, None)
        if not throttle.scope:
            return None
        throttle.rate = throttle.get_rate()
        throttle.num_requests, throttle.duration = throttle.parse_rate(throttle.rate)  # type: ignore[attr-defined]
    return throttle.get_cache_key(request, view) if throttle.rate else None


def find_quota(throttle: Any, request: Any, view: Any) -> RateLimit | None:
    """Return the rest of a throttle's quota for a request, without counting the request."""
    if not isinstance(throttle, SimpleRateThrottle):
        return None
    key = get_key(throttle, request, view)
    if key is None:
        return None
    throttle.history, throttle.now = throttle.cache.get(key, []), throttle.timer()
    return _read_quota(throttle)


def _read_quota(throttle: Any, before: Any = None) -> RateLimit | None:
    """Return the rest of the quota of a throttle that was asked, None where it cannot be known.

    Args:
        before: what the attribute `now` was before; each time that it counts, a throttle sets it.
    """
    names = ("now", "num_requests", "duration", "history")
    state: list[Any] = [getattr(throttle, name, None) for name in names]
    now, limit, period, history = state
    # A throttle may keep something else by these names.
    if now is before or not isinstance(history, (list, tuple)):
        return None
    if not all(isinstance(number, (int, float)) for number in (*state[:3], *history)):
        return None
    counted = [moment for moment in history if moment > now - period]
    remaining = max(int(limit) - len(counted), 0)
    # The oldest request is the first not to count any more.
    resets = min(counted, default=now) + period
    return RateLimit(
        limit=int(limit),
        remaining=remaining,
        # A clock that starts with the machine has no time of day.
        reset_at=iso_time(math.ceil(resets)) if now > 1e9 else None,
        period=period_name(int(period)),
        retry_after=None if remaining else max(math.ceil(resets - now), 0),
    )


def find_tightest(quotas: Iterable[RateLimit | None]) -> RateLimit | None:
    # The fewest calls left; among equals the longest wait.
    def tightness(quota: RateLimit) -> tuple[int, ...]:
        return (quota.remaining or 0, -(quota.retry_after or 0), quota.limit or 0)

    return min(filter(None, quotas), key=tightness, default=None)


def count_call(
    throttles: Iterable[Any], request: Request, view: Any, scope: str | None
) -> tuple[list[float | None], RateLimit | None]:
    """Count a call by the endpoint's throttles.

    Where the view has a throttle with the same cache key, the endpoint's throttle does not count
    the call, so that it is not counted twice.

    Args:
        scope: the scope of the tool for the endpoint's throttles, None for the view's.

    Returns:
        The seconds to wait for each throttle that refuses the call, and the tightest quota.
    """
    own = view.get_throttles()
    keys = {get_key(t, request, view) for t in own if isinstance(t, SimpleRateThrottle)} - {None}
    classes = {type(t) for t in own if not isinstance(t, SimpleRateThrottle)}
    if scope is not None:
        view.throttle_scope = scope
    counting, left, full, waits = [], [], [], []
    for throttle in throttles:
        is_shared = type(throttle) in classes
        if isinstance(throttle, SimpleRateThrottle):
            is_shared = get_key(throttle, request, view) in keys
        if not is_shared:
            counting.append(throttle)
        elif (quota := find_quota(throttle, request, view)) and not quota.remaining:
            full.append(quota)
    # A call that the view's throttles will refuse is not counted.
    if full:
        return [quota.retry_after for quota in full], find_tightest(full)
    for throttle in counting:
        allowed = throttle.allow_request(request, view)
        left.append(_read_quota(throttle))
        if not allowed:
            waits.append(throttle.wait())
    return waits, find_tightest(left)


def count_once(context: Any) -> Any:
    """Count a message by the endpoint's throttles, and return its context without them.

    Raises:
        Refused: if a throttle refuses the message.
    """
    caller, request = context.caller, context.caller.authenticate()
    waits = [t.wait() for t in context.throttles if not t.allow_request(request, caller.view)]
    if waits:
        seconds = max((wait for wait in waits if wait is not None), default=None)
        raise refuse_throttled(Throttled(seconds))
    return replace(context, throttles=())


def refuse_throttled(exc: Any) -> Refused:
    """Return the refusal of a message that a throttle refuses."""
    seconds = getattr(exc, "wait", None)
    headers = {} if seconds is None else {"Retry-After": f"{seconds:.0f}"}
    return Refused(exc.status_code, str(exc.detail), headers=headers)


def warn_of_quota(quota: RateLimit) -> Iterator[Warning]:
    if quota.limit is None or quota.remaining is None or quota.remaining > quota.limit * LOW_SHARE:
        return
    context = {"remaining": quota.remaining, "limit": quota.limit, "reset_at": quota.reset_at}
    message = f"{quota.remaining} of {quota.limit} calls are left in this period."
    yield Warning(APPROACHING, message, WARNING_SEVERITIES[APPROACHING], context)


def note_throttles(view: Any) -> list[tuple[Any, Any]]:
    """Return a list that gets the throttles which the view will ask, each as it was before."""
    noted: list[tuple[Any, Any]] = []
    get_throttles = view.get_throttles

    def note() -> Any:
        vars(view).pop("get_throttles", None)
        throttles = get_throttles()
        if isinstance(throttles, (list, tuple)):
            noted.extend((each, getattr(each, "now", None)) for each in throttles)
        return throttles

    # On this one instance, until its `check_throttles` has made the throttles.
    view.get_throttles = note
    return noted


def find_rate_limit(
    view: Any, noted: Any, status: int, headers: Mapping[str, str]
) -> RateLimit | None:
    """Return the tightest quota of a view's throttles after the response.

    Args:
        noted: what `note_throttles` noted of a tool's view; None of a view that plain HTTP asked.
    """

    tightest = None
    if noted is not None:
        tightest = find_tightest(_read_quota(throttle, before) for throttle, before in noted)
    elif view is not None:
        tightest = attempt(lambda: _find_view_quota(view), None)
    seconds = headers.get("Retry-After", "") if status == 429 else ""
    if not seconds.isdigit():
        return tightest
    return replace(tightest or RateLimit(), retry_after=int(seconds))


def _find_view_quota(view: Any) -> RateLimit | None:
    # What a project wrote may query a database.
    if type(view).get_throttles is not APIView.get_throttles:
        return None
    steps, stock = ("__init__", "get_rate", "get_cache_key"), SimpleRateThrottle.__module__
    quotas = [
        find_quota(throttle(), view.request, view)
        for throttle in view.throttle_classes
        if all(getattr(getattr(throttle, n, None), "__module__", "") == stock for n in steps)
        # A cache in the database would cost a query.
        and not hasattr(throttle.cache, "cache_model_class")
    ]
    return find_tightest(quotas)
