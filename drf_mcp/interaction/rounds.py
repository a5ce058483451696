"""From the questions of a call to those of the protocol, and back with their answers."""

from __future__ import annotations

from dataclasses import replace

from drf_mcp.interaction.exchange import SILENT, Answer, Exchange
from drf_mcp.interaction.state import RequestState
from drf_mcp.outcomes import Question
from drf_mcp.protocol.context import RequestContext
from drf_mcp.protocol.input import InputRequired, read_modes, read_responses

STATE, RESPONSES = "requestState", "inputResponses"


class Rounds:
    """The rounds of one request, of which each is a request of its own.

    Args:
        context: the request of this round.
        subject: what is called: the method, and the name of the tool.
    """

    def __init__(self, context: RequestContext, subject: str) -> None:
        self.context = context
        self.subject = subject

    def read(self) -> Exchange:
        """Return what was asked and answered before.

        Raises:
            InvalidParams: if the client's part of it cannot be read or trusted.
        """
        if not self.context.era.asks_for_input:
            return SILENT
        message = self.context.message
        params, modes = message.params, read_modes(message.meta)
        state = params.get(STATE)
        exchange = SILENT if state is None else self.get_state().read(state)
        # So it is with nearly every call.
        if not modes and RESPONSES not in params:
            return exchange
        answered = {key: Answer(result) for key, result in read_responses(params).items()}
        return replace(exchange, modes=modes, answers={**exchange.answers, **answered})

    def write(self, exchange: Exchange, questions: tuple[Question, ...]) -> InputRequired | None:
        """Return the result that asks the questions; None where the client cannot ask them."""
        if not questions or not all(map(exchange.can_ask, questions)):
            return None
        return InputRequired(questions, self.get_state().write(exchange, questions))

    def get_state(self) -> RequestState:
        # It is the caller's own, who has to be known for it.
        caller = self.context.caller
        caller.authenticate()
        arguments = self.context.message.params.get("arguments")
        return RequestState(caller.principal, self.subject, arguments)
