"""A result that passes HTTP responses on, read with the interface of our envelope."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from drf_mcp.test import ToolError, ToolProblem, ToolResult

REFUSAL = re.compile(r"HTTP error (?P<status>\d{3}): [^-]*?(?: - (?P<body>.*))?\Z", re.DOTALL)
MISSING = re.compile(r"Missing required path parameters: \{(?P<names>[^}]*)\}")
KINDS = {400: "validation", 401: "authentication", 403: "authorization", 404: "not_found"}
KINDS |= {409: "conflict", 429: "rate_limit"}
SERVER_ERROR = 500
WRAPPED = {"result"}


class PlainResult(ToolResult):
    """A result without an envelope: the response of a view, or a sentence about an HTTP error.

    Finds all that a careful reader finds: the status, the arguments that REST framework names,
    the next page.
    """

    @functools.cached_property
    def status(self) -> int:
        """The status that the sentence names, 0 if it names none."""
        found = REFUSAL.search(self.text) if self.is_error else None
        return int(found["status"]) if found else 0

    @functools.cached_property
    def body(self) -> Any:
        """The body of the view's error response."""
        found = REFUSAL.search(self.text)
        text = (found and found["body"]) or ""
        for read in (json.loads, ast.literal_eval):
            try:
                return read(text)
            except (ValueError, SyntaxError):
                continue
        return text

    @property
    def data(self) -> Any:
        if self.is_error:
            return None
        try:
            answer = json.loads(self.text)
        except ValueError:
            return self.text
        # The protocol allows only objects as structured content.
        wrapped = isinstance(answer, dict) and answer.keys() == WRAPPED
        return answer["result"] if wrapped else answer

    @property
    def envelope(self) -> Any:
        data = {"results": self.data} if isinstance(self.data, list) else self.data
        data = {"error_type": self.kind} if self.is_error else data
        return {"success": not self.is_error, "data": data, "meta": self.meta}

    @property
    def kind(self) -> str:
        return "internal" if self.status >= SERVER_ERROR else KINDS.get(self.status, "validation")

    @property
    def error(self) -> ToolError | None:
        if not self.is_error:
            return None
        code = "INTERNAL_ERROR" if self.kind == "internal" else self.kind.upper()
        return ToolError(code, self.text)

    @property
    def problems(self) -> tuple[ToolProblem, ...]:
        if not self.is_error:
            return ()
        missing = MISSING.search(self.text)
        if missing:
            return tuple(
                ToolProblem("required", "Missing required path parameter.", f"/{name}")
                for name in re.findall(r"\w+", missing["names"])
            )
        return tuple(self.find_problems(self.body, ""))

    def find_problems(self, value: Any, pointer: str) -> Iterator[ToolProblem]:
        """Yield REST framework's, or pydantic's, message for each field."""
        if isinstance(value, dict) and "loc" in value and "msg" in value:
            # In pydantic's errors the location begins with body, query or path.
            place = "/".join(map(str, value["loc"][1:]))
            yield ToolProblem("invalid", str(value["msg"]), f"/{place}")
        elif isinstance(value, dict):
            for name, each in value.items():
                own = name in ("detail", "non_field_errors")
                yield from self.find_problems(each, pointer if own else f"{pointer}/{name}")
        elif isinstance(value, list):
            for place, each in enumerate(value):
                inner = isinstance(each, (dict, list))
                yield from self.find_problems(each, f"{pointer}/{place}" if inner else pointer)
        elif pointer:
            yield ToolProblem("invalid", str(value), pointer)

    @property
    def meta(self) -> Mapping[str, Any]:
        further = self.data.get("next") if isinstance(self.data, dict) else None
        if not isinstance(further, str):
            return {}
        # An agent reads the arguments of the next page from its URL.
        return {"pagination": {"next": dict(parse_qsl(urlsplit(further).query))}}
