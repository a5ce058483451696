"""What features keep of a call, and the way from a view's request to the call."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Slot(Generic[Value]):
    """A place for what one feature keeps of a call, which is a `drf_mcp.features.CallState`.

    A feature makes its slots when its module is imported: ``TRIAL: Slot[Rollback] = Slot()``.
    """

    def get(self, call: Any) -> Value | None:
        """Return the value that the call has here, None if it has none, or there is no call."""
        return None if call is None else call.slots.get(self)

    def set(self, call: Any, value: Value | None) -> None:
        """Keep a value for the call, and for each request that it makes."""
        call.slots[self] = value


def find_call(request: Any) -> Any:
    """Return the `CallState` that a view answers, None for a request that is no call.

    Args:
        request: the view's request, REST framework's or Django's.
    """
    return getattr(getattr(request, "_request", request), "mcp_call", None)
