"""The reports of ``mcp_tools``: for a user, on sizes, findings, and what is left out."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError
from django.urls import path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.authtoken.views import ObtainAuthToken
from rest_framework.generics import ListAPIView
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

pytestmark = pytest.mark.django_db


class Bare(serializers.Serializer):
    colour = serializers.CharField()
    kind = serializers.ChoiceField(["a", "b"])
    flag = serializers.BooleanField()


class AllBare(ListAPIView):
    queryset = Group.objects.all()
    serializer_class = Bare
    pagination_class = None


class Base(APIView):
    def get(self, request) -> Response:
        """Say something about any of them."""
        return Response()


class Heir(Base):
    pass


class Open(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response(request.data)


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
        return " ".join(printed("--warnings").split())

    return found


def test_a_user_is_shown_what_the_user_may_call(printed):
    names = {tool["name"] for tool in json.loads(printed("--json", "--as", "alice"))}
    assert names == set(registry.tools()) - {"customers_deactivate"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--as", "anonymous"), "does not let anonymous in"),
        (("customers_deactivate", "--as", "alice"), "--why customers_deactivate --as alice"),
        (("--why", "stats"), "--why needs --as USER"),
        (("--why", "stats", "--as", "zoe"), "There is no user 'zoe'"),
        (("--why", "x", "--as", "bob"), "x"),
        (("quot",), "Did you mean quote"),
    ],
)
def test_a_report_that_cannot_be_made_exits_with_2_and_says_why(printed, args, message):
    with pytest.raises(CommandError, match=message) as caught:
        printed(*args)
    assert caught.value.returncode == 2


def test_composed_permissions_of_a_tool_are_shown_whole(printed, expose):
    composed = IsAdminUser | (IsAuthenticated & ~DjangoModelPermissions)
    view = type("View", (Guarded,), {"permission_classes": [composed, AllowAny]})
    expose(path("thing/", view.as_view()))
    (name,) = registry.tools()
    told = "OR(IsAdminUser, AND(IsAuthenticated, NOT(DjangoModelPermissions))), AllowAny"
    assert f"  permissions: {told}" in printed(name).splitlines()


def test_sizes_are_those_of_the_definitions_and_their_sum(printed):
    definitions = json.loads(printed("--json"))
    rows = dict(line.split()[:2] for line in printed("--size").splitlines()[1 : len(definitions)])
    compact = {
        d["name"]: len(json.dumps(d, ensure_ascii=False, separators=(",", ":")).encode())
        for d in definitions
    }
    assert {name: int(size) for name, size in rows.items()}.items() <= compact.items()
    assert f"{len(definitions)} tools" in printed("--size")
    assert str(sum(compact.values())) in printed("--size")


def test_a_client_whose_limit_is_passed_is_named(printed, expose):
    expose(*(path(f"thing{number}/", Guarded.as_view()) for number in range(90)))
    lines = printed("--size").splitlines()
    assert f"  Cursor: takes 80 tools, and there are {len(registry.tools())}" in lines
    assert "  Windsurf: fits" in lines


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (Open, "Nobody wrote what thing does"),
        (Open, "asks nobody for a permission. Set permission_classes on Open."),
        (ObtainAuthToken, "asks nobody for a permission. Leave it out with EXCLUDE"),
        (Heir, "The description of thing is inherited from Base."),
        (AllBare, "answers with every row at once. Set pagination_class on AllBare"),
        (Guarded, "Argument `colour` of thing has no description."),
    ],
)
def test_what_could_be_better_about_a_tool_is_found(findings, view, message):
    assert message in findings(view)


class Searched(ListAPIView):
    """Reads its query by names, one of which it computes."""

    queryset = Group.objects.all()
    serializer_class = Bare

    def get_queryset(self):
        query = self.request.query_params
        name = query.get("name", query.get(self.request.user.username))
        return super().get_queryset().filter(name=name)


def test_query_parameters_of_computed_names_are_found(findings):
    text = findings(Searched)
    names = "self.request.user.username."
    assert f"thing_list reads the query by names that its code computes: {names}" in text
    assert '@mcp_tool(query={"...": {"type": "string"}})' in text
    declared = mcp_tool(query={"name": {"type": "string"}})(type("Declared", (Searched,), {}))
    assert "reads the query" not in findings(declared)
    assert "reads the query" not in findings(Searched, EXTRA_QUERY=True)


def test_the_actions_of_one_view_of_which_nobody_wrote_anything_are_found_together(findings):
    class Both(Open):
        def put(self, request) -> Response:
            return Response()

    told = "Nobody wrote what thing_post, thing_put do; the model reads their titles alone."
    text = findings(Both)
    assert text.count("Nobody wrote") == 1
    assert told in text


def test_an_argument_without_a_word_that_many_tools_take_is_found_once(printed, expose):
    expose(*(path(f"thing{number}/", Guarded.as_view()) for number in range(6)))
    text = " ".join(printed("--warnings").split())
    assert text.count("has no description") == 1
    assert "Argument `colour` of 6 tools has no description." in text


def test_a_name_that_is_too_long_for_clients_is_found(findings):
    text = findings(Guarded, name="a" * 48, SERVER_NAME="a_shop_with_a_long_name")
    assert "VS Code takes names of" in text


def test_every_endpoint_is_a_tool_or_left_out_for_a_reason(printed):
    text = printed("--unexposed")
    assert "a router's root" in text
    assert text.count(".{format}") == 1
    assert re.search(r"\d+ routes, such as /api/\w+\.\{format\}", text)
    assert "GET    /api/orders/\n" not in text


@pytest.mark.parametrize(
    ("mcp_settings", "reason"),
    [
        ({"EXPOSE": "explicit"}, "not chosen: decorate it with @mcp_tool"),
        ({"INCLUDE": ["/other/*"]}, "no pattern of INCLUDE fits it"),
    ],
)
def test_what_the_settings_leave_out_is_told(printed, expose, mcp_settings, reason):
    expose(path("thing/", Guarded.as_view()), **mcp_settings)
    assert reason in printed("--unexposed")


def test_a_condition_that_does_not_hold_is_told(printed, expose):
    class Sometimes(Guarded):
        pass

    expose(path("thing/", mcp_tool(condition=lambda: False)(Sometimes).as_view()))
    assert "switched off" in printed("--unexposed")


def test_an_action_left_out_of_a_registration_is_told(printed, expose, monkeypatch):
    expose(path("thing/", Guarded.as_view()), EXPOSE="explicit")
    monkeypatch.setattr(registry, "_registrations", [])
    registry.register(Guarded, exclude=["post"])
    assert "left out: actions= or exclude=" in printed("--unexposed")


@pytest.mark.parametrize(
    ("view", "told"),
    [
        (SpectacularAPIView, "a description of the API, which tools/list is for agents"),
        (extend_schema(exclude=True)(type("Out", (Guarded,), {})), "leaves it out\n"),
        (type("Unsure", (Guarded,), {"schema": Unsure()}), "as far as can be told: LookupError"),
    ],
    ids=["document", "excluded", "unsure"],
)
def test_what_the_urlconf_mode_leaves_out_is_told(printed, expose, view, told):
    expose(path("thing/", view.as_view()))
    assert told in printed("--unexposed")


def test_a_route_that_differs_in_the_trailing_slash_alone_is_told(printed, expose):
    view = Guarded.as_view()
    expose(path("thing/", view), path("thing", view))
    assert "trailing slash: another route differs in it alone" in printed("--unexposed")


def test_with_everything_exposed_that_is_said(printed, expose):
    expose(path("thing/", Guarded.as_view()))
    assert printed("--unexposed") == "Every REST framework endpoint is a tool.\n"


def test_the_tools_of_a_lock_file_are_those_it_was_written_of(run, tmp_path):
    lock = str(tmp_path / "lock.json")
    run("mcp_tools", "--lock", lock)
    assert run("mcp_tools", "--check", lock) == (0, "The tools are those of the lock file.\n")


@pytest.mark.parametrize("content", [None, "no json", "[]", '{"format": 99, "tools": {}}'])
def test_a_lock_file_that_cannot_be_read_exits_with_2(run, tmp_path, content):
    lock = tmp_path / "lock.json"
    if content is not None:
        lock.write_text(content)
    with pytest.raises(CommandError) as caught:
        run("mcp_tools", "--check", str(lock))
    assert caught.value.returncode == 2


def test_a_user_called_anonymous_is_that_user(printed):
    User.objects.create(username="anonymous")
    assert "anonymous may call stats." in printed("--why", "stats", "--as", "anonymous")
