"""What a process publishes after a commit."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.utils import timezone

from drf_mcp.contrib.subscriptions import announce_list_change, announce_update
from drf_mcp.contrib.subscriptions.bus import (
    Bus,
    Subject,
    announce_rights,
    list_subjects,
)
from drf_mcp.contrib.tasks.models import CallTask
from tests.introspection.test_paths import Parcel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


class Insured(Parcel):
    """A child of multi-table inheritance."""

    class Meta:
        app_label = "tests"
        managed = False

    def __str__(self) -> str:
        return str(self.id)


def test_a_row_is_published_by_its_key_whether_it_is_a_number_or_text(published):
    Group(pk="007", name="support").save()
    assert published == [("row", "auth.group", "7")]


def test_a_row_is_published_for_the_models_that_it_inherits(published):
    key = uuid.uuid4()
    announce_update(Insured(id=key, parcel_ptr_id=str(key).upper()))
    assert published == [("row", f"tests.{name}", str(key)) for name in ("insured", "parcel")]


def test_a_table_of_the_package_is_never_published(published):
    now = timezone.now()
    CallTask.objects.create(task_id="x", created=now, updated=now, expires=now)
    assert published == []


def test_a_transaction_is_published_after_its_commit(published):
    with transaction.atomic():
        Group.objects.create(name="team")
        announce_list_change("tools")
        announce_update("shop://teams/x")
        assert published == []
    assert len(published) == 3


def test_what_a_savepoint_rolled_back_is_not_published(published):
    with transaction.atomic():
        kept = Group.objects.create(name="kept")
        with transaction.atomic():
            Group.objects.create(name="lost")
            transaction.set_rollback(True)
    assert published == [("row", "auth.group", str(kept.pk))]


def test_a_saved_user_is_published_with_the_lists_of_that_user(published):
    eve = User.objects.create_user("eve")
    assert next(list_subjects([eve.pk])) not in published
    eve.save()
    assert set(list_subjects([eve.pk])) < set(published)


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
    assert {each for each in published if each[0] == "list"} == set(list_subjects([eve.pk]))


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
    assert set(published) >= set(list_subjects(None))


def test_a_change_of_no_permission_is_not_published(published, team):
    eve = User.objects.create_user("eve")
    eve.save(update_fields=["last_login"])
    team.permissions.add()
    announce_rights(Group, team, "post_add", reverse=False, pk_set={1})
    assert not [each for each in published if each[0] == "list"]


def test_where_no_client_listens_nothing_is_published(monkeypatch):
    published: list[Subject] = []
    monkeypatch.setattr(Bus, "publish", lambda self, found, mark: published.extend(found))
    Group.objects.create(name="support")
    assert published == []
