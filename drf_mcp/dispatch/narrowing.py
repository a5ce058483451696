from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.access.authentication import Caller
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Category, Failure, Outcome

STATUS = 403


class NarrowingGuard(Guard):
    """Refuses a tool that something takes away from the caller: the setting READ_ONLY for one."""

    order = 100

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        return find_refusal(call.tool, call.caller) or proceed(call)


def find_refusal(tool: Any, caller: Caller) -> Outcome | None:
    """Return the outcome of a call of a tool that the caller is not offered, None if they are."""
    narrowing = caller.find_narrowing(tool)
    if narrowing is None:
        return None
    facts = {"tool": tool.name, "reason": narrowing.get_reason(tool)}
    # Translators: the reason is such as "the server only has tools that read".
    message = _("%(tool)s is not available here: %(reason)s.") % facts
    advice = _(
        "Do not repeat the call: this connection does not offer the tool. Use a tool that "
        "tools/list shows, or tell the user what is missing."
    )
    failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, advice, recoverable=False)
    return Outcome(tool.name, STATUS, failure=failure)
