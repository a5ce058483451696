from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from django.core import signing
from django.core.cache import cache

from drf_mcp.codes import LOG_LEVELS
from drf_mcp.contrib.asking.waiting import HEADER, SECONDS, Session, WaitingGuard
from drf_mcp.exceptions import InvalidParams
from drf_mcp.features import (
    Bound,
    CallState,
    Capability,
    Feature,
    Guard,
    Number,
    Proceed,
    RequestContext,
    Setting,
    mcp_settings,
)
from drf_mcp.interaction.exchange import (
    ANSWER_SECONDS,
    INPUT_REQUESTS,
    IS_LOGGED,
    NOTHING_ASKED,
    Answer,
    Exchange,
)
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Outcome, Question
from drf_mcp.protocol import REVISIONS
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.protocol.eras import RESPONSES, STATE, InputRequired, read_modes, read_responses
from drf_mcp.protocol.jsonrpc import ClientResponse

# The first revision in which a client declares that its user can be asked.
FIRST_REVISION = "2025-06-18"
# The notification of a client that cancels a request.
CANCELLED = "notifications/cancelled"
SALT = "drf_mcp.contrib.asking.input_requests"


class AskingFeature(Feature):
    settings = {
        # Seconds for which a call, and its thread, waits for the user of a client that opened with
        # `initialize`. 0: such users are not asked. See docs/asking.md.
        "ANSWER_TIMEOUT": Setting(120, Number(0)),
        # Calls that may wait at once in a process under WSGI: fewer than it has threads, since one
        # of them has to receive the answers. Under ASGI there is no such limit.
        "WAITING_CALLS": Setting(1, Number()),
        # Questions of one caller that are open at once in a response.
        "MAX_QUESTIONS": Setting(
            20, Bound("%(most)s questions of yours are open: answer one of them first.")
        ),
    }
    capability_classes = ("drf_mcp.contrib.asking.feature.LoggingCapability",)
    expires = {"open_questions": "drf_mcp_asking.PendingQuestion"}

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        sent, channel = call.sent, call.channel
        if sent is None or sent.is_inner:
            return ()
        if sent.era.asks_for_input:
            # Only such a client can be asked, or brings answers.
            params, modes = sent.message.params, read_modes(sent.message.meta)
            can_ask = modes or STATE in params or RESPONSES in params
            return [InputGuard()] if can_ask and sent.message.method == "tools/call" else ()
        if channel is None or not channel.is_live or not mcp_settings.ANSWER_TIMEOUT:
            return ()
        session = Session.find(sent.headers, call.caller)
        if session is None:
            return ()
        IS_LOGGED.set(call, partial(is_logged, session))
        return [WaitingGuard(session)]

    # --- Clients that shook hands (2025-06-18 and 2025-11-25) -----------------------------------

    def get_session_headers(self, context: Any) -> Mapping[str, str]:
        if context.era.revision < FIRST_REVISION or not mcp_settings.ANSWER_TIMEOUT:
            return {}
        declared = context.message.params.get("capabilities")
        session = Session.open(declared, context.caller.principal)
        return {HEADER: session.write()} if session else {}

    def receive(self, item: Any, era: Any, headers: Any, caller: Any) -> None:
        has_sessions = era.revision >= FIRST_REVISION and not era.asks_for_input
        if headers is None or not has_sessions or getattr(item, "method", "") == "initialize":
            return
        session = Session.find(headers, caller)
        if session and isinstance(item, ClientResponse):
            session.keep_answer(item.id, item.result)
        elif session and item.method == CANCELLED:
            session.cancel(item.params.get("requestId"))


class InputGuard(Guard):
    """Answers a call with its questions; the client calls again with the answers."""

    order = 30

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        context, input_requests = call.context, INPUT_REQUESTS.get(call)
        assert context is not None
        if input_requests is None:
            input_requests = InputRequests(context, f"tools/call {call.tool.name}")
            # A call that brings no answers asks first.
            if input_requests.is_retry:
                input_requests.exchange  # noqa: B018 - what cannot be trusted is refused
                INPUT_REQUESTS.set(call, input_requests)
        outcome = proceed(call)
        asked = input_requests.write(outcome.questions) if outcome.questions else None
        return outcome if asked is None else outcome.changed(unfinished=asked)


class InputRequests:
    """One round of a call that asks its user; the client sends each round as a new request.

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
            return NOTHING_ASKED
        message = self.context.message
        state = message.params.get(STATE)
        number, answers, memory = (0, {}, {}) if state is None else self._read_state(state)
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
        # The state belongs to one caller, who is authenticated first.
        caller = self.context.caller
        caller.authenticate()
        arguments = self.context.message.params.get("arguments")
        return hash_json([caller.principal, self.subject, arguments])

    def _read_state(self, text: Any) -> Any:
        """Return the number of earlier rounds, their answers, and what was remembered."""
        own = self.binding
        try:
            loaded = signing.loads(str(text), salt=SALT, max_age=ANSWER_SECONDS)
            binding, number, answers, memory = loaded
        except signing.SignatureExpired:
            raise InvalidParams("The requestState has expired: make the call anew.") from None
        except (signing.BadSignature, ValueError):
            raise InvalidParams("The requestState is not one of this server.") from None
        if binding != own:
            raise InvalidParams("The requestState belongs to another call or caller.")
        return number, answers, memory


KEY = "drf_mcp:log_level:{}"


class LoggingCapability(Capability):
    """Keeps the level of a session (2025-11-25, server/utilities/logging)."""

    name = "logging"
    methods = {"logging/setLevel": "set_level"}
    result_members = {
        revision: {"logging/setLevel": frozenset({"_meta"})}
        for revision in REVISIONS
        if revision != STATELESS_REVISION
    }

    def set_level(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        if (level := context.message.params.get("level")) not in LOG_LEVELS:
            raise InvalidParams(f"The level is one of {', '.join(LOG_LEVELS)}.")
        # Nothing is sent to a client without a session.
        if session := Session.find(context.headers, context.caller):
            cache.set(KEY.format(session.key), level, SECONDS)
        return {}


def is_logged(session: Session, level: str) -> bool:
    """Return whether a client wants messages of a level; until it says, from info on."""
    chosen = cache.get(KEY.format(session.key), "info")
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(chosen)
