"""Writes that send the version of the object, which is a field of the model."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import path
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rest_framework.serializers import CharField

from drf_mcp.exposure import mcp_viewset
from tests.contrib.writes.stale.conftest import Users, UserSerializer

UPDATE = "guarded_partial_update"
CLASHES = {"flat": "/if_match_mcp", "grouped": "/query/if_match"}


def version_of(agent, user, tool="guarded_retrieve") -> str:
    return agent.call(tool, pk=user.pk).envelope["meta"]["if_match"]


def change(user: User, name: str) -> None:
    User.objects.filter(pk=user.pk).update(first_name=name, last_login=timezone.now())


def test_a_read_returns_the_version_that_the_serializer_does_not_show(agent_at, user):
    assert parse_datetime(version_of(agent_at(), user)) == user.last_login


def test_a_version_that_the_data_shows_is_not_repeated(agent_at, user):
    result = agent_at().call("versioned_retrieve", pk=user.pk)
    assert parse_datetime(result.data["last_login"]) == user.last_login
    assert "if_match" not in result.envelope["meta"]


def test_several_objects_have_a_version_each(agent_at, user):
    other = User.objects.create(username="ben", last_login=timezone.now())
    hidden = User.objects.create(username="secret")
    result = agent_at().call("several_retrieve", ids=[user.pk, hidden.pk, other.pk])
    first, miss, last = result.envelope["meta"]["if_match"]
    assert (parse_datetime(first), miss) == (user.last_login, None)
    assert parse_datetime(last) == other.last_login


def test_a_write_with_the_present_version_succeeds_and_returns_the_next(agent_at, user):
    agent = agent_at()
    result = agent.call(UPDATE, pk=user.pk, first_name="Ann", if_match=version_of(agent, user))
    user.refresh_from_db()
    assert user.first_name == "Ann"
    assert parse_datetime(result.envelope["meta"]["if_match"]) == user.last_login


def test_a_refusal_shows_no_object_that_the_endpoint_has_no_tool_to_read(agent_at, user):
    for tools, is_shown in (([UPDATE, "guarded_retrieve"], True), ([UPDATE], False)):
        agent = agent_at(tools=tools)
        refused = agent.call(UPDATE, pk=user.pk, first_name="Ann", if_match="2000-01-01T00:00:00Z")
        assert (refused.code, "current" in refused.envelope["meta"]) == ("CONFLICT", is_shown)
        assert (user.username in str(refused.raw)) is is_shown


def test_a_write_to_a_changed_object_is_refused_and_changes_nothing(agent_at, user):
    agent = agent_at()
    seen = version_of(agent, user)
    change(user, "Hanna")
    result = agent.call(UPDATE, pk=user.pk, first_name="Ann", if_match=seen)
    user.refresh_from_db()
    assert (result.is_error, result.code, user.first_name) == (True, "CONFLICT", "Hanna")
    (problem,) = result.problems
    assert (problem["pointer"], problem["code"], problem["received"]) == (
        "/if_match",
        "stale",
        seen,
    )


def test_the_refusal_shows_the_present_object_and_its_version_in_every_envelope(agent_at, user):
    def of_plain(raw):
        return json.loads(raw["content"][1]["text"])

    readers = {
        "response_v2": lambda raw: raw["structuredContent"]["meta"],
        "ok": lambda raw: raw["structuredContent"]["meta"],
        "status": lambda raw: raw["structuredContent"]["metadata"],
        "plain": of_plain,
    }
    for envelope, read in readers.items():
        agent = agent_at(envelope)
        meta = read(agent.call(UPDATE, pk=user.pk, first_name="Ann", if_match="long ago").raw)
        assert meta["current"] == {"id": user.pk, "username": "anne", "first_name": "Anne"}
        assert parse_datetime(meta["if_match"]) == user.last_login
        accepted = agent.call(UPDATE, pk=user.pk, first_name="Anne", if_match=meta["if_match"])
        assert not accepted.is_error
        user.refresh_from_db()


def test_a_delete_compares_the_version_too(agent_at, user):
    agent = agent_at()
    assert agent.call("guarded_destroy", pk=user.pk, if_match="2020-01-01").code == "CONFLICT"
    assert not agent.call("guarded_destroy", pk=user.pk, if_match=version_of(agent, user)).is_error


def test_an_object_that_the_caller_may_not_change_is_refused_by_the_view(agent_at, db):
    secret = User.objects.create(username="secret", last_login=timezone.now())
    agent = agent_at()
    sent = {"first_name": "Ann", "if_match": "2020-01-01"}
    for pk in (secret.pk, 10**6):
        refused = agent.call(UPDATE, pk=pk, **sent)
        plain = agent.call(UPDATE, pk=pk, first_name="Ann")
        assert (refused.code, refused.envelope["error"]) == (plain.code, plain.envelope["error"])
        assert "current" not in refused.envelope["meta"]


@pytest.mark.slow
def test_only_writes_of_one_object_take_a_version(agent_at):
    tools = agent_at().tools()
    taking = {
        name for name, tool in tools.items() if "if_match" in tool["inputSchema"]["properties"]
    }
    views = ("guarded", "versioned")
    assert taking == {
        f"{v}_{a}" for v in views for a in ("partial_update", "update", "destroy")
    } | {f"tagged_{a}" for a in ("partial_update", "update", "destroy")}


def test_over_http_the_version_is_ignored(agent_at, user):
    agent_at()
    response = Client().patch(
        f"/guarded/{user.pk}/",
        {"first_name": "Ann", "if_match": "2020-01-01"},
        "application/json",
        headers={"If-Match": '"x"'},
    )
    assert (response.status_code, response.json()["first_name"]) == (200, "Ann")


class ClashingSerializer(UserSerializer):
    if_match = CharField()

    class Meta(UserSerializer.Meta):
        fields = ["first_name", "if_match"]


@mcp_viewset(if_match="last_login")
class Clashing(Users):
    serializer_class = ClashingSerializer


@pytest.mark.parametrize(("style", "pointer"), CLASHES.items())
def test_a_field_named_if_match_keeps_its_name(tool_of, style, pointer):
    patch = path("clashes/<int:pk>/", Clashing.as_view({"patch": "partial_update"}))
    tool = tool_of(patch, ARGUMENTS=style)
    assert tool.arguments.find_control_pointer("if_match") == pointer
