"""The outcome of a tool call: values between REST framework and MCP.

The modules that make an `Outcome` know nothing of MCP; the modules that read it know nothing of
REST framework.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from drf_mcp.codes import Category as Category
from drf_mcp.codes import Severity as Severity
from drf_mcp.json_text import JSONPointer as JSONPointer


class Missing(enum.Enum):
    MISSING = "missing"


MISSING = Missing.MISSING
"""The value of an argument that the caller did not send."""


# Not frozen, nor is `Failure`: making a frozen one takes three times as long.
@dataclass
class Problem:
    """One thing wrong with what the caller sent.

    Attributes:
        code: REST framework's own code in its own case, such as ``required``.
        message: the view's sentence.
        pointer: RFC 6901 JSON pointer into the arguments; "" is all of them.
        received: the value at the pointer, masked where secret, or `MISSING`.
        accepted: what would be accepted, in words; None when that is not known.
        remediation: one sentence with what the caller can do.
        severity: None for the severity of the failure's category.
        recoverable: whether the caller can get past it; None for the category's answer.
        context: further JSON members.
    """

    code: str
    message: str
    pointer: str = ""
    received: Any = MISSING
    accepted: str | None = None
    remediation: str = ""
    severity: Severity | None = None
    recoverable: bool | None = None
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The dotted path of the pointer, ``a[0].b``; "" is all of the arguments."""
        return JSONPointer(self.pointer).dotted


@dataclass
class Failure:
    """The failure of a call.

    Attributes:
        code: machine-readable, in SCREAMING_SNAKE_CASE.
        message: one sentence.
        remediation: one sentence with what the caller can do.
        problems: what is wrong with the arguments.
        context: further JSON members, such as ``retry_after_seconds``.
        soft: True if the call itself worked and the answer is no.
        recoverable: whether the caller can get past it; None for the category's answer.
        details: the ``details`` of a view's own envelope, as the view wrote them.
        data: the ``data`` of a view's own envelope with errors.
        body: the body of a soft failure as the view wrote it, `MISSING` where no view wrote one,
            None where the data of the outcome is the body.
        scopes: the scopes that the caller's token lacks, if the call was refused for one.
    """

    code: str
    category: Category
    message: str
    remediation: str
    problems: tuple[Problem, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    soft: bool = False
    recoverable: bool | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] | None = None
    body: Any = MISSING
    scopes: tuple[str, ...] = ()

    def with_problems(self, problems: tuple[Problem, ...]) -> Failure:
        """Return the failure with the same problems at other pointers, also in its message."""
        message = self.message
        # The message may begin with the first argument.
        path = self.problems[0].path if self.problems else ""
        if path and message.startswith(f"{path}: "):
            message = problems[0].path + message.removeprefix(path)
        return replace(self, message=message, problems=problems)


@dataclass(frozen=True)
class Warning:
    """A warning about a call that worked.

    Attributes:
        code: machine-readable, in SCREAMING_SNAKE_CASE, such as ``STALE_CACHE``.
        message: one sentence.
        context: further JSON members.
        remediation: one sentence with what the caller can do, if anything.
        recoverable: for an error of a call that worked, whether the caller can get
            past it; None for a warning.
        summary: a shorter message, for envelopes whose ``warning_details`` have the whole
            message; "" for the message itself.
        problems: the problems that the warning sums up, for envelopes that take errors with an
            answer.
    """

    code: str
    message: str
    severity: Severity = Severity.WARNING
    context: Mapping[str, Any] = field(default_factory=dict)
    remediation: str = ""
    recoverable: bool | None = None
    summary: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def detail(self) -> dict[str, Any]:
        """The warning as an entry of ``warning_details``."""
        entry = {"code": self.code, "severity": self.severity.value, "message": self.message}
        more = {"context": dict(self.context), "remediation": self.remediation}
        return entry | {name: value for name, value in more.items() if value}


PAGE_MEMBERS = frozenset({"count", "next", "previous"})
"""The members of a page of REST framework's paginators, without the rows."""


@dataclass(frozen=True)
class Pagination:
    """The position of a page in its list.

    Attributes:
        has_more: True if another page follows, None if a view's own envelope does not say.
        total_count: rows of all pages, None if the paginator does not count.
        page_size: rows of a full page, None if unknown.
        page: the number of this page, for page-number pagination.
        cursor: the value of the paginator's moving argument that gives the next
            page, as a string; None on the last page.
        next: the arguments that fetch the next page, ready to send; None on the
            last page.
        more: further members of a view's own envelope.
        own: True if a view's own envelope describes the page, and the data has no members of
            a paginator.
    """

    has_more: bool | None = None
    total_count: int | None = None
    page_size: int | None = None
    page: int | None = None
    cursor: str | None = None
    next: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False


PERIODS: Mapping[int, str] = {1: "second", 60: "minute", 3600: "hour", 86400: "day"}
"""The periods of throttles that have a name, by their seconds."""


