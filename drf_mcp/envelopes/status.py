"""The "standard response" contract: ``{status, success, errors, ..., metadata, data}``."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

from drf_mcp.codes import HANDLING
from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import Envelope
from drf_mcp.envelopes.data import as_object, as_object_schema, payload, payload_schema
from drf_mcp.outcomes import Failure, Outcome, Problem, Severity, Warning
from drf_mcp.settings import mcp_settings

ERRORS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "suggestion": {"type": "string"},
            "severity": {"type": "string", "enum": [severity.value for severity in Severity]},
            "code": {"type": "string"},
            "recoverable": {"type": "boolean"},
            "context": {"type": "object"},
        },
        "required": ["message", "severity", "code", "recoverable"],
    },
}

# What the contract gives a tool that has no other.
TOOL_VERSION = "1.0.0"

METADATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string"},
        "timestamp": {"type": "string", "format": "date-time"},
        "tool_name": {"type": "string"},
        "tool_version": {"type": "string"},
        "execution_time": {"type": "number", "description": "Seconds."},
        **metadata.FIDELITY,
        "pagination": metadata.PAGINATION,
        "rate_limit": metadata.RATE_LIMIT,
        **metadata.SOURCE,
    },
    "required": ["timestamp", "tool_name", "tool_version"],
}


class StatusEnvelope(Envelope):
    """A status in one word, then errors, warnings, suggestions, metadata and data.

    ``partial_success`` is a success with errors or warnings. Warnings that say what
    to do are ``errors`` of a lesser severity, since only those have room for it, and so
    are the errors that a view's own response told of a success.
    """

    def render(self, outcome: Outcome) -> dict[str, Any]:
        """Return the envelope, its short members first."""
        errors = self.errors(outcome)
        warnings = [item.message for item in outcome.warnings if not has_entry(item)]
        told = [error.get("suggestion") for error in errors]
        rendered = {
            "status": self.status(outcome, troubled=bool(errors or warnings)),
            "success": outcome.failure is None,
            "errors": errors,
            "warnings": warnings,
            "suggestions": unique([*told, *outcome.suggestions]),
            "metadata": self.metadata(outcome),
        }
        data = self.data(outcome)
        return rendered if data is None else {**rendered, "data": data}

    def status(self, outcome: Outcome, *, troubled: bool) -> str:
        """Return ``success``, ``partial_success`` or ``failure``."""
        if outcome.failure is not None:
            return "failure"
        return "partial_success" if troubled else "success"

    def data(self, outcome: Outcome) -> Any:
        """Return the view's value as an object, None where a failure has none."""
        failure = outcome.failure
        if failure is not None and (outcome.data is None or not failure.soft):
            return failure.data
        return as_object(payload(outcome))

    def errors(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Return what failed, then the warnings that say what to do."""
        lesser = [warning_error(item) for item in outcome.warnings if has_entry(item)]
        failure = outcome.failure
        if failure is None:
            return lesser
        if not failure.problems:
            return [failure_error(failure), *lesser]
        return [*(problem_error(item, failure) for item in failure.problems), *lesser]

    def metadata(self, outcome: Outcome) -> dict[str, Any]:
        """Return who answered, when, and how long it took, unless the view's response says."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        duration = outcome.telemetry.get("duration_ms")
        return metadata.present(
            {
                **metadata.further(outcome, METADATA["properties"]),
                "request_id": outcome.request_id,
                "timestamp": own_text(outcome, "timestamp") or now.replace("+00:00", "Z"),
                "tool_name": own_text(outcome, "tool_name") or outcome.tool,
                "tool_version": own_text(outcome, "tool_version")
                or mcp_settings.SERVER_VERSION
                or TOOL_VERSION,
                "execution_time": seconds(duration),
                **metadata.source(outcome),
                **metadata.fidelity(outcome),
                "pagination": metadata.pagination(outcome),
                "rate_limit": metadata.rate_limit(outcome),
            }
        )

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema: one of two shapes, told apart by ``success``."""
        success = {
            "success": {"enum": [True]},
            "status": {"enum": ["success", "partial_success"]},
            "data": as_object_schema(payload_schema(data_schema)),
        }
        failure = {"success": {"enum": [False]}, "status": {"enum": ["failure"]}}
        return {
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["success", "partial_success", "failure"]},
                "success": {"type": "boolean"},
                "errors": ERRORS,
                "warnings": metadata.STRINGS,
                "suggestions": metadata.STRINGS,
                "metadata": METADATA,
                "data": {"type": "object"},
            },
            "required": ["status", "success", "errors", "warnings", "suggestions", "metadata"],
            "anyOf": [
                {"properties": success, "required": ["data"]},
                {"properties": failure},
            ],
        }


def own_text(outcome: Outcome, name: str) -> str:
    """Return a member of ``metadata`` as a view's own response told it, "" if it did not."""
    value = outcome.meta.get(name)
    return value if isinstance(value, str) else ""


def has_entry(warning: Warning) -> bool:
    """Return whether a warning is told as one of the ``errors``."""
    return bool(warning.remediation) or warning.recoverable is not None


def seconds(milliseconds: Any) -> float | None:
    """Return milliseconds as seconds, None if that is no number of them."""
    return round(milliseconds / 1000, 6) if isinstance(milliseconds, (int, float)) else None


def failure_error(failure: Failure) -> dict[str, Any]:
    """Return the entry of a failure without problems."""
    handling = HANDLING[failure.category]
    known = failure.recoverable
    return {
        "message": metadata.sentence(failure),
        "suggestion": metadata.remediation(failure),
        "severity": handling.severity.value,
        "code": failure.code.lower(),
        "recoverable": handling.recoverable if known is None else known,
        **metadata.present({"context": failure.context if failure.data is None else {}}),
    }


def problem_error(problem: Problem, failure: Failure) -> dict[str, Any]:
    """Return the entry of one problem with the arguments."""
    handling = HANDLING[failure.category]
    context = {
        **(failure.context if failure.data is None else {}),
        **problem.context,
        **metadata.present({"pointer": problem.pointer, "field": problem.path}),
        **metadata.present({"accepted": problem.accepted}),
        **metadata.received(problem),
    }
    recoverable = handling.recoverable if problem.recoverable is None else problem.recoverable
    return {
        "message": problem.message,
        **metadata.present({"suggestion": problem.remediation}),
        "severity": (problem.severity or handling.severity).value,
        "code": problem.code.lower(),
        "recoverable": recoverable,
        **metadata.present({"context": context}),
    }


def warning_error(warning: Warning) -> dict[str, Any]:
    """Return the entry of a warning that says what to do, or of an error of a success."""
    # "error" and "critical" are for failures: beside them there is no success.
    severity = Severity.INFO if warning.severity is Severity.INFO else Severity.WARNING
    return {
        "message": warning.message,
        **metadata.present({"suggestion": warning.remediation}),
        "severity": severity.value,
        "code": warning.code.lower(),
        "recoverable": warning.recoverable is not False,
        **metadata.present({"context": warning.context}),
    }


def unique(sentences: Iterable[str | None]) -> list[str]:
    """Return the sentences that say something, each once, in order."""
    return list(dict.fromkeys(sentence for sentence in sentences if sentence))
