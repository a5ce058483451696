"""The "response-v2" contract as pydantic models, and the functions that build it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass
from typing_extensions import Required, Self, TypedDict, Unpack

from drf_mcp.envelopes.bodies import Body
from drf_mcp.envelopes.response_v2 import VERSION
from drf_mcp.outcomes import Category
from drf_mcp.vocabulary import CODES, HANDLING, WARNING_SEVERITIES

OPEN = ConfigDict(extra="allow")


class WarningDetail(TypedDict, total=False):
    """One entry of ``meta.warning_details``."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    code: Annotated[str, Field(description="Machine-readable code")]
    severity: Annotated[Literal["info", "warning", "error"], Field(description="How serious")]
    message: Required[Annotated[str, Field(description="One sentence")]]
    context: Annotated[dict[str, Any], Field(description="Further facts")]


class ReservedMeta(TypedDict, total=False):
    """The reserved members of ``meta``, all optional."""

    request_id: Annotated[str, Field(description="The id under which the log knows the call")]
    warnings: Annotated[list[str], Field(description="What to know of the answer, in sentences")]
    warning_details: Annotated[
        list[WarningDetail], Field(description="The same warnings with codes")
    ]
    pagination: Annotated[dict[str, Any], Field(description="Where the page stands in its list")]
    rate_limit: Annotated[dict[str, Any], Field(description="What is left of the quota")]
    telemetry: Annotated[dict[str, Any], Field(description="Measurements, by name")]
    content_fidelity: Annotated[
        Literal["full", "partial", "summary", "reference_only"],
        Field(description="How much of the answer is left"),
    ]
    content_fidelity_schema_version: Annotated[
        str, Field(description="Version of the content fidelity members")
    ]
    dropped_content_ids: Annotated[list[str], Field(description="What was left out")]
    content_archive_hashes: Annotated[
        dict[str, str], Field(description="Archive id to the hash of what it keeps")
    ]


class ResponseMeta(ReservedMeta, total=False):
    """``meta``: the version, the reserved members, and any others."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: Required[
        Annotated[Literal["response-v2"], Field(description="The version of the envelope")]
    ]


class MetaArguments(ReservedMeta, total=False):
    """What `success_response` and `error_response` take for ``meta``.

    ``meta`` itself holds further members to merge into it.
    """

    meta: Mapping[str, Any]


class ErrorData(TypedDict, total=False):
    """``data`` of a failure: the standard members, and any context beside them."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    error_code: Required[Annotated[str, Field(description="Machine-readable code")]]
    error_type: Required[Annotated[str, Field(description="Category of the failure")]]
    remediation: Required[Annotated[str, Field(description="What to do, in one sentence")]]
    details: Annotated[
        dict[str, Any],
        Field(description="The first problem, and all of them in problems"),
    ]


@dataclass
class ToolResponse(Body):
    """One response; ``dataclasses.asdict`` gives the JSON value.

    Raises:
        pydantic.ValidationError: if ``error`` is set on a success or missing on a
            failure, or a reserved member of ``meta`` has the wrong shape.
    """

    mcp_contract: ClassVar[str] = VERSION

    success: Annotated[bool, Field(description="Whether the call worked")]
    data: Annotated[
        dict[str, Any], Field(description="The answer; on failure, what is known of it")
    ] = field(default_factory=dict)
    error: Annotated[str | None, Field(description="One sentence on failure, else null")] = None
    meta: Annotated[ResponseMeta, Field(description="Facts about the answer")] = field(
        default_factory=lambda: ResponseMeta(version="response-v2")
    )

    @model_validator(mode="after")
    def error_only_on_failure(self) -> Self:
        """Refuse a success with an error and a failure without one."""
        if self.success is not (self.error is None):
            raise ValueError("error is a sentence on failure and null on success")
        return self

    def as_json(self) -> dict[str, Any]:
        """Return the JSON value."""
        return asdict(self)


def success_response(
    data: Mapping[str, Any] | None = None, **meta: Unpack[MetaArguments]
) -> ToolResponse:
    """Return the response of a call that worked.

    Args:
        data: the payload; ``{}`` when there is none.
        meta: ``request_id``, ``warnings``, ``warning_details``, ``pagination``,
            ``rate_limit``, ``telemetry``, the content fidelity members, and ``meta``
            with further members. None stands for nothing.
    """
    return ToolResponse(success=True, data=dict(data or {}), meta=response_meta(meta))


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
        error_code: the machine-readable code; ``INTERNAL_ERROR`` by default.
        error_type: the category; by default that of a standard code, else ``internal``.
        remediation: what to do about it; by default the advice of the category.
        data: further context, merged into ``data``.
        details: ``field``, ``constraint``, ``received`` and the like.
        meta: as for `success_response`.
    """
    code = error_code or "INTERNAL_ERROR"
    category = error_type or CODES.get(code, Category.INTERNAL).value
    standard = {
        "error_code": code,
        "error_type": category,
        "remediation": remediation or default_remediation(category),
        **({"details": dict(details)} if details else {}),
    }
    # Written twice: the standard members stand first and cannot be overwritten.
    merged = {**standard, **(data or {}), **standard}
    return ToolResponse(success=False, data=merged, error=message, meta=response_meta(meta))


def default_remediation(error_type: str) -> str:
    """Return the advice of a category; that of an internal error for one of your own."""
    known = error_type in {category.value for category in Category}
    return HANDLING[Category(error_type) if known else Category.INTERNAL].remediation


def response_meta(arguments: MetaArguments) -> ResponseMeta:
    """Return ``meta`` of the given members, those with nothing to say left out.

    Raises:
        TypeError: on an argument that is not a member of `MetaArguments`.
    """
    members: dict[str, Any] = dict(arguments)
    unknown = members.keys() - MetaArguments.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    extra = members.pop("meta", None) or {}
    members["warning_details"] = with_severities(members.get("warning_details") or ())
    told = {name: value for name, value in members.items() if value not in (None, [], {}, ())}
    return {**extra, **told, "version": VERSION}  # type: ignore[typeddict-item]


def with_severities(details: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return warning details, a standard code without a severity given its own."""
    return [
        {"severity": WARNING_SEVERITIES[detail["code"]].value, **detail}
        if detail.get("code") in WARNING_SEVERITIES
        else dict(detail)
        for detail in details
    ]
