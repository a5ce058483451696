from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.db import transaction
from django.utils import timezone

from drf_mcp.archives import StoredAnswer, can_be_asked
from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.tasks import TASKS_EXTENSION
from drf_mcp.contrib.tasks.jobs import JobReader, find_url
from drf_mcp.contrib.tasks.run import Credential, find_backend, keep_environ
from drf_mcp.contrib.tasks.task_store import COMPLETED, FAILED, WORKING, TaskStore
from drf_mcp.errors import CallRefused
from drf_mcp.exceptions import InternalError, InvalidParams, MissingClientCapability
from drf_mcp.features import (
    Bound,
    CallState,
    Capability,
    Choice,
    Feature,
    Flag,
    Guard,
    LimitReached,
    Number,
    Proceed,
    RequestContext,
    Setting,
    Text,
    mcp_settings,
)
from drf_mcp.interaction.call_context import DEFERRAL
from drf_mcp.interaction.exchange import RERUN, TRIAL, Deferred, read_exchange
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.protocol.eras import RESPONSES, STATE, Unfinished, read_responses

WORKED = frozenset({"optional", "required"})
FORBIDDEN = 403
CALL_AGAIN = (
    "The result is not given: your rights are others than when the call was made. Call the tool "
    "again."
)
ACKNOWLEDGED = frozenset({"resultType", "_meta"})
TASK_MEMBERS = ACKNOWLEDGED | {"taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"}
TASK_MEMBERS |= {"ttlMs", "pollIntervalMs", "inputRequests", "result", "error"}


class TasksFeature(Feature):
    settings = {
        # The alias in `TASKS`, of Django's tasks framework, whose workers make calls of tools with
        # the option `task`. None, or a backend without workers: clients wait. See docs/tasks.md.
        "TASKS_BACKEND": Setting("default", Text().or_none()),
        # Seconds for which a task and its result are kept.
        "TASK_TTL": Setting(24 * 3600, Number()),
        # Tasks of a caller that wait or run at once.
        "MAX_RUNNING_TASKS": Setting(
            100, Bound("%(most)s tasks of yours have not ended. Wait for one, or cancel one.", 0)
        ),
        # Tasks of a caller that are kept, also after their end.
        "MAX_TASKS": Setting(
            10_000, Bound("%(most)s tasks of yours are kept, which is as many as there may be.")
        ),
    }
    tool_options = {
        # "optional" leaves calls to a worker, for clients that take a task; others wait. "required"
        # refuses others. "job" leaves nothing to a worker: the view answers 202 with the URL of a
        # job. See docs/tasks.md.
        "task": Setting(None, Choice("optional", "required", "job").or_none()),
        # True lets the view say, by `call_context(request).defer()`, whether and from where on a
        # call is left to a worker.
        "defers": Setting(None, Flag().or_none()),
    }
    capability_classes = ("drf_mcp.contrib.tasks.feature.TasksCapability",)
    expires = {"tasks": "drf_mcp_tasks.CallTask"}
    gauges = {"tasks_waiting": "drf_mcp.contrib.tasks.feature.count_waiting_tasks"}

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        context, is_worked = call.context, call.tool.options.task in WORKED
        if context is None or context.message.method != "tools/call":
            return ()
        if not (is_worked or context.has_extension(TASKS_EXTENSION)):
            return ()
        if (tasks := call.server.find_capability(TASKS_EXTENSION)) is None:
            return ()
        return [TaskGuard(tasks), *([DeferralGuard()] if is_worked else ())]


def count_waiting_tasks() -> int:
    """Return how many calls wait for a worker."""
    # A task that no worker runs, such as one of a call that waits for a person, has no request.
    rows = TaskStore().rows.filter(expires__gt=timezone.now()).exclude(request={})
    return int(rows.filter(status=WORKING, started=None).count())


class Deferral:
    """Makes a task of a call whose client takes one: what `DEFERRAL` holds then."""

    is_running = False
    is_deferred = False

    def __init__(self, credential: Credential, holder: str) -> None:
        self.credential = credential
        self.holder = holder

    def defer(self) -> None:
        """End the call here, to be made again by a worker."""
        TaskStore().check_bounds(self.holder)
        self.is_deferred = True
        raise Deferred


@dataclass(frozen=True)
class TaskCreated(Unfinished):
    """The result of a request that goes on as a task (SEP-2663)."""

    task: Mapping[str, Any]

    @property
    def members(self) -> dict[str, Any]:
        return {"resultType": "task", **self.task}


