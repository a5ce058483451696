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


class WithoutQuery(DjangoModelPermissions):
    def has_permission(self, request, view) -> bool:
        return request.user.has_perms(["auth.add_user"])


class Choosing(Word):
    def get_permissions(self) -> list:
        return [Member()]


def test_a_class_that_queries_for_each_tool_is_reported(found, expose):
    guarded = Word.as_view(permission_classes=[IsAuthenticated, Member])
    expose(*(path(f"{name}/", guarded) for name in "ab"), path("c/", Word.as_view()))
    (message,) = found("drf_mcp.W031", deploy=True)
    assert message.msg.startswith(
        "tests.checks.test_permissions.Member makes 1 query for each of 2 "
    )


def test_permissions_from_get_permissions_are_reported(found, expose):
    expose(path("a/", Choosing.as_view()))
    (message,) = found("drf_mcp.W031", deploy=True)
    assert message.msg.startswith("What tests.checks.test_permissions.Choosing asks makes 1 query ")


def test_classes_without_a_query_for_each_tool_are_not_reported(found, expose):
    classes = (Remembered, WithoutQuery, IsAuthenticated)
    guarded = [Word.as_view(permission_classes=[permission_class]) for permission_class in classes]
    expose(*(path(f"{name}/", view) for name, view in zip("abc", guarded, strict=True)))
    assert found("drf_mcp.W031", deploy=True) == []


@pytest.mark.slow
def test_permissions_are_checked_only_before_deployment(found, expose):
    expose(path("a/", Word.as_view(permission_classes=[Member])))
    assert found("drf_mcp.W031") == []
    assert found("drf_mcp.W031", deploy=True) != []
    User.objects.update(is_active=False)
    assert found("drf_mcp.W031", deploy=True) == []
