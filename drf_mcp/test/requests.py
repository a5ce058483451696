"""Sample arguments for tools, and what is observed of a request or a tool call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

from django.db import transaction
from rest_framework.request import Request

from drf_mcp.arguments.call import PATH, Argument
from drf_mcp.calls.results import make_envelope
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.envelopes import Envelope, PlainEnvelope
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import PNG, TEXT, make_example
from drf_mcp.introspection.types import ANY, Place, Relation, Upload
from drf_mcp.outcomes import Outcome
from drf_mcp.routes.tool import Tool
from drf_mcp.transports.in_process import LocalEndpoint

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
    samples = Samples(tool, user)
    arguments = [
        (argument, samples.find_sample(argument))
        for argument in tool.arguments.arguments
        if argument.required or argument.location == PATH or samples.has_example(argument)
    ]
    return tool.arguments.change({}, arguments)


class Samples:
    def __init__(self, tool: Tool, user: Any) -> None:
        self.tool = tool
        self.row = attempt(lambda: self.find_row(user), None)

    def find_row(self, user: Any) -> Any:
        caller = LocalEndpoint().make_caller(user)
        caller.admitted = True
        endpoint = self.tool.endpoint
        view: Any = endpoint.view()
        view.request = Request(ToolRequest(caller, endpoint.method, endpoint.route.path))
        # Where the view's queryset cannot be made, any row of its model is used.
        rows = attempt(lambda: view.get_queryset(), otherwise=lambda exc: view.queryset)
        return rows.first() or rows.model._default_manager.first()

    def find_sample(self, argument: Argument) -> Any:
        parameter = argument.parameter
        if argument.location == PATH and self.row is not None:
            value = attempt(lambda: self._find_row_value(parameter.name), None)
            if value is not None:
                value = value if isinstance(value, int) else str(value)
                return [value] if argument.json_type == "array" else value
        value = self.tool.hints.find_value(argument.pointer)
        if value is None:
            value = make_example(parameter.schema, parameter.name)
        for place, info in parameter.value_info.items():
            if (relation := info.relation) is not None:
                key = attempt(lambda r=relation: self._get_key(r), None)  # type: ignore[misc]
                if key is not None:
                    value = self.put(value, place, key)
            if info.upload is not None:
                value = self.put(value, place, self._make_file(info.upload))
        return value

    def has_example(self, argument: Argument) -> bool:
        return self.tool.hints.find_value(argument.pointer) is not None

    def _find_row_value(self, kwarg: str) -> Any:
        view_class: Any = self.tool.endpoint.view_class
        field = getattr(view_class, "lookup_field", "pk")
        if kwarg == (getattr(view_class, "lookup_url_kwarg", None) or field):
            return getattr(self.row, field)
        parent = kwarg.removesuffix("_pk").removesuffix("_id")
        return getattr(self.row, f"{parent}_id", None) or getattr(self.row, kwarg, None)

    def _get_key(self, relation: Relation) -> Any:
        key = relation.model._default_manager.values_list(relation.key, flat=True).first()
        return key if key is None or isinstance(key, int) else str(key)

    def _make_file(self, upload: Upload) -> str:
        if upload.image:
            return f"data:image/png;name=sample.png;base64,{PNG}"
        extension = next(iter(upload.extensions), "txt")
        return f"data:;name=sample.{extension};base64,{TEXT}"

    def put(self, value: Any, place: Place, replacement: Any) -> Any:
        if not place:
            return replacement
        if place[0] == ANY and isinstance(value, list):
            return [self.put(item, place[1:], replacement) for item in value]
        if isinstance(value, dict) and place[0] in value:
            return {**value, place[0]: self.put(value[place[0]], place[1:], replacement)}
        return value


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

    def keep_stable(self, again: Observed) -> Observed:
        names = ("status", "data", "blocks", "writes")
        pairs = ((getattr(self, name), getattr(again, name)) for name in names)
        return Observed(*(keep_stable_value(value, other) for value, other in pairs))

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
