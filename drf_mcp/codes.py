"""The codes, categories, severities and remediations of failures and warnings."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass


class Category(enum.StrEnum):
    """The category of a failure, which decides what the caller can do about it."""

    VALIDATION = "validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    RATE_LIMIT = "rate_limit"
    FEATURE_FLAG = "feature_flag"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"


class Severity(enum.StrEnum):
    """The severity of a warning or an error."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Advice:
    """What a caller can do about a failure.

    Attributes:
        remediation: the sentence.
        recoverable: True if the caller can get past it, by a corrected, a later
            or a newly authenticated call.
        severity: the severity of a failure.
    """

    remediation: str
    recoverable: bool = True
    severity: Severity = Severity.ERROR


HANDLING: Mapping[Category, Advice] = {
    Category.VALIDATION: Advice(
        "The same call would be refused again: first change what the message speaks of."
    ),
    Category.AUTHENTICATION: Advice("Send valid credentials, then call again."),
    Category.AUTHORIZATION: Advice(
        "Do not repeat the call; ask for the permission it needs.", False
    ),
    Category.NOT_FOUND: Advice(
        "Look up which identifiers exist, then call again with one of them."
    ),
    Category.CONFLICT: Advice("Read the current state before deciding whether to call again."),
    Category.RATE_LIMIT: Advice("Wait, then call again."),
    Category.FEATURE_FLAG: Advice(
        "Do not repeat the call; ask for the feature to be enabled.", False
    ),
    Category.INTERNAL: Advice(
        "Try again later; if it fails again, report the request id.", severity=Severity.CRITICAL
    ),
    Category.UNAVAILABLE: Advice("Try again later."),
}

# Least severe first (RFC 5424, as the specification has them in server/utilities/logging).
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

# The standard codes of failures; projects have further codes.
CODES: Mapping[str, Category] = {
    "VALIDATION_ERROR": Category.VALIDATION,
    "INVALID_FORMAT": Category.VALIDATION,
    "MISSING_REQUIRED": Category.VALIDATION,
    "METHOD_NOT_ALLOWED": Category.VALIDATION,
    "UNAUTHORIZED": Category.AUTHENTICATION,
    "FORBIDDEN": Category.AUTHORIZATION,
    "NOT_FOUND": Category.NOT_FOUND,
    "DUPLICATE_ENTRY": Category.CONFLICT,
    "CONFLICT": Category.CONFLICT,
    "RATE_LIMIT_EXCEEDED": Category.RATE_LIMIT,
    "FEATURE_DISABLED": Category.FEATURE_FLAG,
    "INTERNAL_ERROR": Category.INTERNAL,
    "UNAVAILABLE": Category.UNAVAILABLE,
}

# The end of projects' codes, such as ``SPEC_NOT_FOUND``.
NOT_FOUND_ENDING = "_NOT_FOUND"

# The standard codes of HTTP statuses.
STATUS_CODES: Mapping[int, str] = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "INVALID_FORMAT",
    409: "CONFLICT",
    410: "NOT_FOUND",
    412: "CONFLICT",
    415: "INVALID_FORMAT",
    429: "RATE_LIMIT_EXCEEDED",
    503: "UNAVAILABLE",
}

# The standard code of each code of an ErrorDetail of REST framework and of this package.
CAUSES: Mapping[str, str] = {
    "parse_error": "INVALID_FORMAT",
    "unsupported_media_type": "INVALID_FORMAT",
    "not_acceptable": "INVALID_FORMAT",
    "not_authenticated": "UNAUTHORIZED",
    "authentication_failed": "UNAUTHORIZED",
    "permission_denied": "FORBIDDEN",
    "not_found": "NOT_FOUND",
    "method_not_allowed": "METHOD_NOT_ALLOWED",
    "throttled": "RATE_LIMIT_EXCEEDED",
    "conflict": "CONFLICT",
    "idempotency_key_reused": "CONFLICT",
    "feature_disabled": "FEATURE_DISABLED",
    "service_unavailable": "UNAVAILABLE",
}

# A warning that few calls are left.
APPROACHING = "RATE_LIMIT_APPROACHING"
WARNING_SEVERITIES: Mapping[str, Severity] = {
    "CONTENT_TRUNCATED": Severity.INFO,
    "STALE_CACHE": Severity.WARNING,
    "PARTIAL_FAILURE": Severity.WARNING,
    "DEPRECATED_FIELD": Severity.INFO,
    APPROACHING: Severity.WARNING,
    "FALLBACK_USED": Severity.INFO,
}

# Warnings of these codes, with this severity, are only their sentence.
PLAIN_WARNINGS: Mapping[str, Severity] = {
    "WARNING": Severity.WARNING,
    "UNDESCRIBED_ARGUMENT": Severity.WARNING,
    "READ_ONLY_ARGUMENT": Severity.INFO,
    "UNREAD_ARGUMENT": Severity.INFO,
    "NOTHING_TO_CHANGE": Severity.WARNING,
    "EMPTY_LIST": Severity.INFO,
    "PAGE_SIZE_LIMITED": Severity.INFO,
    "MORE_ROWS": Severity.WARNING,
}


# How to get what a result leaves out, where it is not kept.
LESS = "Ask again for less: filter, or fetch smaller pages."
NOT_AGAIN = (
    "Do not make the call again for the rest: it would make the change again. Another tool reads"
    " what there is now."
)


def standard_code(status: int) -> str:
    """Return the standard code of a failed HTTP status."""
    return STATUS_CODES.get(status, "VALIDATION_ERROR" if status < 500 else "INTERNAL_ERROR")


def screaming_code(code: str) -> str:
    """Return a project's error code in SCREAMING_SNAKE_CASE."""
    words = re.split(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])", code)
    return "_".join(filter(None, words)).upper() or "ERROR"


def category_of_code(code: str, status: int) -> Category:
    """Return the category of an error code, or of the HTTP status for an unknown code."""
    if code.endswith(NOT_FOUND_ENDING):
        return Category.NOT_FOUND
    return CODES.get(code) or CODES[standard_code(status)]
