"""Error responses and exceptions of views, as a `Failure` with its `Problem`s.

The code is read from the response's ErrorDetails first and from the HTTP status second, so
that a project's own exception handler is respected whatever its bodies look like.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from http.client import responses
from typing import Any, NamedTuple

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import IntegrityError
from django.db.models import Model
from django.db.models.deletion import ProtectedError, RestrictedError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import ErrorDetail

from drf_mcp.arguments.errors import mask_body
from drf_mcp.codes import (
    CAUSES,
    CODE_REMEDIES,
    ELSEWHERE,
    FORMAT_CODES,
    HANDLING,
    OPTIONAL_NULL,
    Category,
    category_of_code,
    describe_wait,
    find_problem_advice,
    find_status_advice,
    screaming_code,
    standard_code,
)
from drf_mcp.dispatch.error_bodies import (
    MESSAGE_KEYS,
    VALIDATING,
    ErrorText,
    Place,
    find_cause,
    find_error_texts,
    find_main_text,
    find_own_code,
    name_rest,
    unwrap_path,
)
from drf_mcp.exceptions import InternalError, SoftDetail, SoftFailure
from drf_mcp.introspection.text import find_plural_name, join_values
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, Failure, Problem

# Error codes where every problem has the same one of these codes.
PROBLEM_CAUSES = {"required": "MISSING_REQUIRED", "unique": "DUPLICATE_ENTRY"}
# Codes that do not say what is wrong: the status decides.
GENERAL_CODES = frozenset({"invalid", "error"})
# A name that a line of code reads of a mapping, such as ``request.query_params.get("size")``.
READ_NAME = re.compile(r"""\.get\(\s*["']([\w-]+)["']""")
# A literal key, such as ``data["size"]``, and a part of a request that is read by any key.
READ_KEY = re.compile(r"""(?:\[|\.pop\()\s*["']([\w-]+)["']""")
READ_PART = re.compile(r"\b(?:data|query_params|GET|POST|FILES|attrs)(?:\[|\.pop\()")
RETRY_STATUSES = frozenset({429, 503})


class ArgumentLocator:
    """Finds the argument of a call that an error is about. This class finds none."""

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


class ReadBody(NamedTuple):
    problems: tuple[Problem, ...]
    message: str
    cause: str
    context: dict[str, Any]


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
        self.arguments = arguments or ArgumentLocator()

    def from_response(self, status: int, data: Any, headers: Mapping[str, str]) -> Failure:
        """Return the failure of a response with a status of 400 or more."""
        found = self._read_body(status, data)
        message = self._summarize(found.problems) if found.problems else found.message
        seconds = headers.get("Retry-After", "") if status in RETRY_STATUSES else ""
        if seconds.isdigit():
            found.context["retry_after_seconds"] = int(seconds)
        error_code = self.get_error_code(status, found.cause, found.problems)
        return self._make_failure(error_code, status, message, found.problems, found.context)

    def _read_body(self, status: int, data: Any) -> ReadBody:
        texts, sentence = find_error_texts(data), find_main_text(data)
        said, context = set[Place](), dict[str, Any]()
        for entry in texts:
            context.update(getattr(entry.text, "context", ()))
        main = find_cause(data, texts, status)
        cause, own = main.code if main else "", find_own_code(data)
        if own is not None and self._is_error_code(*own, status, texts, sentence):
            said.add(own[1])
            # It says more than the code of REST framework's exception.
            if cause in ("", *GENERAL_CODES, *CAUSES):
                cause = own[0]
        problems = self._get_problems(status, texts, sentence, said)
        if not problems and sentence is not None:
            main = main if main is not None and main.text == sentence.text else sentence
            if main.place:
                said.add(main.place)
            context.update(main.more)
        message = "" if sentence is None else str(sentence.text)
        context = {**name_rest(data, said), **context}
        context = {name: mask_body(name, value) for name, value in context.items()}
        return ReadBody(tuple(problems), message, cause, context)

    def _is_error_code(
        self,
        code: str,
        place: Place,
        status: int,
        texts: Sequence[ErrorText],
        sentence: ErrorText | None,
    ) -> bool:
        is_alone = sentence is None or sentence.place is None or sentence.place == place
        is_argument = status in VALIDATING and self.arguments.knows(place[1])
        if is_alone or is_argument or code in GENERAL_CODES:
            return False
        # The ErrorDetails decide, unless the body has a code next to the sentence.
        is_near = sentence is not None and sentence.place and sentence.place[0] == place[0]
        return bool(is_near) or not any(isinstance(each.text, ErrorDetail) for each in texts)

    def from_exception(self, exc: BaseException, request_id: str = "") -> Failure:
        """Return the failure of an exception that left the view.

        The text of an unexpected exception may hold secrets: the caller only gets the request id.
        """
        violated = find_violation(exc)
        if violated is not None:
            return violated
        missing = self.find_missing_argument(exc)
        if missing is not None:
            return missing
        status = find_exception_status(exc)
        message = InternalError.describe(request_id) if status >= 500 else ""
        return self._make_failure(self.get_error_code(status, exc=exc), status, message)

    def find_missing_argument(self, exc: BaseException) -> Failure | None:
        """Return the failure of an exception for want of a value in the call, None for others."""
        names: list[Any] = []
        lines = [frame.line or "" for frame in traceback.extract_tb(exc.__traceback__)]
        if isinstance(exc, KeyError):
            # A key of a dictionary of the view's own may have the name of an argument.
            read = {name for line in lines for name in READ_KEY.findall(line)}
            names = [name for name in exc.args if name in read or any(map(READ_PART.search, lines))]
        elif isinstance(exc, (AttributeError, TypeError)) and "NoneType" in str(exc):
            names = READ_NAME.findall(lines[-1] if lines else "")
        for name in names:
            pointer = self.arguments.pointer((name,)) if isinstance(name, str) else ""
            is_missing = pointer and self.arguments.received(pointer) is MISSING
            if is_missing and self.arguments.knows(name):
                text = ErrorDetail("This argument is required.", "required")
                problems = [self._make_problem(ErrorText((name,), text, is_placed=True))]
                code = self.get_error_code(400, "", problems)
                return self._make_failure(code, 400, self._summarize(problems), problems)
        return None

    def from_redirect(self, location: str, *, is_login: bool) -> Failure:
        """Return the failure of a redirect to a login page, or to another place of the call."""
        status, text = 404, "The API takes this call at another place"
        if is_login:
            status, text = 401, "The API answers with its login page"
        message, context = f"{text}: {location}", {"location": location}
        failure = self._make_failure(self.get_error_code(status), status, message, (), context)
        return failure if is_login else replace(failure, remediation=ELSEWHERE, recoverable=False)

    def from_soft_failure(self, detail: SoftDetail) -> Failure:
        """Return the failure of a call that worked and whose answer is no."""
        found = self._read_body(200, detail.errors)
        problems = found.problems
        if len(problems) == 1 and not problems[0].pointer:
            problems = ()
        if detail.remediation:
            # The view's remediation needs no accepted values after it.
            problems = tuple(
                replace(each, remediation=detail.remediation, accepted=None) for each in problems
            )
        cause = found.cause or SoftFailure.default_code
        message = found.message or str(SoftFailure.default_detail)
        code = self.get_error_code(200, cause)
        failure = self._make_failure(code, 200, message, problems, found.context)
        remediation = detail.remediation or failure.remediation
        return replace(failure, soft=True, remediation=remediation)

    def from_problems(self, problems: Sequence[Problem]) -> Failure:
        """Return the failure of arguments that never became a request."""
        is_malformed = {problem.code for problem in problems} == {"invalid"}
        error_code = "INVALID_FORMAT" if is_malformed else self.get_error_code(400, "", problems)
        return self._make_failure(error_code, 400, self._summarize(problems), problems)

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
            return f"{describe_wait(seconds)} before calling again."
        if problems and category in (Category.VALIDATION, Category.CONFLICT):
            return problems[0].remediation
        advice = find_status_advice(status)
        if advice is not None:
            return advice.remediation
        remedy = CODE_REMEDIES.get(error_code)
        return remedy if remedy else HANDLING[category].remediation

    def get_problem_remediation(self, code: str, pointer: str, accepted: str | None) -> str:
        """Return one sentence that says what the caller can do about one argument.

        Args:
            code: the code of the problem.
            pointer: the argument, "" for all arguments.
            accepted: what would be accepted. Envelopes add it to a sentence that lacks it.
        """
        is_misfit = code in FORMAT_CODES or (code == "invalid" and self.arguments.misfits(pointer))
        if code == "null" and self.arguments.optional(pointer):
            return OPTIONAL_NULL
        if accepted and is_misfit:
            return f"Send {accepted}.".replace("….", "…")
        is_file = self.arguments.is_file(pointer)
        return find_problem_advice(code, is_whole=not pointer, is_file=is_file)

    def _make_failure(
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
        advice = find_status_advice(status)
        text = message or responses.get(status) or f"HTTP status {status}"
        return Failure(
            code=error_code,
            category=category,
            message=str(text),
            remediation=self.get_remediation(error_code, category, status, problems, context),
            problems=tuple(problems),
            context=context,
            recoverable=None if advice is None or problems else advice.recoverable,
        )

    def _get_problems(
        self,
        status: int,
        texts: Sequence[ErrorText],
        sentence: ErrorText | None,
        said: set[Place],
    ) -> list[Problem]:
        problems = []
        place = None if sentence is None else sentence.place
        is_general = place is not None and place[1] in MESSAGE_KEYS
        has_sentence = any(not entry.is_word for entry in texts)
        for text in texts:
            entry = self.locate(text)
            if text.place in said or not entry.is_problem(status):
                continue
            if not entry.path and unwrap_path(text.path) == text.path != ():
                # A text under a name of no argument is a fact, if the error has another sentence.
                is_member = text.place is not None and isinstance(text.place[1], str)
                is_plain = is_member or not isinstance(text.text, ErrorDetail)
                if (is_general and is_plain) or (is_member and text.is_word and has_sentence):
                    continue
            problem = self._make_problem(entry)
            if text.place is not None:
                said.add(text.place)
            # A text that only repeats the argument is no problem.
            if problem.message != problem.received:
                problems.append(problem)
        return problems

    def _make_problem(self, entry: ErrorText) -> Problem:
        arguments, code = self.arguments, entry.code
        pointer = arguments.pointer(entry.path)
        is_argument = bool(entry.path and pointer)
        # For these codes the value has the right format already.
        has_wrong_format = is_argument and code not in ("unique", "not_shown")
        accepted = arguments.accepted(pointer) if has_wrong_format else None
        return Problem(
            code=code,
            message=str(entry.text),
            pointer=pointer or (JSONPointer.from_path(entry.path) if entry.is_placed else ""),
            received=arguments.received(pointer) if is_argument else MISSING,
            accepted=accepted,
            remediation=self.get_problem_remediation(code, pointer, accepted),
            context={name: mask_body(name, value) for name, value in entry.more.items()},
        )

    def locate(self, entry: ErrorText) -> ErrorText:
        # The path that begins with an argument, without the names around it in the body.
        arguments, path = self.arguments, entry.path
        for start, name in enumerate(path):
            # An index below a field counts the items of the field, unless the body is a list.
            is_below = isinstance(name, int) and start and unwrap_path(path[:start])
            is_nested = is_below and not arguments.sends_list()
            if not is_nested and arguments.knows(name):
                return entry._replace(path=path[start:]) if start else entry
        rest = unwrap_path(path)
        if arguments.pointer(rest) or entry.is_placed:
            return entry._replace(path=rest)
        if not rest or not isinstance(entry.text, ErrorDetail):
            return entry._replace(path=())
        # Names of no argument go into the message, which a reader may understand.
        named = f"{'.'.join(map(str, rest))}: {entry.text}"
        return entry._replace(path=(), text=ErrorDetail(named, entry.code))

    def _summarize(self, problems: Sequence[Problem]) -> str:
        problem, more = problems[0], len(problems) - 1
        text = problem.message
        if problem.path:
            text = f"{problem.path}: {text}"
        return f"{text} ({more} more problem{'s' * (more > 1)})" if more else text


# The status that Django itself answers with when an exception of this type leaves a view.
EXCEPTION_STATUSES: dict[type[BaseException], int] = {
    Http404: 404,
    PermissionDenied: 403,
    MultiPartParserError: 400,
    BadRequest: 400,
    SuspiciousOperation: 400,
}


def find_exception_status(exc: BaseException) -> int:
    return next(filter(None, map(EXCEPTION_STATUSES.get, type(exc).__mro__)), 500)


# --- Refusals of a database -----------------------------------------------------------------------

# The message and the remediation, in English, by what the error code of a database driver means.
UNIQUE = (
    "A value that has to be unique is taken.",
    "Read which objects exist: use the one that has these values, or send other values.",
)
REFERENCE = (
    "A reference between objects would be broken.",
    (
        "Check that every object that the arguments identify exists, and that nothing refers to"
        " an object that would be deleted; then decide whether to call again."
    ),
)
# PostgreSQL's unique violation; SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID; MySQL's
# ER_DUP_ENTRY; ORA-00001. Then restrict and foreign key violations, rows that are referred to, and
# references to no row.
BROKEN_RULES: Mapping[Any, tuple[str, str]] = {
    **dict.fromkeys(("23505", 1555, 2067, 2579, 1062, 1), UNIQUE),
    **dict.fromkeys(("23001", "23503", 787, 1216, 1217, 1451, 1452, 2291, 2292), REFERENCE),
}


def find_broken_rule(exc: IntegrityError) -> tuple[str, str] | None:
    cause: Any = exc.__cause__
    code: Any = cause.args[0] if cause is not None and cause.args else None
    if hasattr(code, "full_code"):
        code = code.code
    elif not isinstance(code, int):
        names = ("sqlstate", "pgcode", "sqlite_errorcode")
        code = next(filter(None, (getattr(cause, name, None) for name in names)), None)
    return BROKEN_RULES.get(code)


def find_violation(exc: BaseException) -> Failure | None:
    if isinstance(exc, (ProtectedError, RestrictedError)):
        message = "The deletion was refused: other objects depend on what would be deleted."
        remediation = (
            "Delete the other objects first or let them refer to something else, if that is wanted;"
            " then call again."
        )
        if names := join_values(map(find_plural_name, _find_blockers(exc))):
            message = f"The deletion was refused: {names} depend on what would be deleted."
            remediation = (
                f"Delete the {names} first or let them refer to something else, if that is wanted;"
                " then call again."
            )
    elif isinstance(exc, IntegrityError) and (rule := find_broken_rule(exc)):
        message, remediation = rule
    else:
        return None
    return Failure("CONFLICT", Category.CONFLICT, message, remediation)


def _find_blockers(exc: ProtectedError | RestrictedError) -> list[type[Model]]:
    """Return the models of the rows that prevent a deletion."""
    objects = getattr(exc, "protected_objects", None) or getattr(exc, "restricted_objects", ())
    # A project may raise the exception with any value, such as a queryset.
    rows = objects if isinstance(objects, Collection) else ()
    models = {type(row) for row in rows if isinstance(row, Model)}
    return sorted(models, key=lambda model: model._meta.label)
