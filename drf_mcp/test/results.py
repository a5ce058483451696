"""The result of a tool for tests, with any of the envelopes."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from drf_mcp.envelopes import BUILT_IN_ENVELOPES, Envelope, ResponseV2Envelope
from drf_mcp.outcomes import MISSING, Outcome, Problem


@dataclass
class ToolProblem(Problem):
    """A problem with the arguments of a tool.

    ``received`` is None where the envelope does not repeat what was sent.
    """

    received: Any = None

    @classmethod
    def from_problem(cls, problem: Problem) -> Self:
        # The "status" contract keeps members in the context.
        context = problem.context
        received = context.get("received") if problem.received is MISSING else problem.received
        return cls(
            code=problem.code,
            message=problem.message,
            pointer=problem.pointer or context.get("pointer", ""),
            received=received,
            accepted=problem.accepted or context.get("accepted"),
            remediation=problem.remediation,
        )


@dataclass(frozen=True)
class ToolError:
    """Why a tool failed; ``code`` as the envelope writes it."""

    code: str
    message: str
    remediation: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The result of ``tools/call``.

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
        """Whether there is no failure, not even a soft one."""
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
    def _parsed(self) -> tuple[Envelope, Outcome]:
        # A result has no HTTP status; `parse` only needs to know whether it is an error.
        status = 500 if self.is_error else 200
        parsed = (
            (built_in, built_in.parse(self.envelope, status)) for built_in in BUILT_IN_ENVELOPES
        )
        return next((built_in, outcome) for built_in, outcome in parsed if outcome is not None)

    @property
    def data(self) -> Any:
        """The data of the view; None for a failure, unless it is soft and has an answer."""
        outcome = self._parsed[1]
        failure = outcome.failure
        if failure is None:
            return outcome.data
        # A failure without ``isError`` is soft.
        answer = None if self.is_error else dict(failure.context) or None
        return next((data for data in (failure.data, outcome.data) if data is not None), answer)

    @property
    def error(self) -> ToolError | None:
        """Why it failed, None if it did not."""
        envelope, outcome = self._parsed
        failure = outcome.failure
        if failure is None:
            return None
        code = envelope.format_code(failure.code)
        return ToolError(code, failure.message, failure.remediation)

    @property
    def problems(self) -> tuple[ToolProblem, ...]:
        """The problems with the arguments, in their order."""
        envelope, outcome = self._parsed
        if outcome.failure is None:
            return ()
        problems = map(ToolProblem.from_problem, outcome.failure.problems)
        # Where errors are a list, the failure itself is one of them, without a pointer.
        return tuple(p for p in problems if p.pointer or isinstance(envelope, ResponseV2Envelope))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The members of the envelope about the answer, such as pagination and warnings."""
        name = self._parsed[0].meta_member
        return self.envelope[name] if name else {}
