from __future__ import annotations

from typing import Any

from drf_mcp.features import CallState, Feature
from drf_mcp.interaction.exchange import ROUNDS
from drf_mcp.outcomes import Outcome


class AskingFeature(Feature):
    def open_rounds(self, context: Any, subject: str) -> Any:
        from drf_mcp.contrib.asking.rounds import Rounds

        rounds = Rounds(context, subject)
        if rounds.is_retry:
            rounds.exchange  # noqa: B018 - what cannot be trusted is refused before anything runs
        return rounds

    def prepare(self, call: CallState) -> None:
        if ROUNDS.get(call) is None:
            ROUNDS.set(call, self.open_rounds(call.context, f"tools/call {call.tool.name}"))

    def get_unfinished(self, outcome: Outcome, call: CallState) -> Any:
        rounds = ROUNDS.get(call)
        return rounds.write(outcome.questions) if outcome.questions and rounds else None
