from __future__ import annotations

import enum
from datetime import datetime, timezone
from typing import Any, ClassVar, Protocol
from uuid import uuid4

from pydantic import BaseModel, Field, field_serializer

from drf_mcp.codes import gettext_noop as _
from drf_mcp.envelopes.metadata import OPEN, TRANSLATED
from drf_mcp.json_text import JSONBody
from drf_mcp.outcomes import Severity

__all__ = [
    "ResponseError",
    "ResponseMetadata",
    "ResponseSeverity",
    "ResponseStatus",
    "StandardMCPResponse",
]

# The contract's name for the severities that every envelope uses.
ResponseSeverity = Severity


class ResponseStatus(str, enum.Enum):
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"


class FormattedError(Protocol):
    """An error ready to be shown, of whatever class."""

    message: str
    suggestion: str | None
    # Any enumeration with the values of `ResponseSeverity`.
    severity: Any
    error_code: str
    recoverable: bool
    context: dict[str, Any] | None


class ResponseError(BaseModel):
    """One error."""

    model_config = TRANSLATED

    message: str = Field(description=_("Human-readable error message"))
    suggestion: str | None = Field(default=None, description=_("Actionable suggestion"))
    severity: ResponseSeverity = Field(description=_("Error severity level"))
    code: str = Field(description=_("Machine-readable error code"))
    recoverable: bool = Field(
        default=True, description=_("Whether this error can be recovered from")
    )
    context: dict[str, Any] | None = Field(
        default=None, description=_("Additional context information")
    )

    @classmethod
    def from_formatted(cls, formatted: FormattedError | ResponseError) -> ResponseError:
        """Return the error of a response for an error of a project's own formatter."""
        if isinstance(formatted, ResponseError):
            return formatted
        return cls(
            message=formatted.message,
            suggestion=formatted.suggestion,
            severity=ResponseSeverity(formatted.severity.value),
            code=formatted.error_code,
            recoverable=formatted.recoverable,
            context=formatted.context,
        )


class ResponseMetadata(BaseModel):
    """The tool, the time and the duration of the call."""

    model_config = OPEN

    request_id: str = Field(
        default_factory=lambda: str(uuid4())[:8],
        description=_("The id under which the log knows the call"),
    )
    timestamp: datetime = Field(
        default_factory=lambda: datetime.now(timezone.utc),
        description=_("When it answered, in UTC"),
    )
    tool_name: str = Field(description=_("Name of the tool that generated this response"))
    tool_version: str = Field(default="1.0.0", description=_("Version of the tool"))
    execution_time: float | None = Field(default=None, description=_("Execution time in seconds"))

    @field_serializer("timestamp")
    def timestamp_in_utc(self, value: datetime) -> str:
        # As text, so that any JSON encoder takes the dump.
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


class StandardMCPResponse(JSONBody, BaseModel):
    """Base response model; subclass it per tool if you like.

    ``status`` is decided by `finalize`.
    """

    model_config = TRANSLATED
    mcp_contract: ClassVar[str] = "status"

    status: ResponseStatus = Field(
        default=ResponseStatus.SUCCESS, description=_("Overall operation status")
    )
    success: bool = Field(default=True, description=_("Whether the primary operation succeeded"))
    errors: list[ResponseError] = Field(default_factory=list, description=_("What went wrong"))
    warnings: list[str] = Field(default_factory=list, description=_("What to know of the answer"))
    suggestions: list[str] = Field(default_factory=list, description=_("What to do next"))
    metadata: ResponseMetadata = Field(
        default_factory=lambda: ResponseMetadata(tool_name=""),
        description=_("Who answered, and when"),
    )
    data: dict[str, Any] | None = Field(default=None, description=_("Tool-specific response data"))

    @property
    def partial_success(self) -> bool:
        """True if it succeeded, but with errors or warnings."""
        return self.success and bool(self.errors or self.warnings)

    def add_error(self, error: ResponseError) -> None:
        """Add an error; one of severity error or critical makes the response a failure."""
        self.errors.append(error)
        if error.severity in (ResponseSeverity.ERROR, ResponseSeverity.CRITICAL):
            self.success = False

    def add_formatted(self, formatted: FormattedError | ResponseError) -> None:
        """Add an error of any class, and its suggestion."""
        error = ResponseError.from_formatted(formatted)
        self.add_error(error)
        self.add_suggestion(error.suggestion or "")

    def add_warning(self, message: str) -> None:
        """Add a warning."""
        self.warnings.append(message)

    def add_suggestion(self, suggestion: str) -> None:
        """Add an actionable suggestion, unless it is there already."""
        if suggestion and suggestion not in self.suggestions:
            self.suggestions.append(suggestion)

    def finalize(self) -> dict[str, Any]:
        """Decide the status and return the JSON value, absent members left out."""
        if not self.success:
            self.status = ResponseStatus.FAILURE
        elif self.partial_success:
            self.status = ResponseStatus.PARTIAL_SUCCESS
        else:
            self.status = ResponseStatus.SUCCESS
        return self.model_dump(exclude_none=True)

    def as_json(self) -> dict[str, Any]:
        return self.finalize()

    def as_envelope(self) -> dict[str, Any]:
        # Without defaults of the metadata, which the rendering envelope fills in.
        return {
            **vars(self),
            "errors": [error.model_dump(exclude_none=True) for error in self.errors],
            "metadata": self.metadata.model_dump(exclude_unset=True, exclude_none=True),
        }
