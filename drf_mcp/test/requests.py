"""Sample arguments for tools, and what is observed of a request or a tool call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

from django.db import transaction
from django.utils.module_loading import import_string

from drf_mcp.calls.results import make_envelope
from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes import Envelope, PlainEnvelope
from drf_mcp.outcomes import Outcome
from drf_mcp.routes.tool import Tool

# The argument that confirms a call.
CONFIRMATION = "confirmation"
FAILED = 400
WRITE = re.compile(r'\s*(INSERT INTO|UPDATE|DELETE FROM)\s+["`\[]?(\w+)', re.IGNORECASE)


# --- Sample arguments, from the schema and from existing rows ----------------------------------


def has_control(tool: Tool, name: str) -> bool:
    """Return whether a guard of a tool reads an argument of that name."""
    return name in {parameter.name for parameter in tool.controls}


def sample_arguments(tool: Tool, user: Any = None) -> dict[str, Any]:
    """Return arguments for a tool: its path about a row that the user sees, if there is one."""
    # By its path, as features are found: the app need not be installed.
    find_example = import_string("drf_mcp.contrib.operators.examples.find_example")
    arguments, items = find_example(tool, user).arguments, tool.arguments.items
    if items is None or items.name not in arguments:
        return dict(arguments)
    # An HTTP request is about one object.
    shared = {name: value for name, value in arguments.items() if name != items.name}
    return {**shared, **arguments[items.name][0]}


# --- What is observed --------------------------------------------------------------------------


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


class Volatile:
    def __repr__(self) -> str:
        return "<differs from request to request>"


# For a value that no two requests share.
VOLATILE = Volatile()


@dataclass(frozen=True)
class Observed:
    """What is observed of an HTTP request or a tool call.

    Attributes:
        data: the data, which is not compared for an error.
        blocks: the content blocks of a response that is no JSON.
        writes: the SQL statements that write, as ``INSERT INTO table``.
        enveloped: the data in the envelope of the tool, for views that render it over HTTP.
    """

    status: Any
    data: Any
    blocks: Any
    writes: Any
    enveloped: Any = None

    def compare(self, what: str, expected: Observed) -> None:
        failed = isinstance(expected.status, int) and expected.status >= FAILED
        parts = [("status", self.status, expected.status), ("writes", self.writes, expected.writes)]
        if not failed:
            parts.insert(1, ("content", self.blocks, expected.blocks))
            if not is_equal(expected.data, self.enveloped):
                parts.insert(1, ("data", self.data, expected.data))
        for part, called, wanted in parts:
            if not is_equal(wanted, called):
                raise_difference(what, part, called, wanted)


def keep_stable_value(value: Any, again: Any) -> Any:
    # Only values of the same shape are compared member by member.
    if value == again:
        return value
    if isinstance(value, dict) and isinstance(again, dict) and value.keys() == again.keys():
        return {name: keep_stable_value(item, again[name]) for name, item in value.items()}
    if isinstance(value, list) and isinstance(again, list) and len(value) == len(again):
        return list(map(keep_stable_value, value, again))
    return VOLATILE


def is_equal(expected: Any, actual: Any) -> bool:
    if expected is VOLATILE:
        return True
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            is_equal(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(is_equal, expected, actual))
    return bool(expected == actual)


def raise_difference(what: str, part: str, called: Any, expected: Any) -> NoReturn:
    raise AssertionError(f"{what}: {part} differs.\n  MCP:  {called!r}\n  HTTP: {expected!r}")


def to_json_value(value: Any) -> Any:
    return json.loads(encode_data(value))


class CapturingEnvelope(Envelope):
    """Keeps what is observed of an outcome. Its empty envelope fits any budget."""

    seen: ClassVar[list[Observed]] = []
    # One class for each envelope class: tools keep their definitions by it.
    made: ClassVar[dict[type[Envelope], type[Envelope]]] = {}
    envelope_class: ClassVar[type[Envelope]]

    @classmethod
    def capture(cls, envelope_class: type[Envelope]) -> type[Envelope]:
        if envelope_class not in cls.made:
            members = {"envelope_class": envelope_class}
            cls.made[envelope_class] = type("Capturing", (cls,), members)
        return cls.made[envelope_class]

    def render(self, outcome: Outcome) -> Any:
        body = PlainEnvelope().answer(outcome)
        data = to_json_value(body) if outcome.status < FAILED else None
        # Over HTTP an envelope has no measurements of the call.
        own, unmeasured = make_envelope(self.envelope_class), replace(outcome, telemetry={})
        enveloped = own.render(own.prepare(unmeasured, encode_data))
        blocks = to_json_value(outcome.content)
        self.seen.append(Observed(outcome.status, data, blocks, [], to_json_value(enveloped)))
        return {}
