"""Each call of a program is an ordinary call: confirmed, throttled, recorded, narrowed."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework import serializers
from rest_framework.authentication import TokenAuthentication
from rest_framework.generics import CreateAPIView

from drf_mcp import mcp_tool
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.contrib.writes.idempotency.view import IdempotencyKeyMixin
from example_project.shop.models import Customer, Order

pytestmark = pytest.mark.django_db

BY_TOKEN = {"AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"]}
PROGRAM = """
new = customers_create(name="Zoe", email="zoe@example.com", country="DE")
print("made")
customers_destroy(id=new["id"])
len(customers_list(email="zoe@example.com"))
"""


def test_a_confirmation_stops_the_program_and_nothing_runs_twice(staff, configure, calls):
    configure(CONFIRM=True)
    stopped = staff.run(PROGRAM)
    assert stopped.code == "CONFIRMATION_REQUIRED"
    assert stopped.data["tool"] == "customers_destroy"
    assert stopped.data["preview"]["object"].endswith('name "Zoe"')
    assert [each["tool"] for each in stopped.data["changed"]] == ["customers_create"]
    assert Customer.objects.filter(email="zoe@example.com").count() == 1
    calls.clear()
    result = staff.go_on(stopped)
    assert (result.is_error, result.data["result"]) == (False, 0)
    assert "customers_create" not in calls
    assert not Customer.objects.filter(email="zoe@example.com").exists()


def test_what_changed_since_is_asked_anew(staff, configure):
    configure(CONFIRM=True)
    stopped = staff.run(PROGRAM)
    Customer.objects.filter(email="zoe@example.com").update(name="Somebody else")
    again = staff.go_on(stopped)
    assert again.code in ("CONFIRMATION_REQUIRED", "CONFIRMATION_INVALID")
    assert Customer.objects.filter(email="zoe@example.com").exists()


def test_another_program_does_not_go_on(staff, configure):
    configure(CONFIRM=True)
    stopped = staff.run(PROGRAM)
    other = staff.call("tools_compose", resume=stopped.data["resume"], program="customers_list()")
    assert [each["pointer"] for each in other.problems] == ["/program"]


def test_answers_that_nobody_asked_for_are_refused(staff, configure):
    configure(CONFIRM=True)
    result = staff.go_on(staff.run(PROGRAM), sure=True)
    assert [each["pointer"] for each in result.problems] == ["/answers/sure"]


def test_the_programs_own_limits_hold_for_all_of_it(staff, configure):
    configure(CONFIRM=True, COMPOSE_LIMITS={"calls": 2})
    result = staff.go_on(staff.run(PROGRAM))
    assert "the most that it may make" in result.envelope["error"]
    assert [each["tool"] for each in result.data["changed"]] == [
        "customers_create",
        "customers_destroy",
    ]


def test_each_call_counts_for_throttles(composer, configure):
    configure(
        THROTTLE_CLASSES=["tests.contrib.compose.throttles.FourCalls"], COMPOSE_LIMITS={"calls": 9}
    )
    result = composer.run("for i in range(9):\n    customers_list(page=1)")
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert "Line 2: customers_list" in result.envelope["error"]


def test_each_call_is_recorded(composer, monkeypatch):
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())
    composer.run("customers_list(page=1)\norders_list(page_size=1)")
    recorded = AuditedCall.objects.values_list("tool", flat=True)
    assert sorted(recorded) == ["customers_list", "orders_list", "tools_compose"]


def test_what_is_taken_away_from_the_endpoint_is_taken_from_programs(composer, configure):
    configure(READ_ONLY=True)
    pk = Order.objects.filter(customer__owner__username="alice", status="pending").first().pk
    result = composer.run(f"orders_cancel(id={pk})")
    assert result.is_error
    assert Order.objects.get(pk=pk).status == "pending"


def test_a_call_that_fails_leaves_what_was_done_and_says_it(staff):
    result = staff.run(
        "c = customers_create(name='Zoe', email='zoe@example.com', country='DE')\n"
        "customers_retrieve(id=0)"
    )
    assert result.code == "NOT_FOUND"
    assert [each["tool"] for each in result.data["changed"]] == ["customers_create"]
    assert Customer.objects.filter(email="zoe@example.com").exists()


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


@mcp_tool(name="make_group")
class MakeGroup(IdempotencyKeyMixin, CreateAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    authentication_classes = (TokenAuthentication,)
    idempotency_key_required = True


def test_a_key_is_asked_for_and_sent_when_the_program_goes_on(composer_of, expose):
    expose(path("groups/", MakeGroup.as_view()), COMPOSE="writes", **BY_TOKEN)
    agent = composer_of("alice", "/mcp")
    stopped = agent.run("make_group(name='one')['name']")
    assert stopped.data["answers"] == ["idempotency_key"]
    assert agent.go_on(stopped, idempotency_key="first").data["result"] == "one"
    # Sent with another program, the key has its first answer.
    again = agent.value("make_group(name='one', idempotency_key='first')['name']")
    assert (again, Group.objects.filter(name="one").count()) == ("one", 1)
