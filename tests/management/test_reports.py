"""The reports of ``mcp_tools``: for a user, on permissions, and the lock file."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.urls import path
from rest_framework.permissions import (
    AllowAny,
    DjangoModelPermissions,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import registry

pytestmark = pytest.mark.django_db


class Guarded(APIView):
    """Take a few things."""

    def post(self, request) -> Response:
        """Take a few things."""
        return Response()


def test_a_report_for_a_user_has_the_tools_that_the_user_may_call(printed):
    names = {tool["name"] for tool in json.loads(printed("--json", "--as", "alice"))}
    assert names == set(registry.tools()) - {"customers_deactivate", "products_partial_update"}


def test_a_report_that_cannot_be_made_exits_with_2_and_the_reason(subtests, printed):
    for args, message in [
        (("--as", "anonymous"), "does not let anonymous in"),
        (
            ("show", "customers_deactivate", "--as", "alice"),
            "mcp_tools why customers_deactivate --as alice",
        ),
        (("why", "stats"), "Name who calls with --as."),
        (("why", "stats", "--as", "zoe"), "There is no user 'zoe'"),
        (("why", "x", "--as", "bob"), "x"),
        (("show", "quot"), "Did you mean quote"),
    ]:
        with subtests.test(args=args, message=message):
            with pytest.raises(CommandError, match=message) as caught:
                printed(*args)
            assert caught.value.returncode == 2


def test_composed_permissions_of_a_tool_are_shown_whole(printed, expose):
    composed = IsAdminUser | (IsAuthenticated & ~DjangoModelPermissions)
    view = type("View", (Guarded,), {"permission_classes": [composed, AllowAny]})
    expose(path("thing/", view.as_view()))
    (name,) = registry.tools()
    reason = "OR(IsAdminUser, AND(IsAuthenticated, NOT(DjangoModelPermissions))), AllowAny"
    assert f"  permissions: {reason}" in printed("show", name).splitlines()


def test_permissions_of_get_permissions_replace_those_of_the_class(printed, expose):
    def get_permissions(self):
        return [(IsAdminUser | IsAuthenticated)()] if self.request.method == "POST" else []

    view = type("View", (Guarded,), {"get_permissions": get_permissions})
    expose(path("thing/", view.as_view()))
    (name,) = registry.tools()
    reason = "OR(IsAdminUser, IsAuthenticated), chosen by the view"
    assert f"  permissions: {reason}" in printed("show", name).splitlines()


@pytest.mark.slow
def test_a_new_lock_file_has_no_changes(run, tmp_path):
    lock = str(tmp_path / "lock.json")
    run("mcp_tools", "lock", lock)
    assert run("mcp_tools", "check", lock) == (0, "The tools are the same as in the lock file.\n")


@pytest.mark.parametrize("content", [None, "no json", "[]", '{"format": 99, "tools": {}}'])
def test_a_lock_file_that_cannot_be_read_exits_with_2(run, tmp_path, content):
    lock = tmp_path / "lock.json"
    if content is not None:
        lock.write_text(content)
    with pytest.raises(CommandError) as caught:
        run("mcp_tools", "check", str(lock))
    assert caught.value.returncode == 2


def test_anonymous_may_be_the_name_of_a_user(printed):
    User.objects.create(username="anonymous")
    assert "anonymous may call stats." in printed("why", "stats", "--as", "anonymous")
