"""Only a call, a dry run that is switched on and an approved proposal run code that writes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import path
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.decorators import action
from rest_framework.response import Response

from drf_mcp import mcp_viewset
from drf_mcp.contrib.prompts import Prompt
from drf_mcp.contrib.rules import Ruling, rule, ruling
from drf_mcp.contrib.rules.apps import RulesConfig
from drf_mcp.contrib.rules.models import Proposal
from drf_mcp.exposure import registry
from drf_mcp.option_types.installed import features
from tests.agents import Agent

RAN: list[str] = []
# The methods of a viewset that change something, or that only a handler that writes calls.
WRITING = (
    *("create", "update", "partial_update", "destroy", "close"),
    *("perform_create", "perform_update", "perform_destroy"),
)


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]

    def save(self, **kwargs: Any) -> Any:
        RAN.append("save")
        return super().save(**kwargs)


class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    authentication_classes = [TokenAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    @action(detail=True, methods=["post"])
    def close(self, request, pk=None) -> Response:
        return Response({"closed": pk})


def record(name: str, method: Any) -> Any:
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        RAN.append(name)
        return method(self, *args, **kwargs)

    # With the name, the actions and the options of the method.
    vars(recorded).update(vars(method))
    recorded.__name__ = recorded.__qualname__ = name
    return recorded


def make_viewset(**options: Any) -> type:
    recorded = {name: record(name, getattr(Groups, name)) for name in WRITING}
    return mcp_viewset(**options)(type("Recorded", (Groups,), recorded))


ONE = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
EVERY = {"confirm": True, "dry_run": True, "idempotency_key": True, "if_match": "name"}
EVERY |= {"aggregate": ["name"], "resource": True, "many": True, "task": "optional"}
CALLS = {
    "create": {"name": "new"},
    "partial_update": {"pk": 1, "name": "new"},
    "destroy": {"pk": 1},
    "close": {"pk": 1},
}


class Picks(serializers.Serializer):
    group = serializers.PrimaryKeyRelatedField(queryset=Group.objects.all())


def routes(prefix: str, view: type) -> list[Any]:
    return [
        path(f"{prefix}/", view.as_view({"post": "create", "get": "list"})),
        path(f"{prefix}/<int:pk>/", view.as_view(ONE)),
        path(f"{prefix}/<int:pk>/close/", view.as_view({"post": "close"})),
    ]


@pytest.fixture
def agent(expose, monkeypatch, settings, db) -> Iterator[Agent]:
    """Alice's agent, where every app is switched on."""
    RAN.clear()
    Group.objects.create(pk=1, name="readers")
    config = apps.get_app_config("drf_mcp_rules")
    monkeypatch.setattr(config, "mcp_features", RulesConfig.mcp_features)
    monkeypatch.setattr(ruling, "RULES", [])
    rule("waiting_*")(lambda call: Ruling.ask("People look at it."))
    monkeypatch.setattr(
        registry, "_added", [Prompt("about", text="{{ group }}", serializer_class=Picks)]
    )
    features.forget()
    expose(
        *routes("asked", make_viewset(**EVERY)),
        *routes("free", make_viewset(confirm=False)),
        *routes("waiting", make_viewset(confirm=False)),
        INCLUDE=["*", "PUT *"],
        CONFIRM=True,
        COMPOSE="writes",
        BROWSABLE_PAGE=True,
        AUTHENTICATION_CLASSES=[TokenAuthentication],
    )
    key = Token.objects.get_or_create(user=User.objects.get(username="alice"))[0].key
    yield Agent(Client(headers={"authorization": f"Token {key}"}, raise_request_exception=False))
    monkeypatch.undo()
    features.forget()
    registry.reload()


def ask_lists(agent: Agent) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        agent.result(method)
    agent.result("server/discover")
    for name in ("", *registry.tools()):
        page = agent.http.get(
            "/mcp", {"tool": name} if name else {}, headers={"accept": "text/html"}
        )
        assert page.status_code == 200, name


