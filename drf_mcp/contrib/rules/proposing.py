"""A call that people approve: proposed, shown, and made once it is approved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.db import router, transaction
from django.urls import reverse
from django.utils.crypto import get_random_string
from rest_framework.exceptions import PermissionDenied, Throttled

from drf_mcp.access.scopes import find_tenant_key, make_user_key
from drf_mcp.archives import (
    CallObject,
    StoredAnswer,
    can_be_asked,
    find_written_databases,
    hash_row,
)
from drf_mcp.contrib.rules.conditions import describe_refused
from drf_mcp.contrib.rules.proposal_store import (
    APPROVED,
    FAILED,
    OPEN,
    PERMISSION,
    RUNNING,
    WAITING,
    ProposalStore,
)
from drf_mcp.contrib.rules.ruling import Ruling
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.run import (
    GONE,
    CallerGone,
    Credential,
    answer_again,
    find_backend,
    keep_environ,
    make_error,
    make_request,
)
from drf_mcp.contrib.tasks.task_store import CANCELLED
from drf_mcp.contrib.writes.dry_run import is_dry_run
from drf_mcp.errors import CallRefused
from drf_mcp.exceptions import Conflict, attempt
from drf_mcp.exposure import registry
from drf_mcp.features import Call, CallState, Guard, Proceed, Slot, override_language
from drf_mcp.interaction.call_context import DEFERRAL
from drf_mcp.interaction.exchange import COUNTED, RERUN, Asked
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Category, Failure, Outcome
from drf_mcp.protocol import jsonrpc
from drf_mcp.transports.in_process import LocalEndpoint

CHANGED = (
    "What the call is about has changed since it was approved, so the call was not made. Look at "
    "it again; if the call is still right, call again, and people approve it anew."
)
# The proposal whose call is being made, a row.
PROPOSAL: Slot[Any] = Slot()
RETRIEVE, WITHDRAW = "proposals_retrieve", "proposals_withdraw"
# Of the objects of a call so many are shown.
MOST_OBJECTS = 10


def _make_refusal(reason: str) -> CallRefused:
    return CallRefused(PermissionDenied(reason))


class ProposalGuard(Guard):
    """Keeps the result of an approved call for its proposal."""

    order = 10

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        outcome, row = proceed(call), PROPOSAL.get(call)
        if row is None:
            return outcome
        # The answer is given later only under the rights that its caller has now.
        answer, store = StoredAnswer.of_call(call), ProposalStore()
        # The server writes a result of the outermost call alone, with the members of its meta.
        is_inner = call.context is not None and call.context.is_inner
        result = call.write(outcome.changed(meta={}) if is_inner else outcome)
        written = outcome if is_inner else call.outcome or outcome
        terms = answer.note_terms(failed=written.failure is not None)
        store.note_end(row, terms, written.failure)
        # Else `run_proposal` keeps the result that the server sends it.
        if getattr(call.caller.request, "mcp_proposal", None) is None:
            members = json.loads(jsonrpc.encode_result(None, result))["result"]
            store.finish(row, {"result": {"resultType": "complete", **members}})
        return outcome


class CallToApprove:
    """A call that people have to approve, because a rule asks for it.

    Until it is approved, the view's permissions and its object are asked, and no handler runs.

    Args:
        call: the call.
        rule: the rule.
        ruling: what the rule asks for.
    """

    def __init__(self, call: CallState, rule: Any, ruling: Ruling) -> None:
        self.call, self.ruling = call, ruling
        self.store = ProposalStore()
        self.owner = call.caller.principal
        self.digest = hash_json(call.tool.arguments.leave_notes_out(call.bound.arguments))
        self.asked = {"rule": rule.name, "reason": ruling.reason, "group": ruling.group}
        self.asked |= {"approvals_needed": ruling.approvals}

    def make_outcome(self, proceed: Proceed) -> Outcome:
        """Return a proposal, or the outcome of the approved call."""
        call, tool = self.call, self.call.tool
        if tool.reads:
            raise _make_refusal("A call that reads cannot wait for an approval.")
        if is_dry_run(call):
            return proceed(call)
        if not can_be_asked(tool.endpoint):
            reason = "A call of %s cannot wait for an approval: a decorator around its view may "
            raise _make_refusal(f"{reason}refuse it, which only the call itself shows." % tool.name)
        row = getattr(call.caller.request, "mcp_proposal", None)
        is_new = row is None
        refused: Outcome | None = call.dispatcher.find_early_refusal(call, is_counted=is_new)
        if refused is not None:
            return refused
        is_called = call.context is not None and call.context.message.method == "tools/call"
        if not self.owner or not is_called:
            raise _make_refusal(self.ruling.reason)
        if row is None:
            row = self._find_or_propose()
            if not self.store.begin(row):
                return _describe_waiting(call, row)
        is_same = (row.owner, row.tool, row.digest) == (self.owner, tool.name, self.digest)
        if not is_same or row.status != RUNNING:
            raise _make_refusal("The call is not the one that was approved.")
        if (task := self.store.find_task(row)) is not None and task.status == CANCELLED:
            raise _make_refusal("The task of the call was cancelled.")
        return self.make(row, proceed)

    def _find_or_propose(self) -> Any:
        call = self.call
        key = find_credential_key(call.caller)
        objects = _find_objects(call)
        fingerprint = self._make_fingerprint(objects)
        row = self.store.find_same(self.owner, key, call.tool.name, self.digest)
        if row is not None and row.fingerprint != fingerprint and row.status in OPEN:
            # An object that changed meanwhile may not be approved.
            self.store.withdraw(row, FAILED, CHANGED)
            row = None
        if row is None:
            return self._propose(key, objects, fingerprint)
        return row

    def _propose(self, key: str, objects: list[dict[str, Any]], fingerprint: str) -> Any:
        call, tool = self.call, self.call.tool
        request = call.caller.authenticate()
        authenticator, context = call.caller.successful_authenticator, call.context
        # A client that takes tasks gets one, where the endpoint has workers.
        takes_tasks = context is not None and context.has_extension(TASKS_EXTENSION)
        takes_tasks = takes_tasks and find_backend() is not None
        # An id that begins with a hyphen would be an option of a command.
        proposal_id = get_random_string(22)
        try:
            row = self.store.create(
                self.owner,
                proposal_id,
                holder=call.caller.holder,
                credential_key=key,
                tool=tool.name,
                title=str(tool.title)[:200],
                people=sorted(_find_people(request)),
                tenant=find_tenant_key(call.caller.request),
                user_label=str(request.user)[:150],
                credential=type(authenticator).__name__ if authenticator else "",
                request=keep_request(call, request),
                arguments=tool.sanitize_arguments(call.bound.arguments),
                digest=self.digest,
                named_objects=objects,
                fingerprint=fingerprint,
                terms=StoredAnswer.of_call(call).note_terms(),
                link=_find_link(call.caller, proposal_id),
                message=describe_refused(call.tool, call.bound.requests),
                **self.asked,
            )
        except Throttled as exc:
            raise CallRefused(exc) from exc
        if takes_tasks:
            self.store.change(row, WAITING, task_id=self.store.create_task(self.owner, tool.name))
        return row

    def _make_fingerprint(self, objects: list[dict[str, Any]]) -> str:
        return hash_json([self.call.tool.name, self.digest, [each["hash"] for each in objects]])

    def make(self, row: Any, proceed: Proceed) -> Outcome:
        """Make the call of a proposal that was taken to be made, or have it approved anew."""
        call, store = self.call, self.store
        PROPOSAL.set(call, row)
        # The call is made here: a task would make a call that has to be approved again.
        DEFERRAL.set(call, None)
        # Guards and throttles let the call in, and its caller confirmed it, when it was proposed.
        RERUN.set(call, True)
        COUNTED.set(call, True)
        with ExitStack() as stack:
            for alias in find_written_databases():
                stack.enter_context(transaction.atomic(using=alias))
            # The rule may ask for more approvals, or another group, since the call was approved.
            for name, value in self.asked.items():
                setattr(row, name, value)
            is_enough = len(store.find_approvals(row)) >= row.approvals_needed
            if is_enough:
                if self._make_fingerprint(_find_objects(call, is_locked=True)) != row.fingerprint:
                    raise CallRefused(Conflict(CHANGED))
                try:
                    return proceed(call)
                except Asked as exc:
                    # The answers of the caller are not what was approved.
                    raise _make_refusal(
                        "An approved call cannot be made: it asks its caller."
                    ) from exc
        store.reopen(row)
        return _describe_waiting(call, row)


# --- The caller and the objects of a call --------------------------------------------------------


def _find_objects(call: CallState, *, is_locked: bool = False) -> list[dict[str, Any]]:
    """Return what each request of a call names, with a hash of the row's columns, as JSON."""
    found: list[dict[str, Any]] = []
    for bound in call.bound.requests:
        named = CallObject(call.caller, call.tool, bound)
        row: Any = None if named.key is None else named.find_row(is_locked=is_locked)
        if row is None and named.key is not None:
            row = _find_row_by_key(call.tool.endpoint.model, named.key, is_locked=is_locked)
        label = "" if row is None else row._meta.concrete_model._meta.label
        found.append(
            {
                "kwargs": dict(bound.kwargs),
                "query_string": bound.query_string,
                "model": label,
                "pk": "" if row is None else str(row.pk),
                "hash": "" if row is None else hash_row(row),
            }
        )
    return found


