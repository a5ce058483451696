"""Steps of a project's own code that may fail, and what is found if they do."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Finding:
    """Something of an endpoint that could not be described.

    Attributes:
        place: where, such as ``shop.api.OrderViewSet.create``.
        message: what went wrong.
        remedy: what the project can do about it.
    """

    place: str
    message: str
    remedy: str


def attempt(
    place: str,
    step: Callable[[], Value],
    remedy: str,
    findings: list[Finding],
    default: Value,
) -> Value:
    try:
        return step()
    # Views written for a live request fail in any way when inspected without one, and
    # no endpoint may take the list of tools down with it.
    except Exception as exc:  # noqa: BLE001
        findings.append(Finding(place, failure(exc), remedy))
        return default


def failure(exc: Exception) -> str:
    lines = str(exc).strip().splitlines() or [""]
    frame = traceback.extract_tb(exc.__traceback__)[-1]
    return f"{type(exc).__name__}: {lines[0]} ({frame.filename}:{frame.lineno} in {frame.name})"
