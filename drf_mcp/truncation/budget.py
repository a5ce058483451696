"""The budget of one result: how long it may be, and what happens when it is longer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from rest_framework.settings import api_settings

from drf_mcp.access.authentication import Caller
from drf_mcp.archive import Entry, can_archive, owner_of
from drf_mcp.exceptions import contain
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Registry, Tool
from drf_mcp.truncation import RETRIEVAL_TOOL, Digester, ExtractiveDigester, Fitter, Write

logger = logging.getLogger("drf_mcp")

LESS = "Ask for the fields you need only: name them in the argument 'fields'."
SEARCH_ARGUMENTS = ("search", "query", "q")


class Budget:
    """The budget of one call's result.

    Args:
        tool: the tool that was called.
        arguments: what it was called with.
        caller: who called it.
        registry: the tools served.
    """

    def __init__(self, tool: Tool, arguments: Any, caller: Caller, registry: Registry) -> None:
        self.tool = tool
        self.arguments = arguments
        self.caller = caller
        self.registry = registry

    def limit(self, outcome: Outcome) -> int | None:
        """Return the longest envelope, in characters; None for any length."""
        options = self.tool.options
        if outcome.is_error:
            own, default = options.max_error_chars, mcp_settings.MAX_ERROR_CHARS
        else:
            own, default = options.max_result_chars, mcp_settings.MAX_RESULT_CHARS
        return default if own is None else own or None

    def is_exceeded(self, outcome: Outcome, text: str) -> bool:
        """Return whether an envelope, with all that stands beside it, is too long."""
        limit = self.limit(outcome)
        return limit is not None and len(text) > limit

    def fit(self, outcome: Outcome, write: Write) -> Outcome:
        """Return an outcome that fits; see `Fitter.fit`."""
        limit = self.limit(outcome)
        if limit is None:
            return outcome
        # A slice of what was left out is the text itself.
        digester = None if self.tool.name == RETRIEVAL_TOOL else mcp_settings.DIGESTER_CLASS
        fitter = Fitter(
            limit,
            digest=partial(digest, digester) if digester else None,
            keep=keep if self.is_retrievable() else None,
            owner=owner_of(self.caller.authenticate().user),
            call={} if outcome.is_error else self.call(),
            query=query_of(self.arguments),
            less=LESS if self.tool.arguments.fields else "",
        )
        fitted, _ = fitter.fit(outcome, write)
        return fitted

    def call(self) -> Mapping[str, Any]:
        """Return what is to be asked again when the rest is fetched."""
        call = self.tool.bind(self.arguments)
        return {"kwargs": dict(call.kwargs), "query_string": call.query_string}

    def is_retrievable(self) -> bool:
        """Return whether the caller can fetch later what is left out now."""
        if self.tool.name == RETRIEVAL_TOOL or not can_archive():
            return False
        urlconf = getattr(self.caller.request, "urlconf", None)
        return RETRIEVAL_TOOL in self.registry.tools(urlconf)


def digest(digester_class: type[Digester], text: str, query: str) -> Mapping[str, Any]:
    """Return the digest of a text; our own where the project's digester fails."""

    def payload() -> Mapping[str, Any]:
        # Imported here: it loads pydantic, which no call needs otherwise.
        from drf_mcp.envelopes import validate_payload_dict

        made = digester_class().digest(text, query)
        if digester_class.digest is not Digester.digest:
            validate_payload_dict(dict(made))
        return made

    def failed(exc: Exception) -> Mapping[str, Any]:
        logger.warning("%s failed to digest a text", digester_class, exc_info=exc)
        return contain(
            lambda: StandIn(digester_class).digest(text, query),
            lambda exc: ExtractiveDigester().digest(text, query),
        )

    return contain(payload, failed)


class StandIn(ExtractiveDigester):
    """Digests where the project's digester fails, in whose form texts are fetched later."""

    def __init__(self, digester_class: type[Digester]) -> None:
        self.digester = digester_class()

    def canonical(self, text: str) -> str:
        """Return a text in the form of the project's digester."""
        return self.digester.canonical(text)


def keep(entry: Entry) -> bool:
    """Store an entry in the archive and return whether that worked."""

    def store() -> bool:
        mcp_settings.ARCHIVE_CLASS().store(entry)
        return True

    def failed(exc: Exception) -> bool:
        logger.warning("The archive did not keep what a result left out", exc_info=exc)
        return False

    return contain(store, failed)


def query_of(arguments: Any) -> str:
    """Return what the caller was looking for, "" if the arguments do not say."""
    if not isinstance(arguments, Mapping):
        return ""
    for name in (api_settings.SEARCH_PARAM, *SEARCH_ARGUMENTS):
        value = arguments.get(name)
        if isinstance(value, Mapping):
            return query_of(value)
        if isinstance(value, str) and value:
            return value
    return ""
