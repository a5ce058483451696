"""What installed apps follow of each message: see `MessageObserver`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from drf_mcp.option_types.installed import features
from drf_mcp.protocol import Message
from drf_mcp.protocol.context import MessageObserver


def open_observers(message: Any, caller: Any) -> Sequence[MessageObserver]:
    """Return what follows a message, None for one that was not read."""
    if message is not None and (not isinstance(message, Message) or message.is_notification):
        return ()
    made = (feature.observe(message, caller) for feature in features.overriding("observe"))
    return [observer for observer in made if observer is not None]


def report_refusal(messages: Iterable[Any], caller: Any, exc: Exception) -> None:
    """Report that a caller was not let in, for each of the messages."""
    for message in messages:
        for observer in open_observers(message, caller):
            observer.fail(exc)
            observer.close()
