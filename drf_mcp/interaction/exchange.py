"""The questions of a call and their answers, over as many rounds as it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from drf_mcp.interaction.slots import Slot
from drf_mcp.outcomes import Failure, Question


@dataclass(frozen=True)
class Answer:
    """What came back for one question.

    Attributes:
        result: the result as the client wrote it, a JSON object.
    """

    result: Mapping[str, Any]

    @property
    def is_accepted(self) -> bool:
        """True if the user agreed; False if they declined, or closed the question."""
        return self.result.get("action") == "accept"

    @property
    def content(self) -> Mapping[str, Any]:
        """The members of the form; none where a page asked."""
        content = self.result.get("content")
        return content if isinstance(content, Mapping) else {}


@dataclass(frozen=True)
class Exchange:
    """What was asked and answered in the earlier rounds of a call.

    Attributes:
        modes: what the client can be asked for: ``form``, ``url``, ``sampling``, ``roots``.
        answers: the answers by the key of their question.
        memory: what each question had given back, by its key. It was signed: the client could
            not change any of it.
        round: how often the client's user was asked before.
    """

    modes: Collection[str] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    round: int = 0

    def can_ask(self, question: Question) -> bool:
        return question.mode in self.modes


SILENT = Exchange()
# In which a question can be answered.
ANSWER_SECONDS = 600
# What has the `exchange` of a request, where its client can be asked.
ROUNDS: Slot[Any] = Slot()


def get_exchange(call: Any) -> Exchange:
    """Return what was asked and answered in the earlier rounds of a call."""
    rounds = ROUNDS.get(call)
    exchange: Exchange = SILENT if rounds is None else rounds.exchange
    return exchange


class Asked(BaseException):
    """Ends a round of a call, whatever the view catches; its transaction is rolled back.

    Args:
        questions: what has to be asked.
        failure: the soft failure that a client gets which cannot ask.
    """

    def __init__(self, *questions: Question, failure: Failure) -> None:
        super().__init__(*questions)
        self.questions = questions
        self.failure = failure


class Deferred(BaseException):
    """Ends a call that goes on as a task, whatever the view catches."""
