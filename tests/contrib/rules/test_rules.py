"""Rules in Python and in the table; the first rule that decides wins."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import CommandError, call_command
from django.urls import path
from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import serializers
from rest_framework.generics import CreateAPIView
from rest_framework.permissions import BasePermission

from drf_mcp.contrib.rules import RuleCall, Ruling, rule
from drf_mcp.contrib.rules.models import CallRule
from drf_mcp.exposure import registry
from example_project.shop.models import Customer, Order
from example_project.shop.views import OrderViewSet


@pytest.fixture
def refund(alice, order):
    def refund(**arguments):
        return alice.call("orders_refund", id=order.pk, reason="late", **arguments)

    return refund


def is_refunded(order: Order) -> bool:
    order.refresh_from_db()
    return order.status == "refunded"


LARGE = ("amount", "greater", "5")


def test_a_rule_refuses_with_its_reason(save_rule, refund, order):
    save_rule("orders_refund", when=LARGE, reason="Refunds above 5 are made by hand.")
    result = refund(amount="6.00")
    assert (result.code, is_refunded(order)) == ("FORBIDDEN", False)
    assert "Refunds above 5 are made by hand." in str(result.envelope)
    assert not refund(amount="5.00").is_error


@pytest.mark.parametrize("written", ["6", " 6.00 ", "6e0", "\uff16", 6, 6.0])
def test_an_argument_is_read_as_the_serializer_reads_it(save_rule, refund, order, written):
    save_rule("orders_refund", when=LARGE)
    assert refund(amount=written).is_error
    assert not is_refunded(order)


@pytest.mark.parametrize("written", ["much", [6], {"a": 1}, None])
def test_a_value_that_cannot_be_read_is_not_allowed(save_rule, refund, order, written):
    save_rule("orders_refund", "allow", ("amount", "less", "5"), order=1)
    save_rule("orders_refund", order=2)
    assert refund(amount=written).code == "FORBIDDEN"


@pytest.mark.parametrize(
    "when", [LARGE, ("amount", "is", "5"), ("amount", "is_not", "5"), ("amount", "in", "5\n6")]
)
def test_a_rule_that_refuses_decides_about_a_call_without_its_argument(
    save_rule, refund, order, when
):
    """Without an amount the whole total is refunded."""
    save_rule("orders_refund", when=when)
    assert refund().code == "FORBIDDEN"
    assert not is_refunded(order)


@pytest.mark.parametrize("when", [("amount", "less", "5"), ("amount", "is_not", "5")])
def test_a_rule_that_allows_does_not_decide_about_a_call_without_its_argument(
    save_rule, refund, when
):
    save_rule("orders_refund", "allow", when, order=1)
    save_rule("orders_refund", order=2)
    assert not refund(amount="4").is_error
    assert refund().code == "FORBIDDEN"


def test_the_first_rule_that_decides_wins(save_rule, refund):
    save_rule("orders_*", order=2)
    save_rule("orders_refund", "allow", ("amount", "missing"), order=1)
    assert refund(amount="1").code == "FORBIDDEN"
    assert not refund().is_error


class Address(serializers.Serializer):
    city = serializers.CharField()


class Everything(serializers.Serializer):
    number = serializers.IntegerField(required=False, max_value=100)
    word = serializers.CharField(required=False, max_length=5)
    kind = serializers.ChoiceField(["gold", "silver"], required=False)
    level = serializers.ChoiceField([1, 2, 3], required=False)
    flag = serializers.BooleanField(required=False)
    day = serializers.DateField(required=False)
    moment = serializers.DateTimeField(required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    colors = serializers.MultipleChoiceField(choices=["red", "green"], required=False)
    address = Address(required=False)
    owner = serializers.PrimaryKeyRelatedField(queryset=User.objects.all(), required=False)
    gift = serializers.BooleanField(default=False)
    anything = serializers.JSONField(required=False)


class EverythingView(CreateAPIView):
    serializer_class = Everything

    def perform_create(self, serializer) -> None:
        pass


@pytest.fixture
def everything(expose):
    expose(path("everything/", EverythingView.as_view()))
    return next(name for name in registry.tools() if name.startswith("everything"))


@pytest.mark.parametrize(
    ("when", "holds", "fails"),
    [
        (("number", "at_least", "5"), 5, 4),
        (("number", "at_most", "5"), "5", 6),
        (("number", "less", "5"), 4, 5),
        (("number", "in", "5\n6"), 6, 7),
        (("number", "not_in", "5\n6"), 7, 6),
        (("word", "is", "a b"), "a b", "b"),
        (("word", "is_not", "a"), "b", "a"),
        (("word", "contains", "b"), "abc", "ac"),
        (("kind", "is", "gold"), "gold", "silver"),
        (("level", "greater", "1"), 2, 1),
        (("flag", "is", "true"), "on", "off"),
        (("day", "greater", "2026-03-01"), "2026-03-02", "2026-03-01"),
        (("moment", "less", "2026-03-01T12:00Z"), "2026-03-01T11:00Z", "2026-03-01T13:00+01:00"),
        (("tags", "contains", "big"), ["new", "big"], ["bigger"]),
        (("colors", "contains", "red"), ["green", "red"], ["green"]),
        (("address.city", "is", "Bonn"), {"city": "Bonn"}, {"city": "Rome"}),
        (("owner", "is", "1"), "1", 2),
        (("gift", "is", "true"), True, False),
        (("anything", "present"), [1], ...),
        (("anything", "missing"), ..., 5),
    ],
)
def test_an_operator_compares_as_the_argument_is_typed(
    save_rule, everything, alice, when, holds, fails
):
    save_rule(everything, when=when)
    name = when[0].partition(".")[0]

    def is_refused(value) -> bool:
        result = alice.call(everything, **({} if value is ... else {name: value}))
        return result.is_error and result.code == "FORBIDDEN"

    assert (is_refused(holds), is_refused(fails)) == (True, False)


def test_a_missing_argument_has_the_default_of_its_field(save_rule, everything, alice):
    save_rule(everything, when=("gift", "is", "true"))
    assert not alice.call(everything).is_error
    save_rule(everything, when=("gift", "missing"))
    assert alice.call(everything).code == "FORBIDDEN"


def test_an_argument_inside_of_the_open_query_is_the_argument(save_rule, settings, alice):
    settings.DRF_MCP = {**settings.DRF_MCP, "EXTRA_QUERY": True}
    registry.reload()
    seen = []
    rule("orders_list", order=1)(lambda call: seen.append(dict(call.arguments)))
    save_rule("orders_list", "allow", ("number", "missing"), order=2)
    save_rule("orders_list", "refuse", ("number", "is", "S-1"), order=3)
    assert alice.call("orders_list", query={"number": "S-1"}).code == "FORBIDDEN"
    assert seen == [{"number": "S-1"}]
    # The view reads one of the two.
    assert alice.call("orders_list", number="S-2", query={"number": "S-1"}).code == "FORBIDDEN"
    assert not alice.call("orders_list", query={"number": "S-2"}).is_error


@pytest.mark.parametrize(
    ("tool", "when", "field", "fault"),
    [
        ("orders_refnd", (), "tool", "Did you mean orders_refund?"),
        ("nothing_at_all", (), "tool", "no tool"),
        ("Orders", (), "tool", "lower case"),
        ("orders_refund", ("amont", "greater", "5"), "argument", "Did you mean amount?"),
        ("orders_refund", ("zzz", "greater", "5"), "argument", "It has: id, reason, amount"),
        ("orders_refund", ("amount.currency", "is", "5"), "argument", "no argument currency"),
        ("orders_*", ("amount", "greater", "5"), "argument", "orders_"),
        ("orders_refund", ("amount", "contains", "5"), "operator", "greater"),
        ("orders_refund", ("amount", "", "5"), "operator", "how"),
        ("orders_refund", ("amount", "greater", ""), "value", "Say a value"),
        ("orders_refund", ("amount", "missing", "5"), "value", "takes no value"),
        ("orders_refund", ("amount", "greater", "much"), "value", "valid number"),
        ("orders_refund", ("", "greater", "5"), "argument", "which argument"),
        ("orders_list", ("status", "contains", "shiped"), "value", "Did you mean shipped?"),
        ("orders_retrieve", ("id", "is", "x"), "value", "valid number"),
    ],
)
def test_a_rule_that_cannot_fit_is_refused_when_it_is_saved(save_rule, tool, when, field, fault):
    with pytest.raises(ValidationError) as caught:
        save_rule(tool, when=when)
    assert fault in caught.value.message_dict[field][0]


@pytest.mark.parametrize(
    "when",
    [
        ("number", "is", "101"),
        ("number", "greater", "100"),
        ("number", "is", "1.5"),
        ("word", "is", "longer"),
        ("word", "greater", "a"),
        ("kind", "is", "bronze"),
        ("level", "in", "3\n4"),
        ("flag", "is", "maybe"),
        ("flag", "greater", "true"),
        ("day", "less", "yesterday"),
        ("tags", "is", "new"),
        ("colors", "contains", "blue"),
        ("anything", "is", "5"),
        ("address.town", "is", "Bonn"),
    ],
)
def test_a_value_that_the_argument_can_never_have_is_refused(save_rule, everything, when):
    with pytest.raises(ValidationError):
        save_rule(everything, when=when)


def test_a_stored_rule_whose_argument_is_gone_refuses_and_is_named_by_a_check(
    save_rule, agent_of, order
):
    row = save_rule("orders_refund", when=LARGE, name="large")
    gone = save_rule("orders_list", name="lists")
    assert not [m for m in run_checks() if m.id == "drf_mcp_rules.W002"]
    CallRule.objects.filter(pk=row.pk).update(argument="sum")
    CallRule.objects.filter(pk=gone.pk).update(tool="orders_lst")
    agent = agent_of("alice")
    agent.http.raise_request_exception = False
    result = agent.call("orders_refund", id=order.pk, reason="late", amount="1")
    assert result.code == "INTERNAL_ERROR"
    assert not is_refunded(order)
    said = [message.msg for message in run_checks() if message.id == "drf_mcp_rules.W002"]
    assert ["large" in said[0], "orders_list?" in said[1]] == [True, True]


# --- What a rule sees ----------------------------------------------------------------------------


def test_a_rule_reveals_nothing_of_an_object_that_the_caller_may_not_see(save_rule, agent_of):
    save_rule("orders_refund", reason="SECRET")
    foreign = Order.objects.exclude(customer__owner__username="bob").filter(status="paid")[0]
    result = agent_of("bob").call("orders_refund", id=foreign.pk, reason="late")
    assert result.envelope["error"] == "This belongs to another user."


def test_a_rule_reveals_nothing_to_a_caller_without_permission(save_rule, refund, monkeypatch):
    class Never(BasePermission):
        def has_permission(self, request, view) -> bool:
            return False

    monkeypatch.setattr(OrderViewSet, "permission_classes", [Never])
    save_rule("orders_refund", reason="SECRET")
    assert "SECRET" not in str(refund().envelope)


def test_an_anonymous_caller_learns_of_no_rule(save_rule, agent_of):
    save_rule("*", reason="SECRET")
    response = agent_of(None).post(*agent_of(None).frame("tools/call", {"name": "stats"}))
    assert response.status_code == 401
    assert "SECRET" not in response.content.decode()


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


def test_a_related_field_is_its_key(alice):
    seen = []

    @rule("tickets_create")
    def note(call):
        seen.append(Customer.objects.get(pk=call.arguments["customer"]))

    customer = Customer.objects.filter(owner__username="alice").earliest("pk")
    sent = {"customer": customer.pk, "subject": "Late", "body": "Where is it?"}
    assert not alice.call("tickets_create", **sent).is_error
    assert seen == [customer]


def test_an_argument_that_the_view_refuses_is_answered_with_the_errors_of_the_view(refund):
    @rule("orders_refund")
    def large_refunds(call):
        return Ruling.ask("Too much.") if call.arguments["amount"] > 5 else None

    result = refund(amount="much")
    assert result.envelope["data"]["details"]["field"] == "amount"


@pytest.mark.parametrize("answer", [lambda call: 1 / 0, lambda call: True])
def test_a_rule_that_crashes_refuses_and_is_reported(agent_of, order, answer, reported):
    rule("orders_refund")(answer)
    agent = agent_of("alice")
    agent.http.raise_request_exception = False
    result = agent.call("orders_refund", id=order.pk, reason="late")
    assert result.code == "INTERNAL_ERROR"
    assert reported
    assert not is_refunded(order)


def test_a_wrong_pattern_of_a_rule_in_python_is_refused():
    with pytest.raises(ImproperlyConfigured, match="lower case"):
        rule("Orders")


class PricedSerializer(serializers.Serializer):
    unit_price = serializers.DecimalField(max_digits=8, decimal_places=2)
    is_gift = serializers.BooleanField(default=False)


class PricedView(CreateAPIView):
    serializer_class = PricedSerializer
    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]

    def perform_create(self, serializer) -> None:
        pass


def test_a_rule_reads_fields_that_a_parser_renames(save_rule, expose, alice):
    expose(path("prices/", PricedView.as_view(), name="prices"))
    save_rule("prices_create", when=("unitPrice", "greater", "500"))
    assert alice.call("prices_create", unitPrice="600.00").code == "FORBIDDEN"
    assert not alice.call("prices_create", unitPrice="5.00").is_error


# --- Commands and the admin --------------------------------------------------------------------


def test_the_command_lists_rules_in_their_order(save_rule, capsys):
    save_rule("orders_refund", name="second", order=20, when=LARGE)
    save_rule("orders_*", name="first", order=10)
    call_command("mcp_rules", "list")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["10", "first"], ["20", "second"]]


def test_the_command_tests_the_rules_with_a_call(save_rule, order, capsys):
    save_rule("orders_refund", name="large", when=LARGE, reason="Too much.")
    sent = [f"id={order.pk}", "reason=late"]
    call_command("mcp_rules", "test", "orders_refund", *sent, "amount=6", username="alice")
    assert "large: refuse" in capsys.readouterr().out
    call_command("mcp_rules", "test", "orders_refund", *sent, "amount=4", username="alice")
    assert "No rule decides" in capsys.readouterr().out
    assert not is_refunded(order)


def test_the_command_refuses_a_call_that_cannot_be_decided(order):
    rule("orders_refund")(lambda call: call.object and None)
    with pytest.raises(CommandError):
        call_command("mcp_rules", "test", "orders_refund", "id=0", "reason=late", username="alice")
    with pytest.raises(CommandError):
        call_command("mcp_rules", "test", "orders_refund", "number=0", username="alice")


def test_why_and_risks_name_the_rule(save_rule, capsys):
    save_rule("orders_refund", name="large", when=LARGE)
    call_command("mcp_tools", "why", "orders_refund", username="alice")
    assert "large" in capsys.readouterr().out
    call_command("mcp_tools", "risks")
    assert "large: amount is greater than 5" in capsys.readouterr().out


def test_the_admin_shows_and_checks_rules(db, client):
    client.force_login(User.objects.get(username="admin"))
    page = client.get("/admin/drf_mcp_rules/callrule/add/").content.decode()
    assert "The first rule that decides wins." in page
    sent = {"name": "x", "order": 1, "tool": "orders_refund", "effect": "refuse"}
    sent |= {"approvals": 1, "reason": "No.", "is_active": "on"}
    compared = {"argument": "amont", "operator": "greater", "value": "5"}
    answer = client.post("/admin/drf_mcp_rules/callrule/add/", {**sent, **compared})
    assert "Did you mean" in answer.content.decode()
    client.post("/admin/drf_mcp_rules/callrule/add/", sent)
    assert "every call" in client.get("/admin/drf_mcp_rules/callrule/").content.decode()
