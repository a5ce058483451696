"""Calls that need an approval: they are proposed, decided about, and made once."""

from __future__ import annotations

import functools
import json
from datetime import timedelta
from unittest import mock

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import CreateAPIView
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from drf_mcp import mcp_viewset
from drf_mcp.contrib.rules.models import CallRule, Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore, expire_proposals
from drf_mcp.contrib.rules.proposing import find_shown_fingerprint, run_proposal
from drf_mcp.contrib.rules.signals import proposal_ended, proposal_made
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.exceptions import Conflict, Unavailable
from drf_mcp.exposure import registry
from example_project.shop.models import Order, Ticket
from example_project.shop.permissions import IsOwnerOrPermitted
from tests.agents import Agent
from tests.contrib.tokens.holders import make_holder


@pytest.fixture
def require_approval(save_rule):
    """Save a rule by which refunds above 5 need an approval."""

    def require_approval(**members):
        return save_rule("orders_refund", "approve", ("amount", "greater", "5"), **members)

    return require_approval


@pytest.fixture
def refund(alice, order):
    def refund(agent=alice, **arguments):
        sent = {"reason": "late", "amount": "6.00", **arguments}
        return agent.call("orders_refund", id=order.pk, **sent)

    return refund


@pytest.fixture
def propose(require_approval, refund):
    """Propose a refund, and return the row of the proposal."""

    def propose(agent=None, **rule) -> Proposal:
        require_approval(**rule)
        result = refund(agent) if agent else refund()
        assert result.code == "APPROVAL_REQUIRED", result.envelope
        return Proposal.objects.get()

    return propose


@pytest.fixture
def approver(db):
    """Return a user who may approve calls."""

    def approver(name: str = "dora", **members) -> User:
        user = User.objects.create_user(name, f"{name}@shop.example.com", **members)
        user.user_permissions.add(Permission.objects.get(codename="approve_proposal"))
        return user

    return approver


store = ProposalStore()


def approve(row: Proposal, user: User, **options) -> Proposal:
    return store.approve(row, user, row.fingerprint, **options)


def is_refunded(order: Order) -> bool:
    order.refresh_from_db()
    return order.status == "refunded"


def state(row: Proposal) -> str:
    row.refresh_from_db()
    return row.status


# --- Proposing ---------------------------------------------------------------------------------


def test_a_call_that_needs_an_approval_shows_its_object_and_is_not_made(
    require_approval, refund, order
):
    require_approval(reason="Refunds above 5 are approved.")
    result = refund()
    assert not result.is_error
    assert not is_refunded(order)
    data = result.data
    row = Proposal.objects.get()
    assert data["proposal"] == row.proposal_id
    assert data["arguments"] == {"id": order.pk, "reason": "late", "amount": "6.00"}
    assert data["shown"]["object"] == f"order {order.pk}"
    assert data["shown"]["shown"]["status"] == "paid"
    assert data["approvals"] == {"needed": 1, "given": 0}
    assert data["next"] == {"tool": "proposals_retrieve", "arguments": {"id": row.proposal_id}}
    assert "Refunds above 5 are approved." in str(result.envelope)


def test_the_same_call_is_proposed_once(propose, refund):
    propose()
    refund()
    refund(amount="7")
    assert Proposal.objects.count() == 2


def test_a_call_whose_object_or_caller_the_view_refuses_is_not_proposed(
    require_approval, refund, alice, agent_of, order, monkeypatch
):
    require_approval()
    missing = alice.call("orders_refund", id=10**6, reason="late", amount="6.00")
    assert missing.code == "NOT_FOUND"
    assert refund(agent_of("bob")).code == "FORBIDDEN"
    monkeypatch.setattr(IsOwnerOrPermitted, "has_permission", lambda self, request, view: False)
    assert refund().code == "FORBIDDEN"
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"reason": "nonsense"}, 'reason: "nonsense" is not a valid choice.'),
        ({"amount": "6.001"}, "reason: This field is required. amount: Ensure that there are no"),
    ],
)
def test_a_call_that_the_view_will_probably_refuse_says_so_and_can_be_taken_back(
    require_approval, alice, order, sent, said
):
    require_approval()
    result = alice.call("orders_refund", id=order.pk, **{"amount": "6.00", **sent})
    row = Proposal.objects.get()
    assert f"will probably refuse the call. {said}" in row.message
    assert row.message in result.envelope["error"]
    assert "proposals_withdraw" in result.data["remediation"]


