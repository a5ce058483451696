"""The rows of tasks, and every change of their state.

Each change is conditional: where two happen at once, the row decides which.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone as django_timezone

from drf_mcp.exceptions import InternalError
from drf_mcp.features import LimitReached, get_rows, mcp_settings, refuse_beyond
from drf_mcp.interaction.exchange import NOTHING_ASKED, Exchange
from drf_mcp.outcomes import Question
from drf_mcp.protocol.eras import InputRequired
from drf_mcp.signals import subject_changed

# Milliseconds after which a client asks again.
POLL_INTERVAL = 2000
# Seconds that a worker may be silent before its task fails, and between two signs of life.
LEASE, RENEWAL = 60, 10
STOPPED = "The work was stopped."
WORKING, INPUT_REQUIRED = "working", "input_required"
COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"


class TaskStore:
    """The tasks of all callers."""

    @property
    def rows(self) -> Any:
        return get_rows("drf_mcp_tasks.CallTask")

    def select(self, row: Any, **conditions: Any) -> Any:
        """Return a queryset of one row, empty where the row does not meet the conditions now."""
        return self.rows.filter(task_id=row.task_id, **conditions)

    def create(
        self,
        owner: str,
        tool: str,
        request: Any,
        exchange: Exchange = NOTHING_ASKED,
        *,
        holder: str = "",
    ) -> Any:
        """Return the row of a new task.

        Args:
            request: what the call is made from again.
            exchange: what the call has asked already.
            holder: whom the bounds count; "" for a task that others count.

        Raises:
            LimitReached: if the holder has as many tasks as one may have.
        """
        now, answers = django_timezone.now(), exchange.answers.items()
        row = self.rows.create(
            task_id=secrets.token_urlsafe(24),
            owner=owner,
            holder=holder,
            tool=tool,
            status=WORKING,
            created=now,
            updated=now,
            expires=now + timedelta(seconds=mcp_settings.TASK_TTL),
            request=request,
            input_requests={
                "answers": {key: answer.result for key, answer in answers},
                "memory": dict(exchange.memory),
                "number": exchange.round,
                "open": {},
                "used": [],
            },
        )
        try:
            # Counted with the row, since calls at the same time do not see what the others plan.
            self.check_bounds(holder, 0)
        except LimitReached:
            row.delete()
            raise
        return row

    def check_bounds(self, holder: str, more: int = 1) -> None:
        """Raise `LimitReached` if a holder may not have so many more tasks."""
        if not holder:
            return
        kept = self.rows.filter(holder=holder, expires__gt=django_timezone.now())
        self._end_lapsed(kept)
        # A task that no worker runs, such as one of a call that waits for a person, has no request.
        running = kept.filter(status__in=[WORKING, INPUT_REQUIRED]).exclude(request={})
        refuse_beyond("MAX_RUNNING_TASKS", running.count() + more)
        if kept.count() + more > mcp_settings.MAX_TASKS:
            first = kept.order_by("expires").values_list("expires", flat=True)[0]
            raise LimitReached("MAX_TASKS", (first - django_timezone.now()).total_seconds())

    def find(self, task_id: Any, owner: str) -> Any:
        found = self.rows.filter(expires__gt=django_timezone.now(), owner=owner)
        row = found.filter(task_id=str(task_id)).first()
        if row is not None and self._end_lapsed(found.filter(pk=row.pk, leased=row.leased)):
            row.refresh_from_db()
            self._announce(row)
        return row

    def describe(self, row: Any) -> dict[str, Any]:
        """Return a task as the protocol has it, without what came of it."""
        message = {"statusMessage": row.message} if row.message else {}
        return {
            "taskId": row.task_id,
            "status": row.status,
            **message,
            "createdAt": _write_time(row.created),
            "lastUpdatedAt": _write_time(row.updated),
            "ttlMs": round((row.expires - row.created).total_seconds() * 1000),
            "pollIntervalMs": POLL_INTERVAL,
        }

    def describe_fully(self, row: Any) -> dict[str, Any]:
        """Return a task with what it asks, or with its result or error."""
        further: dict[str, Any] = row.answer or {}
        if row.status == INPUT_REQUIRED:
            asked = row.input_requests["open"].items()
            requests = {key: each["request"] for key, each in asked if "response" not in each}
            further = {"inputRequests": requests}
        return {**self.describe(row), **further}

    # --- What the worker does ------------------------------------------------------------------

    def begin(self, task_id: str) -> Any:
        waiting = self.rows.filter(task_id=task_id, status=WORKING, started=None)
        now = django_timezone.now()
        leased = now + timedelta(seconds=LEASE)
        has_begun = waiting.filter(expires__gt=now).update(started=now, leased=leased)
        return self.rows.get(task_id=task_id) if has_begun else None

    def renew(self, row: Any) -> None:
        leased = django_timezone.now() + timedelta(seconds=LEASE)
        self.select(row, status=WORKING).update(leased=leased)

    def _end_lapsed(self, rows: Any) -> int:
        """End those tasks whose worker was killed, and return their number."""
        now = django_timezone.now()
        lapsed = rows.filter(status=WORKING, leased__lt=now)
        ended: dict[str, Any] = {"request": {}, "message": "", "leased": None, "updated": now}
        error = {"error": {"code": InternalError.code, "message": STOPPED}}
        count: int = lapsed.filter(is_cancelled=True).update(status=CANCELLED, **ended)
        return count + int(lapsed.update(status=FAILED, answer=error, **ended))

    def note_progress(self, row: Any, message: str) -> None:
        running = self.select(row, status=WORKING, is_cancelled=False)
        running.update(message=message, updated=django_timezone.now())
        self._announce(row)

    def is_cancelled(self, row: Any) -> bool:
        return bool(self.select(row, is_cancelled=True).exists())

    def ask(self, row: Any, questions: Sequence[Question]) -> None:
        """Wait for the client's answers, unless the client cancelled the task."""
        kept, written = row.input_requests, InputRequired(questions, "").members["inputRequests"]
        for question in questions:
            # No key is used twice in a task, since a client shows each question once.
            count = kept["used"].count(question.key)
            key = f"{question.key}.{count + 1}" if count else question.key
            kept["open"][key] = {"key": question.key, "request": written[question.key]}
            kept["memory"][question.key] = question.memory
            kept["used"].append(question.key)
        kept["number"] += 1
        asking = {"status": INPUT_REQUIRED, "input_requests": kept, "message": ""}
        asking |= {"started": None, "leased": None, "updated": django_timezone.now()}
        if not self.select(row, is_cancelled=False).update(**asking):
            self.finish(row, CANCELLED)
        self._announce(row)

    def finish(
        self,
        row: Any,
        status: str,
        answer: Mapping[str, Any] | None = None,
        terms: Mapping[str, Any] | None = None,
    ) -> None:
        ended = {"status": status, "answer": answer, "request": {}, "message": "", "leased": None}
        ended["terms"] = terms or {}
        self.select(row, status=WORKING).update(**ended, updated=django_timezone.now())
        self._announce(row)

    def note_job(self, row: Any, status: str, message: str) -> None:
        if (row.status, row.message) != (status, message):
            row.status, row.message, row.updated = status, message, django_timezone.now()
            noted = {"status": status, "message": message, "updated": row.updated}
            self.select(row, status=WORKING).update(**noted)
            self._announce(row)

    def _announce(self, row: Any) -> None:
        subject_changed.send(type(self), kind="task", key=row.task_id, using=self.rows.db)

    # --- What the client does ------------------------------------------------------------------

    def cancel(self, row: Any) -> None:
        """End a task that no worker runs, and ask the others to stop."""
        now = django_timezone.now()
        unfinished = self.select(row, status__in=[WORKING, INPUT_REQUIRED])
        ended = {"status": CANCELLED, "request": {}, "message": ""}
        if not unfinished.filter(started=None).update(**ended, updated=now):
            unfinished.update(is_cancelled=True, message="Asked to stop.", updated=now)
        self._announce(row)

    def answer(self, row: Any, responses: Mapping[str, Any]) -> bool:
        """Keep answers to open questions; return whether the work can go on."""
        with transaction.atomic(using=self.rows.db):
            locked = self.rows.select_for_update().get(task_id=row.task_id)
            if locked.status != INPUT_REQUIRED:
                return False
            asked = locked.input_requests["open"]
            for key in asked.keys() & responses.keys():
                asked[key].setdefault("response", responses[key])
            locked.updated = django_timezone.now()
            if is_complete := all("response" in each for each in asked.values()):
                answers = {each["key"]: each["response"] for each in asked.values()}
                locked.input_requests["answers"].update(answers)
                locked.input_requests["open"] = {}
                locked.status = WORKING
            locked.save()
            self._announce(row)
        return is_complete


def _write_time(moment: datetime) -> str:
    aware = moment if django_timezone.is_aware(moment) else django_timezone.make_aware(moment)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
