from __future__ import annotations

from drf_mcp.guards.base import Guard, PendingCall, Proceed
from drf_mcp.outcomes import Outcome


class DeferralGuard(Guard):
    """Leaves a call to a worker, once the view has been asked whether it would be let in."""

    def __call__(self, pending: PendingCall, proceed: Proceed) -> Outcome:
        if pending.is_rerun or pending.is_dry_run or pending.tool.options.defers:
            return proceed(pending)
        refusal: Outcome | None = pending.dispatcher.admit(pending)
        if refusal is None:
            pending.caller.task.defer()
        return refusal or proceed(pending)
