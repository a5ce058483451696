"""What the body of an error says beside its sentence is in every envelope."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.response import Response

from tests.dispatch.views import answering, raising

BESIDE: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "members": ({"available": 3, "restock": "2026-12-01"}, "", {}),
    "code": ({"code": "out_of_stock", "existing_id": 7}, "OUT_OF_STOCK", {"existing_id": 7}),
    "camel case": ({"error_code": "outOfStock"}, "OUT_OF_STOCK", {}),
    "number": ({"code": 1017}, "", {"code": 1017}),
    "RFC 9457": (
        {
            "type": "https://errors.example/stock",
            "title": "No stock",
            "instance": "/orders/7",
            "balance": 0,
        },
        "",
        {},
    ),
    "general code": ({"code": "error", "upgrade_url": "https://x.example/"}, "", {}),
    "nested": ({"meta": {"trace": ["a", 1]}, "closed": False}, "", {}),
    "secret": ({"token": "abc", "who": {"password": "x"}}, "", {"token": "********"}),
    "clash": ({"remediation": "Wait.", "details": "long"}, "", {"body_remediation": "Wait."}),
}


SAID = {"detail", "code", "error_code"}


@pytest.mark.parametrize("status", [400, 409, 422])
@pytest.mark.parametrize(("body", "code", "kept"), BESIDE.values(), ids=BESIDE)
def test_members_of_an_error_body_beside_its_sentence_are_kept(serve, status, body, code, kept):
    body = {"detail": "Out of stock.", **body}
    thing = serve(answering(lambda request: Response(body, status=status)))
    result = thing.call()
    standard = {400: "VALIDATION_ERROR", 422: "VALIDATION_ERROR", 409: "CONFLICT"}[status]
    assert (result.code, result.envelope["error"]) == (code or standard, "Out of stock.")
    expected = kept or {name: body[name] for name in body if name not in SAID}
    assert expected.items() <= result.data.items()
    assert "problems" not in result.data.get("details", {})
    (error,) = thing.read("ok")["errors"]
    assert (error["code"], error["message"]) == (result.code.lower(), "Out of stock.")
    (own,) = thing.read("status")["errors"]
    for name, value in expected.items():
        plain = name.removeprefix("body_")
        assert error.get(f"body_{plain}", error.get(plain)) == value
        assert own["context"][plain] == value
        assert plain in str(thing.call("plain").raw)


def test_a_body_of_any_shape_keeps_what_its_sentence_does_not_say(serve):
    for body, kept in (
        (
            ["Out of stock.", "Try the shop.", {"left": 0}],
            {"errors": ["Try the shop.", {"left": 0}]},
        ),
        ({"error": {"message": "Out.", "limit": 5}, "trace": "t"}, {"limit": 5, "trace": "t"}),
        (
            {"success": False, "data": None, "error": {"code": "gone", "message": "Out."}},
            {"success": False, "error_code": "GONE"},
        ),
        ({"errors": [{"code": "out", "message": "Out.", "left": 0}]}, {"left": 0}),
        ({"foo": {"bar": "Out.", "left": 0}}, {"foo": {"left": 0}}),
    ):
        data = serve(answering(lambda request, b=body: Response(b, status=409))).call().data
        assert kept.items() <= data.items()


def test_a_code_beside_error_details_is_the_error_code_where_the_sentence_is(serve):
    """Elsewhere the code of the exception is, and the body's code is kept."""
    found = ErrorDetail("No.", "not_found")
    for body, code, kept in (
        ({"detail": found, "code": "order_missing"}, "ORDER_MISSING", None),
        ({"error": {"code": "E17", "errors": {"detail": found}}}, "NOT_FOUND", "E17"),
        ({"detail": ErrorDetail("No.", "order_lost"), "code": "E17"}, "ORDER_LOST", None),
    ):
        result = serve(answering(lambda request, b=body: Response(b, status=404))).call()
        assert (result.code, result.data.get("code")) == (code, kept)


def test_the_attribute_of_a_standardised_error_is_its_field(serve):
    entry = {"code": "taken", "detail": "Is taken.", "attr": "name", "existing_id": 7}
    body = {"type": "validation_error", "errors": [entry]}
    thing = serve(answering(lambda request: Response(body, status=400)))
    details = thing.call().data["details"]
    assert details == {"field": "name", "constraint": "taken", "existing_id": 7}
    assert thing.read("ok")["errors"][0]["path"] == "name"


def test_facts_in_a_validation_error_are_no_problems_of_arguments(serve):
    detail = {"detail": "It exists already.", "existing_id": 7}
    result = serve(raising(ValidationError(detail))).call()
    assert (result.envelope["error"], result.data["existing_id"]) == ("It exists already.", "7")
