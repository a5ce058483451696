"""Every text of the package that a model reads comes out of a catalog."""

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
# Three words in a row are no names of fields.
WORDS = re.compile(r"[A-Za-z][a-z']*(?: [a-z']+){2,}")
# Members of messages whose texts are values, and no sentences about them.
VALUES = frozenset({"received", "examples", "enum", "const", "default", "next"})
# What is another in each call.
OF_THE_CALL = frozenset({"request_id", "timestamp", "telemetry", "if_match", "rate_limit"})
# The shop's own with a value in the middle, and what Django says in English alone.
OTHERS = re.compile("it would have to be|are in stock|has orders|matches the given query")
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="session")
def project_texts() -> str:
    """What the example project itself says, with single spaces."""
    sources = [*ROOT.glob("example_project/**/*.py"), *ROOT.glob("example_project/**/*.md")]
    return " ".join(" ".join(path.read_text() for path in sources).replace('"', " ").split())


@pytest.fixture
def find_left(project_texts):
    """Yields what of some texts is neither translated nor the project's own."""

    def find_left(texts: Iterator[str]) -> list[str]:
        left = []
        for text in texts:
            rest = BRACKETED.sub(" ⟧ ", " ".join(text.split()))
            found = (words for words in WORDS.findall(rest) if not OTHERS.search(words))
            left += [words for words in found if words not in project_texts]
        return sorted(set(left))

    return find_left


def find_texts(value: Any) -> Iterator[str]:
    """Yield every text of a JSON value that is no value of the project's own."""
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
def test_lists_and_instructions(speak, find_left, settings):
    """With the schemas of results, and with every option that adds arguments."""
    base = settings.DRF_MCP
    for options in (
        {},
        {"OUTPUT_SCHEMA": "envelope"},
        {"OUTPUT_SCHEMA": "full"},
        {**dict.fromkeys(OPTIONS, True), "ARGUMENTS": "grouped"},
    ):
        settings.DRF_MCP = {**base, "INSTRUCTIONS": None, **options}
        speak(PSEUDO)
        client = make_client()
        assert find_left(find_texts(client.list_tools())) == []
    result, _response = client.request_mcp("server/discover", {})
    assert find_left([result["instructions"]]) == []


def make_mistake(fault: dict[str, Any]) -> Any:
    """Return what an agent is told of a mistake: a failure whole, or the remarks of a success."""
    try:
        with transaction.atomic():
            client = make_client(fault.get("user", "admin"))
            result = client.call_tool(fault["tool"], fault["arguments"])
            transaction.set_rollback(True)
    except MCPRefused as exc:
        return exc.message
    return strip(result.envelope if result.is_error else result.envelope["meta"])


def strip(value: Any) -> Any:
    """Return a JSON value without what is another in each call."""
    if isinstance(value, dict):
        return {name: strip(each) for name, each in value.items() if name not in OF_THE_CALL}
    return [strip(each) for each in value] if isinstance(value, list) else value


def unbracket(value: Any) -> Any:
    return json.loads(json.dumps(value, ensure_ascii=False).translate({0x27E6: "", 0x27E7: ""}))


def make_mistakes() -> dict[str, Any]:
    """Return what is said of every mistake, by its name."""
    said = {}
    for fault in FAULTS:
        # What one call counts towards a throttle is none of the next one's.
        cache.clear()
        said[fault["mistake"]] = make_mistake(fault)
    return said


@pytest.mark.slow
def test_what_is_said_of_a_mistake(speak, find_left):
    """In another language the same is said, and all of it in that language."""
    english = make_mistakes()
    speak(PSEUDO)
    said = make_mistakes()
    left = {mistake: find_left(find_texts(said[mistake])) for mistake in said}
    assert {mistake: texts for mistake, texts in left.items() if texts} == {}
    assert unbracket(said) == english


@pytest.mark.slow
def test_another_language_has_the_same_tools(speak):
    english = make_client().list_tools()
    speak(PSEUDO)
    assert unbracket(make_client().list_tools()) == english