def _find_row_by_key(model: Any, key: Any, *, is_locked: bool) -> Any:
    """Return the row that a handler probably finds by itself, None for none."""
    if model is None:
        return None
    rows = model._base_manager.using(router.db_for_write(model))
    rows = rows.select_for_update() if is_locked else rows
    return attempt(lambda: rows.filter(pk=key).first(), None)


def find_shown_fingerprint(proposal: Any) -> str:
    """Return the fingerprint of what is shown now, "" where a row has changed since."""
    for named in proposal.named_objects:
        if not named["model"]:
            continue
        model: Any = apps.get_registered_model(*named["model"].split("."))
        rows = model._base_manager.using(router.db_for_write(model))
        row = rows.filter(pk=named["pk"]).first()
        if row is None or hash_row(row) != named["hash"]:
            return ""
    return str(proposal.fingerprint)


def _show_objects(proposal: Any, caller: Any, tool: Any) -> list[dict[str, Any]]:
    """Return the objects of a proposal as the retrieve tool of the same view shows them now."""
    shown = (
        CallObject(caller, tool, Call({}, each["kwargs"], each["query_string"])).show()
        for each in proposal.named_objects[:MOST_OBJECTS]
    )
    return [each.data for each in shown if each is not None]


def show_to(proposal: Any, user: Any, tenant: Any = None) -> list[dict[str, Any]]:
    """Return the objects of a proposal as an approver's own reads show them now.

    Args:
        tenant: what middleware set on the approver's request.
    """
    tool = registry.tools().get(proposal.tool)
    caller = LocalEndpoint().make_caller(user)
    address = urlsplit(proposal.link)
    if address.netloc:
        # The URLs among the values lead to the host where the call was proposed.
        caller.request.META |= {"HTTP_HOST": address.netloc, "wsgi.url_scheme": address.scheme}
        if not attempt(caller.request.get_host, ""):
            # The project, or this process, no longer serves it.
            del caller.request.META["HTTP_HOST"]
    if tenant is not None:
        caller.request.tenant = tenant  # type: ignore[attr-defined]
    return [] if tool is None else _show_objects(proposal, caller, tool)


