"""The "standard response" contract: ``{status, success, errors, ..., metadata, data}``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from drf_mcp.codes import CODES, HANDLING, category_of_code, gettext_noop, screaming_code
from drf_mcp.envelopes import metadata
from drf_mcp.envelopes.base import ContractEnvelope, drop_empty
from drf_mcp.envelopes.metadata import Members, MetaParser
from drf_mcp.envelopes.rules import to_iso_time
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
        "execution_time": {"type": "number", "description": gettext_noop("Seconds.")},
        **metadata.FIDELITY,
        "pagination": metadata.PAGINATION,
        "rate_limit": metadata.RATE_LIMIT,
        "telemetry": {"type": "object"},
        **metadata.SOURCE,
    },
    "required": ["timestamp", "tool_name", "tool_version"],
}

SERIOUS = (Severity.ERROR, Severity.CRITICAL)


class StatusEnvelope(ContractEnvelope):
    """A status in one word, then errors, warnings, suggestions, metadata and data.

    ``partial_success`` is a success with errors or warnings. Warnings that say what
    to do are ``errors`` of a lesser severity, since only errors have room for advice, and so
    are the errors of a view's own successful response.
    """

    contract: ClassVar[str] = "status"
    meta_member: ClassVar[str] = "metadata"

    def render(self, outcome: Outcome) -> dict[str, Any]:
        errors = self.errors(outcome)
        entries = [item for item in outcome.warnings if not self.is_error_entry(item)]
        warnings = [item.summary or item.message for item in entries]
        suggestions = [error.get("suggestion") for error in errors]
        status = "partial_success" if errors or warnings else "success"
        rendered = {
            "status": status if outcome.failure is None else "failure",
            "success": outcome.failure is None,
            "errors": errors,
            "warnings": warnings,
            "suggestions": list(dict.fromkeys(filter(None, [*suggestions, *outcome.suggestions]))),
            "metadata": self.metadata(outcome),
        }
        data = self.data(outcome)
        return rendered if data is None else {**rendered, "data": data}

    def data(self, outcome: Outcome) -> Any:
        failure = outcome.failure
        if failure is not None and (outcome.data is None or not failure.soft):
            return failure.data
        return self.get_object(self.get_payload(outcome))

    def errors(self, outcome: Outcome) -> list[dict[str, Any]]:
        entries = filter(self.is_error_entry, outcome.warnings)
        lesser = list(map(self.warning_entry, entries))
        failure = outcome.failure
        if failure is None:
            return lesser
        return [*(self.problem_entry(p, failure) for p in self.get_problems(failure)), *lesser]

    def metadata(self, outcome: Outcome) -> dict[str, Any]:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = Members(outcome.meta)
        telemetry = dict(self.get_telemetry(outcome))
        duration = telemetry.pop("duration_ms", outcome.duration_ms)
        return drop_empty(
            {
                **self.get_further_meta(outcome, METADATA["properties"]),
                "request_id": outcome.request_id,
                "timestamp": to_iso_time(own.get("timestamp")) or now,
                "tool_name": own.get_string("tool_name") or outcome.tool,
                "tool_version": own.get_string("tool_version")
                or mcp_settings.SERVER_VERSION
                or TOOL_VERSION,
                "execution_time": None if duration is None else round(duration / 1000, 6),
                "telemetry": telemetry,
                **self.get_source(outcome),
                **self.get_fidelity(outcome),
                "pagination": self.get_pagination(outcome),
                "rate_limit": self.get_rate_limit(outcome),
            }
        )

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        success = {
            "success": {"enum": [True]},
            "status": {"enum": ["success", "partial_success"]},
            "data": self.get_object_schema(data_schema),
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
                "metadata": metadata.translate_schema(METADATA),
                "data": {"type": "object"},
            },
            "required": ["status", "success", "errors", "warnings", "suggestions", "metadata"],
            "anyOf": [
                {"properties": success, "required": ["data"]},
                {"properties": failure},
            ],
        }

    def problem_entry(self, problem: Problem, failure: Failure) -> dict[str, Any]:
        handling = HANDLING[failure.category]
        pointer, field, accepted = problem.pointer, problem.path, problem.accepted
        context = {
            **(failure.context if failure.data is None else {}),
            **problem.context,
            **drop_empty({"pointer": pointer, "field": field, "accepted": accepted}),
            **self.get_received(problem),
        }
        recoverable = handling.recoverable if problem.recoverable is None else problem.recoverable
        return {
            "message": problem.message,
            **drop_empty({"suggestion": problem.remediation}),
            "severity": (problem.severity or handling.severity).value,
            "code": self.format_code(problem.code),
            "recoverable": recoverable,
            **drop_empty({"context": context}),
        }

    def warning_entry(self, warning: Warning) -> dict[str, Any]:
        # "error" and "critical" are for failures: beside them there is no success.
        severity = Severity.INFO if warning.severity is Severity.INFO else Severity.WARNING
        return {
            "message": warning.message,
            **drop_empty({"suggestion": warning.remediation}),
            "severity": severity.value,
            "code": self.format_code(warning.code),
            "recoverable": warning.recoverable is not False,
            **drop_empty({"context": warning.context}),
        }

    def is_error_entry(self, warning: Warning) -> bool:
        return bool(warning.remediation) or warning.recoverable is not None

    def format_code(self, code: str) -> str:
        return code.lower()

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        # The errors of a success are warnings that say what to do.
        envelope = Members(self.get_members(body))
        if "success" not in envelope or "status" not in envelope:
            return None
        data, meta = envelope.get("data"), Members(envelope.get("metadata"))
        # A warning of ``warning_details`` is one of the ``warnings`` too.
        sentences = [*meta.get_list("warnings"), *envelope.get_list("warnings")]
        parser = MetaParser({**meta.values, "warnings": sentences}, ("execution_time",))
        members = parser.get_members()
        seconds = meta.get("execution_time")
        if isinstance(seconds, (int, float)):
            duration = {"duration_ms": round(seconds * 1000, 3)}
            members["telemetry"] = {**members["telemetry"], **duration}
        errors = envelope.get_objects("errors")
        success = bool(envelope.get("success"))
        if success:
            members["warnings"] = (*map(self.parse_warning, errors), *members["warnings"])
        members["suggestions"] = (*envelope.get_texts("suggestions"), *members["suggestions"])
        return Outcome(
            tool="",
            status=status,
            data=data if success else None,
            failure=None if success else self.parse_failure(errors, data, status),
            **members,
        )

    def parse_warning(self, error: Members) -> Warning:
        members = self.parse_entry(error, Severity.WARNING)
        return Warning(**{**members, "code": screaming_code(members["code"])})

    def parse_failure(self, errors: list[Members], data: Any, status: int) -> Failure:
        # Named after the first serious error.
        context = data if isinstance(data, Mapping) else {}
        if not errors:
            code, message = "INTERNAL_ERROR", _("The operation failed.")
            return Failure(code, CODES[code], message, "", context=context, data=data)
        problems = tuple(Problem(**self.parse_entry(error, Severity.ERROR)) for error in errors)
        serious = (problem for problem in problems if problem.severity in SERIOUS)
        main = next(serious, problems[0])
        code = screaming_code(main.code)
        return Failure(
            code=code,
            category=category_of_code(code, status if status >= 400 else 500),
            message=main.message,
            remediation=main.remediation,
            problems=problems,
            context=context,
            data=data,
        )

    def parse_entry(self, error: Members, severity: Severity) -> dict[str, Any]:
        return {
            "code": error.get_text("code"),
            "message": error.get_text("message"),
            "remediation": error.get_text("suggestion"),
            "severity": error.get_severity(severity),
            "recoverable": error.values.get("recoverable", True),
            "context": error.get_object("context"),
        }
