"""The budget of one result: how many tokens it may have."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from drf_mcp.exceptions import catch
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import SMALLEST_BUDGET, mcp_settings
from drf_mcp.truncation.digests import Digester
from drf_mcp.truncation.lead_digests import LeadDigester
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.tokens import count_tokens, is_within

logger = logging.getLogger("drf_mcp")

FIELDS_HINT = "Or ask for the fields you need only, in the argument 'fields'."
SEARCH_ARGUMENTS = ("search", "query", "q")
CLIENT_LIMIT_KEY = "io.github.drf-mcp/max-result-tokens"
"""The member of a request's ``_meta`` in which a client says how many tokens it takes."""
# The most tokens by which two calls with the same answer differ, in ``duration_ms`` and the like.
VARIANCE = 80


class Storage(Protocol):
    """Keeps what one call's result has no room for."""

    is_full: bool
    """Whether something was not stored for lack of room."""

    @property
    def seconds(self) -> int | None:
        """How long the content can be read, None where that is not certain."""

    def keep(self, outcome: Outcome, items: Iterable[dict[str, Any]]) -> Any:
        """Store what an outcome leaves out.

        Returns:
            An object with an ``archive_id``, which always has the same length, and a
            ``content_hash``; None if the items were not stored.
        """


class Budget:
    """The budget of one call's result.

    Args:
        tool: the tool that was called, with its name, options and arguments.
        arguments: the arguments of the call, any JSON value.
        encode: writes a value as REST framework's JSON encoder does.
        meta: the ``_meta`` of the call's params.
    """

    def __init__(
        self,
        tool: Any,
        arguments: Any,
        encode: Callable[[Any], str],
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.encode = encode
        self.meta = meta or {}

    def get_limit(self, outcome: Outcome) -> int | None:
        """Return the most tokens of an envelope; None for any number.

        An envelope has no more than four characters for each of these tokens, either.
        """
        options = self.tool.options
        if outcome.failure is not None and outcome.is_error:
            own, default = options.max_error_tokens, mcp_settings.MAX_ERROR_TOKENS
        else:
            own, default = options.max_result_tokens, mcp_settings.MAX_RESULT_TOKENS
        limit = default if own is None else own or None
        asked = self.meta.get(CLIENT_LIMIT_KEY)
        # Not True, which is an int to Python.
        if type(asked) is not int:
            return limit
        return min(max(asked, SMALLEST_BUDGET), limit or max(asked, SMALLEST_BUDGET))

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text: an estimate, which asks no tokenizer."""
        return count_tokens(text)

    def get_digester(self) -> type[Digester] | None:
        """Return the class that makes digests of long texts; None for their beginnings."""
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

    @property
    def reads(self) -> bool:
        """Whether the call may be made again to get what a result leaves out."""
        return bool(self.tool.reads)

    @property
    def fields_hint(self) -> str:
        """The sentence that says how to ask for less, "" where there is no way."""
        return FIELDS_HINT if self.tool.arguments.fields else ""

    def is_exceeded(self, outcome: Outcome, text: str) -> bool:
        """Return whether the texts of a result may be too long."""
        # A slice is never cut: it was measured, and its next_offset is fixed.
        if self.tool.name == RETRIEVAL_TOOL and outcome.failure is None:
            return False
        limit = self.get_limit(outcome)
        return limit is not None and not is_within(text, limit - VARIANCE, self.count_tokens)

    def digest(self, text: str) -> Mapping[str, Any] | None:
        """Return the ``digest/v1`` payload of a text, None for its beginning instead.

        `LeadDigester` makes it where the project's digester fails.
        """
        digester_class, query = self.get_digester(), self.get_query()
        if digester_class is None:
            return None

        with catch() as caught:
            return digester_class().digest(text, query)
        logger.warning("%s failed to digest a text", digester_class, exc_info=caught.exception)
        return LeadDigester().digest(text, query)

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
