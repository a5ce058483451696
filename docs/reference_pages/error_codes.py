"""The page of the codes: of failures, problems, warnings and JSON-RPC errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from docs.reference_pages.markdown import code, items, page, paragraph, table
from drf_mcp import exceptions
from drf_mcp.codes import (
    CAUSES,
    CODES,
    HANDLING,
    PLAIN_WARNINGS,
    STATUS_CODES,
    WARNING_SEVERITIES,
)
from drf_mcp.outcomes import Severity

# When a failure has a standard code, where its status and cause do not say it.
WHEN = {
    "VALIDATION_ERROR": "arguments that the view refuses; any other status below 500",
    "CONFLICT": "a deletion that other rows forbid; a violated unique or foreign key",
    "MISSING_REQUIRED": "every problem is a missing argument",
    "DUPLICATE_ENTRY": "every problem is a value that is taken",
    "INTERNAL_ERROR": "an unexpected exception; any other status of 500 or more",
}
SOFT_MEANINGS = {
    "SOFT_FAILURE": "The view's answer is no, and the view gave it no code.",
    "INPUT_REQUIRED": "The view needs more arguments, and the client shows no forms.",
    "VISIT_REQUIRED": "The view sends the user to a page, and the client cannot open pages.",
    "CONFIRMATION_REQUIRED": "The call was not made yet: the answer says what it would do.",
    "APPROVAL_REQUIRED": "The call was not made yet: people approve it first.",
    "DECLINED": "The user said no to a question or a confirmation.",
}
WARNING_MEANINGS = {
    "CONTENT_TRUNCATED": "The answer was shortened to fit its budget, or cut at another limit.",
    "STALE_CACHE": "Cached data may be outdated.",
    "PARTIAL_FAILURE": "A part of the work failed, the rest was done.",
    "DEPRECATED_FIELD": "The answer has fields that will be removed.",
    "RATE_LIMIT_APPROACHING": "A tenth of the quota or less is left.",
    "FALLBACK_USED": "The primary source was not available.",
    "ARCHIVE_UNAVAILABLE": "What was left out could not be stored, so it cannot be fetched.",
    "ARCHIVE_FULL": "What was left out was not stored, because the caller's share is full.",
    "RIGHTS_CHANGED": "The change was made earlier, with other rights than the caller has now.",
    "PAGE_SIZE_LIMITED": "A page has fewer rows than the call asked for, and more rows follow.",
    "MORE_ROWS": "More rows follow, and no argument of the tool leads to them.",
    "UNDESCRIBED_ARGUMENT": "Arguments that nothing describes were passed on.",
    "READ_ONLY_ARGUMENT": "Read-only members of rows were sent, and ignored.",
    "UNREAD_ARGUMENT": "Arguments were sent that only other actions of the view read.",
    "NOTHING_TO_CHANGE": "A PATCH sent no member of the body.",
    "UNKNOWN_FIELD": "The answer lacks a field that the call asked for.",
    "EMPTY_LIST": "A list is empty, perhaps because of a filter or of its parent.",
    "WARNING": "A warning without a code.",
}


def error_codes_page() -> str:
    """Return the page of the codes."""
    return page(
        "Error codes",
        CODES_HEAD,
        "## Failures",
        table(["`error_code`", "`error_type`", "From, or a code of exceptions"], failure_rows()),
        FAILURES_FOOT,
        paragraph(recovery()),
        "## Problems",
        PROBLEMS_HEAD,
        "## Warnings",
        WARNINGS_HEAD,
        "\n".join(warning_items()),
        "## Soft failures",
        SOFT_HEAD,
        items(SOFT_MEANINGS),
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


def recovery() -> str:
    """Return which failures a client can recover from, and how severe they are."""
    final = [code(each.value) for each, known in HANDLING.items() if not known.recoverable]
    severe = {each: known.severity.value for each, known in HANDLING.items()}
    others = [f"of {code(each.value)} {said}" for each, said in severe.items() if said != "error"]
    return (
        f"A client can recover from each type but {' and '.join(final)}. "
        f"The severity is error, {', '.join(others)}."
    )


def warning_items() -> Iterator[str]:
    """Yield an item for each code that warnings of the package have."""
    severities = {**WARNING_SEVERITIES, **PLAIN_WARNINGS}
    for name, meaning in WARNING_MEANINGS.items():
        severity = severities.get(name, Severity.WARNING)
        mild = f" ({severity.value})" if severity != Severity.WARNING else ""
        yield f"- {code(name)}{mild}: {meaning}"


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
[Errors that a model can act on](../errors.md) shows how to raise them."""
FAILURES_FOOT = """\
An exception class of your own with another `default_code` gives that code in capitals, with the
category of its status. `OkEnvelope` and `StatusEnvelope` write the codes in lower case."""
PROBLEMS_HEAD = """\
The code of a problem is REST framework's, or your validator's. An argument that does not exist has
the code `unknown`; a field that only answers have, `read_only`."""
WARNINGS_HEAD = """\
The severity is warning, if the list says no other.
[`call_context(request).warn`](../envelopes.md#what-a-view-can-say) takes any other code as well."""
SOFT_HEAD = """\
The call worked, and the answer is no: the result has no `isError`, and `success` is false."""
PROTOCOL_HEAD = """\
A message that cannot be served is answered by a JSON-RPC error, never by a tool's result."""
PROTOCOL_FOOT = """\
In revision 2026-07-28, `-32601` has the HTTP status 404. If the endpoint refuses a request before
it reads the message, the code is the HTTP status: 400, 401, 403, 411, 413, 415."""
