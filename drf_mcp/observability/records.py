"""A message in the hands of the pipeline, and a call that is over, as those who watch see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drf_mcp.access.authentication import Caller
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Era, Message
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.protocol.headers import RepeatedArguments
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.masking import escape_unprintable
from drf_mcp.tools.tool import Tool


@dataclass(frozen=True)
class RequestContext:
    """One request message in the hands of a method.

    Attributes:
        message: the message.
        era: the era it was sent in.
        caller: who sent it.
        headers: the request's headers, None at a door that has none.
    """

    message: Message
    era: Era
    caller: Caller
    headers: Mapping[str, str] | None = None

    def check_headers(self, tool: Tool) -> None:
        """Hold the headers that repeat arguments of a tool against the arguments.

        Raises:
            HeaderMismatch: if they differ.
        """
        if tool.mirrored and self.era.repeats_arguments and self.headers is not None:
            arguments = self.message.params.get("arguments")
            RepeatedArguments(arguments, tool.mirrored).check(self.headers)

    @property
    def urlconf(self) -> Any:
        """The URLconf that middleware chose for the request, None for the project's."""
        return getattr(self.caller.request, "urlconf", None)


@dataclass(frozen=True)
class CallRecord:
    """A call that is over.

    Attributes:
        tool: the tool.
        outcome: what it came to.
        result: the members of the result, as encoded.
        exchange: the message that asked for it.
        duration_ms: how long it took, its result written.
    """

    tool: Tool
    outcome: Outcome
    result: Mapping[str, Any]
    exchange: RequestContext
    duration_ms: float

    @property
    def word(self) -> str:
        """The outcome in a word: ``success``, ``soft_failure`` or the error code."""
        failure = self.outcome.failure
        if failure is None:
            return "success"
        return "soft_failure" if failure.soft else escape_unprintable(failure.code.lower())

    @property
    def user_id(self) -> str | None:
        """The primary key of the caller's user, None for an anonymous one."""
        user = self.exchange.caller.authenticate().user
        pk = getattr(user, "pk", None)
        return None if pk is None else escape_unprintable(str(pk))

    @property
    def client(self) -> str | None:
        """What the client calls itself, None where its revision does not say so per message."""
        info = self.exchange.message.meta.get(CLIENT_INFO_KEY)
        name = info.get("name") if isinstance(info, dict) else None
        return escape_unprintable(name) if isinstance(name, str) else None

    @cached_property
    def arguments(self) -> Any:
        """The arguments without secrets, where LOG_ARGUMENTS is on; else None."""
        if not mcp_settings.LOG_ARGUMENTS:
            return None
        return self.tool.sanitize_arguments(self.exchange.message.params.get("arguments"))

    def fields(self) -> dict[str, Any]:
        """Return what the log record tells; every field always, None where unknown."""
        return {
            "tool": self.tool.name,
            "outcome": self.word,
            "status": self.outcome.status,
            "duration_ms": self.duration_ms,
            "queries": self.outcome.telemetry.get("database_queries"),
            "bytes": len(self.result["content"]),
            "request_id": self.outcome.request_id,
            "user_id": self.user_id,
            "client": self.client,
            "revision": self.exchange.era.revision,
            "arguments": self.arguments,
        }
