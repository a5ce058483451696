"""Where an exception of somebody else's code ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def contain(step: Callable[[], Result], otherwise: Callable[[Exception], Result]) -> Result:
    """Run a step of somebody else's code; whatever it raises, the call goes on.

    Args:
        step: a view, a permission or an encoding, any of which may raise anything.
        otherwise: gives the result for what was raised.
    """
    try:
        return step()
    except Exception as exc:  # noqa: BLE001 - no exception of a view may leave a tool call
        return otherwise(exc)
