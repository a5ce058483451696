"""Error responses and exceptions of views, as a `Failure` with its `Problem`s.

The code is read from the response's ErrorDetails first and from the HTTP status second, so
that a project's own exception handler is respected whatever its bodies look like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http.client import responses
from typing import Any, Protocol

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import ErrorDetail

from drf_mcp.codes import CAUSES, Category, category_of_code, screaming_code, standard_code
from drf_mcp.dispatch.errors.parsing import (
    Path,
    complains,
    detail_code,
    exception_code,
    exception_context,
    is_detail,
    leaves,
    sentence,
    unwrapped,
)
from drf_mcp.dispatch.errors.remediation import problem_remedy, remedy, status_advice
from drf_mcp.dispatch.errors.violations import Blockers, violation_failure
from drf_mcp.exceptions import SoftDetail, SoftFailure
from drf_mcp.outcomes import MISSING, Failure, Problem

# Codes of problems that say more than "VALIDATION_ERROR" where every problem has them.
PROBLEM_CAUSES = {"required": "MISSING_REQUIRED", "unique": "DUPLICATE_ENTRY"}
# Codes that say nothing: they leave the cause to the status.
GENERAL_CODES = frozenset({"invalid", "error"})
RETRY_STATUSES = frozenset({429, 503})
# The status that Django itself answers with when an exception of this type leaves a view.
EXCEPTION_STATUSES: dict[type[BaseException], int] = {
    Http404: 404,
    PermissionDenied: 403,
    MultiPartParserError: 400,
    BadRequest: 400,
    SuspiciousOperation: 400,
}


class ArgumentLocator(Protocol):
    """Finds the argument that an error speaks of; see `drf_mcp.tools.arguments.pointers`."""

    def knows(self, name: str | int) -> bool:
        """Return whether an argument stands for this name of the view's."""
        return False

    def pointer(self, path: Sequence[str | int]) -> str:
        """Return the JSON pointer into the arguments."""
        return ""

    def received(self, pointer: str) -> Any:
        """Return the value at a pointer, masked where secret."""
        return MISSING

    def accepted(self, pointer: str) -> str | None:
        """Return in words what would be accepted at a pointer."""
        return None

    def optional(self, pointer: str) -> bool:
        """Return whether what is at a pointer is known to be optional."""
        return False

    def is_file(self, pointer: str) -> bool:
        """Return whether what is at a pointer is known to be a file."""
        return False

    def replace_query(self, query: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return the arguments with other query parameters, None if none stands for one."""
        return None


class UnknownArguments(ArgumentLocator):
    """Finds no argument, where none became a request."""


class ErrorMapper:
    """Maps error responses and exceptions of views to failures.

    A subclass gives exceptions of a project codes, categories and advice of their own;
    ``ERROR_MAPPER_CLASS`` names the subclass::

        class ShopErrorMapper(ErrorMapper):
            def get_error_code(self, status, cause="", problems=(), exc=None):
                if isinstance(exc, StockLocked):
                    return "STOCK_LOCKED"
                return super().get_error_code(status, cause, problems, exc)

    Args:
        arguments: finds the arguments that an error speaks of.
    """

    def __init__(self, arguments: ArgumentLocator | None = None) -> None:
        self.arguments = arguments or UnknownArguments()

    def from_response(self, status: int, data: Any, headers: Mapping[str, str]) -> Failure:
        """Return the failure of a response with an error status.

        Args:
            status: the HTTP status, 400 or more.
            data: the body as the view gave it; None if it is no data.
            headers: the response's headers.
        """
        texts = list(leaves(data))
        problems = self.get_problems(status, [self.locate(*entry) for entry in texts])
        message = summary(problems) if problems else sentence(data)
        context = {**exception_context(texts), **retry_context(status, headers)}
        error_code = self.get_error_code(status, exception_code(status, data, texts), problems)
        return self.make_failure(error_code, status, message, problems, context)

    def from_exception(
        self,
        exc: BaseException,
        request_id: str = "",
        name_blockers: Callable[[Blockers], str] | None = None,
    ) -> Failure:
        """Return the failure of an exception that left the view.

        Of an unexpected exception the caller learns the id alone, since its text may hold secrets.

        Args:
            exc: the exception.
            request_id: the id under which the exception is logged.
            name_blockers: names the rows that keep others from being deleted; None names
                their models.
        """
        violated = violation_failure(exc, name_blockers)
        if violated is not None:
            return violated
        status = exception_status(exc)
        message = ""
        if status >= 500:
            message = f"An unexpected error occurred. It was logged under the id {request_id}."
        return self.make_failure(self.get_error_code(status, exc=exc), status, message)

    def from_soft_failure(self, detail: SoftDetail) -> Failure:
        """Return the failure of a call that worked and whose answer is no.

        Its code is that of the first message, its category follows the code.
        """
        texts = [self.locate(*entry) for entry in leaves(detail.errors)]
        problems = tuple(
            replace(problem, remediation=detail.remediation or problem.remediation)
            for problem in (self.make_problem(path, text) for path, text in texts)
            if problem.pointer or len(texts) > 1
        )
        first = texts[0][1] if texts else str(SoftFailure.default_detail)
        cause = detail_code(first) if texts else SoftFailure.default_code
        message = problems[0].message if problems else str(first)
        failure = self.make_failure(self.get_error_code(200, cause), 200, message, problems)
        remediation = detail.remediation or failure.remediation
        return replace(failure, soft=True, remediation=remediation)

    def from_problems(self, problems: Sequence[Problem]) -> Failure:
        """Return the failure of arguments that never became a request."""
        is_malformed = {problem.code for problem in problems} == {"invalid"}
        error_code = "INVALID_FORMAT" if is_malformed else self.get_error_code(400, "", problems)
        return self.make_failure(error_code, 400, summary(problems), problems)

    def from_status(self, status: int, message: str = "") -> Failure:
        """Return the failure of an HTTP status."""
        return self.make_failure(self.get_error_code(status), status, message)

    def get_error_code(
        self,
        status: int,
        cause: str = "",
        problems: Sequence[Problem] = (),
        exc: BaseException | None = None,
    ) -> str:
        """Return the error code in SCREAMING_SNAKE_CASE.

        Args:
            status: the HTTP status.
            cause: the code of the APIException that became the response, "" if unknown.
            problems: the problems of the arguments.
            exc: the exception that left the view, where there is no response.
        """
        if cause in CAUSES and status < 500:
            return CAUSES[cause]
        if cause and cause not in CAUSES and not (status >= 400 and cause in GENERAL_CODES):
            return screaming_code(cause)
        by_status = standard_code(status)
        codes = {problem.code for problem in problems}
        if by_status != "VALIDATION_ERROR" or len(codes) != 1:
            return by_status
        return PROBLEM_CAUSES.get(codes.pop(), by_status)

    def get_category(self, error_code: str, status: int) -> Category:
        """Return the category of an error code."""
        return category_of_code(error_code, status)

    def get_remediation(
        self,
        error_code: str,
        category: Category,
        status: int,
        problems: Sequence[Problem] = (),
        context: Mapping[str, Any] | None = None,
    ) -> str:
        """Return one sentence that tells the caller what to do."""
        return remedy(error_code, category, problems, context or {}, status_advice(status))

    def make_failure(
        self,
        error_code: str,
        status: int,
        message: str,
        problems: Sequence[Problem] = (),
        context: Mapping[str, Any] | None = None,
    ) -> Failure:
        """Return the failure of an error code; the status has a message where none is given."""
        category = self.get_category(error_code, status)
        context = context or {}
        advice = status_advice(status)
        return Failure(
            code=error_code,
            category=category,
            message=str(message or responses.get(status, f"HTTP status {status}")),
            remediation=self.get_remediation(error_code, category, status, problems, context),
            problems=tuple(problems),
            context=context,
            recoverable=None if advice is None or problems else advice.recoverable,
        )

    def get_problems(self, status: int, entries: Sequence[tuple[Path, str]]) -> tuple[Problem, ...]:
        """Return a problem for each text that speaks of an argument, or of all of them."""
        problems = (
            self.make_problem(path, text) for path, text in entries if complains(status, path, text)
        )
        # A body that only repeats what was sent does not complain of it.
        return tuple(problem for problem in problems if problem.message != problem.received)

    def make_problem(self, path: Path, text: str) -> Problem:
        """Return one problem, with the value received and the values accepted."""
        arguments, pointer = self.arguments, self.arguments.pointer(path)
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

    def locate(self, path: Path, text: str) -> tuple[Path, str]:
        """Return a text with its path from an argument on, without what a body wraps it in.

        Names that lead to no argument are put before the text.
        """
        arguments = self.arguments
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


def exception_status(exc: BaseException) -> int:
    """Return the HTTP status that Django answers with when an exception leaves a view."""
    return next(filter(None, map(EXCEPTION_STATUSES.get, type(exc).__mro__)), 500)


def summary(problems: Sequence[Problem]) -> str:
    """Return the first problem in a sentence, and how many more there are."""
    first = problems[0]
    text = f"Validation failed: {first.path}: {first.message}" if first.path else first.message
    more = len(problems) - 1
    if not more:
        return text
    return f"{text} ({more} more problem{'s' if more > 1 else ''})"


def retry_context(status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return ``retry_after_seconds`` where the response says when to come back."""
    seconds = headers.get("Retry-After", "")
    if status in RETRY_STATUSES and seconds.isdigit():
        return {"retry_after_seconds": int(seconds)}
    return {}
