"""The topics that a process publishes: those of its resources, once for each transaction."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from drf_mcp.contrib.subscriptions import announce_list_change, announce_update
from drf_mcp.contrib.subscriptions import bus as bus_module
from drf_mcp.contrib.subscriptions.bus import (
    MAX_BYTES,
    find_column,
    write_list_topics,
)
from drf_mcp.contrib.tasks.models import CallTask

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


def topics_of(published: list[str]) -> list[str]:
    return [topic for text in published for topic in json.loads(text)]


def test_a_row_that_no_resource_shows_is_not_published(published):
    ContentType.objects.create(app_label="shop", model="ghost")
    assert published == []


def test_a_table_of_the_package_is_never_published(published, monkeypatch):
    shown = {find_column("drf_mcp_tasks.calltask", "pk")}
    monkeypatch.setattr(bus_module, "find_shown_columns", lambda: shown)
    now = timezone.now()
    CallTask.objects.create(task_id="x", created=now, updated=now, expires=now)
    assert published == []


def test_a_transaction_is_published_once_after_its_commit(published):
    with transaction.atomic():
        for number in range(10):
            Group.objects.create(name=f"team {number}")
        with transaction.atomic():
            Group.objects.create(name="nested")
        announce_list_change("tools")
        announce_update("shop://teams/x")
        assert published == []
    (text,) = published
    assert len(json.loads(text)) == 13


def test_what_a_savepoint_rolled_back_is_not_published(published):
    with transaction.atomic():
        Group.objects.create(name="kept")
        with transaction.atomic():
            Group.objects.create(name="lost")
            transaction.set_rollback(True)
    assert len(topics_of(published)) == 1


def list_topics_of(*users: User) -> set[str]:
    return set(write_list_topics([user.pk for user in users] or None))


def change_rights(change: str, eve: User, team: Group) -> None:
    permission = Permission.objects.first()
    team.user_set.add(eve)
    match change:
        case "groups of a user":
            eve.groups.set([])
        case "groups of a user, all":
            eve.groups.clear()
        case "permissions of a user":
            eve.user_permissions.add(permission)
        case "users of a group":
            team.user_set.remove(eve)
        case "users of a permission":
            permission.user_set.add(eve)
        case "permissions of a group":
            team.permissions.add(permission)
        case "permissions of a group, all":
            team.permissions.add(permission)
            team.permissions.clear()
        case "groups of a permission":
            permission.group_set.add(team)
        case "flag of a user":
            eve.is_superuser = True
            eve.save(update_fields=["is_superuser"])
        case "users of a group, all":
            team.user_set.clear()
        case "users of a permission, all":
            permission.user_set.clear()
        case "groups of a permission, all":
            permission.group_set.clear()
        case "end of a group":
            team.delete()
        case "end of a permission":
            permission.delete()


@pytest.mark.parametrize(
    "change",
    [
        "groups of a user",
        "groups of a user, all",
        "permissions of a user",
        "users of a group",
        "users of a permission",
        "flag of a user",
    ],
)
def test_changed_permissions_of_a_user_are_published_for_that_user(published, team, change):
    eve = User.objects.create_user("eve")
    User.objects.create_user("mallory")
    change_rights(change, eve, team)
    assert {t for t in topics_of(published) if t.startswith("list:")} == list_topics_of(eve)


@pytest.mark.parametrize(
    "change",
    [
        "users of a group, all",
        "users of a permission, all",
        "permissions of a group",
        "permissions of a group, all",
        "groups of a permission",
        "groups of a permission, all",
        "end of a group",
        "end of a permission",
    ],
)
def test_permissions_whose_users_are_not_known_are_published_for_all_users(published, team, change):
    eve = User.objects.create_user("eve")
    User.objects.create_user("mallory")
    change_rights(change, eve, team)
    assert set(topics_of(published)) >= list_topics_of()


def test_too_many_rows_of_a_model_are_published_as_one_topic(published):
    with transaction.atomic():
        for number in range(400):
            Group.objects.create(name=f"team {number}")
    assert topics_of(published) == ["row:auth.group.name:*"]
    assert len(published[0]) < MAX_BYTES
