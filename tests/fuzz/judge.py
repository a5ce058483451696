"""Finds the verdict on an answer, and its faults."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from mcp_types.jsonrpc import JSONRPCResponse

from tests.fuzz.mutations import Input
from tests.fuzz.planted import IN_A_ROW, SENT
from tests.oracles.watching import check_error

# Text that only code on the server knows. Successful answers are exempt, because they contain texts
# of users.
INSIDE = re.compile(
    r"Traceback|File \\?\"|site-packages|\bSELECT\b|INSERT INTO|UPDATE \\?\"|DELETE FROM"
    r"|no such (?:table|column)|UNIQUE constraint|UndefinedTable|OperationalError|IntegrityError"
    r"|sqlite|psycopg|django\.|rest_framework|\b0x[0-9a-f]{8}|\.py\b"
)
# A member that is not named like a secret, with its value.
UNKNOWN = re.compile(r'"(?!passwor|api_ke)[^"]*": [\[{]*"[^"]*"')


@dataclass(frozen=True)
class Answer:
    """An HTTP response.

    Attributes:
        status: the HTTP status.
        headers: the headers, by their names in lower case.
        body: the bytes.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Judge:
    """Finds the verdicts on answers, and their faults.

    Args:
        secrets: texts that no answer may contain.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self.secrets = [*secrets, str(settings.BASE_DIR)]

    def get_verdict(self, answer: Answer) -> str:
        """Return the kind of an answer, in a few words."""
        if not answer.body:
            return f"HTTP {answer.status}, no message"
        if not self.is_json(answer):
            return f"HTTP {answer.status}, a page"
        message = json.loads(answer.body)
        if "error" in message:
            return f"HTTP {answer.status}, JSON-RPC error {message['error']['code']}"
        return self.name_result(message["result"])

    def name_result(self, result: dict[str, Any]) -> str:
        if "content" not in result:
            return "a result of the protocol"
        if not result.get("isError"):
            return "a result of a tool"
        text = result["content"][0]["text"]
        code = json.loads(text)["data"]["error_code"] if text.startswith("{") else "in words"
        return f"a tool's refusal, {code}"

    def is_json(self, answer: Answer) -> bool:
        return answer.headers.get("content-type", "") == "application/json"

    def find_faults(self, sent: Input, answer: Answer) -> Iterator[str]:
        """Yield the faults of an answer."""
        if answer.status >= 500 or 300 <= answer.status < 400:
            yield f"HTTP {answer.status}"
        yield from self.find_leaks(sent, answer)
        if not answer.body:
            return
        if self.is_json(answer):
            yield from self.find_malformed(sent, answer)
        elif "Host" not in sent.recording.headers:
            # Django itself refuses a host that is not allowed.
            yield f"no message, but {answer.headers.get('content-type')}"

    def find_leaks(self, sent: Input, answer: Answer) -> Iterator[str]:
        text = f"{answer.headers} {answer.text}"
        for secret in self.secrets:
            if secret in text and not (secret == SENT and self.is_renamed(sent)):
                yield f"the secret {secret}"
        if IN_A_ROW in text:
            yield "a row of another user"
        for place in self.find_refusals(answer):
            if found := INSIDE.search(place):
                yield f"the inside: {found[0]}"

    def is_renamed(self, sent: Input) -> bool:
        # Under a name of no argument, a secret cannot be recognised.
        return any(SENT in text for text in UNKNOWN.findall(sent.body.decode(errors="replace")))

    def find_refusals(self, answer: Answer) -> Iterator[str]:
        if not self.is_json(answer) or not answer.body:
            yield answer.text
            return
        message = json.loads(answer.body)
        if "error" in message or message["result"].get("isError"):
            yield json.dumps(message, ensure_ascii=False)

    def find_malformed(self, sent: Input, answer: Answer) -> Iterator[str]:
        message = json.loads(answer.body)
        try:
            check = check_error if "error" in message else JSONRPCResponse.model_validate
            check(message)
        except ValueError as exc:
            yield f"no JSON-RPC message: {exc}"
        if "id" in message and message["id"] not in self.get_ids(sent):
            yield f"an answer to {message['id']!r}, which was not asked"

    def get_ids(self, sent: Input) -> list[Any]:
        try:
            message = json.loads(sent.body)
        except (ValueError, RecursionError):
            return [None]
        return [None, message.get("id")] if isinstance(message, dict) else [None]
