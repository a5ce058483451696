"""Who says which version was read, and what is made of it in each envelope."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context
from drf_mcp.envelopes import OkError, OkMeta, OkResponse, success_response
from tests.dispatch.views import answering, raising

VERSION, HASH = "ai@2026-04-16-beta", "sha256-" + "0a" * 32
SAID = {"version": VERSION, "content_hash": HASH}


def noted(request) -> Response:
    """Say the version in the notes of the call."""
    call_context(request).version(VERSION, content_hash=HASH)
    return Response({"a": 1})


class ByAttribute(APIView):
    permission_classes = []
    mcp_version = VERSION
    mcp_content_hash = HASH

    def get(self, request) -> Response:
        return Response({"a": 1})


def own(**meta: Any) -> Any:
    return answering(lambda request: Response(OkResponse(ok=True, data=1, meta=OkMeta(**meta))))


def source(meta: dict[str, Any]) -> dict[str, Any]:
    return {name: meta[name] for name in ("version", "content_hash") if name in meta}


@pytest.mark.parametrize("view", [answering(noted), ByAttribute.as_view(), own(**SAID)])
def test_a_version_is_said_by_notes_an_attribute_or_the_views_own_envelope(serve, view):
    assert source(serve(view).read("ok")["meta"]) == SAID


def test_notes_speak_before_the_attribute_and_take_no_hash_from_it(serve):
    class Latest(ByAttribute):
        def get(self, request) -> Response:
            call_context(request).version("ai@next")
            return Response({})

    assert source(serve(Latest.as_view()).read("ok")["meta"]) == {"version": "ai@next"}


def test_the_views_own_envelope_speaks_before_the_notes(serve):
    def view(request) -> Response:
        call_context(request).version(VERSION, content_hash=HASH)
        return Response(OkResponse(ok=True, data=1, meta=OkMeta(version="ai@own")))

    assert source(serve(answering(view)).read("ok")["meta"]) == {"version": "ai@own"}


def test_a_hash_of_the_views_own_envelope_goes_with_the_version_said_elsewhere(serve):
    class Hashed(ByAttribute):
        def get(self, request) -> Response:
            return Response(OkResponse(ok=True, data=1, meta=OkMeta(content_hash="sha256-1")))

    meta = serve(Hashed.as_view()).read("ok")["meta"]
    assert source(meta) == {"version": VERSION, "content_hash": "sha256-1"}


def test_arguments_refused_before_the_view_ran_still_name_the_version(serve):
    meta = serve(ByAttribute.as_view()).read("ok", nonsense=1)["meta"]
    assert source(meta) == {"version": VERSION}


def test_a_crash_still_names_the_version(serve):
    view = raising(ZeroDivisionError())
    view.cls.mcp_version = VERSION
    assert source(serve(view).read("ok")["meta"]) == {"version": VERSION}


@pytest.mark.parametrize(("envelope", "member"), [("response_v2", "meta"), ("status", "metadata")])
def test_other_envelopes_tell_it_by_another_name(serve, envelope, member):
    told = serve(answering(noted)).read(envelope)[member]
    assert (told["content_version"], told["content_hash"]) == (VERSION, HASH)


def test_plain_tells_it_beside_the_request_id(serve):
    meta = serve(answering(noted)).call("plain").raw["_meta"]
    assert (meta["content_version"], meta["content_hash"]) == (VERSION, HASH)


def test_everything_that_the_meta_of_an_ok_says_is_kept(serve):
    said = {
        **SAID,
        "next_cursor": "c2",
        "request_id": "req_own",
        "warnings": ["Old."],
        "pagination": {"total_count": 9, "window": [1, 2]},
        "rate_limit": {"limit": 5, "burst": 2},
        "dropped_content_ids": ["x"],
        "source": "cache",
    }
    meta = serve(own(**said)).read("ok")["meta"]
    paged = {"total_count": 9, "window": [1, 2], "has_more": True}
    assert {name: meta[name] for name in said} == {**said, "pagination": paged}


def test_the_data_of_a_views_own_envelope_loses_nothing_to_its_page(serve):
    data = {"count": 1, "results": [1]}

    def view(request) -> Response:
        return Response(OkResponse(ok=True, data=data, meta=OkMeta(next_cursor=None)))

    assert serve(answering(view)).read("ok")["data"] == data


def test_the_data_of_a_success_response_keeps_its_count(serve):
    data = {"count": 5, "results": []}

    def view(request) -> Response:
        return Response(success_response(data, pagination={"has_more": False}))

    assert serve(answering(view)).read()["data"] == data


@pytest.mark.parametrize(
    ("code", "status", "error_type"),
    [
        ("element_not_found", 200, "not_found"),
        ("conflict", 200, "conflict"),
        ("loose", 409, "conflict"),
        ("loose", 200, "validation"),
    ],
)
def test_the_error_of_an_ok_has_the_type_of_its_code_or_its_status(serve, code, status, error_type):
    error = OkError(code=code, message="No.")

    def view(request) -> Response:
        return Response(OkResponse(ok=False, errors=[error], meta=OkMeta()), status=status)

    assert serve(answering(view)).read()["data"]["error_type"] == error_type
