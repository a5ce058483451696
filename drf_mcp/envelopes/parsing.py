"""Parses the envelopes that views build themselves."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.codes import WARNING_SEVERITIES, screaming_code
from drf_mcp.envelopes.metadata import (
    FIDELITY_LEVELS,
    PAGINATION,
    RATE_LIMIT,
    RESERVED,
    WARNING_MEMBERS,
    drop_invalid,
    is_finite,
    to_iso_time,
    to_period,
)
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Fidelity, Pagination, RateLimit, Severity, Warning


class Members:
    """The members of an object in a view's own envelope; a value of a wrong type is absent."""

    def __init__(self, value: Any) -> None:
        self.values: Mapping[str, Any] = value if isinstance(value, Mapping) else {}

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def text(self, name: str) -> str:
        return str(self.get(name) or "")

    def string(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def integer(self, name: str) -> int | None:
        value = self.get(name)
        return int(value) if is_finite(value) else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self.get(name)
        return value if isinstance(value, Mapping) else {}

    def array(self, name: str) -> list[Any]:
        value = self.get(name)
        return list(value) if isinstance(value, (list, tuple)) else []

    def objects(self, name: str) -> list[Members]:
        return list(map(Members, self.array(name)))

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(map(str, self.array(name)))

    def severity(self, default: Severity) -> Severity:
        try:
            return Severity(self.get("severity"))
        except ValueError:
            return default

    def pointer(self, name: str) -> str:
        path = self.text(name)
        return JSONPointer.from_dotted(path) if path else ""

    def others(self, names: Container[str]) -> dict[str, Any]:
        return {name: value for name, value in self.values.items() if name not in names}


def parse_meta(meta: Mapping[str, Any], own_names: Container[str] = ()) -> dict[str, Any]:
    """Return the members of an `Outcome` that a contract's metadata describes.

    Args:
        meta: the metadata; further members become ``Outcome.meta``.
        own_names: members that have another meaning in the contract.
    """
    members = Members(drop_invalid(meta))
    others = members.others(RESERVED)
    return {
        "request_id": members.text("request_id"),
        "warnings": tuple(parse_warnings(members)),
        "suggestions": members.texts("suggestions"),
        "pagination": parse_pagination(Members(members.get("pagination"))),
        "rate_limit": parse_rate_limit(Members(members.get("rate_limit"))),
        "telemetry": members.mapping("telemetry"),
        "fidelity": parse_fidelity(members),
        "version": members.string("content_version"),
        "content_hash": members.string("content_hash"),
        "meta": {name: others[name] for name in others if name not in own_names},
    }


def parse_warnings(members: Members) -> list[Warning]:
    warnings = []
    for detail in filter(lambda detail: detail.values, members.objects("warning_details")):
        code = screaming_code(detail.text("code") or "WARNING")
        default = WARNING_SEVERITIES.get(code, Severity.WARNING)
        warnings.append(
            Warning(
                code=code,
                message=detail.text("message") or detail.text("code"),
                severity=detail.severity(default),
                context={**detail.others(WARNING_MEMBERS), **detail.mapping("context")},
                remediation=detail.text("remediation"),
            )
        )
    known = {warning.message for warning in warnings}
    sentences = members.texts("warnings")
    return warnings + [Warning("WARNING", text) for text in sentences if text not in known]


def parse_pagination(page: Members) -> Pagination | None:
    has_more, cursor = page.get("has_more"), page.get("cursor")
    following = page.mapping("next") or None
    if has_more is None and (cursor is not None or following is not None):
        has_more = True
    pagination = Pagination(
        has_more=None if has_more is None else bool(has_more),
        total_count=page.integer("total_count"),
        page_size=page.integer("page_size"),
        page=page.integer("page"),
        cursor=None if cursor is None else str(cursor),
        next=following,
        more=page.others(PAGINATION["properties"]),
    )
    return None if pagination == Pagination() else replace(pagination, own=True)


def parse_rate_limit(quota: Members) -> RateLimit | None:
    rate_limit = RateLimit(
        limit=quota.integer("limit"),
        remaining=quota.integer("remaining"),
        reset_at=to_iso_time(quota.get("reset_at")),
        period=to_period(quota.get("period")),
        retry_after=quota.integer("retry_after"),
        more=quota.others(RATE_LIMIT["properties"]),
    )
    return None if rate_limit == RateLimit() else rate_limit


def parse_fidelity(members: Members) -> Fidelity | None:
    level, dropped = members.get("content_fidelity"), members.texts("dropped_content_ids")
    hashes = members.mapping("content_archive_hashes")
    if level not in FIDELITY_LEVELS:
        if not dropped and not hashes:
            return None
        level = "partial"
    archives = {str(name): str(value) for name, value in hashes.items()}
    version = members.string("content_fidelity_schema_version")
    return Fidelity(level, dropped, archives, version or Fidelity.version)
