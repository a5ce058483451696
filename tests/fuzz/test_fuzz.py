"""Thousands of mutated messages: no 5xx, no leak, no answer that breaks a schema."""

from __future__ import annotations

import json
import os
import random

import pytest
from django.conf import settings

from tests.fuzz.driver import Fuzz, planted_project
from tests.fuzz.judge import Answer, Judge
from tests.fuzz.mutations import Input
from tests.fuzz.planted import IN_A_ROW
from tests.fuzz.recordings import Recording

# CI always uses the same inputs, and more of them in `make fuzz`; a developer's run uses new ones.
IS_CI, IS_NIGHT = bool(os.environ.get("CI")), os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SEED = 0 if IS_CI else random.randrange(10**6)
# The number that `make fuzz` sends in the nightly run.
PARTS, SIZE = (4, 5_000) if IS_NIGHT else (1, 500)
JSON = {"content-type": "application/json"}
ASKED = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@pytest.fixture
def planted(db):
    with planted_project():
        yield


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_answer_to_a_mutated_message_has_a_fault(part, watch, planted):
    numbers = range(part * SIZE, (part + 1) * SIZE)
    report = Fuzz(SEED, watch).run(numbers)
    assert report.faults == {}, "\n".join((f"seed {SEED}", *report.lines()))
    assert report.count == SIZE
    # Inputs reached the views, and failed at every step before.
    assert {
        "a result of a tool",
        "a tool's refusal, VALIDATION_ERROR",
        "HTTP 400, JSON-RPC error -32700",
        "HTTP 400, JSON-RPC error -32600",
        "HTTP 401, JSON-RPC error 401",
        "HTTP 202, no message",
    } <= report.verdicts.keys()


def find_faults(answer: Answer, asked: object = ASKED) -> list[str]:
    sent = Input(Recording(asked), json.dumps(asked).encode())
    return list(Judge(["s3cret"]).find_faults(sent, answer))


def error(message: str, id: object = 7) -> Answer:
    body = {"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": message}}
    return Answer(400, JSON, json.dumps(body).encode())


def test_the_judge_finds_leaks(subtests):
    for message, fault in [
        ("s3cret", "the secret s3cret"),
        (f"at {settings.BASE_DIR}", f"the secret {settings.BASE_DIR}"),
        (IN_A_ROW, "a row of another user"),
        ("Traceback (most recent call last)", "the inside: Traceback"),
        ("no such table: auth_user", "the inside: no such table"),
        ("SELECT 1", "the inside: SELECT"),
        ("in views.py, line 3", "the inside: .py"),
    ]:
        with subtests.test(message=message, fault=fault):
            assert fault in find_faults(error(message))


def test_the_judge_finds_wrong_answers(subtests):
    for answer, fault in [
        (Answer(500, JSON, error("Wrong.").body), "HTTP 500"),
        (Answer(301, {"location": "/mcp/"}, b""), "HTTP 301"),
        (Answer(400, {"content-type": "text/html"}, b"<h1>"), "no message, but text/html"),
        (error("Wrong.", id=8), "an answer to 8, which was not asked"),
    ]:
        with subtests.test(answer=answer, fault=fault):
            assert fault in find_faults(answer)
