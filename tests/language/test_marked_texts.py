"""Every text of the package that a model reads is in a catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction

from drf_mcp.test import MCPClient, MCPRefused
from tests.language.conftest import PSEUDO

ROOT = Path(__file__).parents[2]
FAULTS = json.loads((ROOT / "benchmarks/agents/data/faults.json").read_text())["shop"]
BRACKETED = re.compile(r"⟦[^⟦⟧]*⟧")
# Names of fields are not three words in a row.
WORDS = re.compile(r"[A-Za-z][a-z']*(?: [a-z']+){2,}")
# Members of messages that hold values, not sentences.
VALUES = frozenset({"received", "examples", "enum", "const", "default", "next"})
# Members that differ in every call.
DIFFERENT_EACH_TIME = frozenset({"request_id", "timestamp", "telemetry", "if_match", "rate_limit"})
# Texts of the example shop with a value in the middle, and texts that Django has in English only.
OTHERS = re.compile("it would have to be|are in stock|has orders|matches the given query")
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="session")
def project_texts() -> str:
    """The source of the example project with single spaces."""
    sources = [*ROOT.glob("example_project/**/*.py"), *ROOT.glob("example_project/**/*.md")]
    return " ".join(" ".join(path.read_text() for path in sources).replace('"', " ").split())


@pytest.fixture
def find_untranslated(project_texts):
    """Find words that are neither translated nor from the example project."""

    def find_untranslated(texts: Iterator[str]) -> list[str]:
        left = []
        for text in texts:
            rest = BRACKETED.sub(" ⟧ ", " ".join(text.split()))
            found = (words for words in WORDS.findall(rest) if not OTHERS.search(words))
            left += [words for words in found if words not in project_texts]
        return sorted(set(left))

    return find_untranslated


def find_texts(value: Any) -> Iterator[str]:
    """Yield every text of a JSON value except the values of the project."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from find_texts(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name not in VALUES:
                yield from find_texts(member)


def make_client(name: str = "admin") -> MCPClient:
    client = MCPClient()
    client.force_authenticate(User.objects.get(username=name))
    return client


OPTIONS = ("EXTRA_QUERY", "DRY_RUN", "CONFIRM", "IDEMPOTENCY_KEYS", "TELEMETRY")


@pytest.mark.slow
def test_lists_and_instructions_are_translated(set_language, find_untranslated, settings):
    """The lists are taken with output schemas and with each option that adds arguments."""
    base = settings.DRF_MCP
    for options in (
        {},
        {"OUTPUT_SCHEMA": "envelope"},
        {"OUTPUT_SCHEMA": "full"},
        {**dict.fromkeys(OPTIONS, True), "ARGUMENTS": "grouped"},
    ):
        settings.DRF_MCP = {**base, "INSTRUCTIONS": None, **options}
        set_language(PSEUDO)
        client = make_client()
        assert find_untranslated(find_texts(client.list_tools())) == []
    result, _response = client.request_mcp("server/discover", {})
    assert find_untranslated([result["instructions"]]) == []


def make_mistake(fault: dict[str, Any]) -> Any:
    """Return the error of a mistaken call, or the meta of its envelope if the call succeeds."""
    try:
        with transaction.atomic():
            client = make_client(fault.get("user", "admin"))
            result = client.call_tool(fault["tool"], fault["arguments"])
            transaction.set_rollback(True)
    except MCPRefused as exc:
        return exc.message
    return strip(result.envelope if result.is_error else result.envelope["meta"])


def strip(value: Any) -> Any:
    """Return a JSON value without the members that differ in every call."""
    if isinstance(value, dict):
        return {
            name: strip(each) for name, each in value.items() if name not in DIFFERENT_EACH_TIME
        }
    return [strip(each) for each in value] if isinstance(value, list) else value


def unbracket(value: Any) -> Any:
    return json.loads(json.dumps(value, ensure_ascii=False).translate({0x27E6: "", 0x27E7: ""}))


def make_mistakes() -> dict[str, Any]:
    """Return the response to each mistake, by the name of the mistake."""
    responses = {}
    for fault in FAULTS:
        # A throttle must not count the earlier calls.
        cache.clear()
        responses[fault["mistake"]] = make_mistake(fault)
    return responses


@pytest.mark.slow
def test_responses_to_mistakes_are_translated(set_language, find_untranslated):
    """The responses equal the English ones without the brackets."""
    english = make_mistakes()
    set_language(PSEUDO)
    responses = make_mistakes()
    untranslated = {
        name: find_untranslated(find_texts(response)) for name, response in responses.items()
    }
    assert {name: texts for name, texts in untranslated.items() if texts} == {}
    assert unbracket(responses) == english


@pytest.mark.slow
def test_another_language_has_the_same_tools(set_language):
    english = make_client().list_tools()
    set_language(PSEUDO)
    assert unbracket(make_client().list_tools()) == english
