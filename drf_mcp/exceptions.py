"""Errors of the wire, and exceptions that views may raise.

`ProtocolError` and its family become JSON-RPC errors (never tool results). The
others are REST framework exceptions: over plain HTTP they give an ordinary error
response, over MCP the code and category that their name says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, TypeVar

from rest_framework.exceptions import APIException, ErrorDetail

from drf_mcp.option_types.spelling import ask_nearest, find_nearest

Result = TypeVar("Result")
Default = TypeVar("Default")


class catch:
    """Catches an exception of a block, for the code after the block::

        with catch() as caught:
            return view(request)
        return self.make_failure(caught.exception)

    A BaseException that is no `Exception`, such as SystemExit, is not caught.
    """

    exception: Exception

    def __enter__(self) -> catch:
        return self

    def __exit__(self, kind: Any, exc: BaseException | None, traceback: Any) -> bool:
        if exc is None or not isinstance(exc, Exception):
            return False
        self.exception = exc
        return True


def attempt(
    step: Callable[[], Result],
    default: Default = None,  # type: ignore[assignment]
    *,
    otherwise: Callable[[Exception], Default] | None = None,
) -> Result | Default:
    """Return what `step` returns; on an exception the default, or what ``otherwise(exc)`` returns.

    Views fail in any way, above all without a live request; no exception of theirs may leave a
    tool call or take the list of tools down. A block of statements has `catch`.
    """
    with catch() as caught:
        return step()
    return default if otherwise is None else otherwise(caught.exception)


class ProtocolError(Exception):
    """A message that cannot be served; the caller reads ``message`` and ``data``."""

    code: ClassVar[int] = -32603
    http_status: int = 500
    # The id of a message that could not be read otherwise.
    id: str | int | None = None
    # Headers of the HTTP response.
    headers: Mapping[str, str] | None = None

    def __init__(self, message: str, *, data: Any = None, http_status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        if http_status is not None:
            self.http_status = http_status


class InternalError(ProtocolError):
    """The server failed (JSON-RPC -32603)."""

    @staticmethod
    def describe(request_id: str) -> str:
        """Return the message about an exception whose text only the log has."""
        return f"An unexpected error occurred. It was logged under the id {request_id}."


class ParseError(ProtocolError):
    """The body is not JSON (JSON-RPC -32700)."""

    code = -32700
    http_status = 400


class InvalidRequest(ProtocolError):
    """The JSON is not a JSON-RPC message (JSON-RPC -32600)."""

    code = -32600
    http_status = 400


class MethodNotFound(ProtocolError):
    """The method does not exist in the caller's revision (JSON-RPC -32601)."""

    code = -32601
    http_status = 200

    def __init__(self, method: str, *, http_status: int | None = None) -> None:
        message = f"Method not found: {method}"
        super().__init__(message, http_status=http_status)


class InvalidParams(ProtocolError):
    """The params do not fit the method (JSON-RPC -32602)."""

    code = -32602
    http_status = 400


class UnknownTool(InvalidParams):
    """``tools/call`` names no tool (JSON-RPC -32602, HTTP 200)."""

    http_status = 200
    name: str = ""

    @classmethod
    def named(cls, name: str, tools: Collection[str]) -> UnknownTool:
        message = f"Unknown tool: {name[:128]}."
        made = cls(f"{message} {ask_nearest(find_nearest(name, tools, 3))}".strip())
        made.name = name[:128]
        return made


class ResourceNotFound(InvalidParams):
    """There is no such resource that the caller may read (JSON-RPC -32602, HTTP 200).

    Args:
        uri: the resource.
        code: -32002 in revisions that have a code of its own for it.
    """

    http_status = 200

    def __init__(self, uri: str, code: int) -> None:
        super().__init__("Resource not found", data={"uri": uri})
        self.code = code  # type: ignore[misc]


class HeaderMismatch(ProtocolError):
    """HTTP headers are missing, malformed or differ from the body (MCP -32020)."""

    code = -32020
    http_status = 400


