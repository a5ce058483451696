"""What a call and its client exchange: questions, answers, progress, content blocks."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from drf_mcp.outcomes import Failure, Question

Value = TypeVar("Value")


class Slot(Generic[Value]):
    """A key for what a feature keeps in ``slots`` of a `drf_mcp.features.CallState`.

    A feature makes its slots when its module is imported: ``TENANT: Slot[str] = Slot()``.
    """

    def get(self, call: Any) -> Value | None:
        """Return the value of the call, None if there is no value or no call."""
        return None if call is None else call.slots.get(self)

    def set(self, call: Any, value: Value | None) -> None:
        """Keep a value for the call, and for each request that it makes."""
        call.slots[self] = value


# Whether the call has passed the guards before, such as a task that a worker runs.
RERUN: Slot[bool] = Slot()
# Whether the throttles of the view have counted each request of such a call.
COUNTED: Slot[bool] = Slot()
# Whether the client of the call wants messages of a level.
IS_LOGGED: Slot[Callable[[str], bool]] = Slot()
# What the caller looked for and the endpoint does not have, for records.
WANTED: Slot[str] = Slot()
# What rolls the changes of the call back; its `explain` may say more of an exception of the view.
TRIAL: Slot[Any] = Slot()


def find_call(request: Any) -> Any:
    """Return the `CallState` of a view's request, None for a request without a call.

    Args:
        request: the view's request, REST framework's or Django's.
    """
    return getattr(getattr(request, "_request", request), "mcp_call", None)


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

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
        memory: the ``memory`` of each question, by its key. It was signed, so the client cannot
            have changed it.
        round: how often the user was asked before.
    """

    modes: Collection[str] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    round: int = 0

    def can_ask(self, question: Question) -> bool:
        return question.mode in self.modes


NOTHING_ASKED = Exchange()
# Seconds in which a question can be answered.
ANSWER_SECONDS = 600
# An object with the `exchange` of a request, where the client can be asked.
INPUT_REQUESTS: Slot[Any] = Slot()


def read_exchange(call: Any) -> Exchange:
    """Return what was asked and answered in the earlier rounds of a call."""
    input_requests = INPUT_REQUESTS.get(call)
    exchange: Exchange = NOTHING_ASKED if input_requests is None else input_requests.exchange
    return exchange


class Asked(BaseException):
    """Ends a call that has to ask its user something. Its transaction is rolled back.

    It is no `Exception`, so that a view does not catch it.

    Args:
        questions: what has to be asked.
        failure: the soft failure for a client that cannot ask.
    """

    def __init__(self, *questions: Question, failure: Failure) -> None:
        super().__init__(*questions)
        self.questions = questions
        self.failure = failure


class Deferred(BaseException):
    """Ends a call that becomes a task. It is no `Exception`, so that a view does not catch it."""


# The most notifications of progress.
MAX_PER_SECOND = 10