class Lots(CreateAPIView):
    class serializer_class(serializers.Serializer):
        numbers = serializers.ListField(
            child=serializers.IntegerField(validators=[lambda number: OUTSIDE.append(number)])
        )


def test_no_validator_of_the_project_runs_before_the_approval(expose, save_rule, alice):
    OUTSIDE.clear()
    expose(path("lots/", Lots.as_view(), name="lots"))
    save_rule("lots_create", "approve")
    assert alice.call("lots_create", numbers=[1]).code == "APPROVAL_REQUIRED"
    assert (Proposal.objects.get().message, OUTSIDE) == ("", [])


def test_the_same_call_with_another_intent_is_the_same_proposal(
    require_approval, refund, approver, settings, order
):
    settings.DRF_MCP = {**settings.DRF_MCP, "INTENT": "optional"}
    require_approval()
    for intent in ("The customer asks.", "The customer insists."):
        refund(intent=intent)
    assert Proposal.objects.count() == 1


def test_the_same_call_with_another_key_is_another_proposal(
    require_approval, refund, approver, settings, order
):
    settings.DRF_MCP = {**settings.DRF_MCP, "IDEMPOTENCY_KEYS": True}
    require_approval()
    for key in ("first-refund", "second-refund"):
        refund(idempotency_key=key)
    assert Proposal.objects.count() == 2


def test_a_dry_run_needs_no_approval(require_approval, refund, order):
    require_approval()
    assert refund(dry_run=True).envelope["meta"]["dry_run"]
    assert not Proposal.objects.exists()
    assert not is_refunded(order)


def test_calls_that_wait_beyond_the_bound_are_refused_with_its_sentence(
    require_approval, refund, settings
):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_PROPOSALS": 1}
    require_approval()
    refund()
    refused = refund(amount="7")
    assert refused.code == "RATE_LIMIT_EXCEEDED"
    assert "1 calls of yours wait for an approval." in refused.envelope["error"]
    assert Proposal.objects.count() == 1


def test_approvers_get_a_mail_and_receivers_a_signal(
    propose, approver, django_capture_on_commit_callbacks
):
    approver("dora")
    User.objects.create_user("emil", "emil@shop.example.com")
    received = []
    proposal_made.connect(receive := lambda proposal, **kwargs: received.append(proposal))
    with django_capture_on_commit_callbacks(execute=True):
        row = propose()
    proposal_made.disconnect(receive)
    assert received == [row]
    (message,) = [each for each in mail.outbox if "dora@shop.example.com" in each.bcc]
    assert not [each for each in mail.outbox if "emil@shop.example.com" in each.bcc]
    for part in ("alice", f"order {row.arguments['id']}", "amount: ", row.reason, row.link):
        assert part in message.body


def test_a_mail_that_cannot_be_sent_leaves_a_line_in_the_log(
    propose, approver, monkeypatch, caplog, django_capture_on_commit_callbacks
):
    approver("dora")
    unreachable = mock.Mock(side_effect=ConnectionRefusedError("refused"))
    monkeypatch.setattr(mail.EmailMessage, "send", unreachable)
    with django_capture_on_commit_callbacks(execute=True):
        assert propose().status == "waiting"
    assert "The approvers of a call got no e-mail: " in caplog.text
    assert "Traceback" not in caplog.text


def test_a_proposal_shows_sanitized_arguments_and_keeps_the_sent_ones_for_the_run(save_rule, carol):
    tool = registry.tools()["tickets_create"]
    save_rule("tickets_create", "approve")
    sent = {"customer": 1, "subject": "x", "body": "y" * 600}
    carol.call("tickets_create", **sent)
    row = Proposal.objects.get()
    assert row.arguments == tool.sanitize_arguments(sent)
    assert row.request["params"]["arguments"] == sent


# --- The caller's tools ------------------------------------------------------------------------


def test_only_the_caller_retrieves_a_proposal(propose, alice, agent_of):
    row = propose()
    found = alice.call("proposals_retrieve", id=row.pk).data
    assert (found["status"], found["call"]) == ("waiting", "orders_refund")
    assert agent_of("bob").call("proposals_retrieve", id=row.pk).code == "NOT_FOUND"