class TasksCapability(Capability):
    """Makes tasks of calls, reports their states, takes answers and cancels (SEP-2663)."""

    name = TASKS_EXTENSION
    is_extension = True
    methods = {
        "tasks/get": "find_task",
        "tasks/update": "update_task",
        "tasks/cancel": "cancel_task",
    }
    name_parameters = dict.fromkeys(methods, "taskId")
    result_members = {
        STATELESS_REVISION: {
            "tasks/get": TASK_MEMBERS,
            "tasks/update": ACKNOWLEDGED,
            "tasks/cancel": ACKNOWLEDGED,
        }
    }

    @property
    def is_on(self) -> bool:
        """Whether the project has workers that calls can be left to, or views that start jobs."""
        if find_backend() is not None:
            return True
        tools = self.server.registry.tools(None, self.server.tool_options)
        return any(tool.options.task == "job" for tool in tools.values())

    @property
    def store(self) -> TaskStore:
        return TaskStore()

    # --- tools/call ------------------------------------------------------------------------------

    def prepare(self, call: CallState) -> None:
        run = getattr(call.caller.request, "mcp_task", None)
        if run is not None:
            run.prepare(call)
        DEFERRAL.set(call, run or self._make_deferral(call))

    def _make_deferral(self, call: CallState) -> Deferral | None:
        tool, context, caller = call.tool, call.context, call.caller
        assert context is not None
        # A worker makes the call at a URL, which stdio and calls in the process do not have. The
        # gate of a result runs no decorator around the view, and would never give the result.
        if caller.view is None or find_backend() is None or not can_be_asked(tool.endpoint):
            return None
        if context.has_extension(TASKS_EXTENSION):
            credential = Credential.of(caller.authenticate())
            return None if credential is None else Deferral(credential, caller.holder)
        if tool.options.task == "required":
            self.require(context)
        return None

    def create(self, call: CallState) -> TaskCreated:
        context, caller = call.sent, call.caller
        deferral = DEFERRAL.get(call)
        assert context is not None
        assert deferral is not None
        params = {k: v for k, v in context.message.params.items() if k not in (STATE, RESPONSES)}
        # A worker always gets reports of progress.
        params["_meta"] = {**context.message.meta, "progressToken": 0}
        request = {
            "params": params,
            "environ": keep_environ(caller.request),
            "credential": vars(deferral.credential),
        }
        exchange, holder = read_exchange(call), deferral.holder
        row = self.store.create(caller.principal, call.tool.name, request, exchange, holder=holder)
        self.enqueue(row)
        return TaskCreated(self.store.describe(row))

    def create_of_job(self, call: CallState) -> TaskCreated | None:
        """Return the result that makes a task of a job, None where the response names no job.

        The URL of the job alone is kept. Each `tasks/get` asks the URL as its caller.
        """
        context, caller = call.sent, call.caller
        url = call.response and find_url(call.response)
        is_known = call.tool.options.task in (None, "job") and not call.bound.is_batch
        if not (url and is_known and context and self.is_on):
            return None
        takes_task = context.has_extension(TASKS_EXTENSION)
        if not takes_task or not JobReader(self.server, context).find(url):
            return None
        try:
            row = self.store.create(
                caller.principal, call.tool.name, {"job": url}, holder=caller.holder
            )
        except LimitReached:
            # The job has begun, so the caller gets the answer of the view.
            return None
        return TaskCreated(self.store.describe(row))

    def enqueue(self, row: Any) -> None:
        from drf_mcp.contrib.tasks.work import run_call

        def send() -> None:
            sent = False
            try:
                run_call.using(backend=mcp_settings.TASKS_BACKEND).enqueue(row.task_id)
                sent = True
            finally:
                if not sent:
                    message = "No worker could be notified."
                    error = {"code": InternalError.code, "message": message}
                    self.store.finish(row, FAILED, {"error": error})

        # After the commit, since a worker has to find the row.
        transaction.on_commit(send, using=row._state.db)

    def require(self, context: RequestContext) -> None:
        context.caller.authenticate()
        if not context.has_extension(TASKS_EXTENSION):
            raise MissingClientCapability({"extensions": {TASKS_EXTENSION: {}}})

    # --- tasks/get, tasks/update, tasks/cancel --------------------------------------------------

    def find_task(self, context: RequestContext) -> dict[str, Any]:
        row = self.find(context)
        tool = self.get_tool(row, context)
        if "job" in row.request:
            return self._ask_job(row, context)
        # The answer to a call that was not made has no terms.
        is_open = row.status != COMPLETED or not row.terms
        if is_open or StoredAnswer.may_read(context.caller, tool, row.terms):
            return self.store.describe_fully(row)
        said = CALL_AGAIN if tool.reads else StoredAnswer.explain_withheld(row.terms)
        return self._describe_failed(row, said)

    def _describe_failed(self, row: Any, message: str) -> dict[str, Any]:
        error = {"code": FORBIDDEN, "message": message}
        return {**self.store.describe(row), "status": FAILED, "error": error}

    def _ask_job(self, row: Any, context: RequestContext) -> dict[str, Any]:
        answer = JobReader(self.server, context).ask(row.request["job"])
        if answer is None:
            return self._describe_failed(row, "The URL of the job cannot be asked any more.")
        is_over = answer.is_over or row.status == COMPLETED
        self.store.note_job(row, COMPLETED if is_over else WORKING, answer.message)
        further = {"result": answer.result} if is_over else {}
        return {**self.store.describe(row), **further}

    def get_tool(self, row: Any, context: RequestContext) -> Any:
        """Return the tool of a task, None where the caller may not call it any more."""
        server = self.server
        tool = server.registry.tools(context.urlconf, server.tool_options).get(row.tool)
        narrowed = tool is not None and context.caller.find_narrowing(tool) is not None
        return None if narrowed else tool

    def update_task(self, context: RequestContext) -> dict[str, Any]:
        row = self.find(context)
        if self.store.answer(row, read_responses(context.message.params)):
            self.enqueue(row)
        return {}

    def cancel_task(self, context: RequestContext) -> dict[str, Any]:
        self.store.cancel(self.find(context))
        return {}

    def find(self, context: RequestContext) -> Any:
        self.require(context)
        row = self.store.find(context.message.params.get("taskId"), context.caller.principal)
        if row is None or self.get_tool(row, context) is None:
            raise InvalidParams("There is no such task.", http_status=200)
        return row


