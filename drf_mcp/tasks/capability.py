from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from drf_mcp.exceptions import InternalError, InvalidParams, MissingClientCapability
from drf_mcp.interaction.exchange import Deferred
from drf_mcp.interaction.rounds import RESPONSES, STATE, Rounds
from drf_mcp.protocol import Capability, Era
from drf_mcp.protocol.constants import STATELESS_REVISION, TASKS_EXTENSION
from drf_mcp.protocol.context import RequestContext
from drf_mcp.protocol.input import TaskCreated, read_responses
from drf_mcp.settings import mcp_settings
from drf_mcp.tasks.backends import find_backend
from drf_mcp.tasks.credentials import Credential, keep_environ
from drf_mcp.tasks.ledger import FAILED, Ledger

ACKNOWLEDGED = frozenset({"resultType", "_meta"})
TASK = ACKNOWLEDGED | {"taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttlMs"}
TASK |= {"pollIntervalMs", "inputRequests", "result", "error"}


class Deferral:
    """Makes a task of a call: the ``task`` of a `Caller` whose client takes one.

    Args:
        credential: who calls.
    """

    is_running = False

    def __init__(self, credential: Credential) -> None:
        self.credential = credential

    def defer(self) -> None:
        """End the call here, to be made again by a worker."""
        raise Deferred

    def get_rounds(self, context: RequestContext, subject: str) -> Rounds:
        return Rounds(context, subject)


class TasksCapability(Capability):
    """Makes tasks of calls, tells how they stand, takes answers and cancels (SEP-2663)."""

    name = TASKS_EXTENSION
    is_extension = True
    methods = {
        "tasks/get": "get_task",
        "tasks/update": "update_task",
        "tasks/cancel": "cancel_task",
    }
    name_parameters = dict.fromkeys(methods, "taskId")
    result_members = {
        STATELESS_REVISION: {
            "tasks/get": TASK,
            "tasks/update": ACKNOWLEDGED,
            "tasks/cancel": ACKNOWLEDGED,
        },
    }

    @property
    def is_on(self) -> bool:
        """Whether the project has workers that calls can be left to."""
        return find_backend() is not None

    @property
    def ledger(self) -> Ledger:
        return Ledger()

    def get_capability_object(self, era: Era) -> Mapping[str, Any] | None:
        return super().get_capability_object(era) if self.is_on else None

    def get_result_members(self, method: str, era: Era) -> frozenset[str] | None:
        members = super().get_result_members(method, era)
        return members if members is not None and self.is_on else None

    # --- tools/call ------------------------------------------------------------------------------

    def offer(self, tool: Any, context: RequestContext) -> Any:
        """Return what makes a task of a call, or is running it; None for a call that waits.

        Raises:
            MissingClientCapability: if the tool takes no call that waits.
        """
        caller = context.caller
        run = getattr(caller.request, "mcp_task", None)
        if run is not None:
            caller.channel = run.channel
            return run
        # A door of this process has no URL at which a worker could make the call.
        if caller.view is None or not self.is_on:
            return None
        if context.has_extension(TASKS_EXTENSION):
            credential = Credential.of(caller.authenticate())
            return None if credential is None else Deferral(credential)
        if tool.options.task == "required":
            self.require(context)
        return None

    def create(self, tool: Any, context: RequestContext) -> TaskCreated:
        """Return the result that tells of a new task, which a worker is going to run."""
        caller, exchange = context.caller, context.caller.rounds.exchange
        params = {k: v for k, v in context.message.params.items() if k not in (STATE, RESPONSES)}
        # A worker is always told how far the work is.
        params["_meta"] = {**context.message.meta, "progressToken": 0}
        request = {
            "params": params,
            "environ": keep_environ(caller.request),
            "credential": vars(caller.task.credential),
        }
        rounds = {
            "answers": {key: answer.result for key, answer in exchange.answers.items()},
            "memory": dict(exchange.memory),
            "number": exchange.round,
        }
        row = self.ledger.create(caller.principal, tool.name, request, rounds)
        self.enqueue(row)
        return TaskCreated(self.ledger.describe(row))

    def enqueue(self, row: Any) -> None:
        from drf_mcp.tasks.work import run_call

        def send() -> None:
            sent = False
            try:
                run_call.using(backend=mcp_settings.TASKS_BACKEND).enqueue(row.task_id)
                sent = True
            finally:
                if not sent:
                    error = {"code": InternalError.code, "message": _("No worker could be told.")}
                    self.ledger.finish(row, FAILED, {"error": error})

        # Outside of a transaction that is at once: a worker has to find the row.
        transaction.on_commit(send, using=row._state.db)

    def require(self, context: RequestContext) -> None:
        context.caller.authenticate()
        if not context.has_extension(TASKS_EXTENSION):
            raise MissingClientCapability({"extensions": {TASKS_EXTENSION: {}}})

    # --- tasks/get, tasks/update, tasks/cancel --------------------------------------------------

    def get_task(self, context: RequestContext) -> dict[str, Any]:
        return self.ledger.describe_fully(self.find(context))

    def update_task(self, context: RequestContext) -> dict[str, Any]:
        row = self.find(context)
        if self.ledger.answer(row, read_responses(context.message.params)):
            self.enqueue(row)
        return {}

    def cancel_task(self, context: RequestContext) -> dict[str, Any]:
        self.ledger.cancel(self.find(context))
        return {}

    def find(self, context: RequestContext) -> Any:
        self.require(context)
        row = self.ledger.find(context.message.params.get("taskId"), context.caller.principal)
        if row is None:
            raise InvalidParams(_("There is no such task."), http_status=200)
        return row
