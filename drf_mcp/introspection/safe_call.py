"""Steps of a project's own code that may fail, and what is found if they do."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from drf_mcp.introspection.locations import is_project_file, write_line

Value = TypeVar("Value")


@dataclass(frozen=True)
class Finding:
    """Something of an endpoint that could not be described.

    Attributes:
        place: where, such as ``shop.api.OrderViewSet.create``.
        message: what went wrong.
        remedy: what the project can do about it.
        source: the project's own line, such as ``shop/api.py:12``, "" if it is not known.
    """

    place: str
    message: str
    remedy: str
    source: str = field(default="", compare=False)


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
        findings.append(Finding(place, failure(exc), remedy, find_source(exc)))
        return default


def failure(exc: Exception) -> str:
    lines = str(exc).strip().splitlines() or [""]
    frame = find_frame(exc)
    return f"{type(exc).__name__}: {lines[0]} ({frame.filename}:{frame.lineno} in {frame.name})"


def find_frame(exc: Exception) -> traceback.FrameSummary:
    # The project's own code is what its author can mend.
    frames = traceback.extract_tb(exc.__traceback__)
    own = [frame for frame in frames if is_project_file(frame.filename)]
    return (own or frames)[-1]


def find_source(exc: Exception) -> str:
    frame = find_frame(exc)
    own = is_project_file(frame.filename)
    return write_line(frame.filename, frame.lineno or 1) if own else ""
