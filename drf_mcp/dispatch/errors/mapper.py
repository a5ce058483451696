"""What REST framework and Django say is wrong, as a `Failure` with `Problem`s.

The cause is read from the codes of the response's ErrorDetails first and from the
HTTP status second, so that a project's own exception handler is respected whatever
its bodies look like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http.client import responses
from typing import Any, Protocol

from rest_framework.exceptions import ErrorDetail

from drf_mcp.codes import (
    CODES,
    STATUS_CODES,
    category_of_code,
    screaming_code,
)
from drf_mcp.dispatch.errors.error_objects import Path
from drf_mcp.dispatch.errors.parsing import (
    detail_code,
    is_detail,
    is_fact,
    leaves,
    sentence,
    unwrapped,
)
from drf_mcp.dispatch.errors.remediation import problem_remedy, remedy, status_advice
from drf_mcp.exceptions import SoftDetail, SoftFailure
from drf_mcp.outcomes import MISSING, Category, Failure, Problem

# By the code of an exception's ErrorDetail: REST framework's own and this package's.
CAUSES: dict[str, tuple[str, Category]] = {
    "parse_error": ("INVALID_FORMAT", Category.VALIDATION),
    "unsupported_media_type": ("INVALID_FORMAT", Category.VALIDATION),
    "not_acceptable": ("INVALID_FORMAT", Category.VALIDATION),
    "not_authenticated": ("UNAUTHORIZED", Category.AUTHENTICATION),
    "authentication_failed": ("UNAUTHORIZED", Category.AUTHENTICATION),
    "permission_denied": ("FORBIDDEN", Category.AUTHORIZATION),
    "not_found": ("NOT_FOUND", Category.NOT_FOUND),
    "method_not_allowed": ("METHOD_NOT_ALLOWED", Category.VALIDATION),
    "throttled": ("RATE_LIMIT_EXCEEDED", Category.RATE_LIMIT),
    "conflict": ("CONFLICT", Category.CONFLICT),
    "feature_disabled": ("FEATURE_DISABLED", Category.FEATURE_FLAG),
    "service_unavailable": ("UNAVAILABLE", Category.UNAVAILABLE),
}
# By the HTTP status, where nothing more precise is known.
STATUSES = {status: (code, CODES[code]) for status, code in STATUS_CODES.items() if status != 400}
INVALID = ("VALIDATION_ERROR", Category.VALIDATION)
INTERNAL = ("INTERNAL_ERROR", Category.INTERNAL)
# Codes that say nothing: they leave the cause to the status.
GENERAL_CODES = frozenset({"invalid", "error"})
RETRY_STATUSES = frozenset({429, 503})
# Statuses whose texts speak of the arguments.
VALIDATING = frozenset({400, 422})


class ArgumentLocator(Protocol):
    """Finds the argument that an error speaks of; see `drf_mcp.tools.arguments.pointers`."""

    def knows(self, name: str | int) -> bool:
        """Return whether an argument stands for this name of the view's."""

    def pointer(self, path: Sequence[str | int]) -> str:
        """Return the JSON pointer into the arguments."""

    def received(self, pointer: str) -> Any:
        """Return the value at a pointer, masked where secret."""

    def accepted(self, pointer: str) -> str | None:
        """Return in words what would be accepted at a pointer."""

    def optional(self, pointer: str) -> bool:
        """Return whether what is at a pointer is known to be optional."""

    def is_file(self, pointer: str) -> bool:
        """Return whether what is at a pointer is known to be a file."""

    def moved(self, query: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return the arguments with other query parameters, None if none stands for one."""


def response_failure(
    status: int, data: Any, headers: Mapping[str, str], arguments: ArgumentLocator
) -> Failure:
    """Return why a response with an error status failed.

    Args:
        status: the HTTP status, 400 or more.
        data: the body as the view gave it; None if it is no data.
        headers: the response's headers.
        arguments: finds the arguments that the body speaks of.
    """
    texts = list(leaves(data))
    problems = problems_of(status, [located(*entry, arguments) for entry in texts], arguments)
    code, category = cause(status, exception_code(status, data, texts), problems)
    context = {**told_context(texts), **retry_context(status, headers)}
    advice = status_advice(status)
    return Failure(
        code=code,
        category=category,
        message=message_of(status, data, problems),
        remediation=remedy(code, category, problems, context, advice),
        problems=problems,
        context=context,
        recoverable=None if advice is None or problems else advice.recoverable,
    )


def soft_failure(detail: SoftDetail, arguments: ArgumentLocator) -> Failure:
    """Return the failure of a call that worked and whose answer is no.

    Its code is that of the first message, its category follows the code.
    """
    texts = [located(*entry, arguments) for entry in leaves(detail.errors)]
    problems = tuple(
        replace(problem, remediation=detail.remediation or problem.remediation)
        for problem in (problem_of(path, text, arguments) for path, text in texts)
        if problem.pointer or len(texts) > 1
    )
    first = texts[0][1] if texts else str(SoftFailure.default_detail)
    said = detail_code(first) if texts else SoftFailure.default_code
    own = screaming_code(said)
    code, category = CAUSES.get(said) or (own, category_of_code(own, 200))
    return Failure(
        code=code,
        category=category,
        message=problems[0].message if problems else str(first),
        remediation=detail.remediation or remedy(code, category, problems, {}),
        problems=problems,
        soft=True,
    )


def refused_arguments(problems: Sequence[Problem]) -> Failure:
    """Return the failure of arguments that never became a request."""
    codes = {problem.code for problem in problems}
    code = "MISSING_REQUIRED" if codes == {"required"} else "VALIDATION_ERROR"
    if codes == {"invalid"}:
        code = "INVALID_FORMAT"
    return Failure(
        code=code,
        category=Category.VALIDATION,
        message=summary(problems),
        remediation=remedy(code, Category.VALIDATION, problems, {}),
        problems=tuple(problems),
    )


def not_found(message: str = "Not found.") -> Failure:
    """Return the failure of a path that no object answers to."""
    code, category = STATUSES[404]
    return Failure(code, category, message, remedy(code, category, (), {}))


def located(path: Path, text: str, arguments: ArgumentLocator) -> tuple[Path, str]:
    """Return a text with its path from an argument on, without what a body wraps it in.

    Names that lead to no argument are put before the text.
    """
    for start in range(len(path)):
        # An index below a name of the view's counts its own items, not those of the body.
        is_nested = isinstance(path[start], int) and unwrapped(path[:start])
        if not is_nested and arguments.knows(path[start]):
            return path[start:], text
    rest = unwrapped(path)
    if arguments.pointer(rest) or not (rest and is_detail(text)):
        return rest if arguments.pointer(rest) else (), text
    named = f"{'.'.join(map(str, rest))}: {text}"
    return (), ErrorDetail(named, detail_code(text))


def exception_code(status: int, data: Any, texts: Sequence[tuple[Path, str]]) -> str:
    """Return the code of the exception, as against those of its problems; "" if none.

    What a validation error says of the arguments stands in lists.
    """
    validating = status in VALIDATING
    alone = list(data.values()) if isinstance(data, Mapping) else []
    for path, text in texts:
        if is_detail(text) and not (validating and unwrapped(path)):
            code = detail_code(text)
            if not validating or code in CAUSES or any(text is value for value in alone):
                return code
    return ""


def problems_of(
    status: int, entries: Sequence[tuple[Path, str]], arguments: ArgumentLocator
) -> tuple[Problem, ...]:
    """Return a problem for each text that speaks of an argument, or of all of them."""
    problems = (
        problem_of(path, text, arguments) for path, text in entries if complains(status, path, text)
    )
    # A body that only repeats what was sent does not complain of it.
    return tuple(problem for problem in problems if problem.message != problem.received)


def complains(status: int, path: Path, text: str) -> bool:
    """Return whether a text of an error body says what is wrong with the arguments."""
    if status in VALIDATING:
        about_an_argument = bool(path) and not is_fact(path, text)
        return about_an_argument or (is_detail(text) and detail_code(text) not in CAUSES)
    return status < 500 and bool(path) and is_detail(text)


def problem_of(path: Path, text: str, arguments: ArgumentLocator) -> Problem:
    """Return one problem, with what was received and what would be accepted."""
    pointer = arguments.pointer(path)
    problem = Problem(
        code=detail_code(text) if is_detail(text) else "invalid",
        message=str(text),
        pointer=pointer,
        received=arguments.received(pointer) if path and pointer else MISSING,
        accepted=arguments.accepted(pointer) if path and pointer else None,
    )
    remediation = problem_remedy(
        problem,
        optional=bool(pointer) and arguments.optional(pointer),
        is_file=bool(pointer) and arguments.is_file(pointer),
    )
    return replace(problem, remediation=remediation)


def cause(status: int, code: str, problems: Sequence[Problem]) -> tuple[str, Category]:
    """Return error code and category: from the codes first, then from the status.

    Args:
        status: the HTTP status.
        code: the exception's own code, "" if it has none.
        problems: what is wrong with the arguments.
    """
    if code in CAUSES and status < 500:
        return CAUSES[code]
    by_status = STATUSES.get(status, INTERNAL if status >= 500 else INVALID)
    if code and code not in GENERAL_CODES and code not in CAUSES:
        return screaming_code(code), category_of_code(screaming_code(code), status)
    if by_status is not INVALID:
        return by_status
    codes = {problem.code for problem in problems}
    if codes == {"required"}:
        return "MISSING_REQUIRED", Category.VALIDATION
    if codes == {"unique"}:
        return "DUPLICATE_ENTRY", Category.CONFLICT
    return INVALID


def message_of(status: int, data: Any, problems: Sequence[Problem]) -> str:
    """Return one sentence: a summary of the problems, or the body's own."""
    if problems:
        return summary(problems)
    return str(sentence(data) or status_phrase(status))


def status_phrase(status: int) -> str:
    """Return the words of an HTTP status."""
    return responses.get(status, f"HTTP status {status}")


def summary(problems: Sequence[Problem]) -> str:
    """Return the first problem in a sentence, and how many more there are."""
    first = problems[0]
    text = f"Validation failed: {first.path}: {first.message}" if first.path else first.message
    more = len(problems) - 1
    if not more:
        return text
    return f"{text} ({more} more problem{'s' if more > 1 else ''})"


def told_context(texts: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    """Return the facts that an exception told beside its message."""
    return {
        name: value for _, text in texts for name, value in getattr(text, "context", {}).items()
    }


def retry_context(status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return ``retry_after_seconds`` where the response says when to come back."""
    seconds = headers.get("Retry-After", "")
    if status in RETRY_STATUSES and seconds.isdigit():
        return {"retry_after_seconds": int(seconds)}
    return {}