def tell(agent: Agent, tool: str, proposal_id: str) -> tuple[str, str]:
    result = agent.call(tool, id=proposal_id)
    return result.code, result.envelope["error"]


def test_a_script_tells_a_call_that_waits_from_one_that_failed(require_approval, order):
    require_approval()
    words = ["reason=late", "amount=6.00", "--as", "alice"]
    for sent, code in (({"id": order.pk}, 3), ({"id": 0}, 1)):
        with pytest.raises(SystemExit) as caught:
            call_command("mcp_call", "orders_refund", json.dumps(sent), *words)
        assert caught.value.code == code


@pytest.mark.parametrize("tool", ["proposals_retrieve", "proposals_withdraw"])
def test_another_credential_is_told_that_there_is_no_such_proposal(propose, alice, tool):
    row, user = propose(), User.objects.get(username="alice")
    strangers = [make_holder(user), make_holder(user, tools=["products_*", "proposals_*"])]
    for agent in strangers:
        assert tell(agent, tool, row.pk) == tell(agent, tool, "none")
    assert state(row) == "waiting"


@pytest.mark.parametrize("tool", ["proposals_retrieve", "proposals_withdraw"])
def test_a_token_that_no_longer_opens_the_tool_is_told_that_there_is_no_such_proposal(
    propose, tool
):
    agent = make_holder(User.objects.get(username="alice"))
    row = propose(agent)
    AgentToken.objects.update(tools=["products_*", "proposals_*"])
    assert tell(agent, tool, row.pk) == tell(agent, tool, "none")
    assert state(row) == "waiting"


@pytest.mark.parametrize("is_made", [True, False])
def test_a_caller_with_other_rights_is_shown_neither_object_nor_result(
    propose, approver, alice, is_made
):
    row = propose()
    if is_made:
        run_proposal(approve(row, approver()).pk)
    User.objects.get(username="alice").groups.add(Group.objects.create(name="demoted"))
    found = alice.call("proposals_retrieve", id=row.pk).data
    assert found["status"] == ("done" if is_made else "waiting")
    assert found.keys().isdisjoint({"shown", "answer", "arguments"})
    assert "rights" in found["message"]
    assert alice.call("proposals_withdraw", id=row.pk).code == "FORBIDDEN"


def test_after_15_minutes_a_result_is_given_only_while_the_object_is_found(
    save_rule, carol, approver
):
    save_rule("tickets_destroy", "approve")
    ticket = Ticket.objects.earliest("pk")
    carol.call("tickets_destroy", id=ticket.pk)
    row = run_proposal(approve(Proposal.objects.get(), approver()).pk)
    assert row.status == "done"
    assert carol.call("proposals_retrieve", id=row.pk).data["answer"]
    Proposal.objects.update(updated=timezone.now() - timedelta(minutes=16))
    found = carol.call("proposals_retrieve", id=row.pk).data
    assert "answer" not in found
    assert (found["status"], found["objects"]) == ("done", [{"pk": ticket.pk}])


@pytest.mark.parametrize("at", ["/mcp", "/mcp/search"])
def test_the_tools_of_proposals_are_listed(alice, at):
    listed = Agent(alice.http, path=at).tools()
    assert listed.keys() >= {"proposals_retrieve", "proposals_withdraw"}


def test_an_endpoint_whose_tools_all_read_has_no_tools_of_proposals(alice):
    listed = Agent(alice.http, path="/library/mcp").tools()
    assert "naive_retriever" in listed
    assert not [name for name in listed if "proposal" in name]


def test_an_anonymous_caller_has_no_tools_of_proposals(settings, agent_of):
    open_to_all = ["rest_framework.permissions.AllowAny"]
    settings.DRF_MCP = {**settings.DRF_MCP, "PERMISSION_CLASSES": open_to_all}
    assert not [name for name in agent_of(None).tools() if "proposal" in name]


def test_only_the_caller_withdraws_a_proposal(propose, alice, agent_of, approver):
    row = propose()
    assert agent_of("bob").call("proposals_withdraw", id=row.pk).code == "NOT_FOUND"
    assert alice.call("proposals_withdraw", id=row.pk).data["status"] == "withdrawn"
    assert alice.call("proposals_withdraw", id=row.pk).code == "CONFLICT"
    with pytest.raises(Conflict):
        approve(row, approver())


def test_no_rule_refuses_the_tools_of_proposals(propose, alice, save_rule):
    row = propose()
    save_rule("*", order=1)
    assert not alice.call("proposals_retrieve", id=row.pk).is_error


