"""The ``meta`` of an envelope as members of an `Outcome`.

The ``meta`` may be of any project's making: a value of a wrong type counts for nothing, and
a member that has no place of its own in an `Outcome` stays in ``Outcome.meta``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from drf_mcp.codes import WARNING_SEVERITIES
from drf_mcp.envelopes.metadata import FIDELITY, FIDELITY_LEVELS, SOURCE
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import (
    Fidelity,
    Pagination,
    RateLimit,
    Severity,
    Warning,
    iso_time,
    period_name,
)

Converter = Callable[[Any], Any]

# Members of ``meta`` that have a place of their own in an `Outcome`.
RESERVED = frozenset(
    {
        "request_id",
        "warnings",
        "suggestions",
        "pagination",
        "rate_limit",
        "telemetry",
        *FIDELITY,
        *SOURCE,
    }
)
WARNING_MEMBERS = frozenset({"code", "message", "severity", "context", "remediation"})


class MetaParser:
    """Reads the ``meta`` of an envelope into members of an `Outcome`.

    Args:
        meta: the facts of the envelope.
        besides: names that the contract of the envelope has another meaning for.
    """

    def __init__(self, meta: Mapping[str, Any], besides: Container[str] = ()) -> None:
        self.meta = meta
        self.besides = besides

    def get_members(self) -> dict[str, Any]:
        """Return the members of an `Outcome`."""
        meta = self.meta
        return {
            "request_id": to_text(meta.get("request_id")) or "",
            "warnings": tuple(self.get_warnings()),
            "suggestions": tuple(map(str, to_list(meta.get("suggestions")))),
            "pagination": self.get_pagination(),
            "rate_limit": self.get_facts(RateLimit, "rate_limit"),
            "telemetry": to_mapping(meta.get("telemetry")),
            "fidelity": self.get_fidelity(),
            "version": text_or_empty(meta.get("content_version")),
            "content_hash": text_or_empty(meta.get("content_hash")),
            "meta": {
                name: value
                for name, value in meta.items()
                if name not in RESERVED and name not in self.besides
            },
        }

    def get_warnings(self) -> list[Warning]:
        """Return the structured warnings, then the sentences that no structured warning has."""
        entries = map(to_mapping, to_list(self.meta.get("warning_details")))
        details = [self.get_warning(entry) for entry in entries if entry]
        known = {detail.message for detail in details}
        sentences = map(str, to_list(self.meta.get("warnings")))
        return details + [Warning("WARNING", text) for text in sentences if text not in known]

    def get_warning(self, detail: Mapping[str, Any]) -> Warning:
        """Return a structured warning; members that no contract names belong to its context."""
        more = {name: value for name, value in detail.items() if name not in WARNING_MEMBERS}
        return Warning(
            code=str(detail.get("code") or "WARNING"),
            message=str(detail.get("message") or detail.get("code") or ""),
            severity=self.get_severity(detail),
            context={**more, **to_mapping(detail.get("context"))},
            remediation=str(detail.get("remediation") or ""),
        )

    def get_severity(self, detail: Mapping[str, Any]) -> Severity:
        """Return the severity of a structured warning, by default that of the warning's code."""
        default = WARNING_SEVERITIES.get(str(detail.get("code")), Severity.WARNING)
        return to_severity(detail.get("severity"), default)

    def get_pagination(self) -> Pagination | None:
        """Return the position of the page, None if ``meta`` has none."""
        page: Pagination | None = self.get_facts(Pagination, "pagination")
        if page is None:
            return None
        follows = page.has_more is None and (page.cursor is not None or page.next is not None)
        return replace(page, own=True, has_more=True if follows else page.has_more)

    def get_facts(self, model: Callable[..., Any], member: str) -> Any:
        """Return a member of ``meta`` as an instance of a dataclass, None without any value.

        Values that the dataclass has no field for are its ``more``.
        """
        values = to_mapping(self.meta.get(member))
        names = {field.name for field in fields(model)} - {"more", "own"}  # type: ignore[arg-type]
        converters: dict[str, Converter] = {
            name: CONVERTERS.get(name, to_integer) for name in names
        }
        known = {name: converters[name](values[name]) for name in names & values.keys()}
        members = {name: value for name, value in known.items() if value is not None}
        more = {name: value for name, value in values.items() if name not in names}
        return model(**members, more=more) if members or more else None

    def get_fidelity(self) -> Fidelity | None:
        """Return what was left out of the answer, None if ``meta`` does not say.

        A ``meta`` that names dropped content and no level is partial.
        """
        level = self.meta.get("content_fidelity")
        dropped = tuple(map(str, to_list(self.meta.get("dropped_content_ids"))))
        hashes = to_mapping(self.meta.get("content_archive_hashes"))
        if level not in FIDELITY_LEVELS:
            if not dropped and not hashes:
                return None
            level = "partial"
        archives = {str(name): str(value) for name, value in hashes.items()}
        version = text_or_empty(self.meta.get("content_fidelity_schema_version"))
        return Fidelity(level, dropped, archives, version or Fidelity.version)


def to_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def to_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == value and abs(value) != float("inf")


def to_severity(value: Any, default: Severity) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        return default


def to_pointer(path: Any) -> str:
    """Return the JSON pointer of an argument written ``a[0].b``; "" for none."""
    return JSONPointer.from_dotted(str(path)) if path else ""


def to_integer(value: Any) -> int | None:
    return int(value) if is_finite(value) else None


def to_text(value: Any) -> str | None:
    return None if value is None else str(value)


def to_flag(value: Any) -> bool | None:
    return None if value is None else bool(value)


def to_next_arguments(value: Any) -> Mapping[str, Any] | None:
    return to_mapping(value) or None


def to_iso_time(value: Any) -> str | None:
    """Return a time as ISO 8601, None if the value is no time."""
    try:
        if isinstance(value, str):
            return value if parse_datetime(value) else None
        if isinstance(value, datetime):
            return value.isoformat().replace("+00:00", "Z")
        return iso_time(value) if is_finite(value) else None
    except (ValueError, OverflowError, OSError):
        return None


def to_period(value: Any) -> str | None:
    """Return the length of a period in words, None if the value is no period."""
    if isinstance(value, str):
        return value
    return period_name(value) if is_finite(value) else None


CONVERTERS: dict[str, Converter] = {
    "has_more": to_flag,
    "cursor": to_text,
    "next": to_next_arguments,
    "reset_at": to_iso_time,
    "period": to_period,
}
