"""Rules in Python and in the database; the first rule that decides wins."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import CommandError, call_command
from django.urls import path
from django.utils import timezone
from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import serializers
from rest_framework.generics import CreateAPIView, GenericAPIView
from rest_framework.response import Response

from drf_mcp.contrib.rules import RuleCall, Ruling, rule
from drf_mcp.contrib.rules.models import CallRule
from drf_mcp.test import MCPClient
from example_project.shop.models import Customer, Order


@pytest.fixture
def refund(alice, order):
    def refund(**arguments):
        return alice.call("orders_refund", id=order.pk, reason="late", **arguments)

    return refund


def is_refunded(order: Order) -> bool:
    order.refresh_from_db()
    return order.status == "refunded"


def test_a_rule_refuses_with_its_reason(save_rule, refund, order):
    save_rule("orders_refund", condition="amount > 5", reason="Refunds above 5 are made by hand.")
    result = refund(amount="6.00")
    assert (result.code, is_refunded(order)) == ("FORBIDDEN", False)
    assert "Refunds above 5 are made by hand." in str(result.envelope)
    assert not refund(amount="5.00").is_error


@pytest.mark.parametrize("written", ["6", " 6.00 ", "6e0", "\uff16", 6, 6.0])
def test_a_condition_reads_an_argument_as_the_serializer_does(save_rule, refund, order, written):
    save_rule("orders_refund", condition="amount > 5")
    assert refund(amount=written).is_error
    assert not is_refunded(order)


def test_a_refusing_condition_refuses_a_call_without_its_argument(save_rule, refund, order):
    """Without an amount the whole total is refunded."""
    save_rule("orders_refund", condition="amount > 5")
    assert refund().code == "FORBIDDEN"
    assert not is_refunded(order)


def test_an_allowing_condition_does_not_allow_a_call_without_its_argument(save_rule, refund):
    save_rule("orders_refund", "allow", condition="amount < 5", order=1)
    save_rule("orders_refund", order=2)
    assert not refund(amount="4").is_error
    assert refund().code == "FORBIDDEN"


def test_the_first_rule_that_decides_wins(save_rule, refund):
    save_rule("orders_*", order=2)
    save_rule("orders_refund", "allow", order=1)
    assert not refund(amount="1").is_error


def test_a_rule_about_the_object(save_rule, refund, order):
    save_rule("orders_refund", condition=f"object.total >= {order.total}")
    assert refund(amount="1").code == "FORBIDDEN"


def test_a_rule_reveals_nothing_of_an_object_that_the_caller_may_not_see(save_rule, agent_of):
    save_rule("orders_refund", condition="object.total > 0", reason="SECRET")
    foreign = Order.objects.exclude(customer__owner__username="bob").filter(status="paid")[0]
    result = agent_of("bob").call("orders_refund", id=foreign.pk, reason="late")
    assert result.is_error
    assert "SECRET" not in str(result.envelope)


def test_a_condition_reads_the_caller_and_their_groups(save_rule, refund, order):
    save_rule(
        "orders_refund", condition='"support" in caller.groups and caller.username == "alice"'
    )
    assert not refund(amount="1").is_error
    Group.objects.create(name="support").user_set.add(User.objects.get(username="alice"))
    assert refund(amount="1").code == "FORBIDDEN"


def test_a_condition_reads_the_token_and_the_time(save_rule, refund):
    save_rule(
        "orders_refund",
        condition='token.kind == "TokenAuthentication" and now.hour >= 0 and now.weekday <= 7',
    )
    assert refund(amount="1").code == "FORBIDDEN"


def test_the_token_of_a_caller_without_a_token_is_null(save_rule, order):
    nothing = "token.name == null and token.prefix == null and token.client == null"
    person = 'caller.username == "alice" and not caller.is_anonymous and not caller.is_staff'
    save_rule("orders_refund", condition=f"{nothing} and {person} and len(token.scopes) == 0")
    client = MCPClient()
    client.force_authenticate(User.objects.get(username="alice"))
    assert (
        "Not today." in client.call_tool("orders_refund", {"id": order.pk, "reason": "late"}).text
    )


class NoteSerializer(serializers.Serializer):
    caller = serializers.JSONField()


class NoteView(GenericAPIView):
    """Keep a note."""

    serializer_class = NoteSerializer

    def post(self, request) -> Response:
        return Response({"kept": True})


@pytest.mark.parametrize("condition", ["not caller.is_staff", "arguments.caller.is_staff == true"])
def test_an_argument_called_caller_is_not_the_caller(save_rule, expose, agent_of, condition):
    expose(path("note/", NoteView.as_view()))
    save_rule("note", condition=condition)
    assert agent_of("alice").call("note", caller={"is_staff": True}).code == "FORBIDDEN"


def test_a_condition_reads_the_time_in_the_zone_of_the_project(save_rule, refund):
    """A caller whose time zone is activated by middleware could otherwise choose the hour."""
    with timezone.override("Etc/GMT+12"):
        there = timezone.localtime()
        project = timezone.localtime(timezone=timezone.get_default_timezone())
        save_rule("orders_refund", condition=f"now.hour == {there.hour}")
        assert there.hour != project.hour
        assert not refund(amount="1").is_error


def test_an_anonymous_caller_learns_of_no_rule(save_rule, agent_of):
    save_rule("*", reason="SECRET")
    response = agent_of(None).post(*agent_of(None).frame("tools/call", {"name": "stats"}))
    assert response.status_code == 401
    assert "SECRET" not in response.content.decode()


def test_each_of_several_objects_is_judged(save_rule, carol):
    save_rule("products_partial_update", condition="price > 500")
    items = [{"slug": "cast-iron-pan", "price": "1"}, {"slug": "cast-iron-pan", "price": "501"}]
    assert carol.call("products_partial_update", items=items).code == "FORBIDDEN"


def test_a_rule_holds_for_a_resource_as_for_its_tool(save_rule, alice):
    save_rule("products_list", reason="No catalogue today.")
    assert "No catalogue today." in str(alice.call("products_list").envelope)
    assert "error" in alice.request("resources/read", uri="shop://api/products")


def test_a_rule_in_python(refund, order):
    @rule("orders_refund")
    def large_refunds(call):
        if call.arguments.get("amount", call.object.total) > 5 and not call.user.is_staff:
            return Ruling.refuse("Too much.")

    assert refund(amount="6").code == "FORBIDDEN"
    assert refund().code == "FORBIDDEN"
    assert not refund(amount="5").is_error
    # A rule can be called in tests like any function.
    call = RuleCall("orders_refund", {"amount": Decimal(9)}, User(), object=order)
    assert large_refunds(call) == Ruling.refuse("Too much.")


def test_a_related_field_is_its_key(save_rule, alice):
    seen = []

    @rule("tickets_create")
    def note(call):
        seen.append(Customer.objects.get(pk=call.arguments["customer"]))

    customer = Customer.objects.filter(owner__username="alice").earliest("pk")
    sent = {"customer": customer.pk, "subject": "Late", "body": "Where is it?"}
    assert not alice.call("tickets_create", **sent).is_error
    assert seen == [customer]
    save_rule("tickets_create", condition=f"customer == {customer.pk}")
    assert alice.call("tickets_create", **sent).code == "FORBIDDEN"


def test_an_argument_that_the_view_refuses_is_answered_with_the_errors_of_the_view(refund):
    @rule("orders_refund")
    def large_refunds(call):
        return Ruling.refuse("Too much.") if call.arguments["amount"] > 5 else None

    result = refund(amount="much")
    assert result.code == "VALIDATION_ERROR"
    assert result.problems[0]["pointer"] == "/amount"


@pytest.mark.parametrize("answer", [lambda call: 1 / 0, lambda call: True])
def test_a_rule_that_crashes_refuses_and_is_reported(agent_of, order, answer, reported):
    rule("orders_refund")(answer)
    agent = agent_of("alice")
    agent.http.raise_request_exception = False
    result = agent.call("orders_refund", id=order.pk, reason="late")
    assert result.code == "INTERNAL_ERROR"
    assert reported
    assert not is_refunded(order)


def test_a_condition_that_became_invalid_refuses(save_rule, agent_of, order):
    row = save_rule("orders_refund", condition="amount > 5")
    CallRule.objects.filter(pk=row.pk).update(condition="sum > 5")
    agent = agent_of("alice")
    agent.http.raise_request_exception = False
    result = agent.call("orders_refund", id=order.pk, reason="late", amount="1")
    assert result.code == "INTERNAL_ERROR"
    assert not is_refunded(order)


@pytest.mark.parametrize(
    ("tools", "condition", "fault"),
    [
        ("orders_refund", "amont > 5", "amont"),
        ("orders_refund", 'amount > "much"', "compared"),
        ("orders_refund", "object.totl > 5", "totl"),
        ("orders_refund", "object.customer == 5", "name a field"),
        ("orders_refund", "object._state == 5", "_state"),
        ("orders_refund", "object.lines == 5", "several"),
        ("orders_list", "object.total > 5", "not about one object"),
        ("orders_refund", "caller.password == 'x'", "password"),
        ("orders_*", "amount > 5", "orders_"),
        ("nothing_*", "", "No tool"),
        ("Orders", "", "lower case"),
    ],
)
def test_a_rule_is_checked_when_it_is_saved(save_rule, tools, condition, fault):
    with pytest.raises(ValidationError, match=fault):
        save_rule(tools, condition=condition)


def test_a_refusal_needs_a_reason(save_rule):
    with pytest.raises(ValidationError, match="Say why"):
        save_rule("orders_refund", reason="")


def test_a_condition_reads_through_relations(save_rule, refund):
    save_rule("orders_refund", condition='object.customer.owner.username == "alice"')
    assert refund(amount="1").code == "FORBIDDEN"


def test_a_wrong_pattern_of_a_rule_in_python_is_refused():
    with pytest.raises(ImproperlyConfigured, match="lower case"):
        rule("Orders")


# --- Commands and the admin --------------------------------------------------------------------


def test_the_command_lists_rules_in_their_order(save_rule, capsys):
    save_rule("orders_refund", name="second", order=20, condition="amount > 5")
    save_rule("orders_*", name="first", order=10)
    call_command("mcp_rules", "list")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["10", "first"], ["20", "second"]]


def test_the_command_tests_the_rules_with_a_call(save_rule, order, capsys):
    save_rule("orders_refund", name="large", condition="amount > 5", reason="Too much.")
    sent = [f"id={order.pk}", "reason=late"]
    call_command("mcp_rules", "test", "orders_refund", *sent, "amount=6", username="alice")
    assert "large: refuse" in capsys.readouterr().out
    call_command("mcp_rules", "test", "orders_refund", *sent, "amount=4", username="alice")
    assert "No rule decides" in capsys.readouterr().out
    assert not is_refunded(order)


def test_the_command_refuses_a_call_that_cannot_be_decided(save_rule, order):
    save_rule("orders_refund", condition="object.total > 5")
    with pytest.raises(CommandError):
        call_command("mcp_rules", "test", "orders_refund", "id=0", "reason=late", username="alice")
    with pytest.raises(CommandError):
        call_command("mcp_rules", "test", "orders_refund", "number=0", username="alice")


def test_why_and_risks_name_the_rule(save_rule, capsys):
    save_rule("orders_refund", name="large", condition="amount > 5")
    save_rule("orders_refund", name="others", condition='caller.username == "bob"')
    call_command("mcp_tools", "why", "orders_refund", username="alice")
    out = capsys.readouterr().out
    assert "large" in out
    assert "others" not in out
    call_command("mcp_tools", "risks")
    assert "large: amount > 5" in capsys.readouterr().out


def test_why_says_that_a_rule_refuses_each_call_of_a_caller(save_rule, capsys):
    save_rule("orders_refund", name="never", condition="not caller.is_staff")
    call_command("mcp_tools", "why", "orders_refund", username="alice")
    assert "may not call" in capsys.readouterr().out


def test_the_admin_shows_and_checks_rules(db, client):
    client.force_login(User.objects.get(username="admin"))
    page = client.get("/admin/drf_mcp_rules/callrule/add/").content.decode()
    assert "The first rule that decides wins." in page
    sent = {"name": "x", "order": 1, "tools": "orders_refund", "verdict": "refuse"}
    sent |= {"approvals": 1, "reason": "No.", "is_active": "on", "condition": "amont > 5"}
    answer = client.post("/admin/drf_mcp_rules/callrule/add/", sent)
    assert "Did you mean" in answer.content.decode()
    client.post("/admin/drf_mcp_rules/callrule/add/", {**sent, "condition": ""})
    assert "every call" in client.get("/admin/drf_mcp_rules/callrule/").content.decode()


class PricedSerializer(serializers.Serializer):
    unit_price = serializers.DecimalField(max_digits=8, decimal_places=2)
    is_gift = serializers.BooleanField(default=False)


class PricedView(CreateAPIView):
    serializer_class = PricedSerializer
    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]

    def perform_create(self, serializer) -> None:
        pass


@pytest.mark.parametrize(("price", "is_refused"), [("600", True), (600, True), ("6.5", False)])
def test_the_serializer_reads_arguments_in_camel_case(expose, save_rule, alice, price, is_refused):
    expose(path("prices/", PricedView.as_view(), name="prices"))
    save_rule("prices_create", condition="unitPrice > 500 and isGift == false")
    assert alice.call("prices_create", unitPrice=price).is_error is is_refused
