"""The budget of one result: how long it may be, and what happens when it is longer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext

from drf_mcp.codes import gettext_noop
from drf_mcp.exceptions import contain
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import SMALLEST_BUDGET, mcp_settings
from drf_mcp.truncation.digests import Digester, shrink_digest
from drf_mcp.truncation.lead_digests import LeadDigester
from drf_mcp.truncation.report import RETRIEVAL_TOOL
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN, count_tokens, cut_text, is_within
from drf_mcp.truncation.truncate import Storage, Truncation, Write

logger = logging.getLogger("drf_mcp")

LESS = gettext_noop("Or ask for the fields you need only, in the argument 'fields'.")
SEARCH_ARGUMENTS = ("search", "query", "q")
CLIENT_LIMIT_KEY = "io.github.drf-mcp/max-result-tokens"
"""The member of a request's ``_meta`` in which a client says how many tokens it takes."""
# What differs from one call to the next, such as ``duration_ms``, is not longer than this.
UNSTABLE = 80


class Budget:
    """The budget of one call's result. BUDGET_CLASS names a subclass with other hooks.

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
        if outcome.is_error:
            own, default = options.max_error_tokens, mcp_settings.MAX_ERROR_TOKENS
        else:
            own, default = options.max_result_tokens, mcp_settings.MAX_RESULT_TOKENS
        limit = default if own is None else own or None
        asked = self.get_client_limit()
        return limit if asked is None else min(asked, limit or asked)

    def get_client_limit(self) -> int | None:
        """Return the most tokens that the client takes, None where it does not say."""
        asked = self.meta.get(CLIENT_LIMIT_KEY)
        # A bool is an int to Python only.
        return max(asked, SMALLEST_BUDGET) if type(asked) is int else None

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text: an estimate, which asks no tokenizer."""
        return count_tokens(text)

    def get_digester(self) -> type[Digester] | None:
        """Return the class that makes digests of long texts; None for their beginnings."""
        # A slice of archived content is the text itself.
        return None if self.tool.name == RETRIEVAL_TOOL else mcp_settings.DIGESTER_CLASS

    def note_rows(self, answer: Any) -> None:
        """Note what is known of the rows of an answer that is too long, before it is plain JSON."""

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
        """Return whether an envelope, with all that stands beside it, may be too long."""
        limit = self.get_limit(outcome)
        return limit is not None and not is_within(text, limit - UNSTABLE, self.count_tokens)

    def fit(self, outcome: Outcome, write: Write, length: int) -> Outcome:
        """Return an outcome that fits; see `Truncation.fit`.

        Args:
            outcome: any outcome, its data plain JSON.
            write: renders and encodes the envelope exactly as it is sent.
            length: the characters of that for the outcome, or at least those of its data.
        """
        limit = self.get_limit(outcome)
        if limit is None:
            return outcome
        less = gettext(LESS) if self.tool.arguments.fields else ""
        limits = ResultLimits(self, limit, less)
        return Truncation(limits, write, self.encode, self.get_archive()).fit(outcome, length)

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


class ResultLimits:
    """What truncation asks of a budget.

    Args:
        budget: the budget.
        limit: the most tokens of the envelope.
        less: how to ask for less, "" where there is no way.
    """

    def __init__(self, budget: Budget, limit: int, less: str) -> None:
        self.budget = budget
        self.limit = limit
        self.less = less
        # A digest may be asked for in several lengths, and a language model take its time.
        self._digests: dict[str, Mapping[str, Any]] = {}

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, for a text much too long a number that says so."""
        least = -(-len(text) // CHARS_PER_TOKEN)
        return least if least > 2 * self.limit else max(least, self.budget.count_tokens(text))

    def cut_text(self, text: str, room: int) -> str:
        """Return the beginning of a text that takes so many tokens as JSON."""
        return cut_text(text, room, self.budget.count_tokens)

    def digest_text(self, text: str, room: int) -> str | None:
        """Return the digest of a text in so many tokens, None for its beginning instead.

        Where the project's digester fails, `LeadDigester` stands in.
        """
        digester_class = self.budget.get_digester()
        if digester_class is None:
            return None
        if text not in self._digests:
            self._digests[text] = self._digest(digester_class, text)
        return shrink_digest(self._digests[text], room, self.count_tokens)

    def _digest(self, digester_class: type[Digester], text: str) -> Mapping[str, Any]:
        query = self.budget.get_query()

        def make_payload() -> Mapping[str, Any]:
            payload: Mapping[str, Any] = digester_class().digest(text, query)
            if digester_class.digest is not Digester.digest:
                self.budget.validate_digest(payload)
            return payload

        def stand_in(exc: Exception) -> Mapping[str, Any]:
            logger.warning("%s failed to digest a text", digester_class, exc_info=exc)
            return contain(
                lambda: StandIn(digester_class).digest(text, query),
                lambda exc: LeadDigester().digest(text, query),
            )

        return contain(make_payload, stand_in)


class StandIn(LeadDigester):
    """Digests where the project's digester fails, in whose form texts are fetched later."""

    def __init__(self, digester_class: type[Digester]) -> None:
        self.digester = digester_class()

    def canonical(self, text: str) -> str:
        """Return a text in the form of the project's digester."""
        return self.digester.canonical(text)
