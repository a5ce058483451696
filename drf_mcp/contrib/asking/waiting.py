"""Calls that wait for the client's user, in the response of the call (2025-11-25)."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import ngettext

from drf_mcp.contrib.asking.open_questions import (
    WAITING,
    OpenQuestions,
    Session,
    close,
    wait_for_answers,
)
from drf_mcp.dispatch.failures import close_idle_connections
from drf_mcp.features import CallState, Guard, LimitReached, Proceed, mcp_settings
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Answer, Asked, Exchange
from drf_mcp.outcomes import Failure, Outcome, Question
from drf_mcp.protocol.eras import InputRequired

# A client that answers without its user could be asked without end.
MOST_ROUNDS = 10
# The first revision in which a client says whether it shows forms, pages or both, and in which a
# form has choices with titles and several choices of one field.
FIRST_WITH_MODES = "2025-11-25"


class NoAnswer(Exception):
    """The user was not asked, or did not answer; the text is for the model, "" for nothing."""


class WaitingInputRequests:
    """The rounds of a call whose thread waits for the answers.

    Args:
        modes: what the client's user can be asked by.
    """

    def __init__(self, modes: tuple[str, ...]) -> None:
        self.exchange = Exchange(modes)

    def add(self, questions: Sequence[Question], answers: Mapping[str, Answer]) -> None:
        known = self.exchange
        self.exchange = Exchange(
            known.modes,
            {**known.answers, **answers},
            {**known.memory, **{question.key: question.memory for question in questions}},
            known.round + 1,
        )


class WaitingGuard(Guard):
    """Asks what a call asks, waits, and makes the call again with the answers.

    It is outside of the time limit, of transactions and of idempotency, for which each round is
    another call, with the rights that the caller has then. Throttles of the endpoint and the audit
    count one call.

    Args:
        session: the session id of the client.
    """

    order = 350

    def __init__(self, session: Session) -> None:
        self.session = session

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        input_requests, slots = WaitingInputRequests(self.session.modes), dict(call.slots)
        while True:
            call.slots = {**slots, INPUT_REQUESTS: input_requests}
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
                input_requests.add(questions, self.ask(call, questions, input_requests.exchange))
            except NoAnswer as exc:
                if asked is None:
                    return explain_silence(outcome, str(exc))
                asked.failure = _say_first(str(exc), asked.failure)
                raise asked from None
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
                opened = OpenQuestions(self.session)
                if not opened.open(ids, context.message.id, seconds, call.caller.holder):
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
            text = ngettext(
                "The user was asked, and did not answer within %(seconds)d second.",
                "The user was asked, and did not answer within %(seconds)d seconds.",
                seconds,
            )
            raise NoAnswer(text % {"seconds": seconds})
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


def explain_silence(outcome: Outcome, sentence: str) -> Outcome:
    """Return the outcome of a call that could not ask, with the reason before its message."""
    if not sentence or outcome.failure is None:
        return outcome
    return outcome.changed(failure=_say_first(sentence, outcome.failure))
