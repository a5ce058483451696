"""Error bodies of a project's exception handler or of the view itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse, HttpResponseForbidden, JsonResponse, StreamingHttpResponse
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.response import Response

from tests.dispatch.views import answering, raising, validating


class Basket(serializers.Serializer):
    name = serializers.CharField(max_length=20)
    message = serializers.CharField(required=False)
    size = serializers.IntegerField()


def messages(exc: Any) -> list[str]:
    return [str(text) for texts in exc.detail.values() for text in texts]


def entries(exc: Any) -> list[dict[str, str]]:
    return [
        {"code": text.code, "detail": str(text), "attr": name}
        for name, texts in exc.detail.items()
        for text in texts
    ]


def handle(shape):
    def handler(exc, context):
        return Response(shape(exc), status=exc.status_code)

    return handler


@pytest.fixture
def handled(serve, settings):
    def mount(handler, view):
        settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "EXCEPTION_HANDLER": handler}
        return serve(view)

    return mount


KEEPING = {
    "errors": lambda exc: {"errors": exc.detail},
    "error": lambda exc: {"error": exc.detail},
    "code and errors": lambda exc: {"code": 17, "message": "Invalid.", "errors": exc.detail},
    "envelope": lambda exc: {
        "success": False,
        "data": None,
        "error": {"type": "validation", "message": "Invalid.", "fields": exc.detail},
    },
    "nested": lambda exc: {"error": {"details": {"errors": exc.detail}}},
    "list": lambda exc: [exc.detail],
    "problem": lambda exc: {"type": "about:blank", "title": "Invalid", **exc.detail},
    "standardised": lambda exc: {"type": "validation_error", "errors": entries(exc)},
    "JSON:API": lambda exc: {
        "errors": [
            {
                "status": "400",
                "code": entry["code"],
                "detail": entry["detail"],
                "source": {"pointer": f"/data/attributes/{entry['attr']}"},
            }
            for entry in entries(exc)
        ]
    },
    "field and message": lambda exc: [
        {"field": entry["attr"], "message": entry["detail"], "code": entry["code"]}
        for entry in entries(exc)
    ],
    "full details": lambda exc: exc.get_full_details(),
}


@pytest.mark.parametrize("shape", KEEPING.values(), ids=KEEPING)
def test_codes_and_pointers_are_found_in_a_body_that_has_the_error_details(handled, shape):
    thing = handled(handle(shape), validating(Basket))
    result = thing.call(name="x" * 21)
    assert thing.http.post("/thing/", {"name": "x" * 21}).status_code == 400
    assert result.code == "VALIDATION_ERROR"
    assert [(p["pointer"], p["code"]) for p in result.problems] == [
        ("/name", "max_length"),
        ("/size", "required"),
    ]


@pytest.mark.parametrize("name", ["errors", "invalid"])
@pytest.mark.parametrize("arguments", ["flat", "grouped"])
def test_an_error_in_a_list_keeps_its_index_under_any_key(handled, settings, name, arguments):
    handler = handle(lambda exc: {"status": {name: exc.detail}})
    thing = handled(handler, validating(Basket, many=True))
    settings.DRF_MCP = {**settings.DRF_MCP, "ARGUMENTS": arguments}
    sent = "items" if arguments == "flat" else "body"
    result = thing.call(**{sent: [{"name": "good", "size": 1}, {"name": "good"}]})
    assert [p["pointer"] for p in result.problems] == [f"/{sent}/1/size"]


TEXTS = {
    "list of strings": (messages, "This field is required."),
    "error": (lambda exc: {"error": "Broken."}, "Broken."),
    "message and code": (lambda exc: {"message": "Broken.", "code": 1017}, "Broken."),
    "errors of strings": (lambda exc: {"errors": messages(exc)}, "This field is required."),
    "string": (lambda exc: "Broken.", "Broken."),
    "unknown names": (lambda exc: {"foo": {"bar": "Broken."}}, "Broken."),
    "null": (lambda exc: None, "Bad Request"),
    "empty object": (lambda exc: {}, "Bad Request"),
    "blank": (lambda exc: {"detail": "  "}, "Bad Request"),
    "number": (lambda exc: 17, "Bad Request"),
}


@pytest.mark.parametrize(("shape", "message"), TEXTS.values(), ids=TEXTS)
def test_a_body_of_the_projects_own_form_gives_its_message(handled, shape, message):
    thing = handled(handle(shape), validating(Basket))
    result = thing.call(name="x")
    assert result.is_error
    assert (result.code, result.data["error_type"]) == ("VALIDATION_ERROR", "validation")
    assert result.envelope["error"] == message


def test_messages_under_the_names_of_arguments_have_pointers_and_no_codes(handled):
    shape = handle(
        lambda exc: {"errors": {name: str(text[0]) for name, text in exc.detail.items()}}
    )
    result = handled(shape, validating(Basket)).call(name="x")
    assert [(p["pointer"], p["code"]) for p in result.problems] == [("/size", "invalid")]
    assert result.envelope["error"] == "size: This field is required."


def test_the_status_of_the_handlers_response_decides_the_code(handled):
    def teapot(exc, context):
        return Response({"error": "No coffee."}, status=409)

    result = handled(teapot, raising(NotFound())).call()
    assert (result.code, result.envelope["error"]) == ("CONFLICT", "No coffee.")


def crash(exc, context):
    raise KeyError("secret")


@pytest.mark.parametrize("handler", [lambda exc, context: None, crash])
def test_a_handler_that_returns_none_or_raises_is_an_internal_error(handled, handler):
    thing = handled(handler, raising(NotFound("secret")))
    result = thing.call()
    assert thing.get().status_code == 500
    assert result.code == "INTERNAL_ERROR"
    assert "secret" not in str(result.raw)


NO_PAGE = "Internal Server Error"
OWN = {
    "409 detail": (lambda r: Response({"detail": "x"}, status=409), "CONFLICT", "x"),
    "400 list": (lambda r: Response(["x", "y"], status=400), "VALIDATION_ERROR", "x"),
    "404 code first": (
        lambda r: Response({"error": {"code": "lost", "info": {"detail": "No hat."}}}, status=404),
        "LOST",
        "No hat.",
    ),
    "404 code alone": (lambda r: Response({"error": {"code": "lost"}}, 404), "NOT_FOUND", "lost"),
    "403 empty": (lambda r: Response(status=403), "FORBIDDEN", "Forbidden"),
    "403 Django": (lambda r: HttpResponseForbidden(), "FORBIDDEN", "Forbidden"),
    "504": (lambda r: HttpResponse(status=504), "INTERNAL_ERROR", "Gateway Timeout"),
    "499": (lambda r: Response({"detail": "Gone."}, status=499), "VALIDATION_ERROR", "Gone."),
    "499 empty": (lambda r: Response(status=499), "VALIDATION_ERROR", "HTTP status 499"),
    "400 JSON": (lambda r: JsonResponse({"error": "x"}, status=400), "VALIDATION_ERROR", "x"),
    "503 JSON": (lambda r: JsonResponse({"message": "x"}, status=503), "UNAVAILABLE", "x"),
    **{
        f"{status} {media_type} {body[:9]!r}": (
            lambda r, a=(body, media_type, status): HttpResponse(a[0], a[1], a[2]),
            code,
            message,
        )
        for status, media_type, body, code, message in (
            (404, None, "No hat.", "NOT_FOUND", "No hat."),
            (404, "text/plain", "No hat.", "NOT_FOUND", "No hat."),
            (404, "text/plain", "x" * 2_000_000, "NOT_FOUND", "Not Found"),
            (404, "application/pdf", "%PDF", "NOT_FOUND", "Not Found"),
            (404, None, "<h1>Nothing here</h1>", "NOT_FOUND", "Not Found"),
            (400, None, "At least 3.", "VALIDATION_ERROR", "At least 3."),
            (400, None, "too long " * 100, "VALIDATION_ERROR", "Bad Request"),
            (400, "application/json", "{", "VALIDATION_ERROR", "Bad Request"),
            (403, None, "Not you.", "FORBIDDEN", "Not you."),
            (500, None, "KeyError: secret", "INTERNAL_ERROR", NO_PAGE),
            (500, None, "<h1>Traceback</h1>", "INTERNAL_ERROR", NO_PAGE),
        )
    },
    "502 stream": (
        lambda r: StreamingHttpResponse([b"No ", b"bank."], status=502, content_type="text/plain"),
        "INTERNAL_ERROR",
        "No bank.",
    ),
}


@pytest.mark.parametrize(("answer", "code", "message"), OWN.values(), ids=OWN)
def test_an_error_response_that_a_view_returns_is_an_error(serve, answer, code, message):
    thing = serve(answering(answer))
    over_http, result = thing.get(), thing.call()
    assert over_http.status_code >= 400
    assert result.is_error
    assert (result.code, result.envelope["error"]) == (code, message)
    assert len(result.raw["content"]) == 1


def test_serializer_errors_that_a_view_returns_keep_their_pointers(serve):
    def answer(request):
        basket = Basket(data=request.data)
        basket.is_valid()
        return Response(basket.errors, status=422)

    view = answering(answer, "POST")
    result = serve(view).call(name="x")
    assert [(p["pointer"], p["code"]) for p in result.problems] == [("/size", "required")]
    assert result.code == "MISSING_REQUIRED"


def test_errors_in_the_form_of_pydantic_have_pointers(serve):
    errors = [
        {"type": "missing", "loc": ["body", "size"], "msg": "Field required", "input": {}},
        {"type": "string_too_long", "loc": ["name"], "msg": "Too long", "input": "x"},
        {"type": "value_error", "loc": ["body"], "msg": "Nothing fits."},
    ]

    def answer(request):
        return Response({"detail": errors} if request.data else {}, status=422)

    result = serve(answering(answer, "POST")).call(body={"name": "x"})
    assert [(p["pointer"], p["code"], p["message"]) for p in result.problems] == [
        ("/body/size", "required", "Field required"),
        ("/body/name", "string_too_long", "Too long"),
        ("/body", "value_error", "Nothing fits."),
    ]


def refused(serve, *errors: Any, status: int = 400) -> Any:
    view = answering(lambda request: Response({"errors": errors}, status=status), "POST")
    return serve(view).call(body={"lines": [{"n": 0}], "owner": 1})


PLACES = {
    "dotted": ({"attr": "lines.0.n"}, "/body/lines/0/n"),
    "in brackets": ({"field": "lines[0].n"}, "/body/lines/0/n"),
    "pointer": ({"pointer": "#/lines/0/n"}, "/body/lines/0/n"),
    "escaped pointer": ({"pointer": "/a~1b"}, "/body/a~1b"),
    "attribute of a document": (
        {"source": {"pointer": "/data/attributes/lines/0/n"}},
        "/body/lines/0/n",
    ),
    "relationship": ({"source": {"pointer": "/data/relationships/owner"}}, "/body/owner"),
    "document": ({"source": {"pointer": "/data"}}, "/body"),
    "parameter": ({"source": {"parameter": "owner"}}, "/body/owner"),
    "null": ({"attr": None}, "/body"),
    "no field": ({"attr": "non_field_errors"}, "/body"),
    "no field of a line": ({"attr": "lines.0.non_field_errors"}, "/body/lines/0"),
}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"code": "required", "detail": "Missing.", "attr": "size"}, "MISSING_REQUIRED"),
        ({"type": "missing", "loc": ("query", "size"), "msg": "x"}, "MISSING_REQUIRED"),
        ({"code": "parse_error", "detail": "Torn.", "attr": None}, "INVALID_FORMAT"),
    ],
)
def test_the_code_of_an_error_object_decides_the_error_code(serve, body, code):
    result = refused(serve, body)
    assert result.code == code
    if code == "MISSING_REQUIRED" and "attr" in body:
        assert result.data["remediation"] == "Provide it."
