"""Clients listen for lists that change and for resources that are updated."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.test import Client
from rest_framework.permissions import IsAdminUser

from drf_mcp.contrib.subscriptions import announce_list_change, announce_update
from drf_mcp.contrib.subscriptions.bus import find_bus
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from tests.agents import Agent
from tests.asgi import begin, communicate, read_events
from tests.contrib.subscriptions.teams import EVE, TeamViewSet, connect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


def methods_of(messages: list[dict[str, Any]]) -> list[str]:
    return [message["method"] for message in messages]


ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"


def test_the_first_message_acknowledges_the_filter(listen):
    (first,) = listen(count=1, toolsListChanged=True, promptsListChanged=False)
    assert first["params"] == {
        "_meta": {"io.modelcontextprotocol/subscriptionId": 7},
        "notifications": {"toolsListChanged": True},
    }


def test_a_changed_list_is_notified(listen):
    messages = listen(announce_list_change, toolsListChanged=True)
    assert methods_of(messages) == [ACKNOWLEDGED, "notifications/tools/list_changed"]
    assert messages[1]["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 7}


def test_changed_permissions_of_the_caller_are_notified(listen, eve):
    permission = Permission.objects.first()
    messages = listen(lambda: eve.user_permissions.add(permission), toolsListChanged=True)
    assert methods_of(messages)[1:] == ["notifications/tools/list_changed"]


# --- Resources ----------------------------------------------------------------------------


def test_a_saved_row_is_notified_by_its_uri(listen, team):
    messages = listen(team.save, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages) == [ACKNOWLEDGED, UPDATED]
    assert messages[0]["params"]["notifications"] == {
        "resourceSubscriptions": ["shop://teams/support"]
    }
    assert messages[1]["params"]["uri"] == "shop://teams/support"


def test_a_deleted_row_is_notified(listen, team):
    messages = listen(team.delete, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages)[1:] == [UPDATED]


def test_changes_that_do_not_concern_the_caller_are_not_notified(listen, team, eve):
    """Permissions of another user, a sign-in, another row, and a change that is rolled back."""
    mallory, other = User.objects.create_user("mallory"), Group.objects.create(name="sales")

    def change() -> None:
        mallory.user_permissions.add(Permission.objects.first())
        eve.save(update_fields=["last_login"])
        other.save()
        with transaction.atomic():
            team.save()
            transaction.set_rollback(True)

    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["shop://teams/support"]}
    assert methods_of(listen(change, 1, **wanted)) == [ACKNOWLEDGED]


def test_a_project_may_announce_an_update_itself(listen, team):
    change = lambda: announce_update("shop://teams/support")  # noqa: E731
    messages = listen(change, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages)[1:] == [UPDATED]


def test_a_resource_that_the_caller_cannot_read_any_more_is_not_notified(listen, team):
    def hide() -> None:
        Group.objects.filter(pk=team.pk).update(name="secret support")
        announce_update("shop://teams/support")

    messages = listen(hide, 1, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages) == [ACKNOWLEDGED]


def test_after_a_gap_every_resource_is_notified(listen, team):
    uris = ["shop://teams/support"]
    messages = listen(find_bus().cache.clear, resourceSubscriptions=uris)
    assert methods_of(messages) == [ACKNOWLEDGED, UPDATED]


# --- The beginning and the end of a stream ------------------------------------------------


def test_a_stream_ends_with_a_result_after_its_lifetime(listen, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.subscriptions.capability.LIFETIME", 0.1)
    monkeypatch.setattr("drf_mcp.contrib.subscriptions.capability.KEEP_ALIVE", 0.02)
    messages = listen(toolsListChanged=True)
    assert messages[-1]["result"] == {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/subscriptionId": 7},
    }


def test_a_closed_stream_is_unsubscribed(listen):
    listen(count=1, toolsListChanged=True)
    assert not find_bus().listeners


def test_a_wrong_filter_is_refused(eve):
    async def talk(wanted: Any) -> bytes:
        message, headers = Agent(Client()).frame("subscriptions/listen", {"notifications": wanted})
        connection = communicate(json.dumps(message).encode(), {**headers, **EVE})
        await begin(connection)
        return (await connection.receive_output(5))["body"]

    for wanted in (None, [], {"resourceSubscriptions": "x"}):
        assert json.loads(asyncio.run(talk(wanted)))["error"]["code"] == -32602, wanted


def test_an_unknown_task_is_not_acknowledged(eve):
    first = ask_for_tasks({"extensions": {TASKS_EXTENSION: {}}})
    assert first["params"]["notifications"] == {}


def ask_for_tasks(declared: dict[str, Any]) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/clientCapabilities": declared}

    async def talk() -> bytes:
        wanted = {"notifications": {"taskIds": ["x"]}, "_meta": meta}
        message, headers = Agent(Client()).frame("subscriptions/listen", wanted)
        connection = communicate(json.dumps(message).encode(), {**headers, **EVE})
        await begin(connection)
        body: bytes = (await connection.receive_output(5))["body"]
        await connection.send_input({"type": "http.disconnect"})
        return body

    body = asyncio.run(talk())
    return json.loads(body) if body.startswith(b"{") else read_events(body)[0]


def test_under_asgi_subscriptions_are_offered_where_processes_share_the_cache(settings, eve):
    async def discover() -> dict[str, Any]:
        connection = connect("server/discover")
        await begin(connection)
        return json.loads((await connection.receive_output(5))["body"])

    changing = {"listChanged": True}
    offered = asyncio.run(discover())["result"]["capabilities"]
    assert offered["tools"] == changing
    assert offered["resources"] == {**changing, "subscribe": True}
    settings.DRF_MCP = {**settings.DRF_MCP, "SUBSCRIPTION_CACHE": "default"}
    offered = asyncio.run(discover())["result"]["capabilities"]
    assert (offered["tools"], offered["resources"]) == ({}, {})


def test_a_stream_beyond_the_limit_is_refused(listen, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_STREAMS": 0}
    with pytest.raises(AssertionError, match="429"):
        listen(count=1, toolsListChanged=True)


def test_more_than_100_uris_are_refused(listen, team):
    with pytest.raises(AssertionError, match="at most 100 resources"):
        listen(count=1, resourceSubscriptions=[f"shop://x/{n}" for n in range(101)])


# --- Permissions that end while a client listens ---------------------------------------------


@pytest.mark.parametrize("flag", ["is_staff", "is_active"])
def test_a_caller_who_lost_the_permission_is_not_notified(listen, team, eve, monkeypatch, flag):
    monkeypatch.setattr(TeamViewSet, "permission_classes", [IsAdminUser])
    User.objects.filter(pk=eve.pk).update(is_staff=True)

    def change() -> None:
        User.objects.filter(pk=eve.pk).update(**{flag: False})
        team.save()

    first, *messages = listen(change, 1, resourceSubscriptions=["shop://teams/support"])
    assert first["params"]["notifications"] == {"resourceSubscriptions": ["shop://teams/support"]}
    assert UPDATED not in str(messages)


@pytest.mark.parametrize("is_gone", [True, False])
def test_the_stream_of_a_deleted_or_inactive_caller_ends(listen, eve, is_gone):
    def change() -> None:
        if is_gone:
            # delete() would query models of other tests, whose tables do not exist here.
            User.objects.filter(pk=eve.pk)._raw_delete("default")
            return announce_list_change(user=eve)
        eve.is_active = False
        return eve.save()

    messages = listen(change, toolsListChanged=True)
    assert messages[-1]["result"]["resultType"] == "complete"
    assert len(messages) == 2


# --- Documents and pages --------------------------------------------------------------------------