def period_name(seconds: float) -> str:
    return PERIODS.get(int(seconds)) or f"{seconds:g} seconds"


def iso_time(seconds: float) -> str:
    # Raises ValueError, OverflowError or OSError where no calendar has such a time.
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class RateLimit:
    """The rest of the quota of a throttle.

    Attributes:
        limit: calls allowed per period.
        remaining: calls left.
        reset_at: when the oldest counted call no longer counts, as ISO 8601.
        period: the length of the period in words, such as ``minute`` or ``hour``.
        retry_after: seconds to wait, when no call is left.
        more: further members of a view's own envelope.
    """

    limit: int | None = None
    remaining: int | None = None
    reset_at: str | None = None
    period: str | None = None
    retry_after: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """What an answer was made from.

    Attributes:
        version: the canonical version of the content, "" where the view does not say.
        content_hash: the hash of that version.
    """

    version: str = ""
    content_hash: str = ""


UNVERSIONED = Source()


# From whole to least.
FIDELITY_LEVELS = ("full", "partial", "summary", "reference_only")


@dataclass(frozen=True)
class Fidelity:
    """How much of the view's answer is left in a shortened result.

    Attributes:
        level: ``full``, ``partial``, ``summary`` or ``reference_only``.
        dropped: the ids of the content that was left out.
        archives: archive id -> ``sha256:`` hash of its content.
        version: the version of the contract's members.
    """

    level: str = "full"
    dropped: tuple[str, ...] = ()
    archives: Mapping[str, str] = field(default_factory=dict)
    version: str = "1.0"


@dataclass(frozen=True)
class Question:
    """A question for the client or its user, which has to be answered before a call can go on.

    Attributes:
        key: the key of the answer, unique in the call.
        message: the question, in words that a person reads.
        schema: the form's JSON Schema, a flat object (client/elicitation, "Requested Schema").
        url: the page that asks in place of a form.
        memory: a JSON value that the client sends back, signed, with the answer.
        request: a request of another method, such as ``{"method": "roots/list"}``.
        is_personal: whether only the client's user may answer, and no model in the user's place.
    """

    key: str
    message: str = ""
    schema: Mapping[str, Any] | None = None
    url: str = ""
    memory: Any = None
    request: Mapping[str, Any] | None = None
    is_personal: bool = False

    @property
    def mode(self) -> str:
        """The capability of a client: ``form``, ``url``, ``sampling`` or ``roots``."""
        if self.request is not None:
            return str(self.request["method"]).partition("/")[0]
        return "url" if self.url else "form"


@dataclass(frozen=True)
class Outcome:
    """The result of one call, before any envelope.

    Attributes:
        status: the HTTP status that the view gave.
        data: the view's own value, as its ``response.data``: any value that REST
            framework's JSON encoder takes. None when there is no body.
        failure: None on success.
        request_id: the id under which the log knows this call.
        content: further content blocks of the MCP result (images, resources).
        suggestions: sentences with what the caller could do next.
        pagination: None when the answer is no page.
        telemetry: measurements by name: the view's own, and what the setting TELEMETRY adds.
        duration_ms: how long the call took, None where it was not measured.
        fidelity: None when nothing was left out.
        meta: further facts about the answer, from guards or a view's own envelope.
        source: the version of the content.
        call: ``kwargs`` and ``query_string`` of the request to the view, as the archive keeps
            them; empty where the arguments were refused.
        questions: the questions for the user; the failure is for clients that cannot ask.
        waits: True if the call was not made, because people have to approve it first.
        is_trial: True if the changes of the call were rolled back.
        unfinished: the result that leaves the call open: it asks the questions, or names the task
            that the call has become. None for a call that is over.
        result_meta: further members of the ``_meta`` of the MCP result.
    """

    tool: str
    status: int
    data: Any = None
    failure: Failure | None = None
    request_id: str = ""
    content: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[Warning, ...] = ()
    suggestions: tuple[str, ...] = ()
    pagination: Pagination | None = None
    rate_limit: RateLimit | None = None
    telemetry: Mapping[str, Any] = field(default_factory=dict)
    duration_ms: float | None = None
    fidelity: Fidelity | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    source: Source = UNVERSIONED
    call: Mapping[str, Any] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    waits: bool = False
    is_trial: bool = False
    unfinished: Any = None
    result_meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_page(self) -> bool:
        """True if the data is a paginator's page, and not a view's own envelope."""
        return self.pagination is not None and not self.pagination.own

    @property
    def is_asked(self) -> bool:
        """True if the call was not made yet: a person is asked first."""
        return bool(self.questions) or self.waits

    @property
    def is_error(self) -> bool:
        """True if the MCP result carries ``isError``: a failure that is not soft."""
        return self.failure is not None and not self.failure.soft

    def changed(self, **members: Any) -> Outcome:
        # Faster than `dataclasses.replace`, which sets each member anew.
        outcome, known = object.__new__(Outcome), self.__dict__.copy()
        known.update(members)
        object.__setattr__(outcome, "__dict__", known)
        return outcome