class TaskGuard(Guard):
    """Makes a task of a call that is left to a worker, or whose view has begun a job."""

    order = 20

    def __init__(self, tasks: TasksCapability) -> None:
        self.tasks = tasks

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        if call.tool.options.task in WORKED:
            self.tasks.prepare(call)
        outcome, task = proceed(call), DEFERRAL.get(call)
        if outcome.unfinished is not None or call.sent is None or call.sent.is_inner:
            return outcome
        unfinished = None
        # A credential may narrow the tools, which is known once the view's permissions were asked.
        if task is not None and task.is_deferred and outcome.failure is None:
            try:
                unfinished = self.tasks.create(call)
            except LimitReached as exc:
                # Another call at the same time has taken the last place.
                refused: Outcome = call.dispatcher.make_refused_outcome(call, exc)
                return refused.changed(request_id=outcome.request_id)
        elif outcome.status == 202 and not (TRIAL.get(call) or RERUN.get(call)):
            # The job of a dry run was rolled back. An approved call ends its proposal.
            unfinished = self.tasks.create_of_job(call)
        if unfinished is None and task is not None and task.is_running:
            task.note_terms(outcome, call)
        return outcome if unfinished is None else outcome.changed(unfinished=unfinished)


class DeferralGuard(Guard):
    """Leaves a call to a worker, if the view's permissions would let the call in."""

    order = 900

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        task = DEFERRAL.get(call)
        if task is None or RERUN.get(call) or TRIAL.get(call):
            return proceed(call)
        # A view decides itself, but not about several objects: when one of them defers, the
        # worker would change those before it a second time.
        if call.tool.options.defers and not call.bound.is_batch:
            return proceed(call)
        refusal: Outcome | None = call.dispatcher.find_view_refusal(call)
        if refusal is not None:
            return refusal
        try:
            task.defer()
        except LimitReached as exc:
            raise CallRefused(exc) from exc
        return proceed(call)


@register_check()
def check_tasks(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        if tool.options.task == "required" and find_backend() is None:
            yield Warning(
                f'The tool {name} has task="required", but TASKS_BACKEND names no backend with '
                f"workers: its calls wait.",
                hint="Set TASKS to a backend such as django_tasks_db. See docs/tasks.md.",
                id="drf_mcp.W030",
            )
        if tool.options.task in WORKED and not can_be_asked(tool.endpoint):
            yield Warning(
                f'The tool {name} has task="{tool.options.task}", but a decorator around its view '
                f"may refuse callers, and is not run when a result is given: its calls wait.",
                hint="Say the same by permission_classes. See docs/tasks.md.",
                id="drf_mcp.W030",
            )
        if tool.options.defers and not tool.options.task:
            yield Warning(
                f"The tool {name} has defers=True, but no task: its calls wait.",
                hint='Add task="optional" or task="required". See docs/tasks.md.',
                id="drf_mcp.W030",
            )
