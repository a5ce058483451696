"""The rows of proposals, and every change of their state.

Each change is conditional: where two happen at once, the row decides which.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.exceptions import PermissionDenied

from drf_mcp.access.scopes import make_user_key
from drf_mcp.contrib.rules.signals import proposal_ended, proposal_made
from drf_mcp.contrib.tasks import task_store as tasks
from drf_mcp.contrib.tasks.run import find_backend
from drf_mcp.errors import MASK, mask_member
from drf_mcp.exceptions import Conflict, attempt
from drf_mcp.features import LimitReached, get_rows, mcp_settings, refuse_beyond
from drf_mcp.outcomes import Failure

logger = logging.getLogger("drf_mcp")

PERMISSION = "drf_mcp_rules.approve_proposal"
# The code of a task whose call was not made.
GONE = 410
WAITING, APPROVED, RUNNING = "waiting", "approved", "running"
DONE, FAILED, UNKNOWN = "done", "failed", "unknown"
DECLINED, WITHDRAWN, EXPIRED = "declined", "withdrawn", "expired"
OPEN = (WAITING, APPROVED)


class ProposalStore:
    """The proposals of all callers.

    Attributes:
        open_for: how long a call may wait to be approved and made.
        kept_for: how long a proposal is kept after that.
        lost_after: how long a call may run before its process counts as lost.
    """

    open_for: ClassVar[timedelta] = timedelta(days=7)
    kept_for: ClassVar[timedelta] = timedelta(days=90)
    lost_after: ClassVar[timedelta] = timedelta(hours=1)

    @property
    def rows(self) -> Any:
        return get_rows("drf_mcp_rules.Proposal")

    def create(self, owner: str, proposal_id: str, **members: Any) -> Any:
        """Return the row of a new proposal.

        Raises:
            LimitReached: if as many of the holder's calls wait as may.
        """
        now = timezone.now()
        times = {"created": now, "updated": now, "expires": now + self.open_for}
        members |= {"status": WAITING, **times}
        row = self.rows.create(owner=owner, proposal_id=proposal_id, **members)
        waiting = self.rows.filter(holder=row.holder, status__in=OPEN).count()
        try:
            refuse_beyond("MAX_PROPOSALS", waiting)
        except LimitReached:
            row.delete()
            raise
        self._send_made(row)
        return row

    def change(self, row: Any, *states: str, **members: Any) -> bool:
        """Change a proposal if it is in one of some states, and return whether it was."""
        found = self.rows.filter(pk=row.pk, status__in=states)
        is_changed = bool(found.update(updated=timezone.now(), **members))
        row.refresh_from_db(using=self.rows.db)
        return is_changed

    def find(self, proposal_id: str, owner: str, credential_key: str) -> Any:
        """Return a proposal of a credential, None where there is none."""
        self.end_late()
        own = self.rows.filter(owner=owner, credential_key=credential_key)
        return own.filter(pk=str(proposal_id)).first()

    def find_same(self, owner: str, credential_key: str, tool: str, digest: str) -> Any:
        """Return the proposal of the same call that has not ended, None where there is none."""
        self.end_late()
        own = self.rows.filter(owner=owner, credential_key=credential_key)
        return own.filter(tool=tool, digest=digest, status__in=(*OPEN, RUNNING)).first()

    # --- Deciding -------------------------------------------------------------------------------

    def check_approver(self, row: Any, user: Any, tenant: str | None = None) -> None:
        """Check that a user may decide about a proposal.

        Args:
            tenant: the tenant of the user's request; None for a terminal, which has all tenants.

        Raises:
            PermissionDenied: if the user may not.
        """
        if not user.is_active or not user.has_perm(PERMISSION):
            raise PermissionDenied("You have no permission to approve calls.")
        if make_user_key(user) in row.people:
            raise PermissionDenied("You cannot approve a call of your own.")
        if tenant is not None and tenant != row.tenant:
            raise PermissionDenied("The call is one of another tenant.")
        if row.group and not user.groups.filter(name=row.group).exists():
            raise PermissionDenied(f"Members of {row.group} approve it.")

    def approve(self, row: Any, user: Any, fingerprint: str, tenant: str | None = None) -> Any:
        """Approve a proposal as it was shown; after the last approval a worker makes the call.

        Args:
            fingerprint: of what the user was shown.

        Raises:
            PermissionDenied: if the user may not.
            Conflict: if it is decided, or was shown otherwise.
        """
        self.end_late()
        with transaction.atomic(using=self.rows.db):
            row = self.lock(row, user, tenant)
            if fingerprint != row.fingerprint:
                raise Conflict("What the call is about has changed since it was proposed.")
            row.approvals.get_or_create(user_id=user.pk, defaults={"created": timezone.now()})
            if len(self.find_approvals(row)) >= row.approvals_needed:
                self.change(row, WAITING, status=APPROVED)
                self.enqueue(row)
        return row

    def find_approvals(self, row: Any) -> list[Any]:
        """Return the approvals of those people who may approve the proposal now."""

        def counts(approval: Any) -> bool:
            with suppress(PermissionDenied):
                self.check_approver(row, approval.user)
                return True
            return False

        # Read anew: permissions are kept with an instance of the user.
        return [each for each in row.approvals.select_related("user") if counts(each)]

    def decline(self, row: Any, user: Any, reason: str, tenant: str | None = None) -> Any:
        """Decline a proposal for good; raises as `approve` does."""
        self.end_late()
        with transaction.atomic(using=self.rows.db):
            row = self.lock(row, user, tenant)
            self.change(row, WAITING, status=DECLINED, message=reason[:300], request=None)
        self.end(row)
        return row

    def lock(self, row: Any, user: Any, tenant: str | None) -> Any:
        row = self.rows.select_for_update().get(pk=row.pk)
        self.check_approver(row, user, tenant)
        if row.status != WAITING:
            raise row.conflict
        return row

    def withdraw(self, row: Any, status: str = WITHDRAWN, message: str = "") -> bool:
        """End a proposal whose call is not being made, and return whether it was open."""
        ended = {"status": status, "message": message[:300], "request": None}
        if is_open := self.change(row, *OPEN, **ended):
            self.end(row)
        return is_open

    # --- Making the call ------------------------------------------------------------------------

    def enqueue(self, row: Any) -> None:
        """Leave an approved call to a worker; without one `mcp_proposals run` makes it."""
        if row.request is None or find_backend() is None:
            return
        make_call = import_string("drf_mcp.contrib.rules.work.make_call")
        sending = make_call.using(backend=mcp_settings.TASKS_BACKEND)
        report = partial(log, "An approved call waits for `mcp_proposals run`")
        send = partial(sending.enqueue, row.pk)
        transaction.on_commit(lambda: attempt(send, otherwise=report), using=row._state.db)

    def begin(self, row: Any) -> bool:
        """Take an approved call to be made, once; return whether it was there to be taken."""
        self.end_late()
        now = timezone.now()
        taken = self.rows.filter(pk=row.pk, status=APPROVED, expires__gt=now)
        is_taken = bool(taken.update(status=RUNNING, updated=now))
        row.refresh_from_db(using=self.rows.db)
        return is_taken

    def reopen(self, row: Any) -> None:
        """Have a call approved anew: its rule asks for more, or an approval no longer counts."""
        members = ("rule", "reason", "group", "approvals_needed")
        asked = {name: getattr(row, name) for name in members}
        expires, counting = timezone.now() + self.open_for, self.find_approvals(row)
        if self.change(row, RUNNING, status=WAITING, expires=expires, **asked):
            row.approvals.exclude(pk__in=[each.pk for each in counting]).delete()
            if task := self.find_task(row):
                tasks.TaskStore().select(task).update(expires=expires)
            self._send_made(row)

    def note_end(self, row: Any, terms: Mapping[str, Any], failure: Failure | None) -> None:
        """Keep why a call failed, and what has to hold when its answer is read."""
        said = "" if failure is None else str(mask_member("", failure.message))
        if failure is not None and any(each.received == MASK for each in failure.problems):
            # A view may repeat a secret that it refuses.
            said = failure.code
        self.change(row, RUNNING, UNKNOWN, terms=terms, message=said[:300])

    def finish(self, row: Any, answer: Mapping[str, Any]) -> None:
        """Keep what came of a call."""
        is_error = "result" not in answer or answer["result"].get("isError")
        ended = {"status": FAILED if is_error else DONE, "answer": answer}
        if "error" in answer:
            ended["message"] = answer["error"]["message"][:300]
        if self.change(row, RUNNING, UNKNOWN, request=None, **ended):
            self.end(row)

    def create_task(self, owner: str, tool: str) -> str:
        """Return the id of a task that ends as the proposal of a call does, and no worker runs."""
        task = tasks.TaskStore().create(owner, tool, {})
        task.message, task.expires = "Waits for an approval.", timezone.now() + self.open_for
        task.save(update_fields=["message", "expires"])
        return str(task.task_id)

    def find_task(self, row: Any) -> Any:
        """Return the task by which a client asks for a proposal, None for none."""
        return tasks.TaskStore().find(row.task_id, row.owner) if row.task_id else None

    def end(self, row: Any) -> None:
        """Send the signal of a proposal that has ended, and finish the client's task."""
        proposal_ended.send_robust(type(row), proposal=row)
        if task := self.find_task(row):
            answer, status = row.answer, tasks.COMPLETED
            if answer is None or "result" not in answer:
                message = row.message or str(row.get_status_display())
                answer, status = answer or {"error": {"code": GONE, "message": message}}, FAILED
            tasks.TaskStore().finish(task, status, answer, row.terms)

    def _send_made(self, row: Any) -> None:
        """Send the signal of a proposal that waits, by which its approvers get an e-mail."""
        send = partial(proposal_made.send_robust, type(row), proposal=row)
        transaction.on_commit(send, using=row._state.db)

    # --- Ends -----------------------------------------------------------------------------------

    def end_late(self) -> None:
        """Expire proposals that were not decided in time; calls of lost processes are unknown."""
        now = timezone.now()
        late = self.rows.filter(status__in=OPEN, expires__lte=now)
        for row in late:
            # Another process may do the same.
            if late.filter(pk=row.pk).update(status=EXPIRED, request=None, updated=now):
                row.refresh_from_db(using=self.rows.db)
                self.end(row)
        lost = self.rows.filter(status=RUNNING, updated__lte=now - self.lost_after)
        lost.update(status=UNKNOWN, updated=now)


def count_waiting_proposals() -> int:
    """Return how many calls wait for a person."""
    waiting = ProposalStore().rows.filter(status=WAITING, expires__gt=timezone.now())
    return int(waiting.count())


def expire_proposals() -> int:
    """Delete the proposals whose time is over, and return their number."""
    store = ProposalStore()
    store.end_late()
    old = store.rows.filter(expires__lte=timezone.now() - store.kept_for)
    return int(old.exclude(status=RUNNING).delete()[1].get("drf_mcp_rules.Proposal", 0))


def log(message: str, exc: Exception) -> None:
    logger.error(message, exc_info=exc)
