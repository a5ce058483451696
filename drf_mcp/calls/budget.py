"""The budget of one result: how many tokens it may have."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from rest_framework.settings import api_settings

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.content import encode_data
from drf_mcp.exceptions import catch
from drf_mcp.outcomes import Outcome
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import SMALLEST_BUDGET, mcp_settings
from drf_mcp.stored import CallArchive, can_archive
from drf_mcp.stored.answers import StoredAnswer, keeps_answers
from drf_mcp.truncation import RETRIEVAL_TOOL, Digester, LeadDigester
from drf_mcp.truncation.tokens import count_tokens, is_within

logger = logging.getLogger("drf_mcp")

FIELDS_HINT = "Or ask for the fields you need only, in the argument 'fields'."
CLIENT_LIMIT_KEY = "io.github.drf-mcp/max-result-tokens"
"""The member of a request's ``_meta`` in which a client says how many tokens it takes."""
# The most tokens by which two calls with the same answer differ, in ``duration_ms`` and the like.
VARIANCE = 80


class ToolBudget:
    """The budget of one call's result. BUDGET_CLASS names a subclass with other hooks.

    Args:
        tool: the tool that was called, with its name and options.
        arguments: the arguments of the call, any JSON value.
        caller: who is calling.
        registry: the tools.
        meta: the ``_meta`` of the call's params.
    """

    # Writes a value as REST framework's JSON encoder does.
    encode = staticmethod(encode_data)

    def __init__(
        self,
        tool: Tool,
        arguments: Any,
        caller: Caller,
        registry: Any,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.caller = caller
        self.registry = registry
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
        limit: int | None = default if own is None else own or None
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

    def get_archive(self) -> CallArchive | None:
        """Return where the result leaves what it has no room for; None to keep nothing."""
        if self.tool.endpoint.is_built_in or not can_archive() or not keeps_answers(self.tool):
            return None
        urlconf = getattr(self.caller.request, "urlconf", None)
        if RETRIEVAL_TOOL not in self.registry.tools(urlconf):
            return None
        user = self.caller.authenticate().user
        owner = mcp_settings.ARCHIVE_CLASS().get_owner(user, self.caller.request)
        return CallArchive(owner, self.note_terms, self.caller.holder)

    def note_terms(self, outcome: Outcome) -> Mapping[str, Any]:
        return StoredAnswer.of(self.caller, self.tool, outcome.call).note_terms()

    def get_search_arguments(self) -> tuple[str, ...]:
        """Return the arguments that say what the caller is looking for, the first to be asked."""
        return (api_settings.SEARCH_PARAM, "search", "query", "q")

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
