"""Each call of a program is an ordinary call: confirmed, throttled, recorded, narrowed."""

from __future__ import annotations

import json

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.urls import path
from rest_framework import serializers
from rest_framework.authentication import TokenAuthentication
from rest_framework.generics import CreateAPIView, ListAPIView
from rest_framework.permissions import BasePermission
from rest_framework.routers import SimpleRouter

from drf_mcp import mcp_tool
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.contrib.compose.models import KeptProgram
from drf_mcp.contrib.writes.idempotency import IdempotencyKeyMixin
from example_project.shop.models import Customer, Order
from tests.contrib.compose.conftest import Composer
from tests.contrib.tokens.holders import issue_token, make_client
from tests.interaction.views import RefundViewSet

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
    assert stopped.data["preview"]["shown"]["name"] == "Zoe"
    error = stopped.envelope["error"]
    assert "What was changed before stays: customers_create (1). The call was not made:" in error
    assert [each["tool"] for each in stopped.data["changed"]] == ["customers_create"]
    assert Customer.objects.filter(email="zoe@example.com").count() == 1
    calls.clear()
    result = staff.resume(stopped)
    assert (result.is_error, result.data["result"]) == (False, 0)
    assert "customers_create" not in calls
    assert not Customer.objects.filter(email="zoe@example.com").exists()


def test_a_call_repeated_by_its_idempotency_key_is_one_change(staff, configure):
    configure(IDEMPOTENCY_KEYS=True)
    new = 'customers_create(name="Zoe", email="z@example.com", country="DE", idempotency_key="k")\n'
    failed = staff.run(f"{new}{new}1 / 0")
    assert [each["tool"] for each in failed.data["changed"]] == ["customers_create"]
    assert failed.envelope["error"].endswith(
        "division by zero. What was changed before stays: customers_create (1)."
    )


def test_a_program_may_stop_several_times(staff, configure, calls):
    configure(CONFIRM=True)
    one, two = Customer.objects.exclude(orders__isnull=False).values_list("pk", flat=True)[:2]
    stopped = staff.run(f"customers_destroy(id={one})\ncustomers_destroy(id={two})\n'both'")
    again = staff.resume(stopped)
    assert again.data["changed"] == [{"tool": "customers_destroy", "arguments": {"id": one}}]
    assert again.envelope["error"].startswith(
        "The program stopped at customers_destroy. What was changed before stays:"
        " customers_destroy (1). The call was not made: it has to be confirmed. Delete a customer: "
    )
    calls.clear()
    assert staff.resume(again).data["result"] == "both"
    assert calls == ["customers_destroy", "tools_compose"]
    assert not Customer.objects.filter(pk__in=[one, two]).exists()


def test_errors_before_a_stop_are_the_same_after_it(staff, configure, calls):
    configure(CONFIRM=True)
    pk = Customer.objects.exclude(orders__isnull=False).first().pk
    program = f"""
errors = []
for arguments in [{{"foo": 1}}, {{"page": 99}}]:
    try:
        customers_list(**arguments)
    except ToolError as error:
        errors.append(str(error))
customers_destroy(id={pk})
errors
"""
    stopped = staff.run(program)
    calls.clear()
    errors = staff.resume(stopped).data["result"]
    codes = [text.split()[0] for text in errors]
    assert codes == ["VALIDATION_ERROR", "NOT_FOUND"]
    assert "customers_list" not in calls


def call_with_forms(staff, **params):
    capabilities = {"elicitation": {"form": {}}}
    meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
    return staff.result("tools/call", name="tools_compose", _meta=meta, **params)


@pytest.mark.parametrize("action", ["accept", "decline"])
def test_the_user_of_a_client_with_forms_is_asked(staff, configure, calls, action):
    configure(CONFIRM=True)
    arguments = {"program": PROGRAM}
    asked = call_with_forms(staff, arguments=arguments)
    [(key, request)] = asked["inputRequests"].items()
    assert request["params"]["message"].startswith("Delete a customer?")
    calls.clear()
    replies = {key: {"action": action, "content": {}}}
    further = {"requestState": asked["requestState"], "inputResponses": replies}
    call_with_forms(staff, arguments=arguments, **further)
    assert "customers_create" not in calls
    exists = Customer.objects.filter(email="zoe@example.com").exists()
    assert exists is (action == "decline")


def test_a_row_that_changed_after_the_stop_is_confirmed_anew(staff, configure):
    configure(CONFIRM=True)
    stopped = staff.run(PROGRAM)
    Customer.objects.filter(email="zoe@example.com").update(name="Somebody else")
    again = staff.resume(stopped)
    assert again.code in ("CONFIRMATION_REQUIRED", "CONFIRMATION_INVALID")
    assert Customer.objects.filter(email="zoe@example.com").exists()


def test_unknown_answers_are_refused(staff, configure):
    configure(CONFIRM=True)
    result = staff.resume(staff.run(PROGRAM), sure=True)
    assert [each["pointer"] for each in result.problems] == ["/answers/sure"]


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


def test_the_setting_read_only_holds_for_programs(composer, configure):
    configure(READ_ONLY=True)
    pk = Order.objects.filter(customer__owner__username="alice", status="pending").first().pk
    result = composer.run(f"orders_cancel(id={pk})")
    assert result.is_error
    assert Order.objects.get(pk=pk).status == "pending"


@pytest.fixture
def holder_of(composer_of):
    """Return agents with a narrowed agent token: ``holder_of(read_only=True)``."""

    def make(**narrowing):
        _, key = issue_token(User.objects.get(username="carol"), **narrowing)
        return Composer(make_client(key), path="/mcp/compose")

    return make


