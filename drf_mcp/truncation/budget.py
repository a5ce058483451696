"""The budget of one result: how long it may be, and what happens when it is longer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from drf_mcp.exceptions import contain
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation.digests import Digester
from drf_mcp.truncation.extractive import ExtractiveDigester
from drf_mcp.truncation.metadata import Encode
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.truncate import Fitter, Storage, Write

logger = logging.getLogger("drf_mcp")

LESS = "Ask for the fields you need only: name them in the argument 'fields'."
SEARCH_ARGUMENTS = ("search", "query", "q")


class Budget:
    """The budget of one call's result.

    Args:
        tool: the tool that was called, with its name, options and arguments.
        arguments: the arguments of the call, any JSON value.
        encode: writes a value as REST framework's JSON encoder does.
    """

    def __init__(self, tool: Any, arguments: Any, encode: Encode) -> None:
        self.tool = tool
        self.arguments = arguments
        self.encode = encode

    def get_limit(self, outcome: Outcome) -> int | None:
        """Return the longest envelope, in characters; None for any length."""
        options = self.tool.options
        if outcome.is_error:
            own, default = options.max_error_chars, mcp_settings.MAX_ERROR_CHARS
        else:
            own, default = options.max_result_chars, mcp_settings.MAX_RESULT_CHARS
        return default if own is None else own or None

    def get_digester(self) -> type[Digester] | None:
        """Return the class that makes digests of long texts; None leaves texts as they are."""
        # A slice of archived content is the text itself.
        return None if self.tool.name == RETRIEVAL_TOOL else mcp_settings.DIGESTER_CLASS

    def get_archive(self) -> Storage | None:
        """Return where the result leaves what it has no room for; None to keep nothing."""
        return None

    def get_search_arguments(self) -> tuple[str, ...]:
        """Return the arguments that say what the caller is looking for, the first to be asked."""
        return SEARCH_ARGUMENTS

    def get_query(self) -> str:
        """Return what the caller is looking for, "" if the arguments do not say."""
        return self._find_query(self.arguments)

    def validate_digest(self, payload: Mapping[str, Any]) -> None:
        """Raise an exception on a payload that is no ``digest/v1``.

        Asked of digesters that make the whole payload themselves.
        """

    def is_exceeded(self, outcome: Outcome, text: str) -> bool:
        """Return whether an envelope, with all that stands beside it, is too long."""
        limit = self.get_limit(outcome)
        return limit is not None and len(text) > limit

    def fit(self, outcome: Outcome, write: Write) -> Outcome:
        """Return an outcome that fits; see `Fitter.fit`.

        Args:
            outcome: any outcome.
            write: renders and encodes the envelope exactly as it is sent.
        """
        limit = self.get_limit(outcome)
        if limit is None:
            return outcome
        fitter = Fitter(
            limit,
            self.encode,
            digest=None if self.get_digester() is None else self._digest,
            archive=self.get_archive(),
            query=self.get_query(),
            less=LESS if self.tool.arguments.fields else "",
        )
        fitted, _ = fitter.fit(outcome, write)
        return fitted

    def _find_query(self, arguments: Any) -> str:
        if not isinstance(arguments, Mapping):
            return ""
        for name in self.get_search_arguments():
            value = arguments.get(name)
            if isinstance(value, Mapping):
                return self._find_query(value)
            if isinstance(value, str) and value:
                return value
        return ""

    def _digest(self, text: str, query: str) -> Mapping[str, Any]:
        """Return the digest of a text; our own where the project's digester fails."""
        digester_class = self.get_digester() or ExtractiveDigester

        def payload() -> Mapping[str, Any]:
            made = digester_class().digest(text, query)
            if digester_class.digest is not Digester.digest:
                self.validate_digest(made)
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
