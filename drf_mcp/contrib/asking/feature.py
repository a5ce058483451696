from __future__ import annotations

from typing import Any

from drf_mcp.features import CallState, Feature
from drf_mcp.interaction.exchange import ROUNDS
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.input import RESPONSES, STATE


class AskingFeature(Feature):
    def open_rounds(self, context: Any, subject: str) -> Any:
        from drf_mcp.contrib.asking.rounds import Rounds

        rounds = Rounds(context, subject)
        if rounds.is_retry:
            rounds.exchange  # noqa: B018 - what cannot be trusted is refused before anything runs
        return rounds

    def prepare(self, call: CallState) -> None:
        params = call.context.message.params if call.context else {}
        # A call that brings no answers asks first.
        if STATE in params or RESPONSES in params:
            self._open(call)

    def get_unfinished(self, outcome: Outcome, call: CallState) -> Any:
        return self._open(call).write(outcome.questions) if outcome.questions else None

    def _open(self, call: CallState) -> Any:
        if ROUNDS.get(call) is None:
            ROUNDS.set(call, self.open_rounds(call.context, f"tools/call {call.tool.name}"))
        return ROUNDS.get(call)
