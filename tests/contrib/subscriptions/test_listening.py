"""Clients listen for lists that change and for resources that are updated."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, Permission, User
from django.db import OperationalError, transaction
from django.test import Client
from django.urls import include, path
from rest_framework.permissions import IsAdminUser

from drf_mcp import registry
from drf_mcp.contrib.resources import Document
from drf_mcp.contrib.subscriptions import announce_list_change, announce_update
from drf_mcp.contrib.subscriptions.bus import EVERYTHING, get_bus
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.features import held
from tests.agents import Agent
from tests.asgi import begin, communicate, read_events
from tests.contrib.subscriptions.teams import EVE, MottoView, TeamViewSet, connect

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


def test_a_list_outside_of_the_filter_is_not_notified(listen):
    assert methods_of(listen(announce_list_change, 1, resourcesListChanged=False)) == [ACKNOWLEDGED]


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


def test_the_bus_carries_no_value_of_a_saved_row(published, team):
    team.save()
    assert [text for text in published if "auth.group" in text]
    assert not [text for text in published if "support" in text]


def test_a_project_may_announce_an_update_itself(listen, team):
    change = lambda: announce_update("shop://teams/support")  # noqa: E731
    messages = listen(change, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages)[1:] == [UPDATED]


def test_unreadable_resources_and_lists_are_not_acknowledged(listen, team):
    Group.objects.create(name="secret")
    unreadable = ["shop://teams/secret", "shop://teams/none", "shop://other", "x"]
    wanted = [*unreadable, "shop://teams", "shop://teams/support"]
    (first,) = listen(count=1, resourceSubscriptions=wanted)
    assert first["params"]["notifications"] == {"resourceSubscriptions": ["shop://teams/support"]}
    (first,) = listen(count=1, resourceSubscriptions=unreadable)
    assert first["params"]["notifications"] == {}


def test_a_resource_that_the_caller_cannot_read_any_more_is_not_notified(listen, team):
    def hide() -> None:
        Group.objects.filter(pk=team.pk).update(name="secret support")
        announce_update("shop://teams/support")

    messages = listen(hide, 1, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages) == [ACKNOWLEDGED]


def test_after_a_gap_every_resource_is_notified(listen, team):
    messages = listen(
        lambda: get_bus().publish(json.dumps([EVERYTHING])),
        resourceSubscriptions=["shop://teams/support"],
    )
    assert methods_of(messages) == [ACKNOWLEDGED, UPDATED]


def test_the_stream_ends_where_the_database_fails_during_the_check_of_a_caller(
    listen, team, monkeypatch
):
    def lose_the_database() -> None:
        monkeypatch.setattr(TeamViewSet, "get_queryset", fail)
        announce_update("shop://teams/support")

    def fail(view: TeamViewSet) -> None:
        raise OperationalError("couldn't get a connection after 10.00 sec")

    messages = listen(lose_the_database, resourceSubscriptions=["shop://teams/support"])
    assert messages[-1]["result"]["resultType"] == "complete"


def test_a_resource_that_fails_to_be_read_is_not_acknowledged(listen, team, monkeypatch):
    def fail(view: TeamViewSet) -> None:
        raise OperationalError("no such table")

    monkeypatch.setattr(TeamViewSet, "get_queryset", fail)
    (first,) = listen(count=1, resourceSubscriptions=["shop://teams/support"])
    assert first["params"]["notifications"] == {}


# --- The beginning and the end of a stream ------------------------------------------------


def test_a_stream_ends_with_a_result_after_its_lifetime(listen, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.subscriptions.listening.LIFETIME", 0.1)
    monkeypatch.setattr("drf_mcp.contrib.subscriptions.listening.KEEP_ALIVE", 0.02)
    messages = listen(toolsListChanged=True)
    assert messages[-1]["result"] == {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/subscriptionId": 7},
    }


def test_a_closed_stream_is_unsubscribed(listen):
    listen(count=1, toolsListChanged=True)
    assert not get_bus().subscribers


def test_a_wrong_filter_is_refused(eve):
    async def talk(wanted: Any) -> bytes:
        message, headers = Agent(Client()).frame("subscriptions/listen", {"notifications": wanted})
        connection = communicate(json.dumps(message).encode(), {**headers, **EVE})
        await begin(connection)
        return (await connection.receive_output(5))["body"]

    for wanted in (None, [], {"resourceSubscriptions": "x"}):
        assert json.loads(asyncio.run(talk(wanted)))["error"]["code"] == -32602, wanted


def test_tasks_are_refused_to_a_client_without_the_extension(eve):
    for declared in ({}, {"extensions": {}}):
        error = ask_for_tasks(declared)["error"]
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}


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


def test_under_wsgi_subscriptions_are_not_offered(eve):
    agent = Agent(Client(headers=EVE))
    assert agent.error("subscriptions/listen", notifications={})["code"] == -32601
    offered = agent.result("server/discover")["capabilities"]
    assert (offered["tools"], offered["resources"]) == ({}, {})


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


@pytest.mark.slow
def test_a_stream_that_ends_frees_its_slot(listen, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_STREAMS": 1}
    for _ in range(2):
        assert methods_of(listen(count=1, toolsListChanged=True)) == [ACKNOWLEDGED]
    gc.collect()
    assert not held.counts


def test_more_than_100_uris_are_refused(listen, team):
    with pytest.raises(AssertionError, match="at most 100 resources"):
        listen(count=1, resourceSubscriptions=[f"shop://x/{n}" for n in range(101)])


# --- Many clients -------------------------------------------------------------------------


def test_listeners_share_the_threads_of_the_process(eve, team, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_STREAMS": 100}
    count = 30

    async def talk() -> tuple[int, int]:
        wanted = {"resourceSubscriptions": ["shop://teams/support"]}
        before = threading.active_count()
        connections = [connect("subscriptions/listen", notifications=wanted) for _ in range(count)]
        for connection in connections:
            await begin(connection)
            await connection.receive_output(5)
        await sync_to_async(team.save)()
        notified = [UPDATED.encode() in (await c.receive_output(5))["body"] for c in connections]
        # The threads of answered requests end by themselves.
        await asyncio.sleep(0.1)
        threads = threading.active_count() - before
        for connection in connections:
            await connection.send_input({"type": "http.disconnect"})
            await connection.wait(5)
        return threads, sum(notified)

    threads, notified = asyncio.run(talk())
    assert notified == count
    assert threads < 10


def test_pending_updates_of_one_resource_are_notified_once(listen, team):
    def change() -> None:
        for _ in range(3):
            get_bus().publish(json.dumps([EVERYTHING]))

    messages = listen(change, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages).count(UPDATED) <= 2


def test_a_row_among_many_changes_is_notified(listen, team):
    def change() -> None:
        with transaction.atomic():
            for number in range(400):
                Group.objects.create(name=f"team {number}")
            team.delete()

    messages = listen(change, resourceSubscriptions=["shop://teams/support"])
    assert methods_of(messages) == [ACKNOWLEDGED, UPDATED]


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


def test_changed_permissions_of_a_group_are_notified(listen, team, eve):
    def change() -> None:
        team.permissions.add(Permission.objects.first())

    team.user_set.add(eve)
    messages = listen(change, toolsListChanged=True)
    assert methods_of(messages) == [ACKNOWLEDGED, "notifications/tools/list_changed"]


# --- Documents and pages --------------------------------------------------------------------------


@pytest.fixture
def frequent_checks(monkeypatch):
    """Check documents for changes every 20 milliseconds."""
    monkeypatch.setattr("drf_mcp.contrib.subscriptions.listening.KEEP_ALIVE", 0.02)


@pytest.mark.usefixtures("frequent_checks")
def test_a_rewritten_file_is_notified_once(listen, tmp_path, monkeypatch):
    guide = tmp_path / "packing.md"
    guide.write_text("Within 30 days.")
    monkeypatch.setattr(registry, "_added", [Document("guides/packing", file=guide)])
    uri = "shop://guides/packing"
    change = lambda: guide.write_text("Within 60 days.")  # noqa: E731
    first, *notified = listen(change, resourceSubscriptions=[uri])
    assert first["params"]["notifications"] == {"resourceSubscriptions": [uri]}
    assert [message["params"]["uri"] for message in notified] == [uri]


@pytest.mark.usefixtures("frequent_checks")
def test_a_page_whose_template_changes_is_notified(listen, settings):
    texts = {"motto.html": "<p>old</p>"}
    loader = ("django.template.loaders.locmem.Loader", texts)
    settings.TEMPLATES = [
        {**settings.TEMPLATES[0], "APP_DIRS": False, "OPTIONS": {"loaders": [loader]}}
    ]
    patterns = [path("", include("drf_mcp.urls")), path("motto", MottoView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    registry.reload()
    change = lambda: texts.update({"motto.html": "<p>new</p>"})  # noqa: E731
    _, notified = listen(change, resourceSubscriptions=["ui://tools/motto"])
    assert (notified["method"], notified["params"]["uri"]) == (UPDATED, "ui://tools/motto")


@pytest.mark.usefixtures("frequent_checks")
def test_an_unchanged_document_is_not_notified(listen, monkeypatch):
    monkeypatch.setattr(registry, "_added", [Document("guides/packing", "Within 30 days.")])
    change = lambda: announce_update("shop://guides/packing")  # noqa: E731
    messages = listen(change, 1, resourceSubscriptions=["shop://guides/packing"])
    assert methods_of(messages) == [ACKNOWLEDGED]
