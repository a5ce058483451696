"""``mcp_tools risks``: the guards that each writing tool has, and those that it lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.decorators import login_required
from django.core.checks import run_checks
from django.urls import path
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle, UserRateThrottle
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.writes.idempotency import IdempotencyKeyMixin
from drf_mcp.views import MCPView

pytestmark = pytest.mark.django_db


class Hourly(UserRateThrottle):
    rate = "9/hour"


class Unlimited(UserRateThrottle):
    rate = None


class Scoped(ScopedRateThrottle):
    THROTTLE_RATES = {"deeds": "9/hour"}


class Deed(APIView):
    """Do it."""

    permission_classes = [IsAdminUser]

    def post(self, request) -> Response:
        """Do it."""
        return Response()


class KeyedDeed(IdempotencyKeyMixin, Deed):
    pass


class Plain(AllowAny):
    pass


class AllowStaff(AllowAny):
    def has_permission(self, request, view) -> bool:
        return request.user.is_staff


class AllowOwn(AllowAny):
    def has_object_permission(self, request, view, obj) -> bool:
        return obj.owner == request.user


class SampleDeed(Deed):
    permission_classes = []

    def get_permissions(self) -> list[Any]:
        return [IsAdminUser()]


class CallersDeed(Deed):
    permission_classes = []

    def get_permissions(self) -> list[Any]:
        return [self.request.tenant.permission]


class OwnCheck(Deed):
    permission_classes = []

    def check_permissions(self, request) -> None:
        pass


@pytest.fixture
def judge(expose, printed) -> Callable[..., dict[str, Any]]:
    """Serve a deed with these options and attributes, and return its entry of the report."""

    def judge(view_class: type = Deed, *args: str, options: Any = None, **attributes: Any) -> Any:
        view = mcp_tool(**options or {})(type("Own", (view_class,), attributes))
        own = MCPView.as_view(tool_options={"confirm": True}, throttle_classes=[Hourly])
        expose(path("deed/", view.as_view()), path("own/mcp", own))
        (entry,) = json.loads(printed("risks", "--json", *args))["tools"]
        return entry

    return judge


@pytest.mark.parametrize("classes", [[], [AllowAny], [Plain]])
def test_a_tool_without_permissions_is_a_grave_risk(judge, classes):
    entry = judge(permission_classes=classes)
    assert (entry["guards"]["permissions"], entry["grave"]) == ("no", ["permissions"])


@pytest.mark.parametrize("permission", [AllowStaff, AllowOwn])
def test_a_subclass_of_allow_any_with_its_own_check_is_a_permission(judge, permission):
    assert judge(permission_classes=[permission])["guards"]["permissions"] == "yes"


def test_permissions_that_get_permissions_returns_are_known(judge):
    entry = judge(SampleDeed)
    assert (entry["guards"]["permissions"], entry["permissions"]) == ("yes", ["IsAdminUser"])


@pytest.mark.parametrize("view_class", [CallersDeed, OwnCheck])
def test_permissions_that_depend_on_the_call_are_not_known(judge, view_class):
    entry = judge(view_class)
    assert (entry["guards"]["permissions"], entry["grave"]) == ("not known", [])


def test_permissions_behind_a_decorator_are_not_known(expose, printed):
    expose(path("deed/", login_required(Deed.as_view(permission_classes=[]))))
    (entry,) = json.loads(printed("risks", "--json"))["tools"]
    assert entry["guards"]["permissions"] == "not known"


def test_a_destructive_tool_without_confirmation_is_a_grave_risk(judge):
    assert judge(options={"destructive": True})["grave"] == ["confirmation"]
    assert judge(options={"destructive": True, "confirm": True})["grave"] == []


def test_a_tool_that_only_adds_needs_no_confirmation(judge):
    assert judge(options={"destructive": False})["guards"]["confirmation"] == "not needed"


def test_an_idempotent_tool_needs_no_key(judge):
    assert judge()["guards"]["idempotency_key"] == "no"
    assert judge(options={"idempotent": True})["guards"]["idempotency_key"] == "not needed"
    assert judge(KeyedDeed)["guards"]["idempotency_key"] == "yes"


def test_dry_run_and_if_match_are_guards(judge):
    guards = judge(options={"dry_run": True})["guards"]
    assert (guards["dry_run"], guards["if_match"]) == ("yes", "not needed")


@pytest.mark.parametrize(
    ("attributes", "limited"),
    [
        ({"throttle_classes": [Hourly]}, "yes"),
        ({"throttle_classes": [Unlimited]}, "no"),
        ({"throttle_classes": [Scoped], "throttle_scope": "deeds"}, "yes"),
        ({"throttle_classes": [Scoped]}, "no"),
    ],
)
def test_only_a_throttle_with_a_rate_is_a_guard(judge, attributes, limited):
    assert judge(**attributes)["guards"]["throttle"] == limited


def test_an_endpoint_is_judged_by_its_own_options_and_throttles(judge):
    guards = judge(Deed, "--endpoint", "/own/mcp")["guards"]
    assert (guards["confirmation"], guards["throttle"]) == ("yes", "yes")
    guards = judge()["guards"]
    assert (guards["confirmation"], guards["throttle"]) == ("no", "no")


def test_an_audit_without_an_auditor_is_no_guard(judge, monkeypatch):
    for auditor, is_audited in [(None, "no"), (Auditor(), "yes")]:
        monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", auditor)
        assert judge()["guards"]["audit"] == is_audited


def test_the_least_guarded_tools_come_first(expose, printed):
    deeds = {
        "tried": mcp_tool(dry_run=True)(type("Tried", (Deed,), {})),
        "bare": Deed,
        "final": mcp_tool(destructive=True)(type("Final", (Deed,), {})),
        "anybody": type("Anybody", (Deed,), {"permission_classes": []}),
    }
    expose(*(path(f"{name}/", view.as_view()) for name, view in deeds.items()))
    entries = json.loads(printed("risks", "--json"))["tools"]
    assert [each["tool"] for each in entries] == ["anybody", "final", "bare", "tried"]


@pytest.mark.slow
def test_the_report_as_a_user_has_the_tools_that_the_user_sees(printed):
    names = {each["tool"] for each in json.loads(printed("risks", "--json"))["tools"]}
    seen = json.loads(printed("risks", "--json", "--as", "alice"))["tools"]
    assert names - {each["tool"] for each in seen} == {
        "customers_deactivate",
        "products_partial_update",
    }


def test_tools_that_read_have_no_risks(printed):
    assert printed("risks", "--endpoint", "/mcp/readonly").strip() == "None of the tools writes."


def test_a_long_name_has_its_own_line_on_a_narrow_screen(expose, printed):
    expose(path(f"{'long' * 10}/", Deed.as_view()))
    lines = printed("risks", columns=80).splitlines()
    assert lines[0] == "long" * 10
    assert max(map(len, lines)) <= 80


def test_writes_without_a_guard_are_named_once_before_deployment(expose, subtests):
    for options, is_named in (({}, True), ({"confirm": True}, False), ({"read_only": True}, False)):
        with subtests.test(options=options):
            view = mcp_tool(**options)(type("Own", (Deed,), {}))
            expose(path("deed/", view.as_view()), path("own/mcp", MCPView.as_view()))
            checks = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
            found = [each.msg for each in checks if each.id == "drf_mcp.W041"]
            assert len(found) == is_named
            assert all("deed: lacks confirmation" in text for text in found), found
