"""Several guards of one tool, in the order in which a call meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import DatabaseError
from django.urls import path
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.viewsets import ModelViewSet

from drf_mcp import call_context
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.writes.models import IdempotencyRecord, UsedConfirmation
from drf_mcp.exposure import mcp_viewset
from drf_mcp.views import MCPView
from tests.agents import Agent

FORMS = {"_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}}
CREATE, UPDATE, DESTROY = "teams_create", "teams_partial_update", "teams_destroy"
NOTE = {"note": "Dry run: nothing was changed."}
EVERY = {"confirm": True, "dry_run": True, "idempotency_key": True, "if_match": "name"}


class TeamSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


class TwoAMinute(UserRateThrottle):
    rate = "2/min"


class Teams(ModelViewSet):
    """Teams."""

    permission_classes = [IsAuthenticated]
    queryset = Group.objects.order_by("pk")
    serializer_class = TeamSerializer

    @action(detail=True, methods=["post"])
    def rename(self, request, pk=None) -> Response:
        """Name a team by the reason."""
        team = self.get_object()
        team.name = call_context(request).ask(ReasonSerializer, "Why?")["reason"]
        team.save()
        return Response({"id": team.pk, "name": team.name})


@pytest.fixture
def teams(expose, agent_of) -> Callable[..., Agent]:
    """Serve teams behind the guards of these options, and return an agent of alice."""

    def teams(
        endpoint: Any = None, settings: Any = None, view: Any = None, **options: Any
    ) -> Agent:
        guarded = mcp_viewset(**options)(type("Guarded", (Teams,), view or {}))
        one = {"patch": "partial_update", "delete": "destroy", "get": "retrieve"}
        expose(
            path("teams/", guarded.as_view({"post": "create", "get": "list"})),
            path("teams/<int:pk>/", guarded.as_view(one)),
            path("teams/<int:pk>/rename/", guarded.as_view({"post": "rename"})),
            path("own/mcp", MCPView.as_view(**endpoint or {})),
            **settings or {},
        )
        return agent_of("alice", path="/own/mcp")

    return teams


@pytest.fixture
def team(db) -> Group:
    return Group.objects.create(name="vermilion")


def names() -> list[str]:
    return list(Group.objects.order_by("pk").values_list("name", flat=True))


def is_replay(result: Any) -> bool:
    return "replayed" in result.envelope["meta"]


def dry_run_of(result: Any) -> Any:
    return result.envelope["meta"].get("dry_run")


def test_a_dry_run_does_not_use_up_its_key(teams, team):
    agent = teams(dry_run=True, idempotency_key=True)
    sent = {"pk": team.pk, "name": "rose", "idempotency_key": "k"}
    assert dry_run_of(agent.call(UPDATE, **sent, dry_run=True))["after"] == {"name": "rose"}
    assert not IdempotencyRecord.objects.exists()
    made = agent.call(UPDATE, **sent)
    assert (is_replay(made), dry_run_of(made), names()) == (False, None, ["rose"])


def test_a_dry_run_is_no_replay_of_a_change_that_was_made(teams, team):
    agent = teams(dry_run=True, idempotency_key=True)
    sent = {"pk": team.pk, "name": "rose", "idempotency_key": "k"}
    agent.call(UPDATE, **sent)
    tried = agent.call(UPDATE, **sent, dry_run=True)
    assert (is_replay(tried), dry_run_of(tried)) == (False, NOTE)
    assert is_replay(agent.call(UPDATE, **sent))


def test_a_dry_run_does_not_use_up_a_confirmation(teams, team):
    agent = teams(dry_run=True, confirm=True)
    following = agent.call(DESTROY, pk=team.pk).data["next"]
    assert dry_run_of(agent.call(DESTROY, **following, dry_run=True)) == NOTE
    assert (names(), UsedConfirmation.objects.count()) == (["vermilion"], 0)
    assert not agent.call(DESTROY, **following).is_error
    assert names() == []


def test_a_dry_run_of_a_stale_write_is_refused_with_the_note(teams, team):
    agent = teams(dry_run=True, if_match="name")
    sent = {"pk": team.pk, "name": "rose", "dry_run": True}
    stale = agent.call(UPDATE, **sent, if_match="green")
    assert (stale.is_error, stale.code) == (True, "CONFLICT")
    assert dry_run_of(stale) == NOTE
    assert dry_run_of(agent.call(UPDATE, **sent, if_match="vermilion"))["after"] == {"name": "rose"}
    assert names() == ["vermilion"]


def test_a_dry_run_of_several_objects_refuses_stale_items(teams, team):
    agent = teams(dry_run=True, if_match="name", bulk=True)
    other = Group.objects.create(name="green")
    items = [
        {"pk": team.pk, "name": "rose", "if_match": "vermilion"},
        {"pk": other.pk, "name": "lime", "if_match": "blue"},
    ]
    tried = agent.call(UPDATE, items=items, dry_run=True)
    assert [problem["pointer"] for problem in tried.problems] == ["/items/1/if_match"]
    assert dry_run_of(tried)["note"]
    assert names() == ["vermilion", "green"]


@pytest.mark.parametrize("style", ["flat", "grouped"])
def test_several_objects_with_a_key_are_one_change(teams, db, style):
    agent = teams(bulk=True, idempotency_key=True, settings={"ARGUMENTS": style})

    def create(*made: str) -> Any:
        items, key = [{"name": name} for name in made], {"idempotency_key": "k"}
        if style == "grouped":
            return agent.call(CREATE, items=[{"body": item} for item in items], query=key)
        return agent.call(CREATE, items=items, **key)

    first, again, other = create("a", "b"), create("a", "b"), create("a", "c")
    assert (is_replay(first), is_replay(again), first.data) == (False, True, again.data)
    assert (other.code, other.problems[0]["pointer"]) == ("CONFLICT", "/items")
    assert names() == ["a", "b"]


def test_several_objects_without_a_key_are_one_change_within_the_repeat_window(teams, db):
    agent = teams(bulk=True, settings={"REPEAT_WINDOW": 10, "IDEMPOTENCY_KEYS": True})
    results = [agent.call(CREATE, items=[{"name": "a"}]) for _ in range(2)]
    assert [is_replay(result) for result in results] == [False, True]
    assert names() == ["a"]


def test_several_objects_of_which_one_is_refused_free_the_key(teams, team):
    agent = teams(bulk=True, idempotency_key=True)
    wrong = agent.call(CREATE, items=[{"name": "a"}, {"name": "vermilion"}], idempotency_key="k")
    assert (wrong.is_error, names()) == (True, ["vermilion"])
    right = agent.call(CREATE, items=[{"name": "a"}, {"name": "b"}], idempotency_key="k")
    assert not right.is_error
    assert names() == ["vermilion", "a", "b"]


def ask_about_b(self, serializer) -> None:
    if serializer.validated_data["name"] == "b":
        call_context(self.request).ask(ReasonSerializer, "Why?")
    serializer.save()


@pytest.mark.parametrize(("bulk", "is_kept"), [(True, False), ("partial", True)])
def test_no_object_is_made_twice_where_the_view_asks_about_another(teams, db, bulk, is_kept):
    agent = teams(bulk=bulk, view={"perform_create": ask_about_b})
    sent = {"name": CREATE, "arguments": {"items": [{"name": "a"}, {"name": "b"}]}}
    asked = agent.result("tools/call", **sent, **FORMS)
    if not is_kept:
        assert (asked["resultType"], names()) == ("input_required", [])
        return
    (warning,) = asked["structuredContent"]["meta"]["warning_details"]
    assert (names(), warning["context"]["failed_items"]) == (["a"], [1])
    assert warning["message"] == "1 of 2 failed. items[1]: INPUT_REQUIRED, Why?"


class UnvalidatedSerializer(TeamSerializer):
    name = serializers.CharField()


@pytest.mark.parametrize("guard", [{}, {"idempotency_key": "k"}, {"dry_run": True}])
def test_an_item_that_the_database_refuses_does_not_fail_the_others(teams, team, guard):
    view = {"serializer_class": UnvalidatedSerializer}
    agent = teams(bulk="partial", view=view, dry_run=True, idempotency_key=True)
    agent.http.raise_request_exception = False
    items = [{"name": "a"}, {"name": team.name}, {"name": "b"}]
    result = agent.call(CREATE, items=items, **guard)
    rows = [row and row["name"] for row in result.data["results"]]
    assert rows == ["a", None, "b"]
    assert names() == [team.name, *(() if "dry_run" in guard else ("a", "b"))]


def test_a_view_that_asks_is_confirmed_first_and_keeps_its_key(teams, team):
    """Two questions in order; the answer to the first counts for the second round too."""
    agent = teams(confirm=True, idempotency_key=True)
    arguments = {"pk": team.pk, "idempotency_key": "k"}

    def call(asked: Any = None, **answers: Any) -> Any:
        responses = {key: {"action": "accept", "content": value} for key, value in answers.items()}
        further = {}
        if asked is not None:
            further = {"requestState": asked["requestState"], "inputResponses": responses}
        return agent.result(
            "tools/call", name="teams_rename", arguments=arguments, **FORMS, **further
        )

    first = call()
    second = call(first, confirm_call={})
    assert [list(asked["inputRequests"]) for asked in (first, second)] == [
        ["confirm_call"],
        ["reason_serializer"],
    ]
    done = call(second, reason_serializer={"reason": "rose"})
    assert done["structuredContent"]["success"]
    assert names() == ["rose"]
    # The replay asks no question.
    assert call()["structuredContent"]["meta"]["replayed"]
    assert UsedConfirmation.objects.count() == 1


SENT = {
    "confirmation": {"confirmation": "x"},
    "dry_run": {"dry_run": True},
    "idempotency_key": {"idempotency_key": "k"},
    "if_match": {"if_match": "other"},
}


@pytest.fixture
def audited(monkeypatch) -> Auditor:
    auditor = Auditor()
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", auditor)
    return auditor


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_no_guard_runs_before_the_call_is_recorded(teams, team, sent, audited, monkeypatch):
    def fail(row):
        raise DatabaseError("full")

    monkeypatch.setattr(audited, "save", fail)
    agent = teams(**EVERY, settings={"AUDIT_STRICT": True})
    refused = agent.call(UPDATE, pk=team.pk, name="rose", **sent)
    assert refused.code == "UNAVAILABLE"
    assert "vermilion" not in str(refused.raw)
    assert not IdempotencyRecord.objects.exists()