def _find_people(request: Any) -> set[str]:
    """Return the keys of the people behind an authenticated request."""
    auth = request.auth
    known = (request.user, getattr(auth, "user", None))
    owners = (*known, getattr(getattr(auth, "application", None), "user", None))
    return {key for user in owners if user is not None and (key := make_user_key(user))}


def find_credential_key(caller: Any) -> str:
    """Return a hash by which the credential of a caller is known again.

    OAuth replaces access tokens every hour: all tokens of a client are one credential.
    """
    request = caller.authenticate()
    auth, authenticator = request.auth, caller.successful_authenticator
    client = getattr(getattr(auth, "application", None), "pk", None)
    known = Credential.of(request)
    # A worker that makes a task's call signs in by other classes than its caller did.
    reference = type(authenticator).__name__ if known is None else known.auth
    return hash_json(reference if client is None else ["client", str(client)])


def _find_link(caller: Any, proposal_id: str) -> str:
    path = attempt(lambda: reverse("drf_mcp_rules:proposal", args=[proposal_id]), "")
    # A caller of this process has no address.
    has_address = path and caller.view is not None
    return str(caller.request.build_absolute_uri(path))[:500] if has_address else ""


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


# --- The answer to the caller --------------------------------------------------------------------


def describe_proposal(row: Any, call: CallState) -> dict[str, Any]:
    """Return the state of a proposal, without what it shows of objects and of its result."""
    facts: dict[str, Any] = {
        "proposal": row.proposal_id,
        "status": row.status,
        "call": row.tool,
        "reason": row.reason,
        "approvals": {
            "needed": row.approvals_needed,
            "given": len(ProposalStore().find_approvals(row)),
        },
        "approvers": row.group or f"people with the permission {PERMISSION}",
        "expires": row.expires.isoformat(),
        "message": row.message,
        "task": row.task_id,
    }
    if row.status == APPROVED and row.request is None:
        facts["message"] = "Call the tool again with the same arguments: then it is made."
    if row.status in (*OPEN, RUNNING):
        # The arguments may be grouped.
        arguments = call.server.registry.tools()[RETRIEVE].arguments
        sent = [(argument, row.proposal_id) for argument in arguments.arguments]
        facts["next"] = {"tool": RETRIEVE, "arguments": arguments.change({}, sent)}
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def show_proposal(row: Any, call: CallState, tool: Any) -> dict[str, Any]:
    """Return what a call that waits is about: its arguments and its objects, as its caller reads
    them today.
    """
    if row.status not in (*OPEN, RUNNING):
        return {}
    objects = _show_objects(row, call.caller, tool)
    shown = objects[0] if len(objects) == 1 else objects and {"objects": objects}
    return {"arguments": row.arguments, **({"shown": shown} if shown else {})}


