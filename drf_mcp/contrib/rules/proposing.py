"""A call that people approve: its proposal, and its run once it is approved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied, Throttled

from drf_mcp.access.principals import get_tenant_key, get_user_key
from drf_mcp.contrib.rules import ledger as states
from drf_mcp.contrib.rules.ledger import ProposalLedger
from drf_mcp.contrib.rules.ruling import Ruling
from drf_mcp.contrib.rules.trial import Trial
from drf_mcp.contrib.rules.values import ViewRefused
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.backends import find_backend
from drf_mcp.contrib.tasks.credentials import Credential, keep_environ
from drf_mcp.contrib.tasks.ledger import CANCELLED
from drf_mcp.contrib.writes.controls import is_dry_run
from drf_mcp.dispatch.approach import find_written_databases
from drf_mcp.dispatch.guards import CallRefused
from drf_mcp.dispatch.probe import REFUSALS
from drf_mcp.dispatch.stored_answers import MADE, StoredAnswer
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Proceed
from drf_mcp.interaction.slots import Slot
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Category, Failure, Outcome
from drf_mcp.protocol import jsonrpc

# The proposal whose call is being made.
RUN: Slot[Any] = Slot()
TERMS: Slot[Mapping[str, Any]] = Slot()
RETRIEVE, WITHDRAW = "proposals_retrieve", "proposals_withdraw"


class Proposing:
    """What becomes of a call that a rule has approved first.

    Args:
        call: the call.
        rule: the rule.
        ruling: what the rule decides.
    """

    def __init__(self, call: CallState, rule: Any, ruling: Ruling) -> None:
        self.call, self.rule, self.ruling = call, rule, ruling
        self.ledger = ProposalLedger()
        self.owner = call.caller.principal
        self.digest = hash_json(call.bound.arguments)

    def answer(self, proceed: Proceed) -> Outcome:
        """Return the outcome of the call: a proposal, or that of the call once it is approved."""
        call = self.call
        if call.tool.reads:
            raise self.refuse(_("A call that reads cannot wait for an approval."))
        if is_dry_run(call):
            return proceed(call)
        is_called = call.context is not None and call.context.message.method == "tools/call"
        if not self.owner or not is_called:
            raise self.refuse(self.ruling.reason)
        if (taken := getattr(call.caller.request, "mcp_proposal", None)) is not None:
            return self.make(taken, proceed)
        row = self.ledger.find_same(self.owner, call.tool.name, self.digest)
        if row is not None and self.ledger.begin(row):
            return self.make(row, proceed)
        return self.propose() if row is None else self.describe(row)

    def refuse(self, reason: str) -> CallRefused:
        return CallRefused(PermissionDenied(reason))

    def propose(self) -> Outcome:
        call, request = self.call, self.call.caller.authenticate()
        trial = self.make_trial()
        if trial.refusal is not None:
            return trial.refusal
        authenticator = call.caller.successful_authenticator
        try:
            row = self.ledger.create(
                self.owner,
                tool=call.tool.name,
                title=str(call.tool.title)[:200],
                rule=self.rule.name,
                reason=self.ruling.reason,
                approvals_needed=self.ruling.approvals,
                group=self.ruling.group,
                people=sorted(find_people(request)),
                tenant=get_tenant_key(call.caller.request),
                user_label=str(request.user)[:150],
                credential=type(authenticator).__name__ if authenticator else "",
                request=self.keep_request(request),
                arguments=call.tool.sanitize_arguments(call.bound.arguments),
                digest=self.digest,
                shown=trial.shown,
                fingerprint=trial.fingerprint,
                task_id=self.make_task(),
            )
        except Throttled as exc:
            raise CallRefused(exc) from exc
        return self.describe(row)

    def make_trial(self, *, locks: bool = False) -> Trial:
        try:
            return Trial(self.call, locks=locks)
        except ViewRefused as exc:
            trial: Any = Trial.__new__(Trial)
            trial.refusal = exc.outcome
            return trial  # type: ignore[no-any-return]

    def make_task(self) -> str:
        # For clients that ask for tasks, where the endpoint answers that.
        context = self.call.context
        takes_tasks = context is not None and context.has_extension(TASKS_EXTENSION)
        if not takes_tasks or find_backend() is None:
            return ""
        return self.ledger.create_task(self.owner, self.call.tool.name)

    def keep_request(self, request: Any) -> Mapping[str, Any] | None:
        # A credential without a row, such as a session, cannot be looked up when the call is made:
        # then its caller makes it. Nor has a door of this process an address.
        call = self.call
        credential = None if call.caller.view is None else Credential.of(request)
        if credential is None or credential.auth is None:
            return None
        assert call.context is not None
        meta = dict(call.context.message.meta)
        params = {"name": call.tool.name, "arguments": dict(call.bound.arguments), "_meta": meta}
        environ = keep_environ(call.caller.request)
        if "HTTP_MCP_NAME" in environ:
            # Of a call that a search or a program made, it names the search or the program.
            environ["HTTP_MCP_NAME"] = call.tool.name
        return {"params": params, "environ": environ, "credential": vars(credential)}

    def make(self, row: Any, proceed: Proceed) -> Outcome:
        """Make the call of a proposal that was taken to be made."""
        call = self.call
        task = self.ledger.find_task(row)
        if task is not None and task.status == CANCELLED:
            raise self.refuse(_("The task of the call was cancelled."))
        is_same = (row.owner, row.tool, row.digest) == (self.owner, call.tool.name, self.digest)
        if not is_same or row.status != states.RUNNING:
            raise self.refuse(_("The call is not the one that was approved."))
        RUN.set(call, row)
        with ExitStack() as stack:
            for alias in find_written_databases():
                stack.enter_context(transaction.atomic(using=alias))
            trial = self.make_trial(locks=True)
            if trial.refusal is not None:
                return trial.refusal
            if trial.fingerprint == row.fingerprint:
                # It was let in, and confirmed, before.
                call.is_rerun = True
                return proceed(call)
        self.ledger.return_stale(row, trial.shown, trial.fingerprint)
        return self.describe(row)

    def describe(self, row: Any) -> Outcome:
        """Return the soft outcome that says what the call waits for."""
        data = describe_proposal(row)
        message = " ".join([_("Nothing was done yet."), describe_state(row), row.reason])
        advice = _("Ask for the state with the tool and the arguments in 'next', not at once.")
        failure = Failure("APPROVAL_REQUIRED", Category.AUTHORIZATION, message, advice, soft=True)
        body = {"detail": f"{message} {advice}", "data": data}
        return Outcome(self.call.tool.name, 200, data=data, body=body, failure=failure)


def describe_proposal(row: Any) -> dict[str, Any]:
    """Return a proposal as its caller is shown it."""
    given = row.approvals.filter(fingerprint=row.fingerprint).count()
    facts: dict[str, Any] = {
        "proposal": row.proposal_id,
        "status": row.status,
        "call": row.tool,
        "shown": row.shown,
        "reason": row.reason,
        "approvals": {"needed": row.approvals_needed, "given": given},
        "approvers": row.group or _("people with the permission %s") % states.PERMISSION,
        "expires": row.expires.isoformat(),
        "message": row.message,
        "task": row.task_id,
    }
    if row.status == states.APPROVED and row.request is None:
        facts["message"] = _("Call the tool again with the same arguments: then it is made.")
    if row.status in (*states.OPEN, states.RUNNING):
        facts["next"] = {"tool": RETRIEVE, "arguments": {"id": row.proposal_id}}
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def describe_state(row: Any) -> str:
    if row.status == states.STALE:
        return _("What the call would do has changed: it has to be approved anew.")
    if row.status in (states.APPROVED, states.RUNNING):
        return _("The call was approved, and is made soon.")
    return _("The call waits until it is approved.")


def find_people(request: Any) -> set[str]:
    """Return the keys of the people behind an authenticated request."""
    auth = request.auth
    known = (request.user, getattr(auth, "user", None))
    owners = (*known, getattr(getattr(auth, "application", None), "user", None))
    return {key for user in owners if user is not None and (key := get_user_key(user))}


def note_terms(outcome: Outcome, call: CallState) -> None:
    """Keep the rights that the answer of an approved call is read by."""
    if call.slots and RUN.get(call) is not None:
        answer = StoredAnswer(call.caller, call.tool, **outcome.call)
        TERMS.set(call, answer.note_terms())


def finish(result: Mapping[str, Any], call: CallState) -> None:
    """Keep the result of an approved call; a worker keeps the one that the server sends it."""
    row = RUN.get(call) if call.slots else None
    if row is None:
        return
    ledger, terms = ProposalLedger(), TERMS.get(call) or {}
    if getattr(call.caller.request, "mcp_proposal", None) is not None:
        ledger.change(row, states.RUNNING, terms=terms)
        return
    members = json.loads(jsonrpc.encode_result(None, result))["result"]
    ledger.finish(row, {"result": {"resultType": "complete", **members}}, terms)


def read_answer(row: Any, caller: Any, tool: Any) -> Any:
    """Return what came of a call, if its caller has the rights that it was made under."""
    if not row.terms or row.answer is None:
        return row.answer
    terms = row.terms
    answer = StoredAnswer(caller, tool, terms["kwargs"], terms["query_string"])

    def check() -> Any:
        answer.check(terms)
        return row.answer

    def refuse(exc: Exception) -> Any:
        if isinstance(exc, REFUSALS):
            return {"error": {"message": _(MADE)}}
        raise exc

    return contain(check, refuse)
