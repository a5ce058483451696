"""What two requests came to, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn


class Volatile:
    """Stands for a value that no two requests share."""

    def __repr__(self) -> str:
        return "<differs from request to request>"


VOLATILE = Volatile()


@dataclass(frozen=True)
class Observed:
    """What a request came to.

    Attributes:
        status: the HTTP status.
        data: the answer's data; of an error, nothing is compared but that it is one.
        blocks: the content blocks of an answer that is no JSON.
        writes: the writing SQL statements, as ``INSERT INTO table``.
        enveloped: the data in the tool's own envelope.
    """

    status: int
    data: Any
    blocks: Any
    writes: list[str]
    enveloped: Any = None


def stable(first: Observed, again: Observed) -> Observed:
    """Return what two runs of one request share."""
    return Observed(
        stable_value(first.status, again.status),
        stable_value(first.data, again.data),
        stable_value(first.blocks, again.blocks),
        stable_value(first.writes, again.writes),
    )


def stable_value(first: Any, again: Any) -> Any:
    """Return a value with `VOLATILE` in the place of what differs from another one."""
    if first == again:
        return first
    if isinstance(first, dict) and isinstance(again, dict) and first.keys() == again.keys():
        return {name: stable_value(value, again[name]) for name, value in first.items()}
    if isinstance(first, list) and isinstance(again, list) and len(first) == len(again):
        return list(map(stable_value, first, again))
    return VOLATILE


def same(expected: Any, actual: Any) -> bool:
    """Return whether a value is the expected one, wherever that is stable."""
    if expected is VOLATILE:
        return True
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return bool(expected == actual)


def compare(what: str, called: Observed, expected: Observed) -> None:
    """Raise unless a call came to what the HTTP request came to.

    A view that renders the envelope itself answers HTTP with it.
    """
    if not same(expected.status, called.status):
        differs(what, "status", called.status, expected.status)
    failed = isinstance(expected.status, int) and expected.status >= 400
    if not failed and not any(same(expected.data, d) for d in (called.data, called.enveloped)):
        differs(what, "data", called.data, expected.data)
    if not failed and not same(expected.blocks, called.blocks):
        differs(what, "content", called.blocks, expected.blocks)
    if not same(expected.writes, called.writes):
        differs(what, "writes", called.writes, expected.writes)


def differs(what: str, part: str, called: Any, expected: Any) -> NoReturn:
    """Raise the error that tells MCP from HTTP."""
    raise AssertionError(f"{what}: {part} differs.\n  MCP:  {called!r}\n  HTTP: {expected!r}")
