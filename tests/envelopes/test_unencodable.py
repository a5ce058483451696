"""A value that JSON cannot represent is an error that names its pointer and never its value."""

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
from drf_mcp.dispatch.content import AnswerEncoder, encode_data
from drf_mcp.envelopes import success_response
from tests.envelopes.conftest import ENVELOPES


class Secret:
    def __repr__(self) -> str:
        return "hunter2"


def circle() -> dict[str, Any]:
    inner: dict[str, Any] = {"secret": "hunter2"}
    inner["again"] = inner
    return {"deep": [inner]}


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "object": (lambda: {"rows": [{}, {"size": Secret()}]}, "/rows/1/size is of type Secret"),
    "class": (lambda: {"kind": Secret}, "/kind is of type type"),
    "model": (lambda: {"user": User(username="hunter2")}, "/user is of type User"),
    "set": (lambda: {"tags": {Secret()}}, "/tags/0 is of type Secret"),
    "NaN": (lambda: {"a/b": {"~": float("nan")}}, "/a~1b/~0 is NaN or an infinity"),
    "infinity": (lambda: [1, [float("-inf")]], "/1/0 is NaN or an infinity"),
    "bytes": (lambda: {"blob": b"\xffhunter2"}, "/blob is of type bytes, and not UTF-8"),
    "key": (lambda: {"by": {("hunter2", 1): 2}}, "/by is an object with a name of type tuple"),
    "circle": (circle, "/deep/0/again is a part of itself"),
    "huge number": (lambda: {"n": 10**5000}, "/n is of type int"),
    "root": (Secret, "it is of type Secret"),
}


@pytest.mark.slow
def test_the_error_names_the_pointer_and_the_type_but_no_value(thing):
    """It is an internal error, logged under the id in its message."""
    for make, place in WRONG.values():
        thing.answer_with(make())
        for envelope in ENVELOPES:
            result = thing.call(envelope)
            text = result.raw["content"][0]["text"]
            assert result.is_error
            assert f"The answer cannot be written as JSON: {place}." in text.replace("\\\\", "\\")
            assert "It was logged under the id req_" in text
            assert "hunter2" not in text
        result = thing.call()
        assert (result.code, result.data["error_type"]) == ("INTERNAL_ERROR", "internal")


def test_the_error_names_the_notes_of_a_view_too(thing):
    """So is an answer in an envelope of the view; an exhausted generator has no pointer."""
    context = {"since": Secret()}
    notes: dict[str, Callable[[Any], None]] = {
        "The telemetry cannot be written as JSON: /client is of type Secret.": (
            lambda notes: notes.measure(client=Secret())
        ),
        "The context of the warning STALE_CACHE cannot be written as JSON: "
        "/since is of type Secret.": (
            lambda notes: notes.warn("Old.", code="STALE_CACHE", context=context)
        ),
    }
    for place, note in notes.items():
        thing.answer_with(lambda request, note=note: note(call_context(request)) or Response({}))
        assert thing.read()["error"].startswith(place)
    thing.answer_with(success_response({"a": Secret()}))
    assert "/a is of type Secret" in thing.read()["error"]
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
        assert AnswerEncoder().find_fault(value) is None
        assert encode_data(value)
        thing.answer_with({"value": value})
        assert thing.get() == thing.read()["data"] == thing.read("plain")
