"""The reports of ``mcp_tools``: for a user, on sizes, on findings, and on unexposed endpoints."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.permissions import (
    AllowAny,
    DjangoModelPermissions,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.tools import registry
from drf_mcp.truncation.tokens import estimate_tokens

pytestmark = pytest.mark.django_db


class Bare(serializers.Serializer):
    colour = serializers.CharField()
    kind = serializers.ChoiceField(["a", "b"])
    flag = serializers.BooleanField()


class Unsure(AutoSchema):
    def is_excluded(self) -> bool:
        raise LookupError("no version")


class Guarded(APIView):
    """Take a few things."""

    serializer_class = Bare

    def post(self, request) -> Response:
        """Take a few things."""
        return Response()


@pytest.fixture
def findings(printed, expose):
    def found(view, name="thing", **mcp_settings) -> str:
        expose(path(f"{name}/", view.as_view()), **mcp_settings)
        return " ".join(printed("findings").split())

    return found


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
def test_sizes_are_those_of_the_definitions_and_their_sum(printed):
    definitions = json.loads(printed("--json"))
    report = json.loads(printed("size", "--json"))
    sizes = {entry["tool"]: entry for entry in report["sizes"]}
    for definition in definitions:
        text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
        assert sizes[definition["name"]]["bytes"] == len(text.encode())
        assert sizes[definition["name"]]["tokens"] == estimate_tokens(text)
    total = sum(entry["tokens"] for entry in report["sizes"])
    assert f"{len(definitions)} tools, about {total:,} tokens: " in printed("size")


@pytest.mark.slow
def test_each_tool_has_its_tokens_and_its_three_largest_parts(subtests, printed):
    for columns in [80, 200]:
        with subtests.test(columns=columns):
            text = printed("size", columns=columns)
            assert max(map(len, text.splitlines())) <= columns
            for entry in json.loads(printed("size", "--json"))["sizes"]:
                tokens = [part["tokens"] for part in entry["parts"]]
                assert 2 <= len(tokens) <= 3
                assert sorted(tokens, reverse=True) == tokens
                assert re.search(rf"^  {entry['tool']} +{entry['tokens']:,}\s", text, re.MULTILINE)


@pytest.mark.slow
def test_clients_whose_limit_is_exceeded_are_named(printed, expose):
    expose(*(path(f"thing{number}/", Guarded.as_view()) for number in range(90)))
    lines = printed("size").splitlines()
    assert f"  Cursor: takes 80 tools, and there are {len(registry.tools())}" in lines
    assert "  Windsurf: fits" in lines


def test_a_name_that_is_too_long_for_clients_is_reported(findings):
    text = findings(Guarded, name="a" * 48, SERVER_NAME="a_shop_with_a_long_name")
    assert "VS Code takes names of" in text


@pytest.mark.slow
def test_each_endpoint_without_a_tool_has_a_reason(printed):
    text = printed("unexposed")
    assert "a router's root" in text
    assert text.count(".{format}") == 1
    assert re.search(r"\d+ routes, such as /api/\w+\.\{format\}", text)
    assert "GET    /api/orders/\n" not in text


def test_endpoints_left_out_by_settings_have_their_reason(subtests, printed, expose):
    for mcp_settings, reason in [
        ({"EXPOSE": "explicit"}, "not chosen: decorate the view with @mcp_tool"),
        ({"INCLUDE": ["/other/*"]}, "no pattern of INCLUDE matches"),
    ]:
        with subtests.test(mcp_settings=mcp_settings, reason=reason):
            expose(path("thing/", Guarded.as_view()), **mcp_settings)
            assert reason in printed("unexposed")


def test_an_endpoint_with_a_false_condition_has_its_reason(printed, expose):
    class Sometimes(Guarded):
        pass

    expose(path("thing/", mcp_tool(condition=lambda: False)(Sometimes).as_view()))
    assert "switched off" in printed("unexposed")


def test_an_action_left_out_of_a_registration_has_its_reason(printed, expose, monkeypatch):
    expose(path("thing/", Guarded.as_view()), EXPOSE="explicit")
    monkeypatch.setattr(registry, "_registrations", [])
    registry.register(Guarded, exclude=["post"])
    assert "left out: actions= or exclude=" in printed("unexposed")


def test_endpoints_left_out_in_urlconf_mode_have_their_reason(subtests, printed, expose):
    for view, reason in [
        (SpectacularAPIView, "a description of the API; agents read tools/list instead"),
        (extend_schema(exclude=True)(type("Out", (Guarded,), {})), "leaves it out\n"),
        (type("Unsure", (Guarded,), {"schema": Unsure()}), "as far as can be seen: LookupError"),
    ]:
        with subtests.test(view=view, reason=reason):
            expose(path("thing/", view.as_view()))
            assert reason in printed("unexposed")


def test_a_route_that_differs_only_in_the_trailing_slash_has_its_reason(printed, expose):
    view = Guarded.as_view()
    expose(path("thing/", view), path("thing", view))
    assert "trailing slash: another route differs in the slash alone" in printed("unexposed")


def test_a_project_without_unexposed_endpoints_is_reported(printed, expose):
    expose(path("thing/", Guarded.as_view()))
    assert printed("unexposed") == "Every REST framework endpoint is a tool.\n"


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
