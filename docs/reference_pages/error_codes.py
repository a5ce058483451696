"""The page of the codes: of failures, problems, warnings and JSON-RPC errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from docs.reference_pages.markdown import code, page, paragraph, table
from drf_mcp import exceptions
from drf_mcp.codes import CAUSES, CODES, HANDLING, STATUS_CODES, WARNING_SEVERITIES
from drf_mcp.dispatch.error_texts import PROBLEM_REMEDIES
from drf_mcp.outcomes import Severity

# When a failure has a standard code, where its status and cause do not say it.
WHEN = {
    "VALIDATION_ERROR": "arguments that the view refuses; any other status below 500",
    "CONFLICT": "a row that others protect; a unique or foreign key that the database keeps",
    "MISSING_REQUIRED": "every problem is a missing argument",
    "DUPLICATE_ENTRY": "every problem is a value that is taken",
    "INTERNAL_ERROR": "an exception that nobody expected; any other status of 500 or more",
}
SOFT_MEANINGS = {
    "SOFT_FAILURE": "The view's answer is no, and the view gave it no code.",
    "INPUT_REQUIRED": "A view asks for what the call lacks, and the client shows no forms.",
    "VISIT_REQUIRED": "A view sends the user to a page, and the client opens none.",
    "CONFIRMATION_REQUIRED": "The call was not made yet: the answer says what it would do.",
    "DECLINED": "The user declined what they were asked.",
}
WARNING_MEANINGS = {
    "CONTENT_TRUNCATED": "The answer was shortened to fit its budget, or cut at another limit.",
    "STALE_CACHE": "Cached data may be outdated.",
    "PARTIAL_FAILURE": "A part of the work failed, the whole did not.",
    "DEPRECATED_FIELD": "The answer has fields that will go.",
    "RATE_LIMIT_APPROACHING": "A tenth of the quota or less is left.",
    "FALLBACK_USED": "The primary source was not available.",
    "ARCHIVE_UNAVAILABLE": "What was left out could not be kept.",
    "ARCHIVE_FULL": "What was left out was not kept: the caller has as much there as one may have.",
    "CONTENT_WITHHELD": "Some rows of kept content may not be read any more.",
    "RIGHTS_CHANGED": "A change was made before, by a caller with other rights than now.",
    "PAGE_SIZE_LIMITED": "A page has fewer rows than were asked for, and there are more.",
    "UNKNOWN_FIELD": "An answer lacks a field that was asked for; the others are given.",
    "EMPTY_LIST": "A list is empty, and the values of its filters or its parent may be why.",
    "CONTENT_NOT_DECODED": "The content has a `Content-Encoding`, and is a link.",
    "WARNING": "A warning that was given no code.",
}


def error_codes_page() -> str:
    """Return the page of the codes."""
    return page(
        "Error codes",
        CODES_HEAD,
        "## Failures",
        table(["`error_code`", "`error_type`", "From, or a code of exceptions"], failure_rows()),
        FAILURES_FOOT,
        "## Categories",
        table(
            ["`error_type`", "Severity", "Recoverable"],
            category_rows(),
        ),
        "## Problems",
        PROBLEMS_HEAD,
        paragraph(", ".join(map(code, PROBLEM_REMEDIES)) + "."),
        "## Warnings",
        WARNINGS_HEAD,
        table(["`code`", "Severity", "Meaning"], warning_rows()),
        "## Soft failures",
        SOFT_HEAD,
        table(["`error_code`", "Meaning"], [(code(n), m) for n, m in SOFT_MEANINGS.items()]),
        "## JSON-RPC errors",
        PROTOCOL_HEAD,
        table(["Code", "HTTP", "When"], protocol_rows()),
        PROTOCOL_FOOT,
    )


def failure_rows() -> Iterator[list[str]]:
    """Yield a row for each standard code of a failure."""
    for name, category in CODES.items():
        yield [code(name), code(category.value), when(name)]


def when(error_code: str) -> str:
    """Return what gives a standard code: statuses, and codes of exceptions."""
    statuses = [str(status) for status, given in STATUS_CODES.items() if given == error_code]
    causes = [code(cause) for cause, given in CAUSES.items() if given == error_code]
    said = [f"HTTP {', '.join(statuses)}"] if statuses else []
    if error_code in WHEN:
        said.append(WHEN[error_code])
    return "; ".join(said + ([", ".join(causes)] if causes else []))


def category_rows() -> Iterator[list[str]]:
    """Yield a row for each category of failures."""
    for category, handling in HANDLING.items():
        recoverable = "yes" if handling.recoverable else "no"
        yield [code(category.value), handling.severity.value, recoverable]


def warning_rows() -> Iterator[list[str]]:
    """Yield a row for each code that warnings of the package have."""
    for name, meaning in WARNING_MEANINGS.items():
        severity = WARNING_SEVERITIES.get(name, Severity.WARNING)
        yield [code(name), severity.value, meaning]


def protocol_rows() -> Iterator[list[str]]:
    """Yield a row for each JSON-RPC error that has a code of its own."""
    others = (exceptions.ProtocolError, exceptions.Refused)
    for exception in filter(inspect.isclass, vars(exceptions).values()):
        if issubclass(exception, exceptions.ProtocolError) and exception not in others:
            meaning = first_line(exception).split(" (")[0].replace("``", "`")
            yield [code(exception.code), str(exception.http_status), f"{meaning}."]


def first_line(documented: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(documented) or "").split("\n")[0].removesuffix(".")


CODES_HEAD = """\
What `error_code`, `error_type`, the `code` of a problem and the `code` of a warning can be.
[Errors a model can act on](../errors.md) says how to use them."""
FAILURES_FOOT = """\
An exception class of your own with another `default_code` gives that code in capitals, with the
category of its status. `OkEnvelope` and `StatusEnvelope` write the codes in lower case."""
PROBLEMS_HEAD = """\
The code of a problem is REST framework's own, or that of your validator. An argument that does not
exist has the code `unknown`, one that answers have and requests do not, `read_only`. These have
advice of their own; any other says to correct the argument:"""
WARNINGS_HEAD = """\
These are the codes that the package gives or knows the severity of.
[`call_context(request).warn`](../envelopes.md#what-a-view-can-say) takes any other as well."""
SOFT_HEAD = """\
The call itself worked, and the answer is no: `isError` is left out, and `success` is false."""
PROTOCOL_HEAD = """\
A message that cannot be served is answered by a JSON-RPC error, never by a tool's result."""
PROTOCOL_FOOT = """\
In revision 2026-07-28, `-32601` has the HTTP status 404. What the endpoint turns away before it
reads the message has its HTTP status as the code: 400, 401, 403, 411, 413, 415."""
