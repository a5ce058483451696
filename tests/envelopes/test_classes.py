"""An envelope that a view makes is known by its class, its version, or as the view names it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict
from typing import Any

import pytest
from django.http import JsonResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import (
    OkEnvelope,
    OkError,
    OkMeta,
    OkResponse,
    ResponseError,
    StandardMCPResponse,
    StatusEnvelope,
    error_response,
    standardized_response,
    success_response,
)
from tests.dispatch.views import answering

LOST = ResponseError(message="Source b failed.", severity="warning", code="source_b")
CLOSED = {"success": False, "why": "closed"}


def closed() -> StandardMCPResponse:
    return StandardMCPResponse(success=False, data={"why": "closed"})


def refused() -> OkResponse:
    return OkResponse(ok=False, errors=[OkError(code="closed", message="Closed.")], meta=OkMeta())


FAILED: dict[str, Any] = {
    "v2 as JSON": lambda: error_response("Closed.", error_code="closed").as_json(),
    "v2 asdict": lambda: asdict(error_response("Closed.", error_code="closed")),
    "ok dump": lambda: refused().model_dump(),
    "ok JSON dump": lambda: refused().model_dump(mode="json", exclude_none=True),
    "finalized": lambda: closed().finalize(),
    "status dump": lambda: closed().model_dump(),
    "copied": lambda: copy.deepcopy(closed().finalize()),
    "pickled": lambda: pickle.loads(pickle.dumps(closed().finalize())),
}


@pytest.mark.parametrize("make", FAILED.values(), ids=FAILED)
def test_what_helpers_and_models_return_is_told_as_failure(serve, make):
    thing = serve(answering(lambda request: Response(make(), status=409)))
    result = thing.call()
    assert result.is_error
    assert result.envelope["success"] is False
    assert thing.read("ok")["ok"] is False
    assert thing.read("status")["status"] == "failure"
    assert thing.call("plain").is_error
    assert "data" not in result.data


class Decorated(APIView):
    permission_classes: Any = []
    answer: Any = None

    @standardized_response(StandardMCPResponse)
    def get(self, request):
        return self.answer()


ENVELOPES = ("response_v2", "ok", "status", "plain")


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_decorated_view_that_says_failure_has_failed(serve, envelope):
    for answer in (lambda self: CLOSED, lambda self: closed(), lambda self: closed().finalize()):
        view = type("Close", (Decorated,), {"answer": answer})
        result = serve(view.as_view()).call(envelope)
        assert result.is_error
        assert "closed" in str(result.raw)
        assert "again later" not in str(result.raw)


def test_a_decorated_view_that_lacks_a_part_is_a_partial_success(serve):
    def answer(self):
        return StandardMCPResponse(data={"a": 1}, errors=[LOST])

    thing = serve(type("Part", (Decorated,), {"answer": answer}).as_view())
    status, v2 = thing.read("status"), thing.read()
    assert (status["status"], status["data"]) == ("partial_success", {"a": 1})
    assert status["errors"][0]["code"] == "source_b"
    assert status["metadata"]["tool_name"] == "thing"
    assert (v2["success"], v2["data"]) == (True, {"a": 1})
    assert v2["meta"]["warning_details"][0]["code"] == "SOURCE_B"
    assert thing.read("ok")["data"] == {"a": 1}
    assert "Source b failed." in str(thing.call("plain").raw)


class Camel(JSONRenderer):
    """Renames the members of everything, as djangorestframework-camel-case does."""

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render(camelize(data), accepted_media_type, renderer_context)


def camelize(value: Any) -> Any:
    if hasattr(value, "keys"):
        return {camelize_name(name): camelize(value[name]) for name in value.keys()}  # noqa: SIM118
    return [camelize(each) for each in value] if isinstance(value, list) else value


def camelize_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def test_a_renderer_that_renames_members_renames_the_data_alone(serve):
    for made in (
        success_response({"unit_price": 1}, content_fidelity="partial"),
        success_response({"unit_price": 1}, content_fidelity="partial").as_json(),
        StandardMCPResponse(data={"unit_price": 1}).finalize(),
        OkResponse(ok=True, data={"unit_price": 1}, meta=OkMeta(next_cursor="2")),
    ):
        view = answering(lambda request, m=made: Response(m))
        view.cls.renderer_classes = [Camel]
        assert serve(view).read()["data"] == {"unitPrice": 1}


class Cached(APIView):
    permission_classes: Any = []

    @method_decorator(cache_page(60))
    def get(self, request):
        return Response(OkResponse(ok=True, data={"a": 1}, meta=OkMeta(warnings=["Old."])))


def test_a_cached_envelope_is_known(serve):
    thing = serve(Cached.as_view())
    for _ in range(2):
        answer = thing.read()
        assert (answer["data"], answer["meta"]["warnings"]) == ({"a": 1}, ["Old."])


WRITTEN = {
    StatusEnvelope: {
        "status": "failure",
        "success": False,
        "errors": [],
        "data": {"why": "closed"},
    },
    OkEnvelope: {"ok": False, "errors": [{"code": "closed", "message": "Closed."}], "meta": {}},
}


def test_a_view_names_the_envelope_that_it_writes_as_bytes_or_as_a_plain_dict(serve):
    for envelope, body in WRITTEN.items():
        for make in (JsonResponse, Response):

            class Written(APIView):
                permission_classes: Any = []
                mcp_writes_envelope = envelope

                def get(self, request, make=make, body=body):
                    return make(body, status=409)

            answer = serve(Written.as_view()).read()
            assert answer["success"] is False
            assert answer["data"].get("why") == body.get("data", {}).get("why")


def test_the_members_that_a_view_wrote_are_told_in_each_envelope(serve):
    """Its code is that of the error, and nothing is added to its details."""
    made = error_response(
        "Spec failed.",
        error_code="SPEC_BROKEN",
        error_type="conflict",
        details={"field": "x", "limit": 5},
        data={"spec": "a"},
    )
    thing = serve(answering(lambda request: Response(made, status=409)))
    data = thing.call().data
    assert (data["error_code"], data["details"]) == ("SPEC_BROKEN", {"field": "x", "limit": 5})
    ok, status = thing.read("ok")["errors"][0], thing.read("status")["errors"][0]
    assert (ok["code"], ok["path"], ok["limit"], ok["spec"]) == ("spec_broken", "x", 5, "a")
    assert (status["code"], status["context"]["limit"]) == ("spec_broken", 5)
    assert status["context"]["spec"] == "a"
    plain = str(thing.call("plain").raw)
    assert all(said in plain for said in ("Spec failed.", "'limit': 5", "'spec': 'a'"))
