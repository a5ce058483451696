"""The check of permissions that query the database for every tool of a list."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import path
from rest_framework.permissions import BasePermission, DjangoModelPermissions, IsAuthenticated

from tests.server.views import Word

pytestmark = pytest.mark.django_db


class Member(BasePermission):
    def has_permission(self, request, view) -> bool:
        return User.objects.filter(pk=request.user.pk).exists()


class Remembered(Member):
    list_cache = True


class OfNoQuery(DjangoModelPermissions):
    def has_permission(self, request, view) -> bool:
        return request.user.has_perms(["auth.add_user"])


class Choosing(Word):
    def get_permissions(self) -> list:
        return [Member()]


def test_a_class_that_queries_for_each_tool_is_told_of(found, expose):
    guarded = Word.as_view(permission_classes=[IsAuthenticated, Member])
    expose(*(path(f"{name}/", guarded) for name in "ab"), path("c/", Word.as_view()))
    (message,) = found("drf_mcp.W031", deploy=True)
    assert message.msg.startswith(
        "tests.checks.test_permissions.Member makes 1 query for each of 2 "
    )


def test_permissions_that_a_view_chooses_are_told_of(found, expose):
    expose(path("a/", Choosing.as_view()))
    (message,) = found("drf_mcp.W031", deploy=True)
    assert message.msg.startswith("What tests.checks.test_permissions.Choosing asks makes 1 query ")


def test_other_classes_are_not(found, expose):
    classes = (Remembered, OfNoQuery, IsAuthenticated)
    guarded = [Word.as_view(permission_classes=[permission_class]) for permission_class in classes]
    expose(*(path(f"{name}/", view) for name, view in zip("abc", guarded, strict=True)))
    assert found("drf_mcp.W031", deploy=True) == []


@pytest.mark.slow
def test_nobody_is_asked_where_there_is_nobody_and_never_at_startup(found, expose):
    expose(path("a/", Word.as_view(permission_classes=[Member])))
    assert found("drf_mcp.W031") == []
    assert found("drf_mcp.W031", deploy=True) != []
    User.objects.update(is_active=False)
    assert found("drf_mcp.W031", deploy=True) == []
