from __future__ import annotations

from drf_mcp.contrib.audit.auditor import Audit
from drf_mcp.dispatch.guards import CallRefused
from drf_mcp.exceptions import Unavailable
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Outcome


class RecordGuard(Guard):
    """Records a call before it is made, and refuses a call that cannot be recorded."""

    order = 300

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        # Arguments that are refused make no call.
        call.bound  # noqa: B018 - reading it binds them
        # The row names the caller; one who is not let in is refused at the door.
        call.caller.authenticate()
        observers = call.context.observers if call.context else ()
        try:
            for audit in observers:
                if isinstance(audit, Audit):
                    audit.begin(call.tool, call.arguments)
        except Unavailable as exc:
            raise CallRefused(exc) from exc
        return proceed(call)