def _describe_waiting(call: CallState, row: Any) -> Outcome:
    """Return the soft outcome that says what a call waits for."""
    data = {**describe_proposal(row, call), **show_proposal(row, call, call.tool)}
    state = f"The call is {row.status} already."
    if row.status == WAITING:
        state = "The call was not made: it waits until it is approved."
    elif row.status in (APPROVED, RUNNING):
        state = "The call was approved, and is made soon."
    message = f"{state} {row.reason}"
    advice = "Ask for the state with the tool and the arguments in 'next', not at once."
    if row.status == WAITING and row.message:
        message = f"{message} {row.message}"
        advice = f"Take it back with {WITHDRAW}, and call again with other arguments."
    failure = Failure("APPROVAL_REQUIRED", Category.AUTHORIZATION, message, advice, soft=True)
    waits = row.status in (*OPEN, RUNNING)
    return Outcome(call.tool.name, 200, data=data, failure=failure, waits=waits)


# --- The run of an approved call -----------------------------------------------------------------


def make_without_worker(row: Any) -> Any:
    """Make the call of a proposal that has just been approved, where no worker makes it.

    Returns the proposal as it is then.
    """
    made = run_proposal(row.pk) if row.status == APPROVED and find_backend() is None else None
    return row if made is None else made


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
        store.finish(row, make_error(GONE, "The caller is no longer let in."))
        return row
    request.mcp_proposal = row  # type: ignore[attr-defined]
    with override_language():
        answer = answer_again(request)
    # Where another guard or middleware answered, `ProposalGuard` has not kept the answer.
    row.refresh_from_db()
    store.finish(row, answer)
    return row
