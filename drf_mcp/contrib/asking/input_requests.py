"""From the questions of a call to those of the protocol, and back with their answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams
from drf_mcp.interaction.exchange import ANSWER_SECONDS, SILENT, Answer, Exchange
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Question
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.protocol.input import RESPONSES, STATE, InputRequired, read_modes, read_responses

SALT = "drf_mcp.contrib.asking.input_requests"


class InputRequests:
    """The rounds of one request, of which each is a request of its own.

    Args:
        context: the request of this round.
        subject: what is called: the method, and the name of the tool.

    Attributes:
        is_retry: whether the request brings answers, or what was signed for them.
    """

    def __init__(self, context: RequestContext, subject: str) -> None:
        self.context = context
        self.subject = subject
        params = context.message.params
        self.is_retry = STATE in params or RESPONSES in params

    @cached_property
    def exchange(self) -> Exchange:
        """What was asked and answered before.

        Raises:
            InvalidParams: if the client's part of it cannot be read or trusted.
        """
        if not self.context.era.asks_for_input:
            return SILENT
        message = self.context.message
        state = message.params.get(STATE)
        earlier = SILENT if state is None else self.get_state().read(state)
        answers = {key: Answer(result) for key, result in read_responses(message.params).items()}
        return Exchange(
            read_modes(message.meta), {**earlier.answers, **answers}, earlier.memory, earlier.round
        )

    def write(self, questions: tuple[Question, ...]) -> InputRequired | None:
        """Return the result that asks the questions; None where the client cannot ask them."""
        exchange = self.exchange
        if not questions or not all(map(exchange.can_ask, questions)):
            return None
        return InputRequired(questions, self.get_state().write(exchange, questions))

    def get_state(self) -> RequestState:
        # It is the caller's own, who has to be known for it.
        caller = self.context.caller
        caller.authenticate()
        arguments = self.context.message.params.get("arguments")
        return RequestState(caller.principal, self.subject, arguments)


class RequestState:
    """The ``requestState`` of a call (2026-07-28, basic/patterns/mrtr).

    Args:
        principal: who is calling.
        subject: what is called: the method, and the name of the tool.
        arguments: the arguments of the call, any JSON value.
    """

    def __init__(self, principal: str, subject: str, arguments: Any) -> None:
        self.binding = hash_json([principal, subject, arguments])

    def write(self, exchange: Exchange, questions: Iterable[Question]) -> str:
        """Return the text that brings back the exchange and the memory of the questions."""
        answers = {key: answer.result for key, answer in exchange.answers.items()}
        memory = {**exchange.memory, **{q.key: q.memory for q in questions}}
        payload = [self.binding, exchange.round + 1, answers, memory]
        return signing.dumps(payload, salt=SALT, compress=True)

    def read(self, text: Any) -> Exchange:
        """Return the exchange of the earlier rounds.

        Raises:
            InvalidParams: if the text is not of this caller and call, or is too old.
        """
        try:
            binding, number, answers, memory = signing.loads(
                str(text), salt=SALT, max_age=ANSWER_SECONDS
            )
        except signing.SignatureExpired:
            raise InvalidParams(_("The requestState has expired: make the call anew.")) from None
        except (signing.BadSignature, ValueError):
            raise InvalidParams(_("The requestState is not one of this server.")) from None
        if binding != self.binding:
            raise InvalidParams(_("The requestState belongs to another call or caller."))
        answered = {key: Answer(result) for key, result in answers.items()}
        return Exchange((), answered, memory, number)