def ask_reads(agent: Agent) -> None:
    for name in ("asked_list", "free_list", "asked_aggregate"):
        assert not agent.call(name).is_error, name
    assert not agent.call("asked_retrieve", ids=[1]).is_error
    ref = {"type": "ref/prompt", "name": "about"}
    agent.result("completion/complete", ref=ref, argument={"name": "group", "value": ""})
    agent.result("prompts/get", name="about", arguments={"group": "1"})
    for resource in agent.result("resources/list")["resources"]:
        agent.result("resources/read", uri=resource["uri"])


def ask_reports(agent: Agent) -> None:
    for report in ("list", "risks", "findings"):
        run("mcp_tools", report)
    for name in registry.tools():
        run("mcp_tools", "show", name)
        run("mcp_tools", "why", name, "--as", "alice")
    # Models of other tests are in the same process.
    run("check", "--tag", "drf_mcp")


def run(*command: str) -> None:
    out, err, status = io.StringIO(), io.StringIO(), 0
    try:
        call_command(*command, stdout=out, stderr=err)
    except SystemExit as exc:
        status = exc.code
    # 1: the report has something to say; 2: the command was not understood.
    assert status in (0, 1), err.getvalue()
    assert out.getvalue() or err.getvalue(), command


def ask_wrongly(agent: Agent) -> None:
    for name, sent in CALLS.items():
        agent.call_with(f"free_{name}", {**sent, "nonsense": True, "pk": 99})
        agent.call_with(f"free_{name}", {**sent, "dry_run": True})
        agent.call_with(f"asked_{name}", {**sent, "if_match": "old"})


def ask_first(agent: Agent) -> None:
    for name, sent in CALLS.items():
        for further in ({}, {"idempotency_key": "k"}, {"confirmation": "wrong"}):
            result = agent.call_with(f"asked_{name}", {**sent, **further})
            assert result.code == "CONFIRMATION_REQUIRED", result.raw
        program = f"asked_{name}(**{sent!r})"
        assert agent.call("tools_compose", program=program).code == "CONFIRMATION_REQUIRED"


def propose(agent: Agent) -> None:
    for name, sent in CALLS.items():
        for _ in range(2):
            result = agent.call_with(f"waiting_{name}", sent)
            assert result.code == "APPROVAL_REQUIRED", result.raw
    for row in Proposal.objects.all():
        agent.call("proposals_retrieve", id=row.pk)
    agent.call("proposals_withdraw", id=row.pk)
    client = Client()
    client.force_login(User.objects.get(username="admin"))
    client.get(f"/admin/drf_mcp_rules/proposal/{row.pk}/change/")


DOORS = [ask_lists, ask_reads, ask_reports, ask_wrongly, ask_first, propose]


@pytest.mark.parametrize("ask", DOORS, ids=lambda ask: ask.__name__)
def test_no_door_but_a_call_reaches_a_handler_that_writes(agent, ask):
    ask(agent)
    assert RAN == []
    assert list(Group.objects.values_list("name", flat=True)) == ["readers"]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_and_a_dry_run_that_is_switched_on_reach_the_handler(agent, name):
    """Else no door would be seen to."""
    agent.call_with(f"free_{name}", CALLS[name])
    assert RAN[0] == name
    RAN.clear()
    Group.objects.update_or_create(pk=1, defaults={"name": "readers"})
    Group.objects.exclude(pk=1).delete()
    agent.call_with(f"asked_{name}", {**CALLS[name], "dry_run": True})
    assert RAN[0] == name
    assert json.dumps(list(Group.objects.values_list("name", flat=True))) == '["readers"]'


def test_a_replay_does_not_reach_the_handler(agent):
    sent = {"name": "new", "idempotency_key": "k"}
    confirmed = agent.call_with("asked_create", sent).data["next"]
    agent.call_with("asked_create", confirmed)
    RAN.clear()
    replayed = agent.call_with("asked_create", sent)
    assert replayed.envelope["meta"]["replayed"]
    assert RAN == []
