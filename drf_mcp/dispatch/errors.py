"""Error responses and exceptions of views, as a `Failure` with its `Problem`s.

The code is read from the response's ErrorDetails first and from the HTTP status second, so
that a project's own exception handler is respected whatever its bodies look like.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from http.client import responses
from typing import Any, Protocol

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import IntegrityError
from django.db.models import Model
from django.db.models.deletion import ProtectedError, RestrictedError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from rest_framework.exceptions import ErrorDetail

from drf_mcp.codes import (
    CAUSES,
    HANDLING,
    Category,
    category_of_code,
    screaming_code,
    standard_code,
)
from drf_mcp.dispatch.error_bodies import (
    ErrorText,
    find_cause,
    find_error_texts,
    find_sentence,
    unwrap_path,
)
from drf_mcp.dispatch.error_texts import (
    ANOTHER,
    CODE_REMEDIES,
    CORRECT,
    FILE_REMEDIES,
    FORMAT_CODES,
    OPTIONAL_NULL,
    PROBLEM_REMEDIES,
    SEND,
    WHOLE_REMEDIES,
    get_status_advice,
)
from drf_mcp.exceptions import InternalError, SoftDetail, SoftFailure
from drf_mcp.introspection.text import get_plural_name, join_values, translate
from drf_mcp.outcomes import MISSING, Failure, Problem

# Error codes where every problem has the same one of these codes.
PROBLEM_CAUSES = {"required": "MISSING_REQUIRED", "unique": "DUPLICATE_ENTRY"}
# Codes that do not say what is wrong: the status decides.
GENERAL_CODES = frozenset({"invalid", "error"})
RETRY_STATUSES = frozenset({429, 503})
# The primary keys of the rows that prevent a deletion, by model.
Blockers = Mapping[type[Model], Collection[Any]]


class ArgumentLocator(Protocol):
    """Finds the argument of a call that an error is about. This class finds none.

    Attributes:
        language: the language of the thread, "" where it has not been read yet.
    """

    language: str | None = ""

    def knows(self, name: str | int) -> bool:
        """Return whether the view has a parameter or a field of this name."""
        return False

    def pointer(self, path: Sequence[str | int]) -> str:
        """Return the JSON pointer into the arguments for a path of the view's field names."""
        return ""

    def sends_list(self) -> bool:
        """Return whether the body of the request is a list."""
        return False

    # Of the argument at a pointer: the value, masked where secret, and the accepted values.

    def received(self, pointer: str) -> Any:
        return MISSING

    def accepted(self, pointer: str) -> str | None:
        return None

    def misfits(self, pointer: str) -> bool:
        """Return whether the value certainly has a wrong type, or does not match a pattern."""
        return False

    def optional(self, pointer: str) -> bool:
        return False

    def is_file(self, pointer: str) -> bool:
        return False

    def replace_query(self, query: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return the arguments with other query parameters, None if one has no argument."""
        return None


class NoArguments(ArgumentLocator):
    pass


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
        arguments: finds the arguments that an error is about.

    Attributes:
        call: the `CallState` of the call that failed, None over plain HTTP.
        request: the request that the view got, None where the view did not run.
    """

    call: Any = None
    request: Any = None

    def __init__(self, arguments: ArgumentLocator | None = None) -> None:
        self.arguments = arguments or NoArguments()

    def from_response(self, status: int, data: Any, headers: Mapping[str, str]) -> Failure:
        """Return the failure of a response with a status of 400 or more."""
        texts = find_error_texts(data)
        problems = self.get_problems(status, texts)
        message = self.summarize(problems) if problems else find_sentence(data)
        context: dict[str, Any] = {}
        for entry in texts:
            context.update(getattr(entry.text, "context", ()))
        seconds = headers.get("Retry-After", "") if status in RETRY_STATUSES else ""
        if seconds.isdigit():
            context["retry_after_seconds"] = int(seconds)
        error_code = self.get_error_code(status, find_cause(data, texts, status), problems)
        return self.make_failure(error_code, status, message, problems, context)

    def from_exception(
        self,
        exc: BaseException,
        request_id: str = "",
        name_blockers: Callable[[Blockers], str] | None = None,
    ) -> Failure:
        """Return the failure of an exception that left the view.

        The text of an unexpected exception may hold secrets: the caller only gets the request id.

        Args:
            request_id: the id in the log.
            name_blockers: describes the rows that prevent a deletion; None to name their models.
        """
        violated = find_violation(exc, name_blockers)
        if violated is not None:
            return violated
        status = get_exception_status(exc)
        message = InternalError.describe(request_id) if status >= 500 else ""
        return self.make_failure(self.get_error_code(status, exc=exc), status, message)

    def from_soft_failure(self, detail: SoftDetail) -> Failure:
        """Return the failure of a call that worked and whose answer is no."""
        texts = list(map(self.locate, find_error_texts(detail.errors)))
        problems = tuple(
            # The view's remediation needs no accepted values after it.
            replace(problem, remediation=detail.remediation, accepted=None)
            if detail.remediation
            else problem
            for problem in map(self.make_problem, texts)
            if problem.pointer or len(texts) > 1
        )
        cause = texts[0].code if texts else SoftFailure.default_code
        message = texts[0].text if texts else str(SoftFailure.default_detail)
        failure = self.make_failure(self.get_error_code(200, cause), 200, message, problems)
        remediation = detail.remediation or failure.remediation
        return replace(failure, soft=True, remediation=remediation)

    def from_problems(self, problems: Sequence[Problem]) -> Failure:
        """Return the failure of arguments that never became a request."""
        is_malformed = {problem.code for problem in problems} == {"invalid"}
        error_code = "INVALID_FORMAT" if is_malformed else self.get_error_code(400, "", problems)
        return self.make_failure(error_code, 400, self.summarize(problems), problems)

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
        """Return one sentence that says what the caller can do."""
        seconds = (context or {}).get("retry_after_seconds")
        if seconds is not None:
            # A view's own context may have anything in its place.
            count = seconds if isinstance(seconds, int) else 2
            return ngettext(
                "Wait %(seconds)s second before calling again.",
                "Wait %(seconds)s seconds before calling again.",
                count,
            ) % {"seconds": seconds}
        if problems and category in (Category.VALIDATION, Category.CONFLICT):
            return problems[0].remediation
        advice = get_status_advice(status)
        if advice is not None:
            return advice.remediation
        remedy = CODE_REMEDIES.get(error_code)
        return _(remedy) if remedy else HANDLING[category].remediation

    def get_problem_remediation(self, code: str, pointer: str, accepted: str | None) -> str:
        """Return one sentence that says what the caller can do about one argument.

        Args:
            code: the code of the problem.
            pointer: the argument, "" for all arguments.
            accepted: what would be accepted. Envelopes add it to a sentence that lacks it.
        """
        language = self.arguments.language
        is_misfit = code in FORMAT_CODES or (code == "invalid" and self.arguments.misfits(pointer))
        if code == "null" and self.arguments.optional(pointer):
            return _(OPTIONAL_NULL)
        if accepted and is_misfit:
            return (translate(SEND, language) % {"accepted": accepted}).replace("….", "…")
        if not pointer:
            text = WHOLE_REMEDIES.get(code) or PROBLEM_REMEDIES.get(code, ANOTHER)
        elif code in FILE_REMEDIES and self.arguments.is_file(pointer):
            text = FILE_REMEDIES[code]
        else:
            text = PROBLEM_REMEDIES.get(code, CORRECT)
        return translate(text, language)

    def make_failure(
        self,
        error_code: str,
        status: int,
        message: str,
        problems: Sequence[Problem] = (),
        context: Mapping[str, Any] | None = None,
    ) -> Failure:
        # Without a message, the phrase of the HTTP status.
        category = self.get_category(error_code, status)
        context = context or {}
        advice = get_status_advice(status)
        text = message or responses.get(status) or _("HTTP status %(status)d") % {"status": status}
        return Failure(
            code=error_code,
            category=category,
            message=str(text),
            remediation=self.get_remediation(error_code, category, status, problems, context),
            problems=tuple(problems),
            context=context,
            recoverable=None if advice is None or problems else advice.recoverable,
        )

    def get_problems(self, status: int, texts: Sequence[ErrorText]) -> tuple[Problem, ...]:
        problems: tuple[Problem, ...] = ()
        for entry in map(self.locate, texts):
            if entry.is_problem(status):
                problem = self.make_problem(entry)
                # A text that only repeats the argument is no problem.
                if problem.message != problem.received:
                    problems += (problem,)
        return problems

    def make_problem(self, entry: ErrorText) -> Problem:
        arguments, code = self.arguments, entry.code
        pointer = arguments.pointer(entry.path)
        is_argument = bool(entry.path and pointer)
        # For these codes the value has the right format already.
        has_wrong_format = is_argument and code not in ("unique", "not_shown")
        accepted = arguments.accepted(pointer) if has_wrong_format else None
        return Problem(
            code=code,
            message=str(entry.text),
            pointer=pointer,
            received=arguments.received(pointer) if is_argument else MISSING,
            accepted=accepted,
            remediation=self.get_problem_remediation(code, pointer, accepted),
        )

    def locate(self, entry: ErrorText) -> ErrorText:
        # The path that begins with an argument, without the names around it in the body.
        arguments, path = self.arguments, entry.path
        for start, name in enumerate(path):
            # An index below a field counts the items of the field, unless the body is a list.
            is_below = isinstance(name, int) and start and unwrap_path(path[:start])
            is_nested = is_below and not arguments.sends_list()
            if not is_nested and arguments.knows(name):
                return ErrorText(path[start:], entry.text) if start else entry
        rest = unwrap_path(path)
        if arguments.pointer(rest):
            return ErrorText(rest, entry.text)
        if not rest or not isinstance(entry.text, ErrorDetail):
            return ErrorText((), entry.text)
        # Names of no argument go into the message, which a reader may understand.
        named = f"{'.'.join(map(str, rest))}: {entry.text}"
        return ErrorText((), ErrorDetail(named, entry.code))

    def summarize(self, problems: Sequence[Problem]) -> str:
        problem, more = problems[0], len(problems) - 1
        text = problem.message
        if problem.path:
            text = f"{problem.path}: {text}"
        if not more:
            return text
        return ngettext(
            "%(text)s (%(count)d more problem)", "%(text)s (%(count)d more problems)", more
        ) % {"text": text, "count": more}


# The status that Django itself answers with when an exception of this type leaves a view.
EXCEPTION_STATUSES: dict[type[BaseException], int] = {
    Http404: 404,
    PermissionDenied: 403,
    MultiPartParserError: 400,
    BadRequest: 400,
    SuspiciousOperation: 400,
}


def get_exception_status(exc: BaseException) -> int:
    return next(filter(None, map(EXCEPTION_STATUSES.get, type(exc).__mro__)), 500)


# --- What a database refused ----------------------------------------------------------------------

# The message and the remediation, in English, by what the error code of a database driver means.
UNIQUE = (
    gettext_noop("A value that has to be unique is taken."),
    gettext_noop(
        "Read which objects exist: use the one that has these values, or send other values."
    ),
)
REFERENCE = (
    gettext_noop("A reference between objects would be broken."),
    gettext_noop(
        "Check that every object that the arguments identify exists, and that nothing refers to"
        " an object that would be deleted; then decide whether to call again."
    ),
)
# PostgreSQL's unique violation; SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, and what SQLite
# says on Python 3.10, whose driver does not give the code; MySQL's ER_DUP_ENTRY; ORA-00001. Then
# restrict and foreign key violations, rows that are referred to, and references to no row.
BROKEN_RULES: Mapping[Any, tuple[str, str]] = {
    **dict.fromkeys(("23505", 1555, 2067, 2579, 1062, 1), UNIQUE),
    "UNIQUE constraint failed": UNIQUE,
    **dict.fromkeys(("23001", "23503", 787, 1216, 1217, 1451, 1452, 2291, 2292), REFERENCE),
    "FOREIGN KEY constraint failed": REFERENCE,
}


def find_broken_rule(exc: IntegrityError) -> tuple[str, str] | None:
    cause: Any = exc.__cause__
    code: Any = cause.args[0] if cause is not None and cause.args else None
    if hasattr(code, "full_code"):
        code = code.code
    elif not isinstance(code, int):
        names = ("sqlstate", "pgcode", "sqlite_errorcode")
        known = next(filter(None, (getattr(cause, name, None) for name in names)), None)
        is_old = known is None and type(cause).__module__ == "sqlite3"
        code = str(code).partition(":")[0] if is_old else known
    return BROKEN_RULES.get(code)


def find_violation(
    exc: BaseException, name_blockers: Callable[[Blockers], str] | None = None
) -> Failure | None:
    if isinstance(exc, (ProtectedError, RestrictedError)):
        blockers = find_blockers(exc)
        message = _("The deletion was refused: other objects depend on what would be deleted.")
        remediation = _(
            "Delete the other objects first or let them refer to something else, if that is wanted;"
            " then call again."
        )
        if names := join_values(map(get_plural_name, blockers)):
            message = _("The deletion was refused: %(rows)s depend on what would be deleted.") % {
                "rows": (name_blockers and name_blockers(blockers)) or names
            }
            remediation = _(
                "Delete the %(rows)s first or let them refer to something else, if that is wanted;"
                " then call again."
            ) % {"rows": names}
    elif isinstance(exc, IntegrityError) and (rule := find_broken_rule(exc)):
        message, remediation = map(_, rule)
    else:
        return None
    return Failure("CONFLICT", Category.CONFLICT, message, remediation)


def find_blockers(exc: ProtectedError | RestrictedError) -> Blockers:
    objects = getattr(exc, "protected_objects", None) or getattr(exc, "restricted_objects", ())
    rows: dict[type[Model], list[Any]] = {}
    # A project may raise the exception with any value, such as a queryset.
    for row in objects if isinstance(objects, Collection) else ():
        if isinstance(row, Model):
            rows.setdefault(type(row), []).append(row.pk)
    return {model: tuple(rows[model]) for model in sorted(rows, key=lambda m: m._meta.label)}
