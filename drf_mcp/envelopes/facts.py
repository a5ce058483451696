"""Facts about a result that several contracts write alike, each beside its schema.

A member that has nothing to say is left out, never null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import drf_mcp
from drf_mcp.outcomes import MISSING, Failure, Outcome, Problem, Warning
from drf_mcp.settings import mcp_settings
from drf_mcp.vocabulary import HANDLING

FIDELITY_VERSION = "1.0"
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
    "required": ["has_more"],
}

RATE_LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "remaining": {"type": "integer"},
        "reset_at": {"type": "integer"},
        "period": {"type": "integer"},
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


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have something to say: not None, "", or empty."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}


def pagination(outcome: Outcome) -> dict[str, Any] | None:
    """Return where the page stands, and the arguments of the next."""
    page = outcome.pagination
    if page is None:
        return None
    return present(
        {
            "has_more": page.has_more,
            "total_count": page.total_count,
            "page_size": page.page_size,
            "page": page.page,
            "cursor": page.cursor,
            "next": page.next,
        }
    )


def rate_limit(outcome: Outcome) -> dict[str, Any] | None:
    """Return what is left of the caller's quota."""
    return None if outcome.rate_limit is None else present(asdict(outcome.rate_limit))


def fidelity(outcome: Outcome) -> dict[str, Any]:
    """Return the members that say what was left out to fit a budget, and how much it was."""
    facts = outcome.fidelity
    if facts is None:
        return {}
    return {
        "content_fidelity": facts.level,
        "content_fidelity_schema_version": FIDELITY_VERSION,
        "dropped_content_ids": list(facts.dropped),
        "content_archive_hashes": facts.archives,
        "warning_details": [warning_detail(warning) for warning in outcome.warnings],
    }


def messages(outcome: Outcome) -> list[str]:
    """Return the warnings as sentences."""
    return [warning.message for warning in outcome.warnings]


def warning_detail(warning: Warning) -> dict[str, Any]:
    """Return a warning with its code and what it is about."""
    return {
        "code": warning.code,
        "severity": warning.severity.value,
        "message": warning.message,
        **present({"context": warning.context, "remediation": warning.remediation}),
    }


def remediation(failure: Failure) -> str:
    """Return what the caller can do, by the kind of failure if nothing else is known."""
    return failure.remediation or HANDLING[failure.category].remediation


def received(problem: Problem) -> dict[str, Any]:
    """Return the ``received`` member: null for a missing required value, else only if sent."""
    if problem.received is not MISSING:
        return {"received": problem.received}
    return {"received": None} if problem.code == "required" else {}


def server_version() -> str:
    """Return the version that the server gives of itself."""
    return str(mcp_settings.SERVER_VERSION or drf_mcp.__version__)
