"""The "standard response" contract: ``{status, success, errors, ..., metadata, data}``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

from drf_mcp.codes import HANDLING, category_of_code, screaming_code, standard_code
from drf_mcp.envelopes.base import ContractEnvelope, drop_empty
from drf_mcp.envelopes.metadata import (
    COMMON_META,
    OBJECT,
    SOURCE,
    STRING,
    STRINGS,
    is_number,
    leave_out,
    parse_meta,
    take,
    take_objects,
    take_severity,
    to_iso_time,
)
from drf_mcp.outcomes import Failure, Outcome, Problem, Severity, Warning
from drf_mcp.settings import mcp_settings

ERRORS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "message": STRING,
            "suggestion": STRING,
            "severity": {"type": "string", "enum": [severity.value for severity in Severity]},
            "code": STRING,
            "recoverable": {"type": "boolean"},
            "context": OBJECT,
        },
        "required": ["message", "severity", "code", "recoverable"],
    },
}

# The contract's default.
TOOL_VERSION = "1.0.0"

# Warnings and suggestions are members of the envelope.
METADATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **{n: COMMON_META[n] for n in COMMON_META if n not in ("warnings", "suggestions")},
        "timestamp": {"type": "string", "format": "date-time"},
        "tool_name": STRING,
        "tool_version": STRING,
        "execution_time": {"type": "number"},
        **SOURCE,
    },
    "required": ["timestamp", "tool_name", "tool_version"],
}

SERIOUS = (Severity.ERROR, Severity.CRITICAL)


class StatusEnvelope(ContractEnvelope):
    """``status``, errors, warnings, suggestions, metadata and data.

    ``partial_success`` is a success with errors or warnings. A warning with a remediation is an
    error of a lesser severity, since only errors have suggestions, and so is an error of a view's
    own successful response.
    """

    contract: ClassVar[str] = "status"
    meta_member: ClassVar[str] = "metadata"

    def render(self, outcome: Outcome) -> dict[str, Any]:
        failure = outcome.failure
        errors: list[dict[str, Any]] = []
        if failure is not None:
            first, *others = self._get_problems(failure)
            more = failure.context if failure.data is None else {}
            first = replace(first, context={**more, **first.context})
            errors = [self._render_problem(each, failure) for each in (first, *others)]
        warnings = []
        for warning in outcome.warnings:
            if warning.remediation or warning.recoverable is not None:
                errors.append(self._render_warning(warning))
            else:
                warnings.append(warning.summary or warning.message)
        suggestions: dict[str, None] = {}
        for error in errors:
            text, field = error.get("suggestion"), error.get("context", {}).get("field")
            if text:
                # Of several, "Provide it." would not say what.
                suggestions[f"{field}: {text}" if field and len(errors) > 1 else text] = None
        suggestions.update(dict.fromkeys(filter(None, outcome.suggestions)))
        status = "partial_success" if errors or warnings else "success"
        rendered = {
            "status": status if failure is None else "failure",
            "success": failure is None,
            "errors": errors,
            "warnings": warnings,
            "suggestions": list(suggestions),
            "metadata": self._get_metadata(outcome),
        }
        data: Any
        if failure is not None and (outcome.data is None or not failure.soft):
            data = failure.data
        else:
            data = self._get_object(self._get_payload(outcome))
        return rendered if data is None else {**rendered, "data": data}

    def _get_metadata(self, outcome: Outcome) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own, common = outcome.meta, self._get_common_meta(outcome)
        telemetry = dict(common.get("telemetry", ()))
        duration = telemetry.pop("duration_ms", outcome.duration_ms)
        version = take(own, "tool_version", str) or mcp_settings.SERVER_VERSION or TOOL_VERSION
        return drop_empty(
            {
                **self._get_further_meta(outcome, METADATA["properties"]),
                "request_id": outcome.request_id,
                "timestamp": to_iso_time(own.get("timestamp")) or now,
                "tool_name": take(own, "tool_name", str) or outcome.tool,
                "tool_version": version,
                "execution_time": None if duration is None else round(duration / 1000, 6),
                **self._describe_source(outcome),
                **common,
                "telemetry": telemetry,
                # They are members of the envelope.
                "warnings": None,
                "suggestions": None,
            }
        )

    def _render_problem(self, problem: Problem, failure: Failure) -> dict[str, Any]:
        handling = HANDLING[failure.category]
        pointer, field, accepted = problem.pointer, problem.path, problem.accepted
        context = {
            **problem.context,
            **drop_empty({"pointer": pointer, "field": field, "accepted": accepted}),
            **self._describe_received(problem),
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

    def _render_warning(self, warning: Warning) -> dict[str, Any]:
        # A success has no "error" and no "critical".
        severity = Severity.INFO if warning.severity is Severity.INFO else Severity.WARNING
        return {
            "message": warning.message,
            **drop_empty({"suggestion": warning.remediation}),
            "severity": severity.value,
            "code": self.format_code(warning.code),
            "recoverable": warning.recoverable is not False,
            **drop_empty({"context": warning.context}),
        }

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any]:
        success = {
            "success": {"enum": [True]},
            "status": {"enum": ["success", "partial_success"]},
            "data": self._get_object_schema(data_schema),
        }
        failure = {"success": {"enum": [False]}, "status": {"enum": ["failure"]}}
        return {
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["success", "partial_success", "failure"]},
                "success": {"type": "boolean"},
                "errors": ERRORS,
                "warnings": STRINGS,
                "suggestions": STRINGS,
                "metadata": METADATA,
                "data": OBJECT,
            },
            "required": ["status", "success", "errors", "warnings", "suggestions", "metadata"],
            "anyOf": [{"properties": success, "required": ["data"]}, {"properties": failure}],
        }

    def format_code(self, code: str) -> str:
        return code.lower()

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        if not isinstance(body, dict) or "success" not in body or "status" not in body:
            return None
        data, failure = body.get("data"), None
        meta = leave_out(take(body, "metadata", dict), getattr(body, "defaults", ()))
        # ``warnings`` repeat the sentences of ``warning_details``.
        sentences = [*take(meta, "warnings", list), *take(body, "warnings", list)]
        members = parse_meta({**meta, "warnings": sentences}, ("execution_time",))
        seconds: Any = meta.get("execution_time")
        if is_number(seconds):
            duration = {"duration_ms": round(seconds * 1000, 3)}
            members["telemetry"] = {**members["telemetry"], **duration}
        suggestions = map(str, take(body, "suggestions", list))
        members["suggestions"] = (*suggestions, *members["suggestions"])
        errors = take_objects(body, "errors")
        if body.get("success"):
            warnings = [self._parse_error(error, Severity.WARNING) for error in errors]
            for warning in warnings:
                warning["code"] = screaming_code(warning["code"])
            members["warnings"] = (*(Warning(**each) for each in warnings), *members["warnings"])
        else:
            failure, data = self._parse_failure(errors, data, status), None
        return Outcome(tool="", status=status, data=data, failure=failure, **members)

    def _parse_failure(self, errors: list[dict[str, Any]], data: Any, status: int) -> Failure:
        context = data if isinstance(data, dict) else {}
        problems = tuple(Problem(**self._parse_error(error, Severity.ERROR)) for error in errors)
        if not errors:
            code = standard_code(status) if status >= 400 else "OPERATION_FAILED"
            advice = "Read what the answer says before deciding whether to call again."
            main = Problem(code, "The operation failed.", remediation=advice)
        else:
            # The first serious error names the failure.
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

    def _parse_error(self, error: dict[str, Any], severity: Severity) -> dict[str, Any]:
        return {
            "code": take(error, "code", str),
            "message": take(error, "message", str),
            "remediation": take(error, "suggestion", str),
            "severity": take_severity(error, severity),
            "recoverable": error.get("recoverable", True),
            "context": take(error, "context", dict),
        }
