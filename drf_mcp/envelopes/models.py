"""The contracts as pydantic models, and the functions that build "response-v2"."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, Required, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, field_serializer, model_validator
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict, Unpack

from drf_mcp.codes import HANDLING, WARNING_SEVERITIES, category_of_code, screaming_code
from drf_mcp.envelopes.base import EnvelopeModel, OwnEnvelope
from drf_mcp.envelopes.metadata import find_invalid, write_times
from drf_mcp.outcomes import Category, Fidelity, Severity

__all__ = [
    "ErrorData",
    "OkError",
    "OkMeta",
    "OkResponse",
    "ResponseError",
    "ResponseMeta",
    "ResponseMetadata",
    "ResponseSeverity",
    "ResponseStatus",
    "StandardMCPResponse",
    "ToolResponse",
    "WarningDetail",
    "error_response",
    "success_response",
]

OPEN: ConfigDict = {"extra": "allow"}
# 0 and False equal none of these.
EMPTY: tuple[Any, ...] = (None, [], {}, ())

# --- response-v2 --------------------------------------------------------------------------------


class WarningDetail(TypedDict, total=False):
    """One entry of ``meta.warning_details``."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    code: str
    severity: Literal["info", "warning", "error"]
    message: Required[str]
    context: dict[str, Any]


class ReservedMeta(TypedDict, total=False):
    request_id: str
    warnings: list[str]
    warning_details: list[WarningDetail]
    pagination: dict[str, Any]
    rate_limit: dict[str, Any]
    telemetry: dict[str, Any]
    content_fidelity: Literal["full", "partial", "summary", "reference_only"]
    content_fidelity_schema_version: str
    dropped_content_ids: list[str]
    content_archive_hashes: dict[str, str]
    suggestions: list[str]
    content_version: str
    content_hash: str


class ResponseMeta(ReservedMeta, total=False):
    """``meta``: the version, the reserved members, and any others."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: Required[Literal["response-v2"]]


class MetaArguments(ReservedMeta, total=False):
    meta: Mapping[str, Any]


class ErrorData(TypedDict, total=False):
    """``data`` of a failure: the standard members, and any context."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    error_code: Required[str]
    error_type: Required[str]
    remediation: Required[str]
    details: dict[str, Any]


@dataclass
class ToolResponse(EnvelopeModel):
    """One response; ``dataclasses.asdict`` gives the JSON value."""

    mcp_contract: ClassVar[str] = "response-v2"

    success: bool
    data: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    meta: ResponseMeta = field(default_factory=lambda: ResponseMeta(version="response-v2"))

    @model_validator(mode="after")
    def error_only_on_failure(self) -> Self:
        if self.success is not (self.error is None):
            raise ValueError("error is a sentence on failure and null on success")
        if self.error is not None and not self.error.strip():
            raise ValueError("error is empty: say in a sentence what went wrong")
        return self

    def as_json(self) -> OwnEnvelope:
        # `asdict` copies values, and some lists of REST framework cannot be copied.
        return OwnEnvelope(vars(self), self.mcp_contract)


def success_response(
    data: Mapping[str, Any] | None = None, **meta: Unpack[MetaArguments]
) -> ToolResponse:
    """Return the response of a call that worked.

    Args:
        data: the payload; ``{}`` when there is none.
        meta: the reserved members of ``meta``, and ``meta`` with further members. A member
            that is None is left out.

    Raises:
        ValueError: if ``meta`` says what the contract does not allow, such as page 0.
    """
    return ToolResponse(success=True, data=_require_mapping("data", data), meta=_make_meta(meta))


def error_response(
    message: str,
    *,
    error_code: str | None = None,
    error_type: str | None = None,
    remediation: str | None = None,
    data: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
    **meta: Unpack[MetaArguments],
) -> ToolResponse:
    """Return the response of a call that failed, its standard members always filled.

    Args:
        message: what went wrong, for people.
        error_code: in any case, such as ``spec_not_found``; by default ``INTERNAL_ERROR``, which
            gives way to what the HTTP status says.
        error_type: the category; by default of a standard code, ``not_found`` of a code
            that ends in ``_NOT_FOUND``, else ``internal``.
        remediation: what to do about it; by default the advice of the category.
        data: further context, merged into ``data``.
        details: ``field``, ``constraint``, ``received`` and the like.
        meta: as for `success_response`.

    Raises:
        ValueError: if ``meta`` says what the contract does not allow, such as page 0.
    """
    code = screaming_code(error_code or "INTERNAL_ERROR")
    category = error_type or category_of_code(code, 500).value
    if not remediation:
        known = category in {standard.value for standard in Category}
        remediation = HANDLING[Category(category) if known else Category.INTERNAL].remediation
    extra = _require_mapping("details", details)
    standard = {
        "error_code": code,
        "error_type": category,
        "remediation": remediation,
        **({"details": extra} if extra else {}),
    }
    # The standard members come first, and others never replace them.
    merged = {**standard, **_require_mapping("data", data), **standard}
    return ToolResponse(success=False, data=merged, error=message, meta=_make_meta(meta))


def _require_mapping(name: str, value: Mapping[str, Any] | None) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(
            f"{name} must be a dict, not {type(value).__name__}: give the value a name, "
            f"such as {name}={{'results': ...}}"
        )
    return dict(value or {})