# --- Deciding ----------------------------------------------------------------------------------


def test_an_approved_call_is_made_once_as_its_caller(propose, approver, order, alice):
    row = approve(propose(), approver())
    assert row.status == "approved"
    assert not is_refunded(order)
    assert run_proposal(row.pk).status == "done"
    assert is_refunded(order)
    assert run_proposal(row.pk) is None
    answer = alice.call("proposals_retrieve", id=row.pk).data["answer"]
    assert answer["result"]["structuredContent"]["success"]
    row.refresh_from_db()
    assert row.request is None


def test_the_caller_makes_an_approved_call_by_calling_again(propose, approver, refund, order):
    row = approve(propose(), approver())
    assert not refund().is_error
    assert is_refunded(order)
    assert state(row) == "done"


@pytest.mark.parametrize("superuser", [True, False])
def test_a_caller_cannot_decide_about_their_own_call(propose, superuser):
    row = propose()
    alice = User.objects.get(username="alice")
    alice.user_permissions.add(Permission.objects.get(codename="approve_proposal"))
    User.objects.filter(pk=alice.pk).update(is_superuser=superuser)
    for decide in (approve, lambda row, user: store.decline(row, user, "")):
        with pytest.raises(PermissionDenied, match="your own"):
            decide(row, User.objects.get(pk=alice.pk))
    assert state(row) == "waiting"


@pytest.mark.parametrize("lack", ["permission", "activity", "group"])
def test_a_user_without_permission_activity_or_group_cannot_approve(propose, approver, lack):
    row = propose(group="finance" if lack == "group" else "")
    user = approver()
    if lack == "permission":
        user.user_permissions.clear()
    if lack == "activity":
        User.objects.filter(pk=user.pk).update(is_active=False)
    with pytest.raises(PermissionDenied):
        approve(row, User.objects.get(pk=user.pk))
    assert state(row) == "waiting"


def test_an_approver_of_another_tenant_cannot_approve(propose, approver):
    row = propose()
    Proposal.objects.update(tenant="north")
    with pytest.raises(PermissionDenied, match="another tenant"):
        approve(row, approver(), tenant="south")
    with pytest.raises(PermissionDenied, match="another tenant"):
        approve(row, User.objects.get(username="dora"), tenant="")
    assert approve(row, User.objects.get(username="dora"), tenant="north").status == "approved"


def test_two_approvals_need_two_people(propose, approver):
    row, dora = propose(approvals=2), approver("dora")
    assert approve(row, dora).status == "waiting"
    assert approve(row, dora).status == "waiting"
    assert run_proposal(row.pk) is None
    assert approve(row, approver("emil")).status == "approved"


def test_a_declined_call_is_never_made(propose, approver, order, alice, refund):
    row, received = propose(), []
    proposal_ended.connect(receive := lambda proposal, **kwargs: received.append(proposal))
    store.decline(row, approver(), "The order arrived.")
    proposal_ended.disconnect(receive)
    assert received == [row]
    assert run_proposal(row.pk) is None
    assert "The order arrived." in str(alice.call("proposals_retrieve", id=row.pk).data)
    assert refund().code == "APPROVAL_REQUIRED"
    assert not is_refunded(order)


def test_a_proposal_expires(propose, approver):
    row = propose()
    Proposal.objects.update(expires=timezone.now() - timedelta(days=1))
    with pytest.raises(Conflict):
        approve(row, approver())
    assert state(row) == "expired"


@pytest.mark.parametrize(
    "end", [store.end_late, expire_proposals, lambda: store.find("another", "", "")]
)
def test_the_signal_of_an_expired_proposal_is_sent_once(propose, end):
    row, received = propose(), []
    proposal_ended.connect(receive := lambda proposal, **kwargs: received.append(proposal))
    end()
    Proposal.objects.update(expires=timezone.now() - timedelta(days=1))
    end()
    end()
    proposal_ended.disconnect(receive)
    assert [(each.pk, each.status, each.request) for each in received] == [
        (row.pk, "expired", None)
    ]


def test_an_approval_expires_as_well(propose, approver, refund, order):
    row = approve(propose(), approver())
    Proposal.objects.update(expires=timezone.now() - timedelta(days=1))
    assert refund().code == "APPROVAL_REQUIRED"
    assert state(row) == "expired"
    assert not is_refunded(order)


