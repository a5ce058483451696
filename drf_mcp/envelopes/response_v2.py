"""The "response-v2" contract: ``{success, data, error, meta}``."""

from __future__ import annotations

from typing import Any

from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import Envelope
from drf_mcp.envelopes.data import as_object, as_object_schema, payload, payload_schema
from drf_mcp.outcomes import Category, Failure, Outcome, Problem

VERSION = "response-v2"

META: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "enum": [VERSION]},
        "request_id": {"type": "string"},
        **metadata.FIDELITY,
        "warnings": metadata.STRINGS,
        "pagination": metadata.PAGINATION,
        "rate_limit": metadata.RATE_LIMIT,
        "telemetry": {"type": "object"},
        "suggestions": metadata.STRINGS,
        **metadata.SOURCE,
    },
    "required": ["version"],
}

ERROR_DATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "error_code": {"type": "string"},
        "error_type": {"type": "string", "enum": [category.value for category in Category]},
        "remediation": {"type": "string"},
        "details": {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "constraint": {"type": "string"},
                "problems": {"type": "array", "items": {"type": "object"}},
            },
        },
    },
    "required": ["error_code", "error_type", "remediation"],
}


class ResponseV2Envelope(Envelope):
    """``success``, ``error``, ``meta`` and ``data``, always all four.

    The short members come first, since some clients cut the middle out of a long
    result.
    """

    def render(self, outcome: Outcome) -> dict[str, Any]:
        """Return the four members."""
        failure = outcome.failure
        return {
            "success": failure is None,
            "error": None if failure is None else metadata.sentence(failure),
            "meta": self.meta(outcome),
            "data": as_object(payload(outcome))
            if failure is None
            else self.error_data(failure, outcome),
        }

    def meta(self, outcome: Outcome) -> dict[str, Any]:
        """Return the reserved members that have something to say."""
        return metadata.present(
            {
                **metadata.further(outcome, META["properties"]),
                "version": VERSION,
                "request_id": outcome.request_id,
                **metadata.fidelity(outcome),
                "warnings": metadata.messages(outcome),
                "warning_details": [metadata.warning_detail(item) for item in outcome.warnings],
                "pagination": metadata.pagination(outcome),
                "rate_limit": metadata.rate_limit(outcome),
                "telemetry": outcome.telemetry,
                "suggestions": list(outcome.suggestions),
                **metadata.source(outcome),
            }
        )

    def error_data(self, failure: Failure, outcome: Outcome) -> dict[str, Any]:
        """Return ``data`` of a failure; a soft one keeps what the view had to say."""
        standard = {
            "error_code": failure.code,
            "error_type": failure.category.value,
            "remediation": metadata.remediation(failure),
            **self.details(failure),
        }
        answer = as_object(payload(outcome)) if failure.soft else {}
        # Written twice: the standard members stand first and cannot be overwritten.
        return {**standard, **answer, **failure.context, **standard}

    def details(self, failure: Failure) -> dict[str, Any]:
        """Return the ``details`` member: the first problem, all of them, and the view's own."""
        problems = failure.problems
        if not problems:
            return {"details": failure.details} if failure.details else {}
        first = problems[0]
        return {
            "details": {
                **metadata.present({"field": first.path}),
                "constraint": first.code,
                **metadata.received(first),
                "problems": [self.problem(problem) for problem in problems],
                **failure.details,
            }
        }

    def problem(self, problem: Problem) -> dict[str, Any]:
        """Return one entry of ``details.problems``."""
        return {
            "pointer": problem.pointer,
            **metadata.present({"field": problem.path}),
            "code": problem.code,
            "message": problem.message,
            **metadata.received(problem),
            **metadata.present(
                {
                    "accepted": problem.accepted,
                    "remediation": problem.remediation,
                    "context": problem.context,
                }
            ),
        }

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema: one of two shapes, told apart by ``success``."""
        success = {
            "success": {"enum": [True]},
            "error": {"type": "null"},
            "data": as_object_schema(payload_schema(data_schema)),
        }
        failure = {
            "success": {"enum": [False]},
            "error": {"type": "string"},
            "data": ERROR_DATA,
        }
        return {
            "type": "object",
            "properties": {
                "success": {"type": "boolean"},
                "error": {"type": ["string", "null"]},
                "meta": META,
                "data": {"type": "object"},
            },
            "required": ["success", "error", "meta", "data"],
            "anyOf": [{"properties": success}, {"properties": failure}],
        }