class Channel:
    """Sends messages to the client while a call runs, and notices that the client is gone.

    Args:
        send: called with the method and the params of a notification; for a request also its id.
        is_live: whether a message arrives while the call runs, and the client can answer it.
        shares_threads: whether a call that waits occupies a thread that could receive answers.
    """

    def __init__(
        self, send: Callable[..., None], *, is_live: bool = False, shares_threads: bool = False
    ) -> None:
        self.send = send
        self.is_live = is_live
        self.shares_threads = shares_threads
        self.is_cancelled = False
        self.callbacks: list[Callable[[], Any]] = []

    def cancel(self) -> None:
        """Note that the client is gone: an async view is cancelled, others see `is_cancelled`."""
        self.is_cancelled = True
        for callback in self.callbacks:
            callback()

    def limit(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return an async callback that is cancelled when the client is gone."""

        async def limited(*args: Any, **kwargs: Any) -> Any:
            loop = asyncio.get_running_loop()
            running = asyncio.ensure_future(callback(*args, **kwargs))

            def stop() -> None:
                loop.call_soon_threadsafe(running.cancel)

            self.callbacks.append(stop)
            try:
                return await running
            finally:
                self.callbacks.remove(stop)

        return limited


class Progress:
    """The progress of one request.

    Args:
        token: the client's token for the request.
    """

    def __init__(self, token: str | int, channel: Channel) -> None:
        self.token = token
        self.channel = channel
        self.last: float | None = None
        self.times: deque[float] = deque(maxlen=MAX_PER_SECOND)

    @classmethod
    def wanted(cls, meta: Mapping[str, Any], channel: Channel) -> Progress | None:
        """Return the progress that the ``_meta`` of a request asks for, None if it does not ask."""
        token = meta.get("progressToken")
        is_token = isinstance(token, (str, int)) and not isinstance(token, bool)
        return cls(token, channel) if is_token else None  # type: ignore[arg-type]

    def report(self, progress: float, total: float | None, message: str) -> None:
        """Send a notification, unless there is no progress or there were too many in a second."""
        now = time.monotonic()
        is_last = total is not None and progress >= total
        is_fast = len(self.times) == MAX_PER_SECOND and now - self.times[0] < 1 and not is_last
        if is_fast or (self.last is not None and progress <= self.last):
            return
        self.last = progress
        self.times.append(now)
        params: dict[str, Any] = {"progressToken": self.token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self.channel.send("notifications/progress", params)


AUDIENCE = frozenset({"user", "assistant"})


class Block:
    """One content block: text, a picture, a sound, a file or a link.

    Attributes:
        members: the block as the protocol has it.
        size: the bytes of its content.

    Args:
        audience: ``user``, ``assistant`` or both; by default the block is for both.
        priority: from 0 (may be left out) to 1 (must be seen).
        last_modified: when the content was changed.

    Raises:
        ValueError: if the audience or the priority is not allowed.
    """

    def __init__(
        self,
        members: Mapping[str, Any],
        size: int = 0,
        *,
        audience: Iterable[str] = (),
        priority: float | None = None,
        last_modified: datetime | None = None,
    ) -> None:
        self.size = size
        annotations: dict[str, Any] = {}
        if audience := list(audience):
            if not AUDIENCE.issuperset(audience):
                raise ValueError(f"The audience is of {sorted(AUDIENCE)}, not {audience!r}.")
            annotations["audience"] = audience
        if priority is not None:
            if not 0 <= priority <= 1:
                raise ValueError(f"The priority is from 0 to 1, not {priority!r}.")
            annotations["priority"] = priority
        if last_modified is not None:
            annotations["lastModified"] = last_modified.isoformat()
        self.members = {**members, "annotations": annotations} if annotations else dict(members)

    @classmethod
    def text(cls, text: str, **annotations: Any) -> Block:
        """Return a text for people or models."""
        return cls({"type": "text", "text": text}, len(text.encode()), **annotations)

    @classmethod
    def image(cls, data: bytes, mime_type: str, **annotations: Any) -> Block:
        """Return a picture, such as the bytes of a PNG and ``image/png``."""
        encoded = base64.b64encode(data).decode()
        members = {"type": "image", "data": encoded, "mimeType": mime_type}
        return cls(members, len(data), **annotations)

    @classmethod
    def audio(cls, data: bytes, mime_type: str, **annotations: Any) -> Block:
        """Return a sound, such as the bytes of a WAV and ``audio/wav``."""
        encoded = base64.b64encode(data).decode()
        members = {"type": "audio", "data": encoded, "mimeType": mime_type}
        return cls(members, len(data), **annotations)

    @classmethod
    def resource(
        cls, uri: str, content: str | bytes, mime_type: str = "", **annotations: Any
    ) -> Block:
        """Return a file with its content: text, or bytes."""
        if isinstance(content, str):
            size, body = len(content.encode()), {"text": content}
        else:
            size, body = len(content), {"blob": base64.b64encode(content).decode()}
        typed = {"mimeType": mime_type} if mime_type else {}
        return cls(
            {"type": "resource", "resource": {"uri": uri, **typed, **body}}, size, **annotations
        )

    @classmethod
    def link(
        cls,
        uri: str,
        name: str,
        *,
        title: str = "",
        description: str = "",
        mime_type: str = "",
        **annotations: Any,
    ) -> Block:
        """Return a link to a resource, which the client may fetch (since 2025-06-18)."""
        further = {"title": title, "description": description, "mimeType": mime_type}
        known = {key: value for key, value in further.items() if value}
        return cls({"type": "resource_link", "uri": uri, "name": name, **known}, **annotations)