def test_old_proposals_are_deleted(propose):
    propose()
    assert expire_proposals() == 0
    Proposal.objects.update(expires=timezone.now() - timedelta(days=100))
    assert expire_proposals() == 1


# --- Changes after the approval ----------------------------------------------------------------


def test_a_call_with_other_arguments_needs_its_own_approval(propose, approver, refund, order):
    approve(propose(), approver())
    assert refund(amount="7").code == "APPROVAL_REQUIRED"
    assert not is_refunded(order)


def test_a_proposal_whose_stored_arguments_were_changed_fails(propose, approver, order):
    row = approve(propose(), approver())
    row.request["params"]["arguments"]["amount"] = "7.00"
    row.save()
    run_proposal(row.pk)
    assert state(row) == "failed"
    assert not is_refunded(order)


def test_a_call_whose_object_changed_after_the_approval_is_refused_and_says_so(
    propose, approver, order, refund, alice
):
    row = approve(propose(), approver())
    Order.objects.filter(pk=order.pk).update(note="Another.")
    run_proposal(row.pk)
    assert state(row) == "failed"
    assert not is_refunded(order)
    assert "has changed since" in str(alice.call("proposals_retrieve", id=row.pk).data["answer"])
    # The same call is proposed anew, as the object is now.
    again = refund().data["proposal"]
    assert again != row.pk
    approve(Proposal.objects.get(pk=again), User.objects.get(username="dora"))
    assert run_proposal(again).status == "done"


def test_a_caller_who_makes_an_approved_call_is_told_that_its_object_changed(
    propose, approver, refund, order
):
    row = approve(propose(), approver())
    Proposal.objects.update(request=None)
    Order.objects.filter(pk=order.pk).update(note="Another.")
    again = refund()
    assert (again.code, state(row)) == ("APPROVAL_REQUIRED", "failed")
    assert again.data["proposal"] != row.pk
    assert not is_refunded(order)


def test_an_object_that_changed_before_the_approval_is_not_approved(propose, approver, order):
    row = propose()
    Order.objects.filter(pk=order.pk).update(note="Another.")
    with pytest.raises(Conflict, match="has changed"):
        store.approve(row, approver(), find_shown_fingerprint(row))
    assert state(row) == "waiting"


@pytest.mark.parametrize("lack", ["permission", "activity", "group", "user"])
def test_an_approval_counts_only_while_its_person_may_approve(propose, approver, order, lack):
    row, dora = propose(group="finance"), approver()
    dora.groups.add(Group.objects.create(name="finance"))
    approve(row, dora)
    if lack == "permission":
        dora.user_permissions.clear()
    elif lack == "activity":
        User.objects.filter(pk=dora.pk).update(is_active=False)
    elif lack == "group":
        dora.groups.clear()
    else:
        dora.delete()
    run_proposal(row.pk)
    assert state(row) == "waiting"
    assert not is_refunded(order)
    emil = approver("emil")
    emil.groups.add(Group.objects.get(name="finance"))
    assert approve(row, emil).status == "approved"
    assert run_proposal(row.pk).status == "done"


def test_an_approved_call_that_a_later_rule_refuses_fails(propose, approver, save_rule, order):
    row = approve(propose(), approver())
    save_rule("orders_refund", order=1)
    run_proposal(row.pk)
    assert state(row) == "failed"
    assert not is_refunded(order)


@pytest.mark.parametrize("asked", [{"approvals": 2}, {"group": "finance"}])
def test_an_approved_call_whose_rule_requires_more_by_then_waits_again(
    propose, approver, order, asked
):
    row, dora = propose(), approver()
    approve(row, dora)
    CallRule.objects.update(**asked)
    run_proposal(row.pk)
    assert state(row) == "waiting"
    assert not is_refunded(order)
    emil = approver("emil")
    emil.groups.add(Group.objects.create(name="finance"))
    # With two approvals, that of dora still counts; with a group it does not.
    assert approve(row, emil).status == "approved"
    assert row.approvals.count() == (2 if "approvals" in asked else 1)
    assert run_proposal(row.pk).status == "done"


def test_an_approved_call_of_a_caller_who_lost_the_permission_fails(propose, approver, order):
    row = approve(propose(), approver())
    order.customer.owner = User.objects.get(username="bob")
    order.customer.save()
    run_proposal(row.pk)
    assert state(row) == "failed"
    assert not is_refunded(order)


