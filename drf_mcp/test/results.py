"""A tool result as a test reads it, whichever envelope it came in."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drf_mcp.outcomes import MISSING, Problem


@dataclass(frozen=True)
class ToolProblem:
    """One thing that a tool found wrong with the arguments.

    Attributes:
        code: REST framework's code, such as ``required``.
        message: the view's sentence.
        pointer: JSON pointer into the arguments, "" for all of them.
        received: what was sent, None where the envelope does not repeat it.
        accepted: what would be accepted, None where it is not told.
        remediation: what to do, "" where it is not told.
    """

    code: str
    message: str
    pointer: str = ""
    received: Any = None
    accepted: str | None = None
    remediation: str = ""

    @property
    def path(self) -> str:
        """The pointer as people write it, ``lines[0].quantity``."""
        return Problem(self.code, self.message, self.pointer).path


@dataclass(frozen=True)
class ToolError:
    """Why a tool did not give what was asked.

    Attributes:
        code: the error code, as the envelope writes it; "" where it has none.
        message: the sentence for the model.
        remediation: what to do, "" where it is not told.
    """

    code: str
    message: str
    remediation: str = ""


@dataclass(frozen=True)
class Reading:
    """What an envelope says."""

    data: Any = None
    error: ToolError | None = None
    problems: tuple[ToolProblem, ...] = ()
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ToolResult:
    """What ``tools/call`` gave.

    Attributes:
        raw: the members of the CallToolResult.
        response: the HTTP response that carried it.
    """

    raw: dict[str, Any]
    response: Any = None

    @property
    def is_error(self) -> bool:
        """Whether the result says that the tool failed."""
        return bool(self.raw.get("isError", False))

    @property
    def ok(self) -> bool:
        """Whether the tool gave what was asked, without a failure, even a soft one."""
        return self.error is None

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content blocks, the envelope's text first."""
        blocks: list[dict[str, Any]] = self.raw["content"]
        return blocks

    @property
    def text(self) -> str:
        """The text of the first block."""
        return str(self.content[0].get("text", ""))

    @functools.cached_property
    def envelope(self) -> Any:
        """The envelope, of structured content or of the text where there is none."""
        if "structuredContent" in self.raw:
            return self.raw["structuredContent"]
        try:
            return json.loads(self.text)
        except ValueError:
            return self.text

    @functools.cached_property
    def _reading(self) -> Reading:
        return read(self.envelope, self.is_error)

    @property
    def data(self) -> Any:
        """What the view answered; None of a failure, unless it is soft and has an answer."""
        return self._reading.data

    @property
    def error(self) -> ToolError | None:
        """Why it failed, None if it did not."""
        return self._reading.error

    @property
    def problems(self) -> tuple[ToolProblem, ...]:
        """What is wrong with the arguments, first things first."""
        return self._reading.problems

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the envelope tells about the answer, such as pagination and warnings."""
        return self._reading.meta or {}


def read(envelope: Any, failed: bool) -> Reading:
    """Return what an envelope says; one that is none of the built-in ones is the data."""
    if isinstance(envelope, Mapping):
        if "success" in envelope and "status" in envelope:
            return read_status(envelope)
        if "success" in envelope and isinstance(envelope.get("meta"), Mapping):
            return read_response_v2(envelope)
        if isinstance(envelope.get("ok"), bool):
            return read_ok(envelope)
    if failed:
        return Reading(error=ToolError("", envelope if isinstance(envelope, str) else ""))
    return Reading(envelope)


def read_response_v2(envelope: Mapping[str, Any]) -> Reading:
    """Read a `ResponseV2Envelope`."""
    meta = envelope["meta"]
    if envelope["success"]:
        return Reading(envelope.get("data"), meta=meta)
    told = envelope.get("data") or {}
    problems = (told.get("details") or {}).get("problems") or []
    error = ToolError(
        told.get("error_code", ""), envelope.get("error") or "", told.get("remediation", "")
    )
    return Reading(None, error, tuple(map(problem_of, problems)), meta)


def read_ok(envelope: Mapping[str, Any]) -> Reading:
    """Read an `OkEnvelope`."""
    meta = envelope.get("meta")
    if envelope["ok"]:
        return Reading(envelope.get("data"), meta=meta)
    problems = [
        {**error, "pointer": pointer_of(error.get("path")), "remediation": error.get("fix_hint")}
        for error in envelope["errors"]
    ]
    return failed_with(problems, envelope.get("data"), meta)


def read_status(envelope: Mapping[str, Any]) -> Reading:
    """Read a `StatusEnvelope`."""
    meta, data = envelope.get("metadata"), envelope.get("data")
    if envelope["success"]:
        return Reading(data, meta=meta)
    problems = [
        {**(error.get("context") or {}), **error, "remediation": error.get("suggestion")}
        for error in envelope["errors"]
    ]
    return failed_with(problems, data, meta)


def failed_with(problems: list[dict[str, Any]], data: Any, meta: Any) -> Reading:
    """Return the reading of an envelope whose error is the first of its errors."""
    first = problems[0] if problems else {}
    error = ToolError(
        first.get("code") or "", first.get("message") or "", first.get("remediation") or ""
    )
    return Reading(data, error, tuple(problem_of(p) for p in problems if p.get("pointer")), meta)


def problem_of(told: Mapping[str, Any]) -> ToolProblem:
    """Return a problem from an envelope's members."""
    received = told.get("received", MISSING)
    return ToolProblem(
        code=told.get("code") or "",
        message=told.get("message") or "",
        pointer=told.get("pointer") or "",
        received=None if received is MISSING else received,
        accepted=told.get("accepted"),
        remediation=told.get("remediation") or "",
    )


def pointer_of(path: str | None) -> str:
    """Return a path as people write it as a JSON pointer."""
    if not path:
        return ""
    return "/" + path.replace("[", ".").replace("]", "").lstrip(".").replace(".", "/")