class UnsupportedProtocolVersion(ProtocolError):
    """The revision asked for is not served here (MCP -32022)."""

    code = -32022
    http_status = 400

    def __init__(self, requested: str, supported: list[str]) -> None:
        super().__init__(
            "Unsupported protocol version", data={"supported": supported, "requested": requested}
        )


class MissingClientCapability(ProtocolError):
    """The client did not declare a capability that the call needs (MCP -32021).

    Args:
        required: capabilities as a client declares them, such as ``{"elicitation": {}}``.
    """

    code = -32021
    http_status = 400

    def __init__(self, required: Mapping[str, Any]) -> None:
        members = [name for name in required if name != "extensions"]
        names = ", ".join([*members, *required.get("extensions", ())])
        super().__init__(
            f"The call needs a client with: {names}.", data={"requiredCapabilities": required}
        )


class Refused(ProtocolError):
    """An HTTP request that is refused; JSON-RPC has no code for it, so the HTTP status is one."""

    def __init__(
        self,
        http_status: int,
        message: str,
        *,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, data=data, http_status=http_status)
        self.code = http_status  # type: ignore[misc]
        self.headers = headers


class ContextDetail(ErrorDetail):
    context: dict[str, Any]

    def __new__(cls, text: str, code: str, context: dict[str, Any]) -> ContextDetail:
        self = super().__new__(cls, text, code)
        self.context = context
        return self


class FeatureDisabled(APIException):
    """Raise in a view when a feature is switched off for this caller (HTTP 403).

    Args:
        feature: the feature's name, which the caller sees.
        detail: the message; a sentence naming the feature by default.
    """

    status_code = 403
    default_code = "feature_disabled"

    def __init__(self, feature: str, detail: Any = None) -> None:
        text = detail or f"Feature '{feature}' is not enabled"
        super().__init__(text)
        self.detail = ContextDetail(str(text), self.default_code, {"feature": feature})


class SoftDetail(dict[str, Any]):
    # The body of a `SoftFailure`: what is wrong, and what the view answered all the same.

    def __init__(self, errors: dict[str, Any], answer: Any, remediation: str) -> None:
        super().__init__(errors if answer is None else {**errors, "data": answer})
        self.errors = errors
        self.answer = answer
        self.remediation = remediation


class SoftFailure(APIException):
    """Raise in a view whose call worked but whose answer is "no" or "invalid" (HTTP 200).

    The envelope says so (``ok`` or ``success`` is false) and the MCP result carries no
    ``isError``. What the view wrote is rolled back where ATOMIC_REQUESTS applies.

    Args:
        detail: a message, or a dict of messages by argument as for ValidationError.
        code: the machine-readable code; of every message that has none of its own.
        data: what can be answered all the same, any JSON value.
        remediation: one sentence that says what the caller can do.
    """

    status_code = 200
    default_detail = "The answer is no."
    default_code = "soft_failure"

    def __init__(
        self,
        detail: Any = None,
        code: str | None = None,
        *,
        data: Any = None,
        remediation: str = "",
    ) -> None:
        super().__init__(detail, code)
        errors = self.detail if isinstance(self.detail, dict) else {"detail": self.detail}
        self.detail = SoftDetail(errors, data, remediation)


class Unavailable(APIException):
    """Raise in a view when what it needs cannot be reached at the moment (HTTP 503)."""

    status_code = 503
    default_detail = "This is not available at the moment."
    default_code = "service_unavailable"


class TimeLimitExceeded(Unavailable):
    """Raised in a view when its call has taken longer than TIME_LIMIT (HTTP 503).

    Args:
        seconds: the limit.
    """

    default_code = "time_limit_exceeded"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The call was stopped, because it took longer than {seconds:g} s.")


class Conflict(APIException):
    """Raise in a view when the current state forbids the request (HTTP 409)."""

    status_code = 409
    default_detail = "The request conflicts with the current state."
    default_code = "conflict"
