from __future__ import annotations

from rest_framework.exceptions import Throttled

from drf_mcp.dispatch.guards import CallRefused
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.call_context import DEFERRAL
from drf_mcp.outcomes import Outcome


class DeferralGuard(Guard):
    """Leaves a call to a worker, once the view has been asked whether it would be let in."""

    order = 900

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        task = DEFERRAL.get(call)
        if task is None or call.is_rerun or call.is_trial or call.tool.options.defers:
            return proceed(call)
        refusal: Outcome | None = call.dispatcher.admit(call)
        if refusal is not None:
            return refusal
        try:
            task.defer()
        except Throttled as exc:
            raise CallRefused(exc) from exc
        return proceed(call)
