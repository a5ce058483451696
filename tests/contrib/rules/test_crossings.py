"""Rules and proposals together with other guards, transports and tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.urls import path
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from drf_mcp import call_context
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.contrib.rules import Ruling, rule
from drf_mcp.contrib.rules.models import CallRule, Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.models import CallTask
from drf_mcp.exposure import registry
from drf_mcp.routes.options import ToolOptions
from drf_mcp.test import MCPClient
from example_project.shop.models import Order, Product, Ticket
from example_project.shop.permissions import IsOwnerOrPermitted
from example_project.shop.views import OrderViewSet, ProductViewSet
from tests.agents import Agent
from tests.contrib.writes.idempotency.views import HeaderPayments, HeaderRecords

store = ProposalStore()


@pytest.fixture
def approval_rule(save_rule):
    """A rule by which refunds need an approval."""
    return save_rule("orders_refund", "approve", reason="Refunds are approved.")


@pytest.fixture
def sent(order):
    return {"id": order.pk, "reason": "late", "amount": "6.00"}


def configure(settings, **members) -> None:
    settings.DRF_MCP = {**settings.DRF_MCP, **members}
    registry.reload()


def approve() -> Proposal:
    row = Proposal.objects.get()
    return store.approve(row, User.objects.get(username="admin"), row.fingerprint)


def is_refunded(order: Order) -> bool:
    order.refresh_from_db()
    return order.status == "refunded"


def test_an_approved_call_needs_no_confirmation(approval_rule, alice, sent, order, settings):
    configure(settings, CONFIRM=True)
    assert alice.call("orders_refund", **sent).code == "APPROVAL_REQUIRED"
    assert run_proposal(approve().pk).status == "done"
    assert is_refunded(order)


def test_an_approved_call_whose_if_match_is_outdated_fails(approval_rule, alice, sent, order):
    version = alice.call("orders_retrieve", id=order.pk).envelope["meta"]["if_match"]
    alice.call("orders_refund", **sent, if_match=version)
    row = approve()
    order.save()
    run_proposal(row.pk)
    row.refresh_from_db()
    assert row.status == "failed"
    assert not is_refunded(order)


def test_a_call_with_an_outdated_if_match_is_not_proposed(approval_rule, alice, sent, order):
    version = alice.call("orders_retrieve", id=order.pk).envelope["meta"]["if_match"]
    order.save()
    refused = alice.call("orders_refund", **sent, if_match=version)
    assert refused.code == "CONFLICT"
    assert refused.envelope["meta"]["if_match"] != version
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("effect", ["refuse", "approve"])
def test_a_refused_item_is_located(save_rule, carol, effect):
    """A rule refuses the item, or the view finds no object for the item."""
    save_rule("products_partial_update", effect, when=("price", "greater", "5"))
    pan, other = Product.objects.order_by("pk")[:2]
    found = [{"slug": other.slug, "price": "4.00"}, {"slug": pan.slug, "price": "6.00"}]
    missing = [{"slug": other.slug, "price": "6.00"}, {"slug": "no-such", "price": "6.00"}]
    if effect == "refuse":
        (problem,) = carol.call("products_partial_update", items=found).problems
        assert (problem["pointer"], problem["message"]) == ("/items/1", "Not today.")
    (problem,) = carol.call("products_partial_update", items=missing).problems
    assert (problem["pointer"], problem["code"]) == ("/items/1", "NOT_FOUND")
    assert not Proposal.objects.exists()


def test_in_partial_bulk_only_the_item_without_an_object_fails(save_rule, carol, monkeypatch):
    options = ToolOptions.of(title="Change prices", bulk="partial")
    monkeypatch.setattr(ProductViewSet.partial_update, "mcp_tool", options)
    registry.reload()
    save_rule("products_partial_update", "approve")
    pan = Product.objects.earliest("pk")
    missing = {"slug": "no-such", "price": "6.00"}
    items = [missing, {"slug": pan.slug, "price": "6.00"}]
    assert carol.call("products_partial_update", items=[missing]).code == "NOT_FOUND"
    assert carol.call("products_partial_update", items=items).code == "APPROVAL_REQUIRED"
    assert run_proposal(approve().pk).status == "done"
    pan.refresh_from_db()
    assert str(pan.price) == "6.00"


def test_a_rule_in_python_that_reads_objects_refuses_a_read_with_a_missing_one(carol):
    rule("tickets_retrieve")(lambda call: call.object and None)
    ticket = Ticket.objects.earliest("pk")
    assert carol.call("tickets_retrieve", ids=[10**6, ticket.pk]).code == "NOT_FOUND"
    assert not carol.call("tickets_retrieve", ids=[ticket.pk]).is_error


@pytest.mark.parametrize("several", [False, True])
def test_the_throttle_of_the_view_counts_an_approved_call_once(
    save_rule, carol, monkeypatch, several
):
    class Counted(BaseThrottle):
        calls = 0

        def allow_request(self, request, view) -> bool:
            Counted.calls += 1
            return True

    monkeypatch.setattr(ProductViewSet, "throttle_classes", [Counted])
    save_rule("products_partial_update", "approve")
    items = [{"slug": each.slug, "price": "6.00"} for each in Product.objects.order_by("pk")[:2]]
    carol.call("products_partial_update", **({"items": items} if several else items[0]))
    assert run_proposal(approve().pk).status == "done"
    assert Counted.calls == (2 if several else 1)


def test_several_objects_are_proposed_as_one_call(save_rule, carol):
    save_rule("products_partial_update", "approve", when=("price", "greater", "5"))
    pan, other = Product.objects.order_by("pk")[:2]
    items = [{"slug": pan.slug, "price": "4.00"}, {"slug": other.slug, "price": "6.00"}]
    assert carol.call("products_partial_update", items=items).code == "APPROVAL_REQUIRED"
    pan.refresh_from_db()
    assert str(pan.price) != "4.00"
    assert run_proposal(approve().pk).status == "done"
    pan.refresh_from_db()
    other.refresh_from_db()
    assert (str(pan.price), str(other.price)) == ("4.00", "6.00")


def test_a_proposal_shows_each_object_and_fails_if_one_has_changed(save_rule, carol):
    save_rule("products_partial_update", "approve")
    pan, other = Product.objects.order_by("pk")[:2]
    items = [{"slug": each.slug, "price": "6.00"} for each in (pan, other)]
    shown = carol.call("products_partial_update", items=items).data["shown"]["objects"]
    assert [each["shown"]["price"] for each in shown] == [str(pan.price), str(other.price)]
    row = approve()
    Product.objects.filter(pk=other.pk).update(stock=other.stock + 1)
    assert run_proposal(row.pk).status == "failed"
    pan.refresh_from_db()
    assert str(pan.price) != "6.00"


@pytest.fixture
def price(carol):
    """Change the prices of two products in one call."""

    def price(*prices: str):
        slugs = Product.objects.order_by("pk").values_list("slug", flat=True)
        items = [{"slug": slug, "price": each} for slug, each in zip(slugs, prices, strict=False)]
        return carol.call("products_partial_update", items=items)

    return price


def test_one_refused_object_refuses_the_call(save_rule, price):
    save_rule(
        "products_partial_update", order=1, when=("price", "greater", "500"), reason="Too much."
    )
    save_rule("products_partial_update", "approve", when=("price", "greater", "5"))
    assert price("6.00", "501.00").code == "FORBIDDEN"
    assert price("501.00", "6.00").code == "FORBIDDEN"
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("prices", [("6.00", "60.00"), ("60.00", "6.00")])
def test_a_call_needs_the_approvals_of_each_of_its_objects(save_rule, price, prices):
    save_rule(
        "products_partial_update", "approve", order=1, when=("price", "greater", "50"), approvals=2
    )
    save_rule("products_partial_update", "approve", when=("price", "greater", "5"), group="finance")
    assert price(*prices).code == "APPROVAL_REQUIRED"
    row = Proposal.objects.get()
    assert (row.approvals_needed, row.group) == (2, "finance")


def test_objects_with_different_groups_of_approvers_cannot_be_one_call(save_rule, price):
    save_rule(
        "products_partial_update",
        "approve",
        order=1,
        when=("price", "greater", "50"),
        group="board",
    )
    save_rule("products_partial_update", "approve", when=("price", "greater", "5"), group="finance")
    assert price("6.00", "60.00").code == "FORBIDDEN"
    assert price("6.00", "7.00").code == "APPROVAL_REQUIRED"


def test_the_audit_records_the_proposal_and_the_run(approval_rule, alice, sent, monkeypatch):
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())
    alice.call("orders_refund", **sent)
    run_proposal(approve().pk)
    rows = AuditedCall.objects.order_by("pk").values_list("verdict", "code", "user_label")
    assert list(rows) == [("asked", "APPROVAL_REQUIRED", "alice"), ("success", "", "alice")]


def test_a_call_by_tools_write_is_proposed_and_made(approval_rule, alice, sent, order):
    searching = Agent(alice.http, path="/mcp/search")
    called = {"name": "orders_refund", "arguments": sent}
    assert searching.call("tools_write", **called).code == "APPROVAL_REQUIRED"
    run_proposal(approve().pk)
    assert is_refunded(order)


def test_a_caller_whose_credential_has_no_row_calls_again(approval_rule, sent, order):
    """An in-process caller has no token that a worker could look up."""
    client = MCPClient()
    client.force_authenticate(User.objects.get(username="alice"))
    assert "APPROVAL_REQUIRED" in client.call_tool("orders_refund", sent).text
    row = approve()
    assert row.request is None
    assert run_proposal(row.pk) is None
    assert not client.call_tool("orders_refund", sent).is_error
    assert is_refunded(order)


def test_a_program_makes_an_approved_call(approval_rule, alice, sent, order, settings):
    configure(settings, COMPOSE="writes")
    alice.call("orders_refund", **sent)
    row = approve()
    made = alice.call("tools_compose", program=f"orders_refund(**{sent!r})")
    assert made.data["result"]["status"] == "refunded"
    row.refresh_from_db()
    assert (row.status, is_refunded(order)) == ("done", True)
    answer = alice.call("proposals_retrieve", id=row.pk).data["answer"]["result"]
    assert answer["structuredContent"]["data"]["status"] == "refunded"


@pytest.mark.parametrize("envelope", ["OkEnvelope", "StatusEnvelope", "PlainEnvelope"])
def test_every_envelope_names_the_proposal(approval_rule, alice, sent, settings, envelope):
    configure(settings, ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}")
    text = json.dumps(alice.request("tools/call", name="orders_refund", arguments=sent))
    assert Proposal.objects.get().pk in text


# --- Clients with tasks ------------------------------------------------------------------------

TASKS = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}


@pytest.fixture
def task_of(approval_rule, alice, sent, settings):
    """Propose the call from a client with tasks, and return a function that requests the task."""
    configure(settings, TASKS_BACKEND="background")
    alice.result("tools/call", name="orders_refund", arguments=sent, _meta=TASKS)
    task = Proposal.objects.get().task_id

    def ask_for(method: str = "tasks/get"):
        return alice.result(method, taskId=task, _meta=TASKS)

    assert ask_for()["status"] == "working"
    return ask_for


def test_the_task_of_a_proposal_has_the_result(task_of, order):
    run_proposal(approve().pk)
    found = task_of()
    assert found["status"] == "completed"
    assert found["result"]["structuredContent"]["success"]
    assert is_refunded(order)


def test_the_task_of_a_declined_proposal_fails(task_of):
    row = Proposal.objects.get()
    store.decline(row, User.objects.get(username="admin"), "It arrived.")
    found = task_of()
    assert (found["status"], found["error"]["message"]) == ("failed", "It arrived.")


def test_the_task_of_a_proposal_that_waits_again_expires_with_the_proposal(task_of, order):
    row = approve()
    soon = timezone.now() + timedelta(minutes=1)
    CallTask.objects.update(expires=soon)
    CallRule.objects.update(approvals=2)
    assert run_proposal(row.pk).status == "waiting"
    row.refresh_from_db()
    assert CallTask.objects.get().expires == row.expires > soon


def test_the_call_of_a_cancelled_task_is_not_made(task_of, order):
    task_of("tasks/cancel")
    run_proposal(approve().pk)
    assert Proposal.objects.get().status == "failed"
    assert not is_refunded(order)


@pytest.mark.parametrize("by_worker", [True, False])
def test_an_approved_call_that_its_view_defers_is_made_at_once(
    approval_rule, alice, sent, settings, monkeypatch, order, by_worker
):
    def answer(view, refunded):
        call_context(view.request).defer()
        return Response({"status": refunded.status})

    configure(settings, TASKS_BACKEND="background")
    options = replace(OrderViewSet.refund.mcp_tool, features={"task": "optional", "defers": True})
    monkeypatch.setattr(OrderViewSet.refund, "mcp_tool", options)
    monkeypatch.setattr(OrderViewSet, "answer", answer)
    registry.reload()
    call = {"name": "orders_refund", "arguments": sent, "_meta": TASKS}
    alice.result("tools/call", **call)
    row = approve()
    result = (
        run_proposal(row.pk).answer["result"] if by_worker else alice.result("tools/call", **call)
    )
    row.refresh_from_db()
    assert (row.status, result["resultType"]) == ("done", "complete")
    assert is_refunded(order)


def test_a_program_that_ends_at_a_proposal_names_the_next_call(
    approval_rule, alice, sent, settings
):
    configure(settings, COMPOSE="writes")
    failed = alice.call("tools_compose", program=f"orders_refund(**{sent!r})")
    assert failed.code == "APPROVAL_REQUIRED"
    assert failed.data["next"]["arguments"]["id"] == Proposal.objects.get().proposal_id


def test_a_program_that_ends_at_a_proposal_names_earlier_changes(
    approval_rule, alice, sent, settings
):
    configure(settings, COMPOSE="writes")
    new = 'customers_create(name="Zoe", email="%s@example.com", country="DE")\n'
    program = "".join([new % "zoe", new % "zoey", f"orders_refund(**{sent!r})"])
    failed = alice.call("tools_compose", program=program)
    assert failed.code == "APPROVAL_REQUIRED"
    assert [each["tool"] for each in failed.data["changed"]] == ["customers_create"] * 2
    assert "it waits until it is approved" in failed.envelope["error"]
    assert "What was changed before stays: customers_create (2)." in failed.envelope["error"]


@pytest.mark.parametrize("ruling", [Ruling.refuse("No."), Ruling.ask("Ask.")])
def test_a_replay_that_a_rule_refuses_is_marked_as_made_without_data(alice, sent, order, ruling):
    """The rule decides only after the first call has changed the object."""
    rule("orders_refund")(lambda call: ruling if call.object.status == "refunded" else None)
    keyed = {**sent, "idempotency_key": "one"}
    assert not alice.call("orders_refund", **keyed).is_error
    assert is_refunded(order)
    again = alice.call("orders_refund", **keyed)
    assert again.envelope["meta"]["replayed"]
    assert not again.data
    assert not Proposal.objects.exists()
    other = {**sent, "idempotency_key": "two"}
    assert alice.call("orders_refund", **other).code in (
        "FORBIDDEN",
        "APPROVAL_REQUIRED",
        "CONFLICT",
    )


def test_an_approved_call_with_a_key_is_not_proposed_again(approval_rule, alice, sent, order):
    keyed = {**sent, "idempotency_key": "one"}
    alice.call("orders_refund", **keyed)
    run_proposal(approve().pk)
    assert is_refunded(order)
    assert alice.call("orders_refund", **keyed).envelope["meta"]["replayed"]
    assert Proposal.objects.count() == 1


def test_a_replay_by_a_caller_who_lost_the_permission_is_refused(
    approval_rule, alice, sent, order, monkeypatch
):
    keyed = {**sent, "idempotency_key": "one"}
    alice.call("orders_refund", **keyed)
    run_proposal(approve().pk)
    monkeypatch.setattr(IsOwnerOrPermitted, "has_permission", lambda self, request, view: False)
    refused = alice.call("orders_refund", **keyed)
    assert refused.code == "FORBIDDEN"
    assert "replayed" not in refused.envelope["meta"]


@pytest.mark.parametrize(
    ("tool", "change"),
    [
        ("pay_by_header", {"name": "rent"}),
        ("records_create", {"items": [{"name": "one"}, {"name": "two"}]}),
    ],
    ids=["one", "several"],
)
@pytest.mark.parametrize("verdict", ["refuse", "approve"])
def test_a_replay_that_the_view_stores_itself_is_marked_as_made(
    save_rule, expose, alice, tool, change, verdict
):
    views = [
        path("pay/", HeaderPayments.as_view()),
        path("records/", HeaderRecords.as_view({"post": "create"})),
    ]
    expose(*views)
    assert not alice.call(tool, **change, idempotency_key="one").is_error
    save_rule(tool, verdict)
    again = alice.call(tool, **change, idempotency_key="one")
    assert again.envelope["meta"]["replayed"]
    assert not Proposal.objects.exists()
    assert alice.call(tool, **change, idempotency_key="two").code


def test_a_condition_reads_grouped_arguments_of_items(save_rule, carol, settings):
    configure(settings, ARGUMENTS="grouped")
    save_rule("products_partial_update", when=("price", "greater", "5"))
    slug = Product.objects.first().slug
    items = [{"kwargs": {"slug": slug}, "body": {"price": "6.00"}}]
    assert carol.call("products_partial_update", items=items).code == "FORBIDDEN"


def test_a_rule_in_python_reads_grouped_arguments(alice, settings, order):
    configure(settings, ARGUMENTS="grouped")
    found = []
    rule("orders_refund")(lambda call: found.append(dict(call.arguments)))
    body = {"reason": "late", "amount": "6.00"}
    alice.call("orders_refund", kwargs={"pk": order.pk}, body=body)
    assert found[0] == {"pk": order.pk, "reason": "late", "amount": Decimal("6.00")}


def test_the_next_call_of_a_proposal_has_grouped_arguments(approval_rule, alice, settings, order):
    configure(settings, ARGUMENTS="grouped")
    body = {"reason": "late", "amount": "6.00"}
    waiting = alice.call("orders_refund", kwargs={"pk": order.pk}, body=body).data["next"]
    assert alice.call(waiting["tool"], **waiting["arguments"]).data["status"] == "waiting"
