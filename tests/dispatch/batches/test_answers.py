"""A call for several objects has the answer of a request for each of them."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import path
from rest_framework.authentication import TokenAuthentication
from rest_framework.response import Response
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView
from rest_framework.viewsets import ReadOnlyModelViewSet

from drf_mcp import call_context
from drf_mcp.exceptions import SoftFailure
from drf_mcp.exposure import mcp_tool, mcp_viewset
from tests.dispatch.batches.conftest import Groups, GroupSerializer
from tests.dispatch.batches.partial_results import READERS

NOWHERE = 10**9
TOOL = "groups_retrieve"


def test_objects_come_in_the_order_of_the_ids(groups, ids):
    red, green, _ = ids
    data = groups().call(TOOL, ids=[green, red]).data
    assert data == {"results": [{"id": green, "name": "green"}, {"id": red, "name": "red"}]}


def test_an_id_that_is_sent_twice_is_read_once_and_answered_twice(groups, ids):
    agent, (red, green, _) = groups(), ids
    agent.call(TOOL, ids=[red])
    with CaptureQueriesContext(connection) as queries:
        data = agent.call(TOOL, ids=[red, green, str(red)]).data
    assert [row["name"] for row in data["results"]] == ["red", "green", "red"]
    assert len(queries) == 2


def test_each_object_takes_the_queries_of_its_own_request(groups, ids):
    agent, (red, green, _) = groups(), ids
    with CaptureQueriesContext(connection) as one:
        agent.http.get(f"/groups/{red}/")
    with CaptureQueriesContext(connection) as two:
        agent.call(TOOL, ids=[red, green])
    assert len(two) == 2 * len(one) == 2


def test_missing_objects_are_null_and_a_warning_names_their_ids_and_codes(groups, ids):
    """Each envelope writes this in its own contract's form, and no result has isError."""
    red, green, secret = ids
    rows = [{"id": red, "name": "red"}, None, None, {"id": green, "name": "green"}]
    context = {
        "failed_ids": {"NOT_FOUND": [NOWHERE], "FORBIDDEN": [secret]},
        "successful_ids": 2,
        "total_ids": 4,
    }
    sentence = (
        f"2 of 4 failed. {NOWHERE}: NOT_FOUND, No Group matches the given query. "
        f"{secret}: FORBIDDEN, This group is secret."
    )
    code = "PARTIAL_FAILURE"
    errors = [("not_found", "ids[1]"), ("forbidden", "ids[2]")]
    expected = {
        "response_v2": (True, rows, code, context),
        "ok": (False, rows, errors, sentence),
        "status": ("partial_success", True, rows, code.lower(), context),
        "plain": (rows, code, context),
    }
    for envelope, answer in expected.items():
        raw = groups(envelope).call(TOOL, ids=[red, NOWHERE, secret, green]).raw
        assert "isError" not in raw
        assert READERS[envelope](raw) == answer


@pytest.mark.parametrize(
    ("envelope", "answer"),
    [
        ("response_v2", lambda body: body["data"]["results"]),
        ("ok", lambda body: body["data"]),
        ("status", lambda body: body["data"]["results"]),
        ("plain", lambda body: body["data"]),
    ],
)
def test_a_call_that_finds_no_object_is_a_soft_failure(groups, envelope, answer):
    """The call worked and its answer is negative, as in contract 002."""
    raw = groups(envelope).call(TOOL, ids=[NOWHERE, NOWHERE + 1]).raw
    assert "isError" not in raw
    body = json.loads(raw["content"][0]["text"])
    assert answer(body) == [None, None]
    assert str(NOWHERE + 1) in json.dumps(body)
    assert body.get("success", body.get("ok", False)) is False


def test_a_call_whose_objects_are_all_refused_fails_like_a_call_for_one(groups, ids):
    result = groups().call(TOOL, ids=[ids[2]])
    assert result.raw["isError"] is True
    assert result.code == "FORBIDDEN"
    assert result.envelope["error"] == "This group is secret."


class Twice(AnonRateThrottle):
    """Lets two requests pass."""

    rate = "2/hour"


