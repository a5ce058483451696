"""Kinds of answers, and of handlers that give them, for `test_matrix`.

All content of an answer has marks, which are numbers: by these a test sees what arrives.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any

from adrf.decorators import api_view as async_api_view
from adrf.views import APIView as AsyncAPIView
from django.http import HttpResponse, JsonResponse
from django.urls import path
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from drf_mcp.envelopes import (
    OkMeta,
    OkResponse,
    StandardMCPResponse,
    error_response,
    success_response,
)
from drf_mcp.exceptions import SoftFailure

MARK = re.compile(r"(?<!\d)70\d{5}(?!\d)")
FIRST = 7_000_000
WORDS = ("the price of a night, in words that nobody needs, ", "夜の値段は、誰も要らない言葉で、")


def mark(number: int) -> str:
    return f"{FIRST + number} {WORDS[number % 7 == 0]}"


def make_document(number: int) -> str:
    """Return a long text: Markdown, a log, HTML, code and rows in turn."""
    lines = [mark(100 * number + line) for line in range(45)]
    kinds = [
        "\n\n".join(f"## Part {n}\n{line}" for n, line in enumerate(lines)),
        "\n".join(f"2026-01-01 00:00:{n:02} ERROR {line}" for n, line in enumerate(lines)),
        f"<html><body><main>{''.join(f'<p>{line}</p>' for line in lines)}</main></body></html>",
        "\n".join(f"def part_{n}():\n    '''{line}'''\n" for n, line in enumerate(lines)),
        "number,text\n" + "\n".join(f'{n},"{line}"' for n, line in enumerate(lines)),
    ]
    return kinds[number % len(kinds)]


SHAPES: dict[str, Callable[[], Any]] = {
    "rows": lambda: [{"id": n, "name": mark(n), "text": WORDS[0] * 3} for n in range(120)],
    "texts": lambda: [mark(n) * 2 for n in range(200)],
    "numbers": lambda: [FIRST + n for n in range(1500)],
    "lists of an object": lambda: {
        "count": 3,
        "open": [{"uuid": f"u{n}", "of": [mark(n), None, True]} for n in range(60)],
        "closed": {"by": {"day": [[FIRST + 500 + n, n / 8] for n in range(150)]}},
    },
    "long text": lambda: {"id": 1, "body": "\n".join(mark(n) * 4 for n in range(99))},
    "documents": lambda: [{"id": f"d{n}", "body": make_document(n)} for n in range(5)],
    "odd names": lambda: {f"a.b/{n}[0] ü{'~' * (n % 3)}": mark(n) * 3 for n in range(90)},
    "long rows": lambda: [
        {"id": 1, "lines": [{"line": 50 * n + m, "text": mark(50 * n + m)} for m in range(40)]}
        for n in range(4)
    ],
}


def give_ok(value: Any) -> Response:
    return Response(OkResponse(ok=True, data=value, meta=OkMeta(version="7")))


def give_status(value: Any) -> Response:
    answer = StandardMCPResponse(success=True, data={"items": value})
    answer.add_suggestion("Try tomorrow.")
    return Response(answer.finalize())


def give_own(value: Any) -> Response:
    more = {"dropped_content_ids": ["mine-1"], "content_archive_hashes": {"mine": "sha256:abc"}}
    return Response(success_response({"items": value}, content_fidelity="partial", **more))


def refuse_softly(value: Any) -> None:
    raise SoftFailure("Not today.", code="closed_today", data={"items": value})


def refuse_in_own_envelope(value: Any) -> Response:
    said = {"error_code": "SPEC_BROKEN", "error_type": "conflict", "remediation": "Mend it."}
    body = error_response("No.", **said, details={"field": "spec"}, data={"lines": value})
    return Response(body, status=409)


def refuse(value: Any) -> Response:
    body = {"detail": "Out of stock.", "code": "sold_out", "available": 3, "lines": value}
    return Response(body, status=409)


def give_json(value: Any) -> HttpResponse:
    return JsonResponse(value, safe=False)


# How a view says an answer, and what it says besides, in every envelope.
WAYS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "Response": (Response, ()),
    "HttpResponse": (give_json, ()),
    "success_response": (give_own, ("mine-1", "sha256:abc")),
    "OkResponse": (give_ok, ()),
    "StandardMCPResponse": (give_status, ("Try tomorrow.",)),
    "SoftFailure": (refuse_softly, ("Not today.",)),
    "error_response": (refuse_in_own_envelope, ("spec",)),
    "409": (refuse, ("available",)),
}


def around(view: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(view)
    def call(*args: Any, **kwargs: Any) -> Any:
        return view(*args, **kwargs)

    return call


def make_handlers(give: Callable[[], Any]) -> dict[str, Any]:
    """Return URL patterns by the kind of handler: each has one tool that gives an answer."""

    class Plain(APIView):
        def get(self, request):
            return give()

    class Asynchronous(AsyncAPIView):
        async def get(self, request):
            return give()

    class Things(GenericViewSet):
        def list(self, request):
            return give()

        def retrieve(self, request, pk):
            return give()

        def create(self, request):
            return give()

    @api_view()
    def function(request):
        return give()

    @async_api_view(["GET"])
    async def asynchronous(request):
        return give()

    return {
        "list": path("things/", Things.as_view({"get": "list"})),
        "retrieve": path("things/<int:pk>/", Things.as_view({"get": "retrieve"})),
        "create": path("things/", Things.as_view({"post": "create"})),
        "APIView": path("things/", Plain.as_view()),
        "async APIView": path("things/", Asynchronous.as_view()),
        "function": path("things/", function),
        "async function": path("things/", asynchronous),
        "decorated": path("things/", around(Plain.as_view())),
    }


HANDLERS = tuple(make_handlers(lambda: None))


def find_marks(text: str) -> set[str]:
    return set(MARK.findall(text))


def read_whole(agent: Any, archive_id: str, check: Callable[[Any], None], **asked: Any) -> str:
    """Return all that is kept under an id, slice by slice; ``check`` gets each result."""
    text, offset, long = "", 0, []
    while offset is not None:
        raw = agent.call("content_retrieve", archive_id=archive_id, offset=offset, **asked).raw
        assert not raw.get("isError"), raw
        check(raw)
        body = json.loads(raw["content"][0]["text"])
        part = body if "archive_id" in body else body["data"]
        text += part.get("text", "")
        text += "".join(f"{value} " for value in part.get("values", ()))
        for item in part.get("items", ()):
            text += json.dumps(item.get("value"), ensure_ascii=False)
            long += [item["id"]] if "too_long" in item else []
        assert part["next_offset"] is None or part["next_offset"] > offset
        offset = part["next_offset"]
    return text + "".join(read_whole(agent, archive_id, check, ids=[name]) for name in long)