def _make_meta(arguments: MetaArguments) -> ResponseMeta:
    members: dict[str, Any] = dict(arguments)
    if unknown := members.keys() - MetaArguments.__annotations__.keys():
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    extra, details = _require_mapping("meta", members.pop("meta", None)), []
    for detail in members.get("warning_details") or ():
        if detail.get("code"):
            # A standard code has a severity.
            code = screaming_code(detail["code"])
            known = WARNING_SEVERITIES.get(code)
            detail = {**({"severity": known.value} if known else {}), **detail, "code": code}
        details.append(detail)
    members["warning_details"] = details
    meta = {**extra, **{name: value for name, value in members.items() if value not in EMPTY}}
    if "content_fidelity" in meta:
        meta.setdefault("content_fidelity_schema_version", Fidelity.version)
    if refused := list(find_invalid(meta)):
        raise ValueError(f"not as the contract has it: {', '.join(refused)}")
    return {**write_times(meta), "version": "response-v2"}  # type: ignore[typeddict-item]


# --- ok -----------------------------------------------------------------------------------------


class OkError(BaseModel):
    """One entry of ``errors``."""

    model_config = OPEN

    code: str
    message: str
    path: str | None = None
    fix_hint: str | None = None


class OkMeta(BaseModel):
    """``meta``: facts about the answer."""

    model_config = OPEN

    content_hash: str | None = Field(default=None, pattern="^sha256-")
    version: str | None = None
    next_cursor: str | None = None
    warnings: list[str] | None = None


class OkResponse(EnvelopeModel, BaseModel):
    """The whole envelope; dump it with ``exclude_unset=True``."""

    mcp_contract: ClassVar[str] = "ok"

    ok: bool
    data: Any = None
    errors: list[OkError] | None = None
    meta: OkMeta

    @model_validator(mode="after")
    def errors_only_on_failure(self) -> Self:
        if self.ok is bool(self.errors):
            raise ValueError("errors are given on failure and only then")
        return self

    def model_dump(self, **options: Any) -> OwnEnvelope:
        return OwnEnvelope(super().model_dump(**options), self.mcp_contract)

    def as_json(self) -> OwnEnvelope:
        return self.model_dump(exclude_unset=True)


# --- status -------------------------------------------------------------------------------------

# The contract's name for the severities that every envelope uses.
ResponseSeverity = Severity


class ResponseStatus(enum.StrEnum):
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"


class ResponseError(BaseModel):
    """One error."""

    message: str = Field(description="Human-readable error message")
    suggestion: str | None = Field(default=None, description="Actionable suggestion")
    severity: ResponseSeverity = Field(description="Error severity level")
    code: str = Field(description="Machine-readable error code")
    recoverable: bool = Field(default=True, description="Whether this error can be recovered from")
    context: dict[str, Any] | None = Field(
        default=None, description="Additional context information"
    )


class ResponseMetadata(BaseModel):
    """The tool, the time and the duration of the call."""

    model_config = OPEN

    request_id: str = Field(
        default_factory=lambda: str(uuid4())[:8],
        description="The id under which the log knows the call",
    )
    timestamp: datetime = Field(
        default_factory=lambda: datetime.now(UTC), description="When it answered, in UTC"
    )
    tool_name: str = Field(description="Name of the tool that generated this response")
    tool_version: str = Field(default="1.0.0", description="Version of the tool")
    execution_time: float | None = Field(default=None, description="Execution time in seconds")

    @field_serializer("timestamp")
    def timestamp_in_utc(self, value: datetime) -> str:
        # As text, so that any JSON encoder takes the dump.
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


class StandardMCPResponse(EnvelopeModel, BaseModel):
    """Base response model; subclass it per tool if you like.

    ``status`` is decided by `finalize`.
    """

    mcp_contract: ClassVar[str] = "status"

    status: ResponseStatus = Field(
        default=ResponseStatus.SUCCESS, description="Overall operation status"
    )
    success: bool = Field(default=True, description="Whether the primary operation succeeded")
    errors: list[ResponseError] = Field(default_factory=list, description="What went wrong")
    warnings: list[str] = Field(default_factory=list, description="What to know of the answer")
    suggestions: list[str] = Field(default_factory=list, description="What to do next")
    metadata: ResponseMetadata = Field(
        default_factory=lambda: ResponseMetadata(tool_name=""), description="Who answered, and when"
    )
    data: dict[str, Any] | None = Field(default=None, description="Tool-specific response data")

    @property
    def partial_success(self) -> bool:
        """True if it succeeded, but with errors or warnings."""
        return self.success and bool(self.errors or self.warnings)

    def add_error(self, error: ResponseError) -> None:
        """Add an error; one of severity error or critical makes the response a failure."""
        self.errors.append(error)
        if error.severity in (ResponseSeverity.ERROR, ResponseSeverity.CRITICAL):
            self.success = False

    def add_warning(self, message: str) -> None:
        """Add a warning."""
        self.warnings.append(message)

    def add_suggestion(self, suggestion: str) -> None:
        """Add an actionable suggestion, unless it is there already."""
        if suggestion and suggestion not in self.suggestions:
            self.suggestions.append(suggestion)

    def finalize(self) -> OwnEnvelope:
        """Decide the status and return the JSON value, absent members left out."""
        succeeded = "PARTIAL_SUCCESS" if self.partial_success else "SUCCESS"
        self.status = ResponseStatus[succeeded if self.success else "FAILURE"]
        return self.model_dump(exclude_none=True)

    def model_dump(self, **options: Any) -> OwnEnvelope:
        metadata = self.metadata
        defaults = type(metadata).model_fields.keys() - metadata.model_fields_set
        defaults |= {name for name in ("tool_name",) if not metadata.tool_name}
        return OwnEnvelope(super().model_dump(**options), self.mcp_contract, defaults)

    def as_json(self) -> OwnEnvelope:
        return self.finalize()
