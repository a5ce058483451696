"""The "response-v2" contract as pydantic models, and the functions that build it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass
from typing_extensions import Required, Self, TypedDict, Unpack

from drf_mcp.codes import HANDLING, WARNING_SEVERITIES, category_of_code, screaming_code
from drf_mcp.codes import gettext_noop as _
from drf_mcp.envelopes.metadata import OPEN, TRANSLATED, find_invalid, to_iso_time, to_period
from drf_mcp.json_text import JSONBody
from drf_mcp.outcomes import Category, Fidelity

__all__ = [
    "ErrorData",
    "ResponseMeta",
    "ToolResponse",
    "WarningDetail",
    "error_response",
    "success_response",
]

# 0 and False equal none of these.
EMPTY: tuple[Any, ...] = (None, [], {}, ())


class WarningDetail(TypedDict, total=False):
    """One entry of ``meta.warning_details``."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    code: Annotated[str, Field(description=_("Machine-readable code"))]
    severity: Annotated[Literal["info", "warning", "error"], Field(description=_("How serious"))]
    message: Required[Annotated[str, Field(description=_("One sentence"))]]
    context: Annotated[dict[str, Any], Field(description=_("Further facts"))]


class ReservedMeta(TypedDict, total=False):
    request_id: Annotated[str, Field(description=_("The id under which the log knows the call"))]
    warnings: Annotated[list[str], Field(description=_("What to know of the answer, in sentences"))]
    warning_details: Annotated[
        list[WarningDetail], Field(description=_("The same warnings with codes"))
    ]
    pagination: Annotated[
        dict[str, Any], Field(description=_("The position of the page in its list"))
    ]
    rate_limit: Annotated[dict[str, Any], Field(description=_("What is left of the quota"))]
    telemetry: Annotated[dict[str, Any], Field(description=_("Measurements, by name"))]
    content_fidelity: Annotated[
        Literal["full", "partial", "summary", "reference_only"],
        Field(description=_("How much of the answer is left")),
    ]
    content_fidelity_schema_version: Annotated[
        str, Field(description=_("Version of the content fidelity members"))
    ]
    dropped_content_ids: Annotated[list[str], Field(description=_("What was left out"))]
    content_archive_hashes: Annotated[
        dict[str, str], Field(description=_("Archive id to the hash of what it keeps"))
    ]
    suggestions: Annotated[list[str], Field(description=_("What to do next, in sentences"))]
    content_version: Annotated[str, Field(description=_("Canonical version of what was read"))]
    content_hash: Annotated[
        str, Field(description=_("Hash of that version, the same for every read of it"))
    ]


class ResponseMeta(ReservedMeta, total=False):
    """``meta``: the version, the reserved members, and any others."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    version: Required[
        Annotated[Literal["response-v2"], Field(description=_("The version of the envelope"))]
    ]


class MetaArguments(ReservedMeta, total=False):
    meta: Mapping[str, Any]


class ErrorData(TypedDict, total=False):
    """``data`` of a failure: the standard members, and any context."""

    __pydantic_config__ = OPEN  # type: ignore[misc]

    error_code: Required[Annotated[str, Field(description=_("Machine-readable code"))]]
    error_type: Required[Annotated[str, Field(description=_("Category of the failure"))]]
    remediation: Required[Annotated[str, Field(description=_("What to do, in one sentence"))]]
    details: Annotated[
        dict[str, Any],
        Field(description=_("The first problem; problems has the others")),
    ]


@dataclass(config=TRANSLATED)
class ToolResponse(JSONBody):
    """One response; ``dataclasses.asdict`` gives the JSON value."""

    mcp_contract: ClassVar[str] = "response-v2"

    success: Annotated[bool, Field(description=_("Whether the call worked"))]
    data: Annotated[
        dict[str, Any], Field(description=_("The answer; on failure, what is known of it"))
    ] = field(default_factory=dict)
    error: Annotated[str | None, Field(description=_("One sentence on failure, else null"))] = None
    meta: Annotated[ResponseMeta, Field(description=_("Facts about the answer"))] = field(
        default_factory=lambda: ResponseMeta(version="response-v2")
    )

    @model_validator(mode="after")
    def error_only_on_failure(self) -> Self:
        if self.success is not (self.error is None):
            raise ValueError("error is a sentence on failure and null on success")
        if self.error is not None and not self.error.strip():
            raise ValueError("error is empty: say in a sentence what went wrong")
        return self

    def as_json(self) -> dict[str, Any]:
        # `asdict` copies values, and some lists of REST framework cannot be copied.
        return dict(vars(self))

    def as_envelope(self) -> dict[str, Any]:
        return vars(self)


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
    return ToolResponse(success=True, data=require_mapping("data", data), meta=make_meta(meta))


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
        error_type: the category; by default that of a standard code, ``not_found`` of a code
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
    extra = require_mapping("details", details)
    standard = {
        "error_code": code,
        "error_type": category,
        "remediation": remediation,
        **({"details": extra} if extra else {}),
    }
    # The standard members come first, and others never replace them.
    merged = {**standard, **require_mapping("data", data), **standard}
    return ToolResponse(success=False, data=merged, error=message, meta=make_meta(meta))


def require_mapping(name: str, value: Mapping[str, Any] | None) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(
            f"{name} must be a dict, not {type(value).__name__}: give the value a name, "
            f"such as {name}={{'results': ...}}"
        )
    return dict(value)


def make_meta(arguments: MetaArguments) -> ResponseMeta:
    members: dict[str, Any] = dict(arguments)
    unknown = members.keys() - MetaArguments.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    extra = require_mapping("meta", members.pop("meta", None))
    # A standard code has a severity.
    members["warning_details"] = [
        complete_warning(detail) for detail in members.get("warning_details") or ()
    ]
    meta = {**extra, **{name: value for name, value in members.items() if value not in EMPTY}}
    if "content_fidelity" in meta:
        meta.setdefault("content_fidelity_schema_version", Fidelity.version)
    if refused := list(find_invalid(meta)):
        raise ValueError(f"not as the contract has it: {', '.join(refused)}")
    quota = meta.get("rate_limit")
    if isinstance(quota, Mapping):
        texts = {"reset_at": to_iso_time, "period": to_period}
        words = {name: texts[name](quota[name]) or quota[name] for name in texts if name in quota}
        meta["rate_limit"] = {**quota, **words}
    return {**meta, "version": "response-v2"}  # type: ignore[typeddict-item]


def complete_warning(detail: Mapping[str, Any]) -> dict[str, Any]:
    if not detail.get("code"):
        return dict(detail)
    code = screaming_code(detail["code"])
    known = WARNING_SEVERITIES.get(code)
    return {**({"severity": known.value} if known else {}), **detail, "code": code}
