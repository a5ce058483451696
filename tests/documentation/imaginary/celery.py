"""A replacement for Celery that runs a task in the caller's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def shared_task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as a task."""
    function.delay = function
    return function
