"""Calls that wait for the client's user, in the response of the call (2025-11-25).

The session of a client whose user can be asked is an id that no server keeps; the questions are in
a table that all workers share.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django.core import signing
from django.utils import timezone

from drf_mcp.dispatch.failures import close_idle_connections
from drf_mcp.exceptions import Refused, attempt
from drf_mcp.features import CallState, Guard, LimitReached, Proceed, get_rows, mcp_settings
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Answer, Asked, Exchange
from drf_mcp.interaction.stopping import StopSignal
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Failure, Outcome, Question
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY
from drf_mcp.protocol.eras import InputRequired, read_modes

HEADER = "Mcp-Session-Id"
SALT = "drf_mcp.contrib.asking.sessions"
SECONDS = 30 * 24 * 3600
# What a server may ask for in the response of a call, of all that a client can declare.
MODES = ("form", "url")


@dataclass(frozen=True)
class Session:
    """A client from its handshake on (2025-11-25, basic/transports, "Session Management").

    Attributes:
        key: which of the caller's sessions it is.
        owner: a hash of the caller.
        modes: what the client's user can be asked by: ``form`` and ``url``.
    """

    key: str
    owner: str
    modes: tuple[str, ...]

    @classmethod
    def open(cls, declared: Any, principal: str) -> Session | None:
        """Return the session of a client, None for one whose user cannot be asked."""
        known = read_modes({CLIENT_CAPABILITIES_KEY: declared})
        modes = tuple(mode for mode in MODES if mode in known)
        return cls(secrets.token_urlsafe(16), hash_json(principal), modes) if modes else None

    @classmethod
    def find(cls, headers: Mapping[str, str] | None, caller: Any) -> Session | None:
        """Return the session that the headers of a request name, None where they name none.

        Raises:
            Refused: with 404, if the session is not the caller's or has ended.
            APIException: if the caller is not let in.
        """
        text = None if headers is None else headers.get(HEADER)
        if text is None:
            return None
        principal = caller.principal
        try:
            session = cls(*signing.loads(text, salt=SALT, max_age=SECONDS))
        except (signing.BadSignature, ValueError):
            raise SessionNotFound() from None
        if session.owner != hash_json(principal):
            raise SessionNotFound()
        return session

    def write(self) -> str:
        """Return the session id: visible ASCII, signed."""
        return signing.dumps([self.key, self.owner, self.modes], salt=SALT)

    def ask(self, ids: Sequence[str], call_id: Any, seconds: int, holder: str) -> bool:
        """Let new questions be answered, unless too many are open; return whether they can be."""
        now, rows = timezone.now(), _find_questions()
        kept = {
            "holder": holder,
            "session": self.key,
            "call": hash_json(call_id),
            "expires": now + timedelta(seconds=seconds),
        }
        rows.bulk_create(rows.model(question_id=each, **kept) for each in ids)
        # Counted afterwards, so that calls at the same time do not pass the bound together.
        if rows.filter(holder=holder, expires__gt=now).count() <= mcp_settings.MAX_QUESTIONS:
            return True
        close(ids)
        return False

    def keep_answer(self, question_id: Any, result: Any) -> None:
        """Keep the first answer to a question of this client; all others are dropped."""
        rows = self._find_unanswered().filter(question_id=question_id)
        if isinstance(question_id, str) and rows.update(answer=[result]):
            WAITING.wake(question_id)

    def cancel(self, call_id: Any) -> None:
        rows = self._find_unanswered().filter(call=hash_json(call_id))
        ids = list(rows.values_list("question_id", flat=True))
        rows.update(answer=[])
        for question_id in ids:
            WAITING.wake(question_id)

    def _find_unanswered(self) -> Any:
        still_open = {"answer__isnull": True, "expires__gt": timezone.now()}
        return _find_questions().filter(session=self.key, **still_open)


class SessionNotFound(Refused):
    """The session id is no session of the caller (HTTP 404): the client initializes anew."""

    def __init__(self) -> None:
        super().__init__(404, "There is no such session: initialize anew.")


# Seconds between two looks for answers that other processes were given.
INTERVAL = 0.5


def _find_questions() -> Any:
    return get_rows("drf_mcp_asking.PendingQuestion")


def read_answers(ids: Sequence[str]) -> Mapping[str, Any]:
    """Return what came back for questions by their ids: lists of one JSON value, or of none."""
    rows = _find_questions().filter(pk__in=ids).filter(answer__isnull=False)
    return dict(rows.values_list("question_id", "answer"))


def close(ids: Sequence[str]) -> None:
    _find_questions().filter(pk__in=ids).delete()


class WaitingCalls:
    """The calls of this process that wait, by the questions that they ask.

    One of them looks for the answers to all that other processes were given: a call that waits
    holds no connection.
    """

    def __init__(self) -> None:
        self.by_question: dict[str, threading.Event] = {}
        self.lock = threading.Lock()
        # When a call looked last.
        self.looked = 0.0

    @contextlib.contextmanager
    def adding(self, ids: Sequence[str], news: threading.Event, most: int | None) -> Iterator[bool]:
        """Have a call be one that waits; yields False where as many calls wait already.

        Args:
            most: how many calls of this process may wait, None for any number.
        """
        with self.lock:
            is_admitted = most is None or len(set(self.by_question.values())) < most
            if is_admitted:
                self.by_question.update(dict.fromkeys(ids, news))
        try:
            yield is_admitted
        finally:
            with self.lock:
                for question_id in ids:
                    self.by_question.pop(question_id, None)

    def wake(self, question_id: str) -> None:
        if news := self.by_question.get(question_id):
            news.set()

    def look(self) -> None:
        with self.lock:
            now = time.monotonic()
            if now - self.looked < INTERVAL / 2:
                return
            self.looked, ids = now, list(self.by_question)
        # A database that cannot be reached may be there at the next look.
        for question_id in attempt(lambda: read_answers(ids), {}):
            self.wake(question_id)
        close_idle_connections()


WAITING = WaitingCalls()


def wait_for_answers(
    ids: Sequence[str], news: threading.Event, channel: Any, seconds: int
) -> Mapping[str, Any] | None:
    """Return what came back for questions, None where that was not all in time.

    Raises:
        NoAnswer: if the server is told to stop.
    """
    deadline = time.monotonic() + seconds
    while not channel.is_cancelled and (left := deadline - time.monotonic()) > 0:
        if StopSignal.was_sent:
            raise NoAnswer("The server was stopped before the user answered.")
        if not news.wait(min(left, INTERVAL)):
            WAITING.look()
            continue
        news.clear()
        answers = read_answers(ids)
        # An empty list comes from a call that was cancelled, or a client that cannot ask.
        if len(answers) == len(ids) or [] in answers.values():
            return answers
        close_idle_connections()
    return None


# A client that answers without its user could be asked without end.
MOST_ROUNDS = 10
# The first revision in which a client says whether it shows forms, pages or both, and in which a
# form has choices with titles and several choices of one field.
FIRST_WITH_MODES = "2025-11-25"


class NoAnswer(Exception):
    """The user was not asked, or did not answer; the text is for the model, "" for nothing."""


class WaitingGuard(Guard):
    """Asks what a call asks, waits, and makes the call again with the answers.

    It is outside of the time limit, of transactions and of idempotency, for which each round is
    another call, with the rights that the caller has then. Throttles of the endpoint and the audit
    count one call.
    """

    order = 350

    def __init__(self, session: Session) -> None:
        self.session = session

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        exchange, slots = Exchange(self.session.modes), dict(call.slots)
        while True:
            call.slots = {**slots, INPUT_REQUESTS: SimpleNamespace(exchange=exchange)}
            try:
                outcome = proceed(call)
                questions, asked = outcome.questions, None
            except Asked as exc:
                questions, asked = exc.questions, exc
            if call.caller.refusal is not None:
                raise call.caller.refusal
            if not questions:
                return outcome
            try:
                answers = {**exchange.answers, **self.ask(call, questions, exchange)}
            except NoAnswer as exc:
                if asked is None:
                    return _explain_silence(outcome, str(exc))
                asked.failure = _say_first(str(exc), asked.failure)
                raise asked from None
            memory = {**exchange.memory, **{each.key: each.memory for each in questions}}
            exchange = Exchange(exchange.modes, answers, memory, exchange.round + 1)
            self.renew(call)

    def renew(self, call: CallState) -> None:
        # While the user thought, the caller may have lost rights, or the credential.
        assert call.context is not None
        caller = call.caller.renew()
        caller.channel = call.channel
        caller.authenticate()
        call.caller, call.context = caller, replace(call.context, caller=caller)
        # Arguments are bound again, since they may name rows.
        vars(call).pop("bound", None)

    def ask(
        self, call: CallState, questions: Sequence[Question], exchange: Exchange
    ) -> dict[str, Answer]:
        context, channel = call.context, call.channel
        assert context is not None
        assert channel is not None
        revision = context.era.revision
        if exchange.round == MOST_ROUNDS or not all(map(exchange.can_ask, questions)):
            raise NoAnswer()
        # Forms of an older revision have no input for several values.
        forms = (question.schema or {} for question in questions if revision < FIRST_WITH_MODES)
        fields = (field for form in forms for field in form.get("properties", {}).values())
        if any(field.get("type") == "array" for field in fields):
            raise NoAnswer()
        seconds: int = mcp_settings.ANSWER_TIMEOUT
        news, ids = threading.Event(), [secrets.token_urlsafe(32) for _ in questions]
        most = mcp_settings.WAITING_CALLS if channel.shares_threads else None
        channel.callbacks.append(news.set)
        try:
            with WAITING.adding(ids, news, most) as is_admitted:
                if not is_admitted:
                    raise NoAnswer()
                if not self.session.ask(ids, context.message.id, seconds, call.caller.holder):
                    raise NoAnswer(str(LimitReached("MAX_QUESTIONS").detail))
                for question_id, question in zip(ids, questions, strict=True):
                    params = _make_params(question, question_id, revision)
                    channel.send("elicitation/create", params, question_id)
                close_idle_connections()
                answers = wait_for_answers(ids, news, channel, seconds)
        finally:
            channel.callbacks.remove(news.set)
            close(ids)
        if answers is None and not channel.is_cancelled:
            raise NoAnswer(f"The user was asked, and did not answer within {seconds} s.")
        found: dict[str, Answer] = {}
        for question_id, question in zip(ids, questions, strict=True):
            # A client may answer with an error, or with something else than an object.
            answer = (answers or {}).get(question_id) or [None]
            if not isinstance(answer[0], Mapping):
                raise NoAnswer()
            found[question.key] = Answer(answer[0])
        return found


def _make_params(question: Question, question_id: str, revision: str) -> Mapping[str, Any]:
    """Return the params of the request that asks a question, as a revision has them."""
    params = dict(InputRequired((), "").get_request(question)["params"])
    if question.url:
        return {**params, "elicitationId": question_id}
    if revision < FIRST_WITH_MODES:
        del params["mode"]
        properties = {}
        for name, field in params["requestedSchema"]["properties"].items():
            others = {member: value for member, value in field.items() if member != "oneOf"}
            if choices := field.get("oneOf"):
                others["enum"] = [choice["const"] for choice in choices]
                others["enumNames"] = [choice["title"] for choice in choices]
            properties[name] = others
        params["requestedSchema"] = {**params["requestedSchema"], "properties": properties}
    return params


def _say_first(sentence: str, failure: Failure) -> Failure:
    return replace(failure, message=f"{sentence} {failure.message}".strip())


def _explain_silence(outcome: Outcome, sentence: str) -> Outcome:
    """Return the outcome of a call that could not ask, with the reason before its message."""
    if not sentence or outcome.failure is None:
        return outcome
    return outcome.changed(failure=_say_first(sentence, outcome.failure))
