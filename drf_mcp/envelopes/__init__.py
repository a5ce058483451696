"""Envelopes: the documented shapes in which every outcome reaches the model.

Choose one by ``DRF_MCP["ENVELOPE_CLASS"]``, per endpoint or per tool, or write your
own: a subclass of `Envelope` with ``render()`` and, if you like, ``schema()``.

The pydantic models and the functions built on them describe the same contracts for
your own code. They are imported when first used, so that pydantic is loaded only
where somebody wants it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from drf_mcp.envelopes.base import Envelope
from drf_mcp.envelopes.ok import OkEnvelope
from drf_mcp.envelopes.plain import PlainEnvelope
from drf_mcp.envelopes.response_v2 import ResponseV2Envelope
from drf_mcp.envelopes.status import StatusEnvelope
from drf_mcp.outcomes import Outcome

if TYPE_CHECKING:
    from drf_mcp.envelopes.digest import (
        DigestPayload,
        EvidenceSnippet,
        Locator,
        deserialize_payload,
        serialize_payload,
        validate_payload_dict,
        verify_evidence,
        verify_payload,
    )
    from drf_mcp.envelopes.ok_models import OkError, OkMeta, OkResponse
    from drf_mcp.envelopes.response_v2_models import (
        ErrorData,
        ResponseMeta,
        ToolResponse,
        WarningDetail,
        error_response,
        success_response,
    )
    from drf_mcp.envelopes.standardized import (
        ErrorFormatter,
        ResponseBuilder,
        format_exception,
        standardized_response,
    )
    from drf_mcp.envelopes.status_models import (
        ResponseError,
        ResponseMetadata,
        ResponseSeverity,
        ResponseStatus,
        StandardMCPResponse,
    )

# Asked in this order; the last takes any body.
BUILT_IN_ENVELOPES: tuple[Envelope, ...] = (
    ResponseV2Envelope(),
    OkEnvelope(),
    StatusEnvelope(),
    PlainEnvelope(),
)

__all__ = [
    "DigestPayload",
    "Envelope",
    "ErrorData",
    "ErrorFormatter",
    "EvidenceSnippet",
    "Locator",
    "OkEnvelope",
    "OkError",
    "OkMeta",
    "OkResponse",
    "PlainEnvelope",
    "ResponseBuilder",
    "ResponseError",
    "ResponseMeta",
    "ResponseMetadata",
    "ResponseSeverity",
    "ResponseStatus",
    "ResponseV2Envelope",
    "StandardMCPResponse",
    "StatusEnvelope",
    "ToolResponse",
    "WarningDetail",
    "deserialize_payload",
    "error_response",
    "format_exception",
    "serialize_payload",
    "standardized_response",
    "success_response",
    "validate_payload_dict",
    "verify_evidence",
    "verify_payload",
]

CONTRACTS = {envelope.contract: envelope for envelope in BUILT_IN_ENVELOPES}
SELF_DESCRIBING = [envelope for envelope in BUILT_IN_ENVELOPES if envelope.self_describing]


def parse_own_envelope(body: Any, status: int) -> Outcome | None:
    """Return the outcome of an envelope that a view built itself, None for plain data.

    A view may return a model of one of the contracts, or a dict of a contract whose JSON
    names the contract. The active envelope renders the outcome, so that nothing is wrapped
    twice.

    Args:
        body: the data of the view's response.
        status: the HTTP status of the response.
    """
    contract = getattr(type(body), "mcp_contract", None)
    if contract is not None:
        return CONTRACTS[contract].parse(body, status)
    if not isinstance(body, Mapping):
        return None
    for envelope in SELF_DESCRIBING:
        outcome = envelope.parse(body, status)
        if outcome is not None:
            return outcome
    return None


# Public names that need pydantic, by the module that defines them.
LAZY_MODULES = {
    "digest": [
        "DigestPayload",
        "EvidenceSnippet",
        "Locator",
        "deserialize_payload",
        "serialize_payload",
        "validate_payload_dict",
        "verify_evidence",
        "verify_payload",
    ],
    "ok_models": ["OkError", "OkMeta", "OkResponse"],
    "response_v2_models": [
        "ErrorData",
        "ResponseMeta",
        "ToolResponse",
        "WarningDetail",
        "error_response",
        "success_response",
    ],
    "standardized": [
        "ErrorFormatter",
        "ResponseBuilder",
        "format_exception",
        "standardized_response",
    ],
    "status_models": [
        "ResponseError",
        "ResponseMetadata",
        "ResponseSeverity",
        "ResponseStatus",
        "StandardMCPResponse",
    ],
}
LAZY_NAMES = {name: module for module, names in LAZY_MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{LAZY_NAMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY_NAMES})