def test_an_answer_is_not_given_while_permissions_cannot_be_checked(
    propose, approver, alice, monkeypatch
):
    row = run_proposal(approve(propose(), approver()).pk)
    view_class = registry.tool("orders_refund").endpoint.view_class

    def fail(*args) -> None:
        raise Unavailable()

    monkeypatch.setattr(view_class, "check_permissions", fail)
    result = alice.call("proposals_retrieve", id=row.pk)
    assert (result.code, result.data.get("answer")) == ("UNAVAILABLE", None)


def test_an_approved_call_of_a_revoked_token_fails(propose, approver, order):
    row = approve(propose(make_holder(User.objects.get(username="alice"))), approver())
    AgentToken.objects.get().revoke()
    run_proposal(row.pk)
    assert state(row) == "failed"
    assert "no longer let in" in str(row.answer)
    assert not is_refunded(order)


def test_an_approval_is_valid_for_its_caller_only(propose, approver, refund, carol, order):
    row = approve(propose(), approver())
    assert refund(carol).code == "APPROVAL_REQUIRED"
    assert state(row) == "approved"


def test_the_call_of_a_killed_worker_is_not_made_again(propose, approver, order, refund):
    row = approve(propose(), approver())
    assert store.begin(row)
    assert run_proposal(row.pk) is None
    assert refund().code == "APPROVAL_REQUIRED"
    Proposal.objects.update(updated=timezone.now() - timedelta(hours=2))
    store.end_late()
    assert state(row) == "unknown"
    assert run_proposal(row.pk) is None
    assert not is_refunded(order)


def test_a_call_that_took_too_long_keeps_its_answer_with_its_terms(propose, approver):
    row = approve(propose(), approver())
    assert store.begin(row)
    Proposal.objects.update(updated=timezone.now() - timedelta(hours=2))
    store.end_late()
    store.note_end(row, {"rights": "of today"}, None)
    store.finish(row, {"result": {}})
    assert (state(row), row.terms) == ("done", {"rights": "of today"})


def test_a_call_of_a_decorated_view_cannot_wait(expose, save_rule, alice):
    """The decorator may refuse the call, and runs only with it."""
    made = []

    def staff_only(view):
        def decorated(request, *args, **kwargs):
            made.append(request)
            return view(request, *args, **kwargs)

        return functools.wraps(view)(decorated)

    expose(path("groups/", staff_only(Groups.as_view()), name="groups"))
    save_rule("groups_create", "approve")
    result = alice.call("groups_create", name="x")
    assert (result.code, made) == ("FORBIDDEN", [])
    assert "cannot wait for an approval" in str(result.envelope)


class ByKind(CreateAPIView):
    class Box(serializers.Serializer):
        width = serializers.IntegerField()

    class Ball(serializers.Serializer):
        radius = serializers.IntegerField()

    def get_serializer_class(self):
        return self.Ball if self.request.data.get("kind") == "ball" else self.Box


def test_nothing_is_said_of_arguments_whose_serializer_a_call_decides(expose, save_rule, alice):
    expose(path("things/", ByKind.as_view(), name="things"))
    save_rule("things_create", "approve")
    assert alice.call("things_create", kind="ball", radius=3).code == "APPROVAL_REQUIRED"
    assert Proposal.objects.get().message == ""


class Pins(CreateAPIView):
    class serializer_class(serializers.Serializer):
        pin = serializers.CharField()

        def validate_pin(self, pin):
            raise serializers.ValidationError(f"{pin} is not yours.")


def test_why_a_call_failed_is_kept_without_secrets(expose, save_rule, alice, approver):
    expose(path("pins/", Pins.as_view(), name="pins"))
    save_rule("pins_create", "approve")
    alice.call("pins_create", pin="4711")
    row = run_proposal(approve(Proposal.objects.get(), approver()).pk)
    assert (row.status, row.message) == ("failed", "VALIDATION_ERROR")


class Keys(CreateAPIView):
    class serializer_class(serializers.Serializer):
        api_key = serializers.ChoiceField(["a"])
        note = serializers.ChoiceField(["b"])


