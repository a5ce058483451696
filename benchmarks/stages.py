"""The function calls of a request by stage of a tool call."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rest_framework.views import APIView

import drf_mcp
from benchmarks.comparing import Comparison, warm, without_garbage_collection
from benchmarks.requests import Request, Server
from drf_mcp.access.authentication_reuse import SampleViewSet

PACKAGE = Path(drf_mcp.__file__).parent
AROUND = "Django around it"
VIEW = "the view"
OTHER = "what all stages use"
# The stage of each folder and module of the package, in the order of a call.
STAGES: Mapping[str, str] = {
    "views.py": "1 door",
    "transports": "1 door",
    "access": "1 door",
    "server.py": "2-8 server",
    "protocol": "2-4 protocol",
    "tools": "4-5 tools and arguments",
    "dispatch": "6 dispatch",
    "truncation": "7 truncation",
    "envelopes": "8 envelope",
    "observability": "observability",
}
ROWS = (AROUND, *dict.fromkeys(STAGES.values()), OTHER, VIEW)
VIEW_CODES = {
    APIView.dispatch.__code__,
    SampleViewSet.as_view({"get": "list"}).__wrapped__.__code__,
}


class StageCounter:
    """A profile function that counts calls by stage.

    A function of the package counts for the stage of its folder, every other function for the
    stage of its caller.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.stack = [AROUND]
        self.stages: dict[CodeType, str | None] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code not in self.stages:
                self.stages[code] = find_stage(code)
            self.stack.append(self.stages[code] or self.stack[-1])
            self.counts[self.stack[-1]] += 1
        elif event == "c_call":
            self.counts[self.stack[-1]] += 1
        elif event == "return" and len(self.stack) > 1:
            self.stack.pop()


def find_stage(code: CodeType) -> str | None:
    """Return the stage of a function, None if it belongs to the stage of its caller."""
    if code in VIEW_CODES:
        return VIEW
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    return STAGES.get(path.relative_to(PACKAGE).parts[0], OTHER)


def calls_by_stage(answer: Callable[[], Any]) -> Counter[str]:
    """Return the number of function calls in each stage, those of C included."""
    counter = StageCounter()
    with without_garbage_collection():
        sys.setprofile(counter)
        try:
            answer()
        finally:
            sys.setprofile(None)
    return counter.counts


def extra_calls_by_stage(server: Server, comparison: Comparison) -> Counter[str]:
    """Return the function calls by stage that the plain request does not make."""

    def count(request: Request) -> Counter[str]:
        with warm(server, request):
            counts: Counter[str] = server.measured(request, calls_by_stage)
        return counts

    extra = count(comparison.measured)
    extra.subtract(count(comparison.plain))
    return extra
