"""To ask is never to act: whatever asks about a call runs none of the project's writing code."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.http import Http404
from django.urls import path
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.decorators import action
from rest_framework.response import Response

from drf_mcp import mcp_viewset
from tests.contrib.writes.confirmation.conftest import FORMS

RAN: list[str] = []


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]

    def save(self, **kwargs: Any) -> Any:
        RAN.append("save")
        return super().save(**kwargs)


class Base(viewsets.ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    authentication_classes = [TokenAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    def perform_create(self, serializer) -> None:
        RAN.append("perform_create")
        serializer.save()

    def perform_update(self, serializer) -> None:
        RAN.append("perform_update")
        serializer.save()

    def perform_destroy(self, instance) -> None:
        RAN.append("perform_destroy")
        instance.delete()

    @action(detail=True, methods=["post"])
    def close(self, request, pk=None) -> Response:
        RAN.append("close")
        return Response({})


@mcp_viewset(confirm=True, bulk=True, dry_run=True, if_match="name", idempotency_key=True)
class Asked(Base):
    """Asks before each call."""


@mcp_viewset(confirm="person")
class ByPerson(Base):
    """Asks a person before each call."""


class Traced(Base):
    """Writes in a step before its handler."""

    def initial(self, request, *args, **kwargs) -> None:
        super().initial(request, *args, **kwargs)
        Group.objects.create(name=f"trace {Group.objects.count()}")


class Restoring(Base):
    """Restores what get_object() does not find."""

    def get_object(self) -> Any:
        raise Http404

    @action(detail=True, methods=["post"])
    def restore(self, request, pk=None) -> Response:
        return Response({"id": self.queryset.get(pk=pk).pk})


EVERY = {"post": "create", "get": "list"}
ONE = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}
SENT = {
    "create": {"name": "new"},
    "partial_update": {"pk": 1, "name": "new"},
    "destroy": {"pk": 1},
    "close": {"pk": 1},
}


def routes(prefix: str, view: type, **others: str) -> list[Any]:
    return [
        path(f"{prefix}/", view.as_view(EVERY)),
        path(f"{prefix}/<int:pk>/", view.as_view(ONE)),
        path(f"{prefix}/<int:pk>/close/", view.as_view({"post": "close"})),
    ]


@pytest.fixture(autouse=True)
def forget() -> None:
    RAN.clear()


@pytest.fixture
def agent(serve, group):
    return serve(
        *routes("asked", Asked),
        *routes("personal", ByPerson),
        path("traced/<int:pk>/", Traced.as_view({"delete": "destroy"})),
        path("restoring/<int:pk>/", Restoring.as_view({"post": "restore"})),
        INCLUDE=["asked_*", "personal_*", "traced_*", "restoring_*"],
    )()


@pytest.fixture
def group(db) -> Group:
    return Group.objects.create(pk=1, name="readers")


@pytest.mark.parametrize("name", SENT)
def test_an_unconfirmed_call_runs_no_handler_and_a_confirmed_one_runs_once(agent, name):
    first = agent.call(f"asked_{name}", **SENT[name])
    again = agent.call(f"asked_{name}", **SENT[name], confirmation="wrong")
    assert (first.code, again.code) == ("CONFIRMATION_REQUIRED",) * 2
    assert "Nothing was run or validated" in first.envelope["error"]
    assert (RAN, list(Group.objects.values_list("name", flat=True))) == ([], ["readers"])
    assert agent.call(f"asked_{name}", **first.data["next"]).envelope["success"]
    assert len([each for each in RAN if each != "save"]) == 1


def test_an_unconfirmed_call_about_several_objects_runs_no_handler(agent):
    items = [{"name": "a"}, {"name": "b"}]
    assert agent.call("asked_create", items=items).code == "CONFIRMATION_REQUIRED"
    assert RAN == []


@pytest.mark.parametrize("guard", [{"if_match": "old"}, {"idempotency_key": "k"}])
def test_no_other_guard_runs_the_handler_of_an_unconfirmed_call(agent, guard):
    agent.call("asked_partial_update", pk=1, name="new", **guard)
    assert RAN == []


def test_what_a_view_writes_before_its_handler_is_not_kept(agent):
    assert agent.call("traced_destroy", pk=1).code == "CONFIRMATION_REQUIRED"
    assert (Group.objects.count(), RAN) == (1, [])


def test_an_object_that_the_handler_does_not_look_for_refuses_no_call(serve, group):
    agent = serve(
        path("kept/<int:pk>/", mcp_viewset(confirm=True)(Restoring).as_view({"post": "restore"}))
    )()
    first = agent.call("kept_restore", pk=1)
    assert first.code == "CONFIRMATION_REQUIRED"
    assert agent.call("kept_restore", **first.data["next"]).data == {"id": 1}


# --- A person ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SENT)
def test_a_client_without_forms_is_refused_where_a_person_has_to_agree(agent, name):
    tool = agent.tools()[f"personal_{name}"]
    assert "confirmation" not in tool["inputSchema"]["properties"]
    refused = agent.call(f"personal_{name}", **SENT[name])
    assert (refused.is_error, refused.code) == (True, "FORBIDDEN")
    assert "approvals" in refused.data["remediation"]
    assert RAN == []


def test_permissions_come_before_the_refusal(serve, agent):
    assert agent.call("personal_destroy", pk=99).code == "NOT_FOUND"
    anonymous = serve(*routes("personal", ByPerson))(None)
    assert anonymous.call("personal_destroy", pk=1).code == "UNAUTHORIZED"


def test_a_person_agrees_in_a_form(agent):
    sent = {"name": "personal_destroy", "arguments": {"pk": 1}}
    asked = agent.result("tools/call", **sent, **FORMS)
    assert "readers" in asked["inputRequests"]["confirm_call"]["params"]["message"]
    assert RAN == []
    answers = {"confirm_call": {"action": "accept", "content": {}}}
    state = asked["requestState"]
    agent.result("tools/call", **sent, **FORMS, requestState=state, inputResponses=answers)
    assert RAN == ["perform_destroy"]


def test_the_setting_may_ask_a_person_before_each_deletion(serve, group):
    agent = serve(*routes("own", Base), CONFIRM="person")()
    assert agent.call("own_destroy", pk=1).code == "FORBIDDEN"
    assert agent.call("own_partial_update", pk=1, name="writers").envelope["success"]


def test_a_program_does_not_agree_in_the_place_of_a_person(serve, group):
    agent = serve(*routes("personal", ByPerson), COMPOSE="writes")()
    stopped = agent.call("tools_compose", program="personal_destroy(pk=1)")
    assert (stopped.is_error, "resume" in stopped.data) == (True, False)
    assert RAN == []