def test_what_fields_will_refuse_is_said_without_secrets(expose, save_rule, alice):
    expose(path("keys/", Keys.as_view(), name="keys"))
    save_rule("keys_create", "approve")
    result = alice.call("keys_create", api_key="key-4711", note="Bearer tok-42")
    message = Proposal.objects.get().message
    assert "probably refuse the call. api_key: ******** note: " in message
    for secret in ("4711", "tok-42"):
        assert secret not in f"{message} {result.envelope}"


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Groups(CreateAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


OUTSIDE = []


@mcp_viewset(dry_run=False)
class Contracts(ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer

    def perform_create(self, serializer) -> None:
        OUTSIDE.append("created")
        serializer.save()

    def perform_update(self, serializer) -> None:
        OUTSIDE.append("updated")

    def perform_destroy(self, instance) -> None:
        OUTSIDE.append("destroyed")

    def preview_charge(self, request, pk=None) -> str:
        OUTSIDE.append("previewed")
        return "Charged."

    @action(detail=True, methods=["post"])
    def charge(self, request, pk=None) -> Response:
        OUTSIDE.append("charged")
        self.get_object().user_set.clear()
        return Response({"done": True})


class TriedContracts(Contracts):
    pass


@pytest.mark.parametrize("tried", [True, False])
@pytest.mark.parametrize("tool", ["create", "partial_update", "destroy", "charge"])
def test_nothing_of_the_view_runs_until_the_call_is_approved(
    expose, save_rule, alice, approver, tool, tried
):
    OUTSIDE.clear()
    view = mcp_viewset(dry_run=True)(TriedContracts) if tried else Contracts
    actions = {"patch": "partial_update", "delete": "destroy", "get": "retrieve"}
    expose(
        path("contracts/", view.as_view({"post": "create"}), name="contracts"),
        path("contracts/<int:pk>/", view.as_view(actions), name="contract"),
        path("contracts/<int:pk>/charge/", view.as_view({"post": "charge"}), name="charge"),
    )
    name = next(each for each in registry.tools() if each.endswith(tool))
    save_rule("*", "approve")
    sent = {"name": "x"} if tool in ("create", "partial_update") else {}
    if tool != "create":
        sent["id"] = Group.objects.create(name="contract").pk
    for end in ("withdrawn", "declined"):
        row = Proposal.objects.get(pk=alice.call(name, **sent).data["proposal"])
        if end == "withdrawn":
            alice.call("proposals_withdraw", id=row.pk)
        else:
            store.decline(row, User.objects.get(username="admin"), "No.")
        assert (state(row), OUTSIDE) == (end, [])
    row = Proposal.objects.get(pk=alice.call(name, **sent).data["proposal"])
    alice.call("proposals_retrieve", id=row.pk)
    assert OUTSIDE == []
    approve(row, approver())
    assert run_proposal(row.pk).status == "done"
    assert len(OUTSIDE) == 1


# --- The command and the admin -----------------------------------------------------------------


def test_the_command_lists_shows_approves_and_runs(propose, approver, order, capsys):
    row, dora = propose(), approver()
    call_command("mcp_proposals", "list")
    assert row.pk in capsys.readouterr().out
    call_command("mcp_proposals", "show", row.pk)
    assert row.fingerprint in capsys.readouterr().out
    with pytest.raises(CommandError, match="no permission"):
        call_command("mcp_proposals", "approve", row.pk, username="alice")
    call_command("mcp_proposals", "approve", row.pk, username=dora.username)
    call_command("mcp_proposals", "run")
    assert state(row) == "done"
    assert is_refunded(order)
    call_command("mcp_proposals", "run")
    assert "No call is approved" in capsys.readouterr().out


def test_a_mistyped_id_is_refused_with_the_nearest(propose):
    row = propose()
    with pytest.raises(CommandError, match="Did you mean"):
        call_command("mcp_proposals", "show", row.pk[:-1])


def test_the_command_declines(propose, approver):
    row, dora = propose(), approver()
    call_command("mcp_proposals", "decline", row.pk, reason="No.", username=dora.username)
    assert state(row) == "declined"


def test_the_admin_changes_no_proposal(propose, client):
    row = propose()
    client.force_login(User.objects.get(username="admin"))
    assert row.title in client.get("/admin/drf_mcp_rules/proposal/").content.decode()
    page = client.get(f"/admin/drf_mcp_rules/proposal/{row.pk}/change/").content.decode()
    assert f"/mcp/approvals/{row.pk}/" in page
    assert 'name="status"' not in page