@pytest.mark.parametrize("narrowing", [{"read_only": True}, {"tools": ["customers_list"]}])
def test_a_narrowed_token_narrows_programs(holder_of, narrowing):
    holder = holder_of(**narrowing)
    assert holder.value("len(customers_list(page_size=2, page=1))") == 2
    assert "customers_create" not in holder.value("signatures()")
    result = holder.run(PROGRAM)
    assert result.code == "FORBIDDEN"
    assert (
        "customers_create: FORBIDDEN customers_create is not available"
        in (result.envelope["error"])
    )
    assert not Customer.objects.filter(email="zoe@example.com").exists()


def test_a_narrower_token_cannot_resume_a_program(staff, holder_of, configure):
    configure(CONFIRM=True)
    stopped = holder_of().run(PROGRAM)
    assert holder_of(tools=["customers_*"]).resume(stopped).code == "NOT_FOUND"
    assert holder_of().resume(stopped).data["result"] == 0


def test_untrusted_text_keeps_its_label(composer):
    key = "io.github.drf-mcp/untrusted"
    assert key not in composer.run("customers_list(page=1)").raw["_meta"]
    assert composer.run("tickets_list(page=1)").raw["_meta"][key] == ["result", "output"]


def test_a_result_names_the_changes_of_a_dry_run(staff):
    pk = Customer.objects.exclude(orders__isnull=False).first().pk
    result = staff.run(f"customers_destroy(id={pk}, dry_run=True)\n'tried'")
    [call] = result.envelope["meta"]["calls"]
    assert call["arguments"] == {"id": pk, "dry_run": True}
    assert call["dry_run"] == {"note": "Dry run: nothing was changed."}
    assert Customer.objects.filter(pk=pk).exists()


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


def test_a_missing_idempotency_key_is_sent_with_the_resume(composer_of, expose):
    expose(path("groups/", MakeGroup.as_view()), COMPOSE="writes", **BY_TOKEN)
    agent = composer_of("alice", "/mcp")
    stopped = agent.run("make_group(name='one')['name']")
    assert stopped.data["answers"] == ["idempotency_key"]
    assert agent.resume(stopped, idempotency_key="first").data["result"] == "one"
    # Another program with the same key gets the first result.
    again = agent.value("make_group(name='one', idempotency_key='first')['name']")
    assert (again, Group.objects.filter(name="one").count()) == ("one", 1)


class IsOpen(BasePermission):
    opens = True

    def has_permission(self, request, view):
        return self.opens


@mcp_tool(name="read_groups")
class ReadGroups(ListAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    authentication_classes = (TokenAuthentication,)
    permission_classes = (IsOpen,)


@pytest.fixture
def reader(composer_of, expose):
    """An agent with tools that read 60 groups and make one."""
    Group.objects.bulk_create(Group(name=f"{n} {'x' * 90}") for n in range(60))
    patterns = [path("groups/", ReadGroups.as_view()), path("new/", MakeGroup.as_view())]
    expose(*patterns, COMPOSE="writes", MAX_RESULT_TOKENS=1000, **BY_TOKEN)
    return composer_of("alice", "/mcp")


def test_a_program_is_not_resumed_with_results_that_its_caller_may_not_read_any_more(
    reader, monkeypatch
):
    stopped = reader.run("groups = read_groups()\nmake_group(name='one')\ngroups[0]")
    monkeypatch.setattr(IsOpen, "opens", False)
    result = reader.resume(stopped, idempotency_key="first")
    assert (result.code, Group.objects.filter(name="one").exists()) == ("FORBIDDEN", False)


def test_a_kept_result_is_refused_to_a_caller_who_may_not_read_it_any_more(reader, monkeypatch):
    name = reader.run("read_groups()").data["kept"]
    assert reader.value(f"len(kept({name!r}))") == 60
    again = reader.run(f"kept({name!r}) * 2").data["kept"]
    monkeypatch.setattr(IsOpen, "opens", False)
    for each in (name, again):
        assert "NOT_FOUND" in reader.run(f"len(kept({each!r}))").envelope["error"]


@pytest.mark.parametrize("place", ["answers", "reopened"])
def test_a_call_that_differs_from_the_call_before_the_stop_is_refused(reader, place):
    stopped = reader.run("read_groups()\nmake_group(name='one')")
    row = KeptProgram.objects.get()
    state = json.loads(row.state)
    (state["answers"][0] if place == "answers" else state["reopened"])["arguments"] = "other"
    row.state = json.dumps(state)
    row.save()
    result = reader.resume(stopped, idempotency_key="first")
    assert (result.code, Group.objects.filter(name="one").exists()) == ("CONFLICT", False)


@pytest.fixture
def refunds(composer_of, expose):
    """An agent with a tool that asks for missing arguments."""
    router = SimpleRouter()
    router.register("refunds", RefundViewSet, basename="refunds")
    expose(*router.urls, COMPOSE="writes", **BY_TOKEN)
    return composer_of("alice", "/mcp")


def test_a_question_of_a_view_stops_the_program(refunds):
    stopped = refunds.run("refunds_create()['reason']")
    assert set(stopped.data["answers"]) == {"reason", "amount", "note"}
    assert refunds.resume(stopped, reason="late", amount=12.5).data["result"] == "late"


def test_a_wrong_answer_stops_the_program_again(refunds):
    stopped = refunds.run("refunds_create()['reason']")
    again = refunds.resume(stopped, reason="bored", amount=1)
    assert refunds.resume(again, reason="late", amount=1).data["result"] == "late"
