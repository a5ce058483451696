"""The view's own body and nothing else; failures as a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_mcp.envelopes.base import Envelope
from drf_mcp.envelopes.canonical import json_text, json_value
from drf_mcp.outcomes import Failure, Outcome

PREFIX = "Error executing tool: "


class PlainEnvelope(Envelope):
    """Text only: the untouched body as JSON, or ``Error executing tool: ...``.

    It has no room for facts about the result (pagination stays in the body, a
    trimmed body does not say so), and no ``structuredContent`` or ``outputSchema``.
    """

    structured_content: ClassVar[bool] = False

    def render(self, outcome: Outcome) -> Any:
        """Return the body as it is, or the sentence that tells of a failure."""
        failure = self.reported_failure(outcome)
        return outcome.data if failure is None else PREFIX + self.reason(failure, outcome.data)

    def text(self, outcome: Outcome, rendered: Any, encode: Callable[[Any], str]) -> str:
        """Return the sentence as it is, a body as JSON."""
        return json_text(rendered) if self.reported_failure(outcome) is None else str(rendered)

    def reported_failure(self, outcome: Outcome) -> Failure | None:
        """Return the failure to report; a soft one speaks through its body if it has one."""
        if outcome.is_error or outcome.data is None:
            return outcome.failure
        return None

    def reason(self, failure: Failure, data: Any) -> str:
        """Return why the call failed: the view's body, or our own words if there is none."""
        if data is None:
            return f"{failure.message} {failure.remediation}".rstrip()
        return f"ViewSet returned error: {json_value(data)}"
