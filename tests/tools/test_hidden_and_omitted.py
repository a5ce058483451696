"""Arguments that the server sends for callers, and fields that no answer has."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group, User
from django.core.checks import run_checks
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import mcp_tool, mcp_viewset
from tests.agents import Agent


class PlaceSerializer(serializers.Serializer):
    tenant = serializers.CharField()
    name = serializers.CharField()


@mcp_tool(hidden={"tenant": "acme"})
class Echo(APIView):
    """Answer with the data of the request."""

    permission_classes = []
    serializer_class = PlaceSerializer

    def post(self, request, **kwargs) -> Response:
        serializer = PlaceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response({"sent": request.data, "path": kwargs, "query": request.GET.dict()})


@mcp_tool(hidden={"tenant": "acme"})
class EchoForm(Echo):
    parser_classes = [FormParser]


@mcp_tool(hidden={"tenant": "acme"})
class EchoRows(Echo):
    def get_serializer(self, *args, **kwargs):
        return PlaceSerializer(*args, many=True, **kwargs)

    def post(self, request) -> Response:
        serializer = PlaceSerializer(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        return Response({"sent": request.data})


@mcp_tool(hidden={"tenant": lambda request: request.user.username})
class EchoPath(APIView):
    """Answer with the path and the query of the request."""

    permission_classes = []

    def get(self, request, tenant) -> Response:
        return Response({"tenant": tenant, "user": request.GET.get("user"), "all": request.GET})


class TwoAPage(PageNumberPagination):
    page_size = 2


class MemberSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["username", "email"]


class TeamSerializer(serializers.ModelSerializer):
    secret_note = serializers.SerializerMethodField()
    members = MemberSerializer(source="user_set", many=True, read_only=True)

    class Meta:
        model = Group
        fields = ["id", "name", "secret_note", "members"]

    def get_secret_note(self, group) -> str:
        return f"hush {group.name}"


class Named:
    permission_classes = []
    authentication_classes = []
    queryset = Group.objects.order_by("pk")
    serializer_class = TeamSerializer


@mcp_viewset(name="teams", hidden={"shown": "some"}, query={"shown": {"type": "string"}})
class Teams(Named, generics.ListAPIView):
    pagination_class = TwoAPage

    def get_queryset(self):
        assert self.request.GET.getlist("shown") == ["some"]
        return super().get_queryset()


@mcp_viewset(name="team", omit=["secret_note", "members.email"])
class Team(Named, generics.RetrieveDestroyAPIView):
    def perform_destroy(self, instance) -> None:
        raise ValidationError({"detail": "No.", "team": self.get_serializer(instance).data})


@pytest.fixture
def agent(expose, agent_of) -> Agent:
    expose(
        path("echo/", Echo.as_view()),
        path("form/", EchoForm.as_view()),
        path("rows/", EchoRows.as_view()),
        path("of/<str:tenant>/", EchoPath.as_view()),
        path("teams/", Teams.as_view()),
        path("teams/<int:pk>/", Team.as_view()),
    )
    return agent_of("alice")


@pytest.fixture
def team(db) -> Group:
    team = Group.objects.create(name="Blue")
    team.user_set.add(User.objects.create(username="eve", email="eve@x.example"))
    return team


def test_a_hidden_argument_is_not_listed_and_its_value_is_sent(agent):
    for tool in ("echo", "form", "of"):
        assert "tenant" not in json.dumps(agent.tools()[tool])
    for tool in ("echo", "form"):
        assert agent.call(tool, name="Ada").data["sent"] == {"name": "Ada", "tenant": "acme"}


def test_a_function_gets_the_authenticated_request(agent):
    assert agent.call("of").data["tenant"] == "alice"


def test_a_hidden_argument_that_is_sent_is_refused_as_an_unknown_one(agent):
    for tool, sent in (
        ("echo", {"name": "Ada", "tenant": "acme"}),
        ("form", {"name": "Ada", "tenant": "other"}),
        ("of", {"tenant": "bob"}),
        ("teams_list", {"shown": "all"}),
    ):
        (problem,) = agent.call_with(tool, sent).problems
        name = "shown" if "shown" in sent else "tenant"
        assert (problem["code"], problem["pointer"]) == ("unknown", f"/{name}")
        assert "tenant" not in problem["remediation"]


def test_no_object_or_row_smuggles_it_in(agent):
    row = {"name": "Ada"}
    assert agent.call("rows", items=[row]).data["sent"] == [row | {"tenant": "acme"}]
    (problem,) = agent.call("rows", items=[row, row | {"tenant": "b"}]).problems
    assert (problem["code"], problem["pointer"]) == ("unknown", "/items/1/tenant")


def test_the_next_page_has_the_value_too_and_does_not_name_it(agent, team):
    for name in "ABC":
        Group.objects.create(name=name)
    page = agent.call("teams_list").envelope["meta"]["pagination"]
    assert page["next"] == {"page": 2}
    assert agent.call("teams_list", **page["next"]).data["results"]


def test_an_error_about_a_hidden_argument_does_not_name_it(agent, settings, expose):
    wrong = mcp_tool(hidden={"tenant": ""})(type("Wrong", (Echo,), {}))
    expose(path("wrong/", wrong.as_view()))
    refused = agent.call("wrong", name="Ada")
    assert refused.is_error
    assert "tenant" not in json.dumps(refused.raw)


def test_omitted_fields_are_in_no_answer_and_no_schema(agent, team):
    answer = agent.call("team_retrieve", id=team.pk)
    assert answer.data == {"id": team.pk, "name": "Blue", "members": [{"username": "eve"}]}
    assert "secret" not in json.dumps(agent.tools()["team_retrieve"])


def test_omitted_fields_cannot_be_asked_for(agent, team):
    for field in ("secret_note", "members.email", "secretNote"):
        (problem,) = agent.call("team_retrieve", id=team.pk, fields=["id", field]).problems
        assert (problem["code"], problem["received"]) == ("unknown", field)
    assert "email" not in agent.call("team_retrieve", id=team.pk, fields=["members"]).data


def test_omitted_fields_are_in_no_error_and_in_no_preview(agent, team, settings):
    refused = agent.call("team_destroy", id=team.pk)
    assert refused.is_error
    assert "Blue" in json.dumps(refused.raw)
    settings.DRF_MCP = {**settings.DRF_MCP, "CONFIRM": True}
    asked = agent.call("team_destroy", id=team.pk)
    assert "Blue" in json.dumps(asked.raw)
    for shown in (refused, asked):
        assert "hush" not in json.dumps(shown.raw)
        assert "eve@x" not in json.dumps(shown.raw)


def test_names_that_lead_nowhere_are_found_by_the_checks(expose):
    for options in ({"hidden": {"tenent": 1}}, {"omit": ["secrets"]}):
        view = mcp_viewset(**options)(type("Wrong", (Named, generics.ListAPIView), {}))
        expose(path("wrong/", view.as_view()))
        (found,) = [each for each in run_checks(tags=["drf_mcp"]) if each.id == "drf_mcp.E008"]
        assert f"{next(iter(options))}= of" in found.msg
