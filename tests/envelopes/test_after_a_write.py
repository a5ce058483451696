"""After a call that may have changed something, no text says to make the call again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from drf_mcp.envelopes import error_response
from drf_mcp.exceptions import Unavailable
from tests.dispatch.views import answering, raising

AGAIN = re.compile(r"again for less|[Tt]ry again|^Wait .* before calling again|then ask for less")
ROWS = [{"id": n, "text": "word " * 60} for n in range(300)]
ENVELOPES = ("response_v2", "ok", "status", "plain")


class Waiting(Unavailable):
    wait = 30


FAILURES: dict[str, Any] = {
    "crash": lambda method: raising(KeyError("x"), method),
    "500": lambda method: raising(APIException(), method),
    "503": lambda method: raising(Unavailable(), method),
    "503 with a time": lambda method: raising(Waiting(), method),
    "own envelope": lambda method: answering(
        lambda request: Response(error_response("It broke."), status=500), method
    ),
    "504": lambda method: answering(lambda request: HttpResponse(status=504), method),
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("make", FAILURES.values(), ids=FAILURES)
def test_a_failed_write_says_to_look_whether_the_change_was_made(serve, make, envelope):
    text = str(serve(make("POST")).call(envelope).raw)
    assert not AGAIN.search(text)
    # The plain text of an error body has no advice.
    assert "whether the change was made" in text or "ViewSet returned error" in text


def test_a_failed_read_may_be_made_again(serve):
    assert "Try again later" in serve(raising(KeyError("x"))).call().data["remediation"]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_shortened_write_whose_rest_is_not_kept_is_not_made_again(serve, envelope):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        thing = serve(answering(lambda request: Response(ROWS), method), ARCHIVE_CLASS=None)
        text = str(thing.call(envelope).raw)
        assert "Do not make the call again" in text
        assert not AGAIN.search(text)
    thing = serve(answering(lambda request: Response(ROWS)), ARCHIVE_CLASS=None)
    assert AGAIN.search(str(thing.call(envelope).raw))


def test_the_beginning_of_a_text_that_a_write_answers_is_not_asked_for_again(serve):
    long = answering(lambda request: HttpResponse("x" * 5000, "text/plain"), "POST")
    text = str(serve(long, MAX_CONTENT_BYTES=10).call().raw)
    assert "Do not make the call again" in text
    assert not AGAIN.search(text)
