"""Thousands of mutated messages: no 5xx, no leak, no answer that breaks a schema."""

from __future__ import annotations

import json
import os
import random

import pytest
from django.conf import settings

from tests.fuzz.driver import Fuzz, planted_project
from tests.fuzz.judge import Answer, Judge
from tests.fuzz.mutations import Input, Mutator
from tests.fuzz.planted import IN_A_ROW, IN_AN_EXCEPTION
from tests.fuzz.recordings import Recorder, Recording

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


def test_a_seed_always_gives_the_same_inputs(planted):
    recordings = Recorder().record()
    first, second = (Mutator(recordings, seed=3) for _ in range(2))
    drawn = [first.draw(number) for number in range(50)]
    assert repr(drawn[::-1]) == repr([second.draw(number) for number in reversed(range(50))])
    assert len({sent.body for sent in drawn}) > 30


def test_the_recordings_have_every_revision_and_kind(planted):
    recordings = Recorder().record()
    revisions = {recording.headers.get("MCP-Protocol-Version") for recording in recordings}
    assert revisions == {"2026-07-28", "2025-11-25", "2025-06-18", None}
    assert {type(recording.message) for recording in recordings} == {dict, type(None)}


def find_faults(answer: Answer, asked: object = ASKED) -> list[str]:
    sent = Input(Recording(asked), json.dumps(asked).encode())
    return list(Judge(["s3cret"]).find_faults(sent, answer))


def error(message: str, id: object = 7) -> Answer:
    body = {"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": message}}
    return Answer(400, JSON, json.dumps(body).encode())


def test_a_correct_answer_has_no_fault():
    assert find_faults(error("The message is wrong.")) == []


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
        (Answer(200, JSON, b"[]"), "an empty batch"),
    ]:
        with subtests.test(answer=answer, fault=fault):
            assert fault in find_faults(answer)


def test_the_judge_finds_invalid_messages():
    answer = Answer(400, JSON, b'{"jsonrpc":"1.0","id":7,"error":{"code":1,"message":""}}')
    assert find_faults(answer)[0].startswith("no JSON-RPC message")


def test_a_crash_is_a_fault_unless_it_was_planted(planted, watch, monkeypatch):
    monkeypatch.setattr(
        "example_project.shop.views.StatusView.get", lambda *args, **kwargs: [][IN_AN_EXCEPTION]
    )
    fuzz = Fuzz(0, watch)
    recordings = {
        recording.message["params"]["name"]: recording
        # The first call of each tool; for the planted view a crash.
        for recording in reversed(fuzz.mutator.recordings)
        if isinstance(recording.message, dict) and recording.message.get("method") == "tools/call"
    }
    faults = {}
    with fuzz.recording_log_faults():
        for name in ("status", "planted_failure"):
            sent = Input(recordings[name], recordings[name].body)
            answer, faults[name] = fuzz.try_input(sent)
            assert fuzz.judge.get_verdict(answer) == "a tool's refusal, INTERNAL_ERROR"
    assert faults["planted_failure"] == []
    assert faults["status"][0].startswith("a crash: TypeError")
