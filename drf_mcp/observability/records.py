"""The record of a call that is over, and the observers that installed apps open for a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Message
from drf_mcp.protocol.capability import MessageObserver, RequestContext
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import escape_unprintable


@dataclass(frozen=True)
class CallRecord:
    """A call that is over, as logs, signals and spans describe it."""

    tool: Any
    outcome: Outcome
    result: Mapping[str, Any]
    context: RequestContext
    duration_ms: float

    @property
    def word(self) -> str:
        failure = self.outcome.failure
        if failure is None:
            return "success"
        if self.outcome.questions:
            return "asked"
        return "soft_failure" if failure.soft else escape_unprintable(failure.code.lower())

    @property
    def user_id(self) -> str | None:
        pk = getattr(self.context.caller.authenticate().user, "pk", None)
        return None if pk is None else escape_unprintable(str(pk))

    @property
    def client(self) -> str | None:
        # Handshake revisions do not name the client in each message.
        info = self.context.message.meta.get(CLIENT_INFO_KEY)
        name = info.get("name") if isinstance(info, dict) else None
        return escape_unprintable(name) if isinstance(name, str) else None

    @cached_property
    def arguments(self) -> Any:
        if not mcp_settings.LOG_ARGUMENTS:
            return None
        return self.tool.sanitize_arguments(self.sent)

    @property
    def sent(self) -> Any:
        """The arguments that the caller sent, any JSON value, or the URI of a resource."""
        params = self.context.message.params
        return {"uri": params["uri"]} if "uri" in params else params.get("arguments")

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "tool": self.tool.name,
            "method": self.context.message.method,
            "outcome": self.word,
            "status": self.outcome.status,
            "duration_ms": self.duration_ms,
            "queries": self.outcome.telemetry.get("database_queries"),
            "bytes": len(self.result.get("content", b"")),
            "request_id": self.outcome.request_id,
            "is_trial": self.outcome.is_trial,
            "user_id": self.user_id,
            "client": self.client,
            "revision": self.context.era.revision,
            "arguments": self.arguments,
        }


def open_observers(message: Any, caller: Any) -> Sequence[MessageObserver]:
    """Return the observers of a message; None is a message that was not read."""
    observers: list[MessageObserver] = []
    if message is not None and (type(message) is not Message or message.id is None):
        return observers
    for feature in features.hooks["observe"]:
        if (observer := feature.observe(message, caller)) is not None:
            observers.append(observer)
    return observers


def report_refusal(messages: Iterable[Any], caller: Any, exc: Exception) -> None:
    """Report for each message that its caller was refused."""
    for message in messages:
        for observer in open_observers(message, caller):
            observer.fail(exc)
            observer.close()
