"""The questions for whose answers calls wait, in a table that all workers share."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import connections, router
from django.utils import timezone

from drf_mcp.contrib.asking.sessions import Session
from drf_mcp.exceptions import contain
from drf_mcp.json_text import hash_json

# How many questions to one caller may be open at once: each holds a thread.
MOST_OPEN = 20
# Seconds between two looks for answers that other processes were given.
INTERVAL = 0.5


class OpenQuestions:
    """The questions to one client.

    Args:
        session: that of the client.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def open(self, ids: Sequence[str], call_id: Any, seconds: int) -> bool:
        """Let new questions be answered, unless too many are open; return whether they can be.

        Args:
            ids: those of the questions.
            call_id: the id of the request that waits.
            seconds: for how long they can be answered.
        """
        now, rows = timezone.now(), get_questions()
        if rows.filter(owner=self.session.owner, expires__gt=now).count() + len(ids) > MOST_OPEN:
            return False
        kept = {
            "owner": self.session.owner,
            "session": self.session.key,
            "call": hash_json(call_id),
            "expires": now + timedelta(seconds=seconds),
        }
        rows.bulk_create(rows.model(question_id=each, **kept) for each in ids)
        return True

    def answer(self, question_id: Any, result: Any) -> None:
        """Keep the first answer to a question of this client; all others are dropped."""
        rows = self.get_unanswered().filter(question_id=question_id)
        if isinstance(question_id, str) and rows.update(answer=[result]):
            WAITING.wake(question_id)

    def cancel(self, call_id: Any) -> None:
        rows = self.get_unanswered().filter(call=hash_json(call_id))
        ids = list(rows.values_list("question_id", flat=True))
        rows.update(answer=[])
        for question_id in ids:
            WAITING.wake(question_id)

    def get_unanswered(self) -> Any:
        still_open = {"answer__isnull": True, "expires__gt": timezone.now()}
        return get_questions().filter(session=self.session.key, **still_open)


def get_questions() -> Any:
    # Django's models are loaded after the views that a project's settings name.
    from drf_mcp.contrib.asking.models import PendingQuestion

    return PendingQuestion._default_manager.using(router.db_for_write(PendingQuestion))


def read_answers(ids: Sequence[str]) -> Mapping[str, Any]:
    """Return what came back for questions by their ids: lists of one JSON value, or of none."""
    rows = get_questions().filter(pk__in=ids).filter(answer__isnull=False)
    return dict(rows.values_list("question_id", "answer"))


def close(ids: Sequence[str]) -> None:
    get_questions().filter(pk__in=ids).delete()


def delete_expired_questions() -> int:
    return int(get_questions().filter(expires__lte=timezone.now()).delete()[0])


def close_connections() -> None:
    """Give back the connections of this thread, which has nothing to ask for a while."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


class WaitingCalls:
    """The calls of this process that wait, by the questions that they ask.

    While there are any, one thread looks for answers that other processes were given: a call that
    waits holds no connection.
    """

    def __init__(self) -> None:
        self.by_question: dict[str, threading.Event] = {}
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.is_idle = threading.Event()

    @contextlib.contextmanager
    def adding(self, ids: Sequence[str], news: threading.Event, most: int | None) -> Iterator[bool]:
        """Have a call be one that waits.

        Args:
            ids: those of its questions.
            news: wakes the call.
            most: how many calls of this process may wait, None for any number.

        Yields:
            False where as many calls wait already.
        """
        with self.lock:
            is_admitted = most is None or len(set(self.by_question.values())) < most
            if is_admitted:
                self.by_question.update(dict.fromkeys(ids, news))
                self.is_idle.clear()
                if self.thread is None:
                    self.thread = threading.Thread(target=self.look, daemon=True)
                    self.thread.start()
        try:
            yield is_admitted
        finally:
            with self.lock:
                for question_id in ids:
                    self.by_question.pop(question_id, None)
                if not self.by_question:
                    self.is_idle.set()

    def wake(self, question_id: str) -> None:
        if news := self.by_question.get(question_id):
            news.set()

    def look(self) -> None:
        while True:
            self.is_idle.wait(INTERVAL)
            with self.lock:
                ids = list(self.by_question)
                if not ids:
                    self.thread = None
                    break
            # The next look may find a database again that was away.
            for question_id in contain(partial(read_answers, ids), forget_connections):
                self.wake(question_id)
        connections.close_all()


def forget_connections(exc: Exception) -> Mapping[str, Any]:
    connections.close_all()
    return {}


WAITING = WaitingCalls()


def wait_for_answers(
    ids: Sequence[str], news: threading.Event, channel: Any, seconds: int
) -> Mapping[str, Any] | None:
    """Return what came back for questions, None where that was not all in time.

    Args:
        news: wakes the call: an answer has come, or the client is gone.
        channel: the way to the client.
        seconds: for how long the call waits.
    """
    deadline = time.monotonic() + seconds
    while not channel.is_cancelled and news.wait(deadline - time.monotonic()):
        news.clear()
        answers = read_answers(ids)
        # A call that was cancelled, and a client that cannot ask after all, answer no more.
        if len(answers) == len(ids) or [] in answers.values():
            return answers
        close_connections()
    return None
