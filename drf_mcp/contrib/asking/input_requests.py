"""From the questions of a call to those of the protocol, and back with their answers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams
from drf_mcp.interaction.exchange import ANSWER_SECONDS, SILENT, Answer, Exchange
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Question
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.protocol.eras import RESPONSES, STATE, InputRequired, read_modes, read_responses

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
        """What was asked and answered before."""
        if not self.context.era.asks_for_input:
            return SILENT
        message = self.context.message
        state = message.params.get(STATE)
        number, answers, memory = (0, {}, {}) if state is None else self.read_state(state)
        answers = {**answers, **read_responses(message.params)}
        answered = {key: Answer(result) for key, result in answers.items()}
        return Exchange(read_modes(message.meta), answered, memory, number)

    def write(self, questions: tuple[Question, ...]) -> InputRequired | None:
        """Return the result that asks the questions; None where the client cannot ask them."""
        exchange = self.exchange
        if not questions or not all(map(exchange.can_ask, questions)):
            return None
        answers = {key: answer.result for key, answer in exchange.answers.items()}
        memory = {**exchange.memory, **{q.key: q.memory for q in questions}}
        state = [self.binding, exchange.round + 1, answers, memory]
        return InputRequired(questions, signing.dumps(state, salt=SALT, compress=True))

    @property
    def binding(self) -> str:
        """A hash of what a ``requestState`` belongs to (2026-07-28, basic/patterns/mrtr)."""
        # It is the caller's own, who has to be known for it.
        caller = self.context.caller
        caller.authenticate()
        arguments = self.context.message.params.get("arguments")
        return hash_json([caller.principal, self.subject, arguments])

    def read_state(self, text: Any) -> Any:
        """Return the number of earlier rounds, their answers, and what was remembered."""
        own = self.binding
        try:
            loaded = signing.loads(str(text), salt=SALT, max_age=ANSWER_SECONDS)
            binding, number, answers, memory = loaded
        except signing.SignatureExpired:
            raise InvalidParams(_("The requestState has expired: make the call anew.")) from None
        except (signing.BadSignature, ValueError):
            raise InvalidParams(_("The requestState is not one of this server.")) from None
        if binding != own:
            raise InvalidParams(_("The requestState belongs to another call or caller."))
        return number, answers, memory
