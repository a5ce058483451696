"""A value that JSON cannot represent is an error that never shows it."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes import success_response
from tests.envelopes.conftest import ENVELOPES


class Secret:
    def __repr__(self) -> str:
        return "hunter2"


def circle() -> dict[str, Any]:
    inner: dict[str, Any] = {"secret": "hunter2"}
    inner["again"] = inner
    return {"deep": [inner]}


WRONG: dict[str, Callable[[], Any]] = {
    "object": lambda: {"rows": [{}, {"size": Secret()}]},
    "model": lambda: {"user": User(username="hunter2")},
    "NaN": lambda: {"a/b": {"~": float("nan")}},
    "bytes": lambda: {"blob": b"\xffhunter2"},
    "key": lambda: {"by": {("hunter2", 1): 2}},
    "circle": circle,
    "huge number": lambda: {"n": 10**5000},
    "root": Secret,
    "own envelope": lambda: success_response({"a": Secret()}),
}


@pytest.mark.slow
def test_the_error_has_no_value(thing):
    """It is an internal error, logged under the id in its message."""
    for make in WRONG.values():
        thing.answer_with(make())
        for envelope in ENVELOPES:
            result = thing.call(envelope)
            text = result.raw["content"][0]["text"]
            assert result.is_error
            assert "The answer cannot be written as JSON" in text
            assert "It was logged under the id req_" in text
            assert "hunter2" not in text
        result = thing.call()
        assert (result.code, result.data["error_type"]) == ("INTERNAL_ERROR", "internal")


def test_a_note_of_a_view_that_cannot_be_written_is_such_an_error_too(thing):
    thing.answer_with(
        lambda request: call_context(request).measure(client=Secret()) or Response({})
    )
    assert thing.read()["error"].startswith("The answer cannot be written as JSON.")
    thing.answer_with(lambda request: Response({"rows": (row for row in [Secret()])}))
    assert thing.call().code == "INTERNAL_ERROR"


KEPT = {
    "lazy": gettext_lazy("Yes"),
    "decimal": decimal.Decimal("1.50"),
    "moment": datetime.datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=datetime.UTC),
    "day": datetime.date(2026, 1, 2),
    "time": datetime.time(3, 4, 5),
    "delta": datetime.timedelta(hours=1),
    "uuid": uuid.UUID(int=1),
    "bytes": "ü".encode(),
    "set": {1},
    "tuple": (1, 2),
    "huge": 10**300,
    "names": {1: "a", None: "b", False: "c", 2.5: "d"},
}


def test_values_that_rest_framework_encodes_are_encoded_the_same(thing):
    for value in KEPT.values():
        assert encode_data(value)
        thing.answer_with({"value": value})
        assert thing.get() == thing.read()["data"] == thing.read("plain")
