"""A caller who may not call a tool does not learn its arguments, nor hidden tools."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import path
from rest_framework import generics, permissions, serializers
from rest_framework.exceptions import NotFound
from rest_framework.views import APIView

from drf_mcp.exposure import mcp_tool

TOKEN = "rest_framework.authentication.TokenAuthentication"


class SalarySerializer(serializers.ModelSerializer):
    salary = serializers.IntegerField(required=False)

    class Meta:
        model = Group
        fields = ["id", "name", "salary"]


class StaffOnly(generics.ListCreateAPIView):
    queryset = Group.objects.all()
    serializer_class = SalarySerializer
    permission_classes = [permissions.IsAdminUser]


class OfOrganisation(permissions.BasePermission):
    def has_permission(self, request, view):
        return view.kwargs["organisation"] == request.user.username


class OwnSalaries(StaffOnly):
    permission_classes = [permissions.IsAuthenticated & OfOrganisation]


class Hidden(permissions.BasePermission):
    def has_permission(self, request, view):
        raise NotFound


class HiddenSalaries(StaffOnly):
    permission_classes = [Hidden]


class Raising(permissions.BasePermission):
    """Raises what Django, and not REST framework, has for a refusal."""

    def has_permission(self, request, view):
        raise Http404 if request.user.username == "alice" else PermissionDenied


class RefusedSalaries(StaffOnly):
    permission_classes = [Raising]


class MirroredSalary(APIView):
    permission_classes = [permissions.IsAdminUser]

    @mcp_tool(name="mirrored", query={"region": {"type": "string", "x-mcp-header": "Salary"}})
    def get(self, request):
        raise NotImplementedError


class Open(generics.ListAPIView):
    queryset = Group.objects.all()
    serializer_class = SalarySerializer


@pytest.fixture
def served(expose):
    def serve(**mcp_settings):
        expose(
            path("staff/", StaffOnly.as_view()),
            path("of/<organisation>/salaries/", OwnSalaries.as_view()),
            path("hidden/", HiddenSalaries.as_view()),
            path("refused/", RefusedSalaries.as_view()),
            path("open/", Open.as_view()),
            path("mirrored/", MirroredSalary.as_view()),
            AUTHENTICATION_CLASSES=[TOKEN],
            **mcp_settings,
        )

    return serve


def whole_text(result) -> str:
    return str(result.raw)


@pytest.mark.parametrize(
    "arguments", [{"salery": 3}, {"search": 3}, {"name": "a", "id": 3, "dry_run": "perhaps"}]
)
def test_an_unknown_argument_of_a_forbidden_tool_is_answered_as_forbidden(
    served, agent_of, arguments
):
    served()
    result = agent_of("alice").call("staff_create", **arguments)
    assert result.code == "FORBIDDEN"
    assert "salary" not in whole_text(result)


def test_a_caller_with_permission_learns_which_argument_is_wrong(served, agent_of):
    served()
    result = agent_of("carol").call("staff_create", salery=3)
    assert result.code == "VALIDATION_ERROR"
    assert "salary" in whole_text(result)


def test_an_anonymous_caller_is_unauthorized_and_learns_no_argument(served, agent_of):
    served()
    result = agent_of(None).call("staff_create", salery=3)
    assert result.code == "UNAUTHORIZED"
    assert "salary" not in whole_text(result)


def test_an_unknown_name_is_answered_with_tools_that_the_caller_sees(served, agent_of):
    served()
    for name, seen in (("staff_creat", False), ("open_lst", True)):
        error = agent_of("alice").error("tools/call", name=name, arguments={})
        assert ("Did you mean" in error["message"]) is seen
    error = agent_of("carol").error("tools/call", name="staff_creat", arguments={})
    assert "staff_create" in error["message"]


def test_the_permissions_of_a_call_with_right_arguments_are_checked_once(
    served, agent_of, monkeypatch
):
    served()
    checks = []
    own = permissions.IsAdminUser.has_permission
    monkeypatch.setattr(
        permissions.IsAdminUser,
        "has_permission",
        lambda self, request, view: checks.append(1) or own(self, request, view),
    )
    alice = agent_of("alice")
    # The first call also asks whether the tool is in the list.
    alice.call("staff_create", name="a")
    checks.clear()
    assert alice.call("staff_create", name="a").code == "FORBIDDEN"
    assert len(checks) == 1


def test_a_missing_header_is_named_only_to_a_caller_with_permission(served, agent_of):
    served()
    text = str(agent_of("alice").request("tools/call", name="mirrored", arguments={"region": "a"}))
    assert "FORBIDDEN" in text
    assert "Salary" not in text
    error = agent_of("carol").error("tools/call", name="mirrored", arguments={"region": "a"})
    assert "Salary" in error["message"]


@pytest.mark.parametrize("runner", ["tools_read", "tools_write"])
def test_tool_search_does_not_reveal_a_hidden_tool(served, agent_of, runner):
    served(TOOL_SEARCH=True)
    other = {"tools_read": "staff_create", "tools_write": "staff_list"}[runner]
    hidden = agent_of("alice").call(runner, name=other, arguments={})
    seen = agent_of("carol").call(runner, name=other, arguments={})
    assert (hidden.problems[0]["code"], seen.problems[0]["code"]) == ("unknown_tool", "wrong_tool")
