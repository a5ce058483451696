"""The facts of a result that contracts share: their JSON Schema, and how to read them back."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from drf_mcp.codes import WARNING_SEVERITIES, gettext_noop, screaming_code
from drf_mcp.envelopes.rules import drop_refused, is_finite, to_iso_time, to_period
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import (
    Fidelity,
    Pagination,
    RateLimit,
    Severity,
    Warning,
)

if TYPE_CHECKING:
    from pydantic import ConfigDict

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
        "next": {
            "type": "object",
            "description": gettext_noop("Arguments that fetch the next page."),
        },
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

COMMON_META: dict[str, Any] = {
    "request_id": {"type": "string"},
    **FIDELITY,
    "warnings": STRINGS,
    "pagination": PAGINATION,
    "rate_limit": RATE_LIMIT,
    "telemetry": {"type": "object"},
    "suggestions": STRINGS,
}

# Members of ``meta`` that have a place of their own in an `Outcome`.
RESERVED = COMMON_META.keys() | SOURCE.keys()
WARNING_MEMBERS = frozenset({"code", "message", "severity", "context", "remediation"})


def translate_schema(schema: Any) -> Any:
    """Return a schema whose descriptions are in the language that is active."""
    if isinstance(schema, list):
        return [translate_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    # A member of an object may be called "description", and has a schema there.
    words = schema.get("description")
    translated = {"description": gettext(words)} if isinstance(words, str) else {}
    return {name: translate_schema(part) for name, part in schema.items()} | translated


def translate_in_place(schema: dict[str, Any]) -> None:
    schema.update(translate_schema(schema))


# Of models: their schemas are translated whenever they are made.
TRANSLATED: ConfigDict = {"json_schema_extra": translate_in_place}
OPEN: ConfigDict = {"extra": "allow", **TRANSLATED}


class Members:
    # Of any project's making, so a value of a wrong type counts for nothing.

    def __init__(self, value: Any) -> None:
        self.values: Mapping[str, Any] = value if isinstance(value, Mapping) else {}

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def get_text(self, name: str) -> str:
        return str(self.values.get(name) or "")

    def get_string(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def get_integer(self, name: str) -> int | None:
        value: Any = self.values.get(name)
        return int(value) if is_finite(value) else None

    def get_object(self, name: str) -> Mapping[str, Any]:
        value = self.values.get(name)
        return value if isinstance(value, Mapping) else {}

    def get_list(self, name: str) -> list[Any]:
        value = self.values.get(name)
        return list(value) if isinstance(value, (list, tuple)) else []

    def get_objects(self, name: str) -> list[Members]:
        return list(map(Members, self.get_list(name)))

    def get_texts(self, name: str) -> tuple[str, ...]:
        return tuple(map(str, self.get_list(name)))

    def get_severity(self, default: Severity) -> Severity:
        try:
            return Severity(self.values.get("severity"))
        except ValueError:
            return default

    def get_pointer(self, name: str) -> str:
        path = self.get_text(name)
        return JSONPointer.from_dotted(path) if path else ""

    def get_others(self, names: Container[str]) -> dict[str, Any]:
        return {name: value for name, value in self.values.items() if name not in names}


class MetaParser(Members):
    # `besides` are names that the contract of the envelope has another meaning for. A member that
    # has no place of its own in an `Outcome` stays in ``Outcome.meta``.

    def __init__(self, meta: Mapping[str, Any], besides: Container[str] = ()) -> None:
        super().__init__(drop_refused(meta))
        self.besides = besides

    def get_members(self) -> dict[str, Any]:
        others = self.get_others(RESERVED)
        return {
            "request_id": self.get_text("request_id"),
            "warnings": tuple(self.get_warnings()),
            "suggestions": self.get_texts("suggestions"),
            "pagination": self.get_pagination(),
            "rate_limit": self.get_rate_limit(),
            "telemetry": self.get_object("telemetry"),
            "fidelity": self.get_fidelity(),
            "version": self.get_string("content_version"),
            "content_hash": self.get_string("content_hash"),
            "meta": {name: others[name] for name in others if name not in self.besides},
        }

    def get_warnings(self) -> list[Warning]:
        entries = self.get_objects("warning_details")
        details = [self.get_warning(entry) for entry in entries if entry.values]
        known = {detail.message for detail in details}
        sentences = self.get_texts("warnings")
        return details + [Warning("WARNING", text) for text in sentences if text not in known]

    def get_warning(self, detail: Members) -> Warning:
        # Members that no contract names belong to the context.
        code = screaming_code(detail.get_text("code") or "WARNING")
        default = WARNING_SEVERITIES.get(code, Severity.WARNING)
        return Warning(
            code=code,
            message=detail.get_text("message") or detail.get_text("code"),
            severity=detail.get_severity(default),
            context={**detail.get_others(WARNING_MEMBERS), **detail.get_object("context")},
            remediation=detail.get_text("remediation"),
        )

    def get_pagination(self) -> Pagination | None:
        page = Members(self.get("pagination"))
        has_more, cursor = page.get("has_more"), page.get("cursor")
        following = page.get_object("next") or None
        if has_more is None and (cursor is not None or following is not None):
            has_more = True
        pagination = Pagination(
            has_more=None if has_more is None else bool(has_more),
            total_count=page.get_integer("total_count"),
            page_size=page.get_integer("page_size"),
            page=page.get_integer("page"),
            cursor=None if cursor is None else str(cursor),
            next=following,
            more=page.get_others(PAGINATION["properties"]),
        )
        return None if pagination == Pagination() else replace(pagination, own=True)

    def get_rate_limit(self) -> RateLimit | None:
        quota = Members(self.get("rate_limit"))
        rate_limit = RateLimit(
            limit=quota.get_integer("limit"),
            remaining=quota.get_integer("remaining"),
            reset_at=to_iso_time(quota.get("reset_at")),
            period=to_period(quota.get("period")),
            retry_after=quota.get_integer("retry_after"),
            more=quota.get_others(RATE_LIMIT["properties"]),
        )
        return None if rate_limit == RateLimit() else rate_limit

    def get_fidelity(self) -> Fidelity | None:
        level, dropped = self.get("content_fidelity"), self.get_texts("dropped_content_ids")
        hashes = self.get_object("content_archive_hashes")
        if level not in FIDELITY_LEVELS:
            if not dropped and not hashes:
                return None
            # Something is named that was dropped, and no level.
            level = "partial"
        archives = {str(name): str(value) for name, value in hashes.items()}
        version = self.get_string("content_fidelity_schema_version")
        return Fidelity(level, dropped, archives, version or Fidelity.version)
