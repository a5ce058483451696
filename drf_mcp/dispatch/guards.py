from __future__ import annotations

import functools
from collections.abc import Sequence

from rest_framework.exceptions import APIException

from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Outcome, RateLimit


class CallRefused(Exception):
    """A guard refuses a call, as a view would by raising the exception.

    Args:
        exc: the exception.
        rate_limit: what is left of the quota that refuses it.
    """

    def __init__(self, exc: APIException, rate_limit: RateLimit | None = None) -> None:
        super().__init__(exc)
        self.exc = exc
        self.rate_limit = rate_limit


class CallCrashed(Exception):
    """Something failed around a view, such as the end of its transaction.

    Args:
        cause: the exception, which is reported and answered as one of the view's own.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


def pass_guards(guards: Sequence[Guard], call: CallState, perform: Proceed) -> Outcome:
    """Return the outcome of a call behind guards, the first of them outermost."""
    for guard in reversed(guards):
        perform = functools.partial(guard, proceed=perform)
    return perform(call)
