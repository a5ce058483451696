"""The view's own body and nothing else; failures as a sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, ClassVar

from drf_mcp.envelopes.base import ContractEnvelope, Encode, drop_empty
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome

PREFIX = "Error executing tool: "


class PlainEnvelope(ContractEnvelope):
    """Text only: the untouched body as JSON, or ``Error executing tool: ...``.

    A second text block has warnings, suggestions, what a dry run would change and what was left
    out to fit a budget; the result's ``_meta`` has the request id. There is no
    ``structuredContent`` and no ``outputSchema``.
    """

    structured_content: ClassVar[bool] = False
    has_tables: ClassVar[bool] = False

    def prepare(self, outcome: Outcome, encode: Encode) -> Outcome:
        # The sentence of an error quotes the body, or the members around its message.
        failure = outcome.failure
        if failure is None or failure.soft:
            return outcome
        details = {"details": failure.details} if failure.details else {}
        members = drop_empty({**failure.context, "retry_after_seconds": None, **details})
        data, context = json.loads(encode([outcome.data, members]))
        return outcome.changed(data=data, failure=replace(failure, context=context))

    def render(self, outcome: Outcome) -> Any:
        failure = outcome.failure
        if failure is None:
            return outcome.data
        if not failure.soft:
            return PREFIX + self.reason(failure, outcome.data)
        return self.answer(outcome)

    def text(self, outcome: Outcome, rendered: Any, encode: Encode) -> str:
        if outcome.is_error:
            return str(rendered)
        # With Python's own separators, as in the examples of the contract.
        return json.dumps(json.loads(encode(rendered)), ensure_ascii=False)

    def remarks(self, outcome: Outcome) -> Any:
        has_remarks = outcome.warnings or outcome.suggestions or outcome.meta
        if not has_remarks and outcome.fidelity is None:
            return None
        # All warnings, since this contract has no list of their sentences.
        details = [warning.detail for warning in outcome.warnings]
        remarks = {"warning_details": details, "suggestions": list(outcome.suggestions)}
        return drop_empty({**self._describe_fidelity(outcome), **remarks, **outcome.meta})

    def result_meta(self, outcome: Outcome) -> dict[str, Any]:
        facts = {"request_id": outcome.request_id, "telemetry": self._describe_telemetry(outcome)}
        return drop_empty({**facts, **self._describe_source(outcome)})

    def parse(self, body: Any, status: int = 200) -> Outcome:
        # The text of a failed result is the message.
        if status < 400:
            return Outcome(tool="", status=status, data=body)
        message = body if isinstance(body, str) else ""
        return Outcome("", status, failure=Failure("", Category.INTERNAL, message, ""))

    def answer(self, outcome: Outcome) -> Any:
        failure, data = outcome.failure, outcome.data
        if failure is None or not failure.soft:
            return data
        if failure.body is not MISSING:
            return next(
                (each for each in (failure.body, data) if each is not None),
                {"detail": failure.message},
            )
        detail = {"detail": self.reason(failure, None)}
        return detail if data is None else {**detail, "data": data}

    def reason(self, failure: Failure, data: Any) -> str:
        if data is not None:
            return f"ViewSet returned error: {data}"
        problems, context = failure.problems, "" if failure.soft else str(failure.context or "")
        if len(problems) > 1:
            messages = (f"{p.path}: {p.message}" if p.path else p.message for p in problems)
            sentences = [*map(_close_sentences, messages, map(self._get_advice, problems))]
        else:
            hint = self._get_advice(problems[0]) if problems else ""
            sentences = [_close_sentences(failure.message, hint or failure.remediation)]
        return " ".join(filter(None, [*sentences, context]))


def _close_sentences(*texts: str) -> str:
    stripped = (text.rstrip() for text in texts)
    return " ".join(text if _ENDED.search(text) else f"{text}." for text in stripped if text)


# The end of a sentence in any script, also within quotation marks or brackets.
_ENDED = re.compile(
    r"[.!?:;\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\u0589][\"')\]\u201d\u2019\u00bb\u300d\u300f]*$"
)
