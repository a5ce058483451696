"""The view's own body and nothing else; failures as a sentence."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from drf_mcp.envelopes.base import ContractEnvelope, Encode, drop_empty
from drf_mcp.outcomes import Category, Failure, Outcome, Problem

PREFIX = "Error executing tool: "


class PlainEnvelope(ContractEnvelope):
    """Text only: the untouched body as JSON, or ``Error executing tool: ...``.

    Warnings, suggestions, what a dry run would change and what was left out to fit a budget are a
    second text block, the request id is in the result's ``_meta``. There is no
    ``structuredContent`` and no ``outputSchema``.
    """

    structured_content: ClassVar[bool] = False

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        # The sentence of an error quotes the body.
        if not outcome.is_error or outcome.data is None:
            return outcome
        return outcome.changed(data=json.loads(encode(outcome.data)))

    def render(self, outcome: Outcome) -> Any:
        failure = outcome.failure
        if failure is None:
            return outcome.data
        if failure.soft:
            return self.soft_body(failure, outcome)
        return PREFIX + self.reason(failure, outcome.data)

    def text(self, outcome: Outcome, rendered: Any, encode: Encode) -> str:
        if outcome.is_error:
            return str(rendered)
        # With Python's own separators, as the examples of the contract are written.
        return json.dumps(json.loads(encode(rendered)), ensure_ascii=False)

    def remarks(self, outcome: Outcome) -> Any:
        told = outcome.warnings or outcome.suggestions or outcome.meta
        if not told and outcome.fidelity is None:
            return None
        details = [self.get_warning_detail(warning) for warning in outcome.warnings]
        suggestions = list(outcome.suggestions)
        remarks = {"warning_details": details, "suggestions": suggestions}
        # Nothing else of this contract has the sentences of warnings.
        return drop_empty({**self.get_fidelity(outcome), **remarks, **outcome.meta})

    def result_meta(self, outcome: Outcome) -> dict[str, Any]:
        return drop_empty({"request_id": outcome.request_id, **self.get_source(outcome)})

    def parse(self, body: Any, status: int = 200) -> Outcome:
        # Any body will do; of a failed result the text is the message.
        if status < 400:
            return Outcome(tool="", status=status, data=body)
        message = body if isinstance(body, str) else ""
        return Outcome("", status, failure=Failure("", Category.INTERNAL, message, ""))

    def answer(self, outcome: Outcome) -> Any:
        # Of a soft failure all of the body, not the data in it alone.
        return outcome.data if outcome.body is None else outcome.body

    def soft_body(self, failure: Failure, outcome: Outcome) -> Any:
        body = self.answer(outcome)
        return {"detail": failure.message} if body is None else body

    def translate_soft(self, failure: Failure | None, data: Any) -> Any:
        """Return the body of the "no" that another contract's envelope says, None for any other."""
        if failure is None or not failure.soft:
            return None
        detail = {"detail": self.reason(failure, None)}
        return detail if data is None else {**detail, "data": data}

    def reason(self, failure: Failure, data: Any) -> str:
        if data is not None:
            return f"ViewSet returned error: {data}"
        problems = failure.problems
        if len(problems) > 1:
            return " ".join(
                join_error(f"{self.name(p)}{p.message}", self.get_advice(p)) for p in problems
            )
        advice = self.get_advice(problems[0]) if problems else ""
        return join_error(failure.message, advice or failure.remediation)

    def name(self, problem: Problem) -> str:
        return f"{problem.path}: " if problem.path else ""


def join_error(*texts: str) -> str:
    stripped = (text.rstrip() for text in texts)
    return " ".join(text if _ENDED.search(text) else f"{text}." for text in stripped if text)


# Of any script: a full stop, a question, an exclamation, also within quotation marks or brackets.
_ENDED = re.compile(
    r"[.!?:;\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\u0589][\"')\]\u201d\u2019\u00bb\u300d\u300f]*$"
)
