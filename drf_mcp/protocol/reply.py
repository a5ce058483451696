"""What a door sends back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class MessageStream:
    """The result of a request that is answered by messages as they come, the response last.

    Attributes:
        messages: encoded messages; an empty one where the stream is to show signs of life.
    """

    messages: AsyncIterator[bytes]


@dataclass(frozen=True)
class Reply:
    """What a door sends back."""

    status: int
    # One JSON-RPC response, or an array of them; empty when nothing is due.
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    # In place of the body, at a door that can keep it open.
    stream: MessageStream | None = None


ACCEPTED = Reply(202)
