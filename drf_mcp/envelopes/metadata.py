"""Facts about a result that several contracts write alike, each beside its schema.

A member that has nothing to say is left out, never null.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from drf_mcp.codes import HANDLING
from drf_mcp.envelopes.base import Envelope
from drf_mcp.outcomes import MISSING, PAGE_MEMBERS, Failure, Outcome, Problem, Warning

FIDELITY_LEVELS = ("full", "partial", "summary", "reference_only")

STRINGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}

PAGINATION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "has_more": {"type": "boolean"},
        "total_count": {"type": "integer"},
        "page_size": {"type": "integer"},
        "page": {"type": "integer"},
        "cursor": {"type": "string"},
        "next": {"type": "object", "description": "Arguments that fetch the next page."},
    },
}

RATE_LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "remaining": {"type": "integer"},
        "reset_at": {"type": "string"},
        "period": {"type": "string"},
        "retry_after": {"type": "integer"},
    },
}

FIDELITY: dict[str, Any] = {
    "content_fidelity": {"type": "string", "enum": list(FIDELITY_LEVELS)},
    "content_fidelity_schema_version": {"type": "string"},
    "dropped_content_ids": STRINGS,
    "content_archive_hashes": {"type": "object", "additionalProperties": {"type": "string"}},
    "warning_details": {"type": "array", "items": {"type": "object"}},
}


# What was read, where an answer says it: the "ok" contract has names of its own for both.
SOURCE: dict[str, Any] = {
    "content_version": {"type": "string"},
    "content_hash": {"type": "string"},
}


def drop_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have something to say: not None, "", or empty."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}


class ContractEnvelope(Envelope):
    """An envelope of one of the built-in contracts, which have many members in common."""

    def get_payload(self, outcome: Outcome) -> Any:
        """Return the view's value, without count and links if a paginator made the page."""
        data = outcome.data
        if not outcome.is_page or not isinstance(data, Mapping) or "results" not in data:
            return data
        return {name: value for name, value in data.items() if name not in PAGE_MEMBERS}

    def get_pagination(self, outcome: Outcome) -> dict[str, Any] | None:
        """Return where the page stands, and the arguments of the next."""
        page = outcome.pagination
        if page is None:
            return None
        members = {
            "has_more": page.has_more,
            "total_count": page.total_count,
            "page_size": page.page_size,
            "page": page.page,
            "cursor": page.cursor,
            "next": page.next,
        }
        return {**page.more, **drop_empty(members)}

    def get_rate_limit(self, outcome: Outcome) -> dict[str, Any] | None:
        """Return what is left of the caller's quota."""
        quota = outcome.rate_limit
        if quota is None:
            return None
        members = {
            "limit": quota.limit,
            "remaining": quota.remaining,
            "reset_at": quota.reset_at,
            "period": quota.period,
            "retry_after": quota.retry_after,
        }
        return {**quota.more, **drop_empty(members)}

    def get_source(self, outcome: Outcome) -> dict[str, Any]:
        """Return the version of what was read and its hash, where somebody said them."""
        if not outcome.version and not outcome.content_hash:
            return {}
        return drop_empty(
            {"content_version": outcome.version, "content_hash": outcome.content_hash}
        )

    def get_further_meta(self, outcome: Outcome, reserved: Container[str]) -> dict[str, Any]:
        """Return the further facts that a view's own envelope told, under names that are free."""
        return {name: value for name, value in outcome.meta.items() if name not in reserved}

    def get_fidelity(self, outcome: Outcome) -> dict[str, Any]:
        """Return the members that say what was left out to fit a budget, and how much it was."""
        facts = outcome.fidelity
        if facts is None:
            return {}
        return {
            "content_fidelity": facts.level,
            "content_fidelity_schema_version": facts.version,
            "dropped_content_ids": list(facts.dropped),
            "content_archive_hashes": facts.archives,
            "warning_details": [self.get_warning_detail(warning) for warning in outcome.warnings],
        }

    def get_warning_messages(self, outcome: Outcome) -> list[str]:
        """Return the warnings as sentences."""
        return [warning.message for warning in outcome.warnings]

    def get_warning_detail(self, warning: Warning) -> dict[str, Any]:
        """Return a warning with its code and what it is about."""
        return {
            "code": warning.code,
            "severity": warning.severity.value,
            "message": warning.message,
            **drop_empty({"context": warning.context, "remediation": warning.remediation}),
        }

    def get_message(self, failure: Failure) -> str:
        """Return what went wrong in a sentence, or its code where a view gives none."""
        return failure.message if failure.message.strip() else failure.code

    def get_remediation(self, failure: Failure) -> str:
        """Return what the caller can do, by the kind of failure if nothing else is known."""
        return failure.remediation or HANDLING[failure.category].remediation

    def get_received(self, problem: Problem) -> dict[str, Any]:
        """Return the ``received`` member: null for a missing required value, else only if sent."""
        if problem.received is not MISSING:
            return {"received": problem.received}
        return {"received": None} if problem.code == "required" else {}
