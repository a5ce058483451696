"""A call that people approve: tried, proposed, and made once it is approved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from django.db import router, transaction
from django.db.models import Model
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import PermissionDenied, Throttled

from drf_mcp.access.scopes import get_tenant_key, get_user_key
from drf_mcp.contrib.rules.proposal_store import (
    APPROVED,
    OPEN,
    PERMISSION,
    RUNNING,
    STALE,
    ProposalStore,
)
from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE, Ruling, decide_call
from drf_mcp.contrib.rules.values import (
    REFUSED_ITEMS,
    CallValues,
    ViewRefused,
    locate_item,
    noting_refused_item,
)
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.credentials import CallerGone, Credential, keep_environ
from drf_mcp.contrib.tasks.run import GONE, answer_again, find_backend, make_error, make_request
from drf_mcp.contrib.tasks.task_store import CANCELLED
from drf_mcp.contrib.writes.changes import DRY_RUN, is_dry_run
from drf_mcp.contrib.writes.dry_run import Rollback, make_trial
from drf_mcp.contrib.writes.previewer import preview
from drf_mcp.dispatch.guards import CallRefused, pass_guards
from drf_mcp.dispatch.probe import find_written_databases
from drf_mcp.dispatch.request import needs_callback
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Proceed, Slot
from drf_mcp.interaction.call_context import DEFERRAL
from drf_mcp.interaction.exchange import Asked
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Category, Failure, Outcome
from drf_mcp.settings import override_language

MADE = gettext_noop(
    "The change was made before, and is not made again. Its answer is not given: by now a rule "
    "refuses the call, or has it approved. Read what was changed."
)
# The proposal whose call is being made, a row.
PROPOSAL: Slot[Any] = Slot()
RETRIEVE, WITHDRAW = "proposals_retrieve", "proposals_withdraw"


def make_refusal(reason: str) -> CallRefused:
    return CallRefused(PermissionDenied(reason))


class RulesGuard(Guard):
    """Refuses a call, or has it approved, as the first rule that decides says."""

    order = 450

    def __init__(self, rules: Iterable[Any]) -> None:
        self.rules = rules

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        # A caller without a valid credential learns of no rule.
        call.caller.authenticate()
        try:
            decision = decide_call(self.rules, call)
            ruling = decision.ruling
            if ruling.verdict == ALLOW:
                return proceed(call)
            if (made := self.find_earlier(call)) is not None:
                return made
            if ruling.verdict == REFUSE:
                refusal = make_refusal(ruling.reason)
                if not call.bound.items:
                    raise refusal
                outcome = call.dispatcher.get_refused_outcome(call, refusal.exc)
                return locate_item(outcome, call, decision.place)
            return CallToApprove(call, decision.rule, ruling).get_outcome(proceed)
        except ViewRefused as exc:
            return exc.outcome

    def find_earlier(self, call: CallState) -> Outcome | None:
        """Return the outcome of a call that was made before, if its caller may still learn that."""
        # The call of a proposal that is being made has to end the proposal.
        if call.tool.reads or hasattr(call.caller.request, "mcp_proposal"):
            return None
        found = (guard.find_made(call, _(MADE)) for guard in call.guards)
        if (made := next(filter(None, found), None)) is None:
            return None
        answer = call.dispatcher.get_stored_answer(call)
        return made if contain(lambda: bool(answer.find_rights()), lambda exc: False) else None


class RefusedItemGuard(Guard):
    """Refuses an item whose object the view refuses: see `noting_refused_item`."""

    is_for_each = True
    order = 451

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        for item in (REFUSED_ITEMS.get(call) or ()) if call.slots else ():
            if item.kwargs == call.bound.kwargs:
                return item.outcome
        return proceed(call)


class CallToApprove:
    """A call that people have to approve, because a rule asks for it.

    Args:
        call: the call.
        rule: the rule.
        ruling: what the rule asks for.
    """

    def __init__(self, call: CallState, rule: Any, ruling: Ruling) -> None:
        self.call, self.ruling = call, ruling
        self.store = ProposalStore()
        self.owner, self.digest = call.caller.principal, hash_json(call.bound.arguments)
        self.asked = {"rule": rule.name, "reason": ruling.reason, "group": ruling.group}
        self.asked |= {"approvals_needed": ruling.approvals}

    def get_outcome(self, proceed: Proceed) -> Outcome:
        """Return the outcome of the call: a proposal, or that of the call once it is approved."""
        call, tool = self.call, self.call.tool
        if tool.reads:
            raise make_refusal(_("A call that reads cannot wait for an approval."))
        if is_dry_run(call):
            return proceed(call)
        is_called = call.context is not None and call.context.message.method == "tools/call"
        if not self.owner or not is_called:
            raise make_refusal(self.ruling.reason)
        row = getattr(call.caller.request, "mcp_proposal", None)
        if row is None:
            row = self.store.find_same(self.owner, tool.name, self.digest)
            if row is None:
                return describe_waiting(call, self.propose())
            if not self.store.begin(row):
                return describe_waiting(call, row)
        is_same = (row.owner, row.tool, row.digest) == (self.owner, tool.name, self.digest)
        if not is_same or row.status != RUNNING:
            raise make_refusal(_("The call is not the one that was approved."))
        if (task := self.store.find_task(row)) is not None and task.status == CANCELLED:
            raise make_refusal(_("The task of the call was cancelled."))
        return self.make(row, proceed)

    def propose(self) -> Any:
        call, tool = self.call, self.call.tool
        request, trial = call.caller.authenticate(), Trial(call)
        authenticator, context = call.caller.successful_authenticator, call.context
        # A client that takes tasks gets one, where the endpoint has workers.
        takes_tasks = context is not None and context.has_extension(TASKS_EXTENSION)
        takes_tasks = takes_tasks and find_backend() is not None
        try:
            return self.store.create(
                self.owner,
                tool=tool.name,
                title=str(tool.title)[:200],
                people=sorted(find_people(request)),
                tenant=get_tenant_key(call.caller.request),
                user_label=str(request.user)[:150],
                credential=type(authenticator).__name__ if authenticator else "",
                request=keep_request(call, request),
                arguments=tool.sanitize_arguments(call.bound.arguments),
                digest=self.digest,
                shown=trial.shown,
                fingerprint=trial.fingerprint,
                task_id=self.store.create_task(self.owner, tool.name) if takes_tasks else "",
                **self.asked,
            )
        except Throttled as exc:
            raise CallRefused(exc) from exc

    def make(self, row: Any, proceed: Proceed) -> Outcome:
        """Make the call of a proposal that was taken to be made, or have it approved anew."""
        call, ruling = self.call, self.ruling
        PROPOSAL.set(call, row)
        # The call is made here: a task would make a call that has to be approved again.
        DEFERRAL.set(call, None)
        # Guards and throttles let the call in, and its caller confirmed it, when it was proposed.
        call.is_rerun = call.is_counted = True
        with ExitStack() as stack:
            for alias in find_written_databases():
                stack.enter_context(transaction.atomic(using=alias))
            trial = Trial(call, is_approved=True)
            # The rule may ask for more approvals, or another group, since the call was approved.
            is_enough = row.given.count() >= ruling.approvals and ruling.group in ("", row.group)
            if is_enough and trial.fingerprint == row.fingerprint:
                try:
                    return proceed(call)
                except Asked as exc:
                    # The view did not ask in a dry run.
                    raise trial.make_obstacle(_("it asks its caller")) from exc
        self.store.return_stale(row, trial.shown, trial.fingerprint, **self.asked)
        return describe_waiting(call, row)


def find_people(request: Any) -> set[str]:
    """Return the keys of the people behind an authenticated request."""
    auth = request.auth
    known = (request.user, getattr(auth, "user", None))
    owners = (*known, getattr(getattr(auth, "application", None), "user", None))
    return {key for user in owners if user is not None and (key := get_user_key(user))}


def keep_request(call: CallState, request: Any) -> Mapping[str, Any] | None:
    # A worker cannot look up a credential without a row, such as a session, and a door of this
    # process has no address. Then the caller has to call again.
    credential = None if call.caller.view is None else Credential.of(request)
    if credential is None or credential.auth is None:
        return None
    assert call.sent is not None
    # The message as the client sent it: a call of ``tools_write`` answers in its own terms.
    message = call.sent.message
    name, arguments = message.params["name"], message.params.get("arguments", {})
    params = {"name": name, "arguments": arguments, "_meta": dict(message.meta)}
    environ = keep_environ(call.caller.request)
    if "HTTP_MCP_NAME" in environ:
        # A program that makes the call sent its own name.
        environ["HTTP_MCP_NAME"] = name
    return {"params": params, "environ": environ, "credential": vars(credential)}


def describe_proposal(row: Any, call: CallState) -> dict[str, Any]:
    """Return a proposal as its caller is shown it."""
    facts: dict[str, Any] = {
        "proposal": row.proposal_id,
        "status": row.status,
        "call": row.tool,
        "shown": row.shown,
        "reason": row.reason,
        "approvals": {"needed": row.approvals_needed, "given": row.given.count()},
        "approvers": row.group or _("people with the permission %s") % PERMISSION,
        "expires": row.expires.isoformat(),
        "message": row.message,
        "task": row.task_id,
    }
    if row.status == APPROVED and row.request is None:
        facts["message"] = _("Call the tool again with the same arguments: then it is made.")
    if row.status in (*OPEN, RUNNING):
        # The arguments may be grouped.
        arguments = call.server.registry.tools()[RETRIEVE].arguments
        sent = [(argument, row.proposal_id) for argument in arguments.arguments]
        facts["next"] = {"tool": RETRIEVE, "arguments": arguments.change({}, sent)}
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def describe_waiting(call: CallState, row: Any) -> Outcome:
    """Return the soft outcome that says what a call waits for."""
    data = describe_proposal(row, call)
    state = _("The call was not made: it waits until it is approved.")
    if row.status == STALE:
        state = _(
            "The call was not made: what it would do has changed. It has to be approved anew."
        )
    elif row.status in (APPROVED, RUNNING):
        state = _("The call was approved, and is made soon.")
    message = f"{state} {row.reason}"
    advice = _("Ask for the state with the tool and the arguments in 'next', not at once.")
    failure = Failure("APPROVAL_REQUIRED", Category.AUTHORIZATION, message, advice, soft=True)
    body = {"detail": f"{message} {advice}", "data": data}
    return Outcome(call.tool.name, 200, data=data, body=body, failure=failure)


class Trial:
    """A dry run of a call, for those who approve it.

    Args:
        call: the call.
        is_approved: whether the call is made next, in the same transaction: its rows are locked.

    Attributes:
        shown: what the call would do, as its caller may see it.
        fingerprint: a hash of the arguments, of the present state of the rows that the call
            changes, and of how many rows it adds. Values that the call generates are left out.

    Raises:
        ViewRefused: if the view refuses the call.
        CallRefused: if the call cannot be tried.
    """

    def __init__(self, call: CallState, *, is_approved: bool = False) -> None:
        self.call, self.is_approved = call, is_approved
        targets, rollback = list(self.find_targets()), Rollback()
        try:
            foreseen = preview(call)
            if isinstance(foreseen, Outcome):
                raise ViewRefused(foreseen)
            obstacle = rollback.find_obstacle(call.tool.endpoint.route.callback)
            if not obstacle:
                # An old version of the object is refused before people approve the call. After
                # that, the fingerprint says that the object has changed.
                guards = [] if is_approved else [each for each in call.guards if each.is_for_each]
                perform = partial(pass_guards, guards, perform=call.dispatcher.perform)
                outcome = make_trial(call, perform, rollback)
        except Asked as exc:
            # The caller's answers are not kept for a later call.
            raise self.make_obstacle(_("it asks its caller")) from exc
        if obstacle or rollback.obstacle:
            raise self.make_obstacle(_("it has no dry run"))
        meta = dict(outcome.meta)
        facts = meta.pop(DRY_RUN, {})
        if outcome.failure is not None:
            raise ViewRefused(outcome.changed(meta=meta, is_trial=False))
        facts = {name: value for name, value in facts.items() if name != "note"}
        self.shown: Mapping[str, Any] = {**foreseen.data, **facts}
        self.fingerprint = self.make_fingerprint(targets, rollback.changes)

    def make_obstacle(self, reason: str) -> CallRefused:
        facts = {"tool": self.call.tool.name, "reason": reason}
        message = _("A call of %(tool)s cannot be shown to those who approve it: %(reason)s.")
        return make_refusal(message % facts)

    def find_targets(self) -> Iterator[Any]:
        for place, bound in enumerate(self.call.bound.requests):
            each = self.call.of_item(bound)
            if not needs_callback(each.tool.endpoint.route.callback):
                target: Any = None
                with noting_refused_item(self.call, place):
                    target = CallValues(each).object
                if isinstance(target, Model):
                    yield type(target)._meta.concrete_model, target.pk

    def make_fingerprint(self, targets: Iterable[Any], changes: Any) -> str:
        keys: dict[Any, set[Any]] = {}
        for model, key in targets:
            keys.setdefault(model, set()).add(key)
        for found in (changes.updated, changes.deleted_keys):
            for model, own in found.items():
                keys.setdefault(model, set()).update(own)
        # A row that the call adds has no present state.
        for model, own in changes.created.items():
            keys[model] = keys.get(model, set()) - own
        seen = {}
        for model, own in keys.items():
            rows = model._base_manager.using(router.db_for_write(model)).filter(pk__in=own)
            rows = rows.select_for_update() if self.is_approved else rows
            fields = model._meta.concrete_fields
            values = ([str(row.pk), *(f.value_to_string(row) for f in fields)] for row in rows)
            seen[model._meta.label] = sorted(values)
        created = {model._meta.label: len(own) for model, own in changes.created.items()}
        bulk = [[each.verb, each.table, each.rows] for each in changes.bulk]
        sent = [self.call.tool.name, self.call.bound.arguments]
        return hash_json([sent, seen, created, dict(changes.deleted), bulk])


# --- The run of an approved call -----------------------------------------------------------------


def run_proposal(proposal_id: str) -> Any:
    """Make the call of an approved proposal, unless another process does.

    Returns the proposal, None where there is nothing to make.
    """
    store = ProposalStore()
    row = store.rows.filter(pk=proposal_id, request__isnull=False).first()
    if row is None or not store.begin(row):
        return None
    try:
        request = make_request(row.request, row.owner)
    except CallerGone:
        store.finish(row, make_error(GONE, _("The caller is no longer let in.")))
        return row
    request.mcp_proposal = row  # type: ignore[attr-defined]
    with override_language():
        answer = answer_again(request)
    # Where another guard or middleware answered, `RulesFeature` has not kept the answer.
    row.refresh_from_db()
    store.finish(row, answer, row.terms)
    return row
