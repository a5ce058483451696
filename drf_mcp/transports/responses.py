from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpResponse


def make_json_response(
    status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    if not body:
        return HttpResponse(status=status, headers=headers)
    return HttpResponse(body, "application/json", status, headers=headers)
