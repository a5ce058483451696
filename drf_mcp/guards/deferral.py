from __future__ import annotations

from rest_framework.exceptions import Throttled

from drf_mcp.guards.base import CallRefused, Guard, PendingCall, Proceed
from drf_mcp.outcomes import Outcome


class DeferralGuard(Guard):
    """Leaves a call to a worker, once the view has been asked whether it would be let in."""

    def __call__(self, pending: PendingCall, proceed: Proceed) -> Outcome:
        if pending.is_rerun or pending.is_dry_run or pending.tool.options.defers:
            return proceed(pending)
        refusal: Outcome | None = pending.dispatcher.admit(pending)
        if refusal is not None:
            return refusal
        try:
            pending.caller.task.defer()
        except Throttled as exc:
            raise CallRefused(exc) from exc
        return proceed(pending)
