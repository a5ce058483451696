"""What a process publishes: what resources show, once a transaction, where a client may listen."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from drf_mcp import registry
from drf_mcp.contrib.subscriptions import LocalBus, announce_list_change, announce_update
from drf_mcp.contrib.subscriptions import bus as bus_module
from drf_mcp.contrib.subscriptions.bus import (
    EVERYTHING,
    MAX_BYTES,
    announce_rights,
    find_column,
    get_bus,
    write_list_topics,
    write_row_topic,
)
from drf_mcp.contrib.tasks.models import CallTask

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


def topics_of(heard: list[str]) -> list[str]:
    return [topic for text in heard for topic in json.loads(text)]


def test_a_row_that_no_resource_shows_is_not_published(heard):
    ContentType.objects.create(app_label="shop", model="ghost")
    assert heard == []


def test_a_row_is_published_by_the_field_that_its_resource_looks_it_up_by(heard):
    Group.objects.create(name="support")
    (topic,) = topics_of(heard)
    assert topic.startswith("row:auth.group.name:")


def test_a_table_of_the_package_is_never_published(heard, monkeypatch):
    shown = {find_column("drf_mcp_tasks.calltask", "pk")}
    monkeypatch.setattr(bus_module, "find_shown_columns", lambda: shown)
    now = timezone.now()
    CallTask.objects.create(task_id="x", created=now, updated=now, expires=now)
    assert heard == []


def test_a_transaction_is_published_once_after_its_commit(heard):
    with transaction.atomic():
        for number in range(10):
            Group.objects.create(name=f"team {number}")
        with transaction.atomic():
            Group.objects.create(name="nested")
        announce_list_change("tools")
        announce_update("shop://teams/x")
        assert heard == []
    (text,) = heard
    assert len(json.loads(text)) == 13


def test_what_a_savepoint_rolled_back_is_not_published(heard):
    with transaction.atomic():
        Group.objects.create(name="kept")
        with transaction.atomic():
            Group.objects.create(name="lost")
            transaction.set_rollback(True)
    assert len(topics_of(heard)) == 1


def test_a_transaction_whose_first_savepoint_rolled_back_is_published(heard):
    with transaction.atomic():
        with transaction.atomic():
            Group.objects.create(name="lost")
            transaction.set_rollback(True)
        Group.objects.create(name="kept")
    assert len(topics_of(heard)) == 1


def test_a_write_after_a_transaction_that_rolled_back_is_published(heard):
    with transaction.atomic():
        Group.objects.create(name="lost")
        transaction.set_rollback(True)
    Group.objects.create(name="kept")
    assert len(topics_of(heard)) == 1


def test_the_values_of_the_moment_of_the_write_are_published(team, heard):
    with transaction.atomic():
        team.save()
        team.name = "never saved"
    kept = [*heard]
    heard.clear()
    Group.objects.get(pk=team.pk).save()
    assert heard == kept


def test_a_user_that_is_saved_is_one_notice(heard):
    eve = User.objects.create_user("eve")
    assert heard == []
    eve.save()
    (text,) = heard
    assert len(json.loads(text)) == 3


def test_rights_that_are_set_are_one_notice(heard):
    eve = User.objects.create_user("eve")
    eve.user_permissions.set(Permission.objects.all()[:2])
    heard.clear()
    eve.user_permissions.set(Permission.objects.all()[1:3])
    assert len(heard) == 1


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
def test_rights_that_change_are_published_to_those_who_have_them(heard, team, change):
    eve = User.objects.create_user("eve")
    User.objects.create_user("mallory")
    change_rights(change, eve, team)
    assert {t for t in topics_of(heard) if t.startswith("list:")} == list_topics_of(eve)


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
def test_rights_of_groups_and_those_that_nobody_can_be_asked_for_are_published_to_all(
    heard, team, change
):
    eve = User.objects.create_user("eve")
    User.objects.create_user("mallory")
    change_rights(change, eve, team)
    assert set(topics_of(heard)) >= list_topics_of()


def test_what_is_no_right_is_not_published(heard, team):
    heard.clear()
    eve = User.objects.create_user("eve")
    eve.save(update_fields=["last_login"])
    team.permissions.add()
    announce_rights(Group, team, "post_add", reverse=False, pk_set={1})
    assert heard == []


def test_what_is_too_long_for_the_bus_is_published_as_one_wider_notice(heard):
    with transaction.atomic():
        for number in range(400):
            Group.objects.create(name=f"team {number}")
    assert topics_of(heard) == ["row:auth.group.name:*"]
    assert len(heard[0]) < MAX_BYTES


def test_even_wide_topics_that_are_too_long_are_published_as_one(heard):
    with transaction.atomic():
        announce_list_change(*(f"list of {number}" for number in range(1000)))
    assert topics_of(heard) == [EVERYTHING]


def test_where_no_client_listens_nothing_is_computed_or_published(monkeypatch):
    def fail(*args):
        raise AssertionError("nobody listens")

    monkeypatch.setattr(LocalBus, "publish", fail)
    monkeypatch.setattr(bus_module, "find_row_topics", fail)
    Group.objects.create(name="support")
    with transaction.atomic():
        Group.objects.create(name="sales")
        announce_list_change()


def test_a_client_that_listens_before_the_commit_hears_of_it(monkeypatch):
    heard: list[str] = []
    with transaction.atomic():
        Group.objects.create(name="support")
        get_bus().subscribe(heard.append)
    assert len(heard) == 1


def test_tools_that_changed_show_other_rows(heard, settings):
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": []})
    registry.reload()
    Group.objects.create(name="support")
    assert heard == []


def test_the_text_of_a_url_and_the_value_of_a_row_are_one_topic():
    column = find_column("auth.group", "pk")
    assert write_row_topic(column, "007") == write_row_topic(column, 7)


def test_what_is_no_column_is_no_topic():
    assert find_column("auth.user", "groups") is None
    assert find_column("auth.user", "profile__name") is None
