"""Finding which keys a queryset has, with few queries for any number of rows."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User

from drf_mcp.dispatch import shown_rows
from drf_mcp.dispatch.shown_rows import find_keys

pytestmark = pytest.mark.django_db


@pytest.fixture
def keys(monkeypatch) -> list[str]:
    """The keys of twenty groups, which are more than one query takes."""
    monkeypatch.setattr(shown_rows, "MOST_KEYS", 5)
    Group.objects.all().delete()
    made = Group.objects.bulk_create(Group(name=f"group {number:02}") for number in range(20))
    return [str(group.pk) for group in made]


def test_a_queryset_with_about_as_many_rows_is_read_whole(keys, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = find_keys(Group.objects.exclude(pk=keys[3]), keys)
    assert found == {*keys} - {keys[3]}


def test_of_a_longer_queryset_only_the_keys_are_read(keys, django_assert_num_queries):
    with django_assert_num_queries(1 + 2):
        assert find_keys(Group.objects.all(), keys[:6]) == {*keys[:6]}


def test_keys_that_the_queryset_does_not_have_are_not_found(keys):
    assert find_keys(Group.objects.filter(pk__in=keys[:2]), [*keys[1:], "0"]) == {keys[1]}
    assert find_keys(Group.objects.none(), keys) == set()


def test_rows_that_a_join_repeats_do_not_use_up_the_limit(keys):
    users = User.objects.bulk_create(User(username=f"user {number}") for number in range(5))
    for user in users:
        user.groups.set(keys)
    rows = Group.objects.filter(user__in=users)
    assert rows.count() == 100
    assert find_keys(rows, keys) == {*keys}


def test_only_the_rows_of_a_slice_are_found(keys):
    assert find_keys(Group.objects.order_by("name")[:10], keys) == {*keys[:10]}
