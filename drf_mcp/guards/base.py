from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from drf_mcp.access.authentication import Caller
from drf_mcp.interaction.exchange import SILENT, Exchange
from drf_mcp.outcomes import Outcome, Problem, RateLimit
from drf_mcp.tools.arguments.call import Call
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.controls import DRY_RUN


@dataclass
class PendingCall:
    """A call on its way to the view.

    Attributes:
        tool: the `Tool` that is called.
        arguments: what the caller sent, any JSON value.
        caller: who is calling.
        request_id: the id under which the log knows the call.
        dispatcher: the `Dispatcher` that makes the call.
    """

    tool: Any
    arguments: Any
    caller: Caller
    request_id: str
    dispatcher: Any = None

    @classmethod
    def of(cls, tool: Any, call: Call, caller: Caller, request_id: str) -> PendingCall:
        """Return a call whose arguments were read."""
        pending = cls(tool, call.arguments, caller, request_id)
        pending.call = call
        return pending

    @cached_property
    def call(self) -> Call:
        """The arguments as the view gets them; ArgumentsRefused where they cannot be read.

        They are read when somebody first asks, so that a guard can refuse a tool whatever its
        arguments are.
        """
        call: Call = self.tool.bind(self.arguments)
        return call

    @property
    def is_dry_run(self) -> bool:
        """True if the caller asks what would change; ArgumentsRefused where nobody can tell."""
        asked = self.call.controls.get(DRY_RUN, False)
        answer = {"true": True, "false": False}.get(str(asked).lower())
        if answer is None:
            pointer = self.tool.arguments.get_control_pointer(DRY_RUN)
            message = _("Must be true or false.")
            advice = _("Send true or false. Nothing was run.")
            problem = Problem("invalid", message, pointer, received=asked, remediation=advice)
            raise ArgumentsRefused([problem])
        return answer

    @property
    def exchange(self) -> Exchange:
        """What was asked and answered in the earlier rounds of the call."""
        rounds = self.caller.rounds
        return SILENT if rounds is None else rounds.exchange

    @property
    def is_rerun(self) -> bool:
        """Whether a worker makes a call again, as a task, that passed the guards before."""
        task = self.caller.task
        return task is not None and task.is_running

    @property
    def request_parts(self) -> dict[str, Any]:
        call = self.__dict__.get("call")
        return {} if call is None else {"kwargs": call.kwargs, "query_string": call.query_string}

    @property
    def stored_answer(self) -> Any:
        """The `StoredAnswer` of the call, for a guard that keeps the answer."""
        return self.dispatcher.get_stored_answer(self)


Proceed: TypeAlias = Callable[[PendingCall], Outcome]


class CallRefused(Exception):
    """A guard refuses a call, as a view would by raising the exception.

    Args:
        exc: the exception.
        rate_limit: what is left of the quota that refuses it.
    """

    def __init__(self, exc: APIException, rate_limit: RateLimit | None = None) -> None:
        super().__init__(exc)
        self.exc = exc
        self.rate_limit = rate_limit


class CallCrashed(Exception):
    """Something failed around a view, such as the end of its transaction.

    Args:
        cause: the exception, which is reported and answered as one of the view's own.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class Guard:
    """Lets a call pass, refuses it, or does something around it.

    A guard is an instance for one server, and keeps nothing of a call.

    Attributes:
        name: among those of `Tool.guarded_by` where the guard stands before a tool; "" for a
            guard that does not depend on the tool.
    """

    name: ClassVar[str] = ""

    def __call__(self, pending: PendingCall, proceed: Proceed) -> Outcome:
        """Return the outcome of a call: that of ``proceed(pending)``, or one of the guard's."""
        return proceed(pending)


def pass_guards(guards: Sequence[Guard], pending: PendingCall, perform: Proceed) -> Outcome:
    """Return the outcome of a call behind guards, the first of them outermost."""
    for guard in reversed(guards):
        perform = functools.partial(guard, proceed=perform)
    return perform(pending)