def test_each_object_counts_as_a_request_and_the_first_throttled_one_is_the_last(serve, ids):
    checked = []

    class Counted(Twice):
        def allow_request(self, request, view) -> bool:
            checked.append(view.kwargs["pk"])
            return super().allow_request(request, view)

    initial = {"throttle_classes": [Counted], "permission_classes": []}
    view = type("Throttled", (Groups,), {**initial, "mcp_viewset": Groups.mcp_viewset})
    agent = serve(path("groups/<int:pk>/", view.as_view({"get": "retrieve"})))()
    envelope = agent.call(TOOL, ids=[*ids, NOWHERE]).envelope
    assert [row and row["name"] for row in envelope["data"]["results"]] == [
        "red",
        "green",
        None,
        None,
    ]
    assert checked == ids
    context = envelope["meta"]["warning_details"][-1]["context"]
    assert context["failed_ids"] == {"RATE_LIMIT_EXCEEDED": [ids[2], NOWHERE]}
    assert envelope["meta"]["rate_limit"]["remaining"] == 0
    # The objects used up the whole rate of the caller.
    assert agent.call(TOOL, ids=[ids[0]]).code == "RATE_LIMIT_EXCEEDED"


def test_a_view_that_crashes_for_one_object_answers_the_others(serve, ids, reported):
    @mcp_viewset(many=True)
    class Fragile(ReadOnlyModelViewSet):
        permission_classes = []
        queryset = Group.objects.all()
        serializer_class = GroupSerializer

        def get_object(self):
            group = super().get_object()
            if group.name == "red":
                raise DatabaseError("password=hunter2")
            return group

    agent = serve(path("groups/<int:pk>/", Fragile.as_view({"get": "retrieve"})))()
    envelope = agent.call(TOOL, ids=ids[:2]).envelope
    assert envelope["data"]["results"] == [None, {"id": ids[1], "name": "green"}]
    assert envelope["meta"]["warning_details"][0]["context"]["failed_ids"] == {
        "INTERNAL_ERROR": [ids[0]]
    }
    assert "hunter2" not in json.dumps(envelope)
    assert len(reported) == 1


def test_a_caller_without_credentials_gets_401_for_the_whole_call(serve, ids):
    authenticated = {"authentication_classes": [TokenAuthentication]}
    view = type("Known", (Groups,), {**authenticated, "mcp_viewset": Groups.mcp_viewset})
    agent = serve(
        path("groups/<int:pk>/", view.as_view({"get": "retrieve"})),
        AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"],
        PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"],
    )()
    response = agent.post(*agent.frame("tools/call", {"name": TOOL, "arguments": {"ids": ids}}))
    assert response.status_code == 401


@mcp_tool(many=True)
class Noted(APIView):
    """Adds measurements, a warning and a suggestion to the answer for each object."""

    permission_classes = []

    def get(self, request, pk) -> Response:
        context = call_context(request)
        context.measure(rows=pk, place=f"shelf {pk}")
        context.warn("The catalogue is a day old.", code="STALE_CACHE")
        context.suggest("Read the catalogue.")
        if pk == 3:
            raise SoftFailure("Only part of it is here.", "in_part", data={"part": 3})
        return Response({"pk": pk})


class Versioned(APIView):
    """Answers even and odd keys with different versions."""

    permission_classes = []

    def get(self, request, pk) -> Response:
        call_context(request).version(f"v{pk % 2}", content_hash="sha256-abc")
        return Response(pk)


@mcp_viewset(many=True)
class Members(ReadOnlyModelViewSet):
    """The members of one group, by their user names."""

    permission_classes = []
    lookup_field = "username"
    serializer_class = type(
        "MemberSerializer",
        (GroupSerializer,),
        {"Meta": type("Meta", (), {"model": User, "fields": ["username"]})},
    )

    def get_queryset(self):
        return User.objects.filter(groups=self.kwargs["group_pk"])


def test_a_result_with_missing_objects_is_valid_by_the_output_schema(serve, ids):
    """The agent validates every result against the tool's outputSchema."""
    agent = serve(
        path("groups/<int:pk>/", Groups.as_view({"get": "retrieve"})), OUTPUT_SCHEMA="full"
    )()
    assert "outputSchema" in agent.tools()[TOOL]
    assert agent.call(TOOL, ids=[ids[0], NOWHERE]).data["results"][1] is None
    assert agent.call(TOOL, ids=[NOWHERE]).code == "NOT_FOUND"


def test_call_middleware_runs_for_each_object(serve, ids, settings):
    settings.SEEN = []
    agent = serve(
        path("groups/<int:pk>/", Groups.as_view({"get": "retrieve"})),
        CALL_MIDDLEWARE=["tests.dispatch.batches.test_answers.watch_paths"],
    )()
    assert agent.call(TOOL, ids=ids[:2]).data["results"][1]["name"] == "green"
    seen = settings.SEEN
    assert seen == [f"/groups/{ids[0]}/", f"/groups/{ids[1]}/"]


def watch_paths(get_response):
    from django.conf import settings

    def middleware(request):
        settings.SEEN.append(request.path)
        return get_response(request)

    return middleware
