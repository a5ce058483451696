"""What a client carries from one round of a call to the next, signed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams
from drf_mcp.interaction.exchange import ANSWER_SECONDS, Answer, Exchange
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Question

SALT = "drf_mcp.contrib.asking.state"


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
