"""``content_retrieve``: the rest of a result, for the caller who got the result."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from django.http import StreamingHttpResponse
from django.urls import path
from rest_framework.views import APIView

from drf_mcp.calls.budget import CLIENT_LIMIT_KEY
from drf_mcp.envelopes import DigestPayload, verify_payload
from drf_mcp.exposure import Registry, mcp_tool
from drf_mcp.stored import CacheArchive
from drf_mcp.truncation import Digester, canonical_text, count_tokens
from drf_mcp.views import MCPView
from tests.agents import Agent, Result
from tests.truncation.conftest import LIMIT, OPEN, ROWS, Rows, Said, document


def archive_of(result) -> tuple[str, str]:
    """Return the archive id and the hash of a result."""
    ((archive_id, digest),) = result.envelope["meta"]["content_archive_hashes"].items()
    return archive_id, digest


def fetch_all(agent: Agent, **arguments) -> list[dict]:
    """Fetch all items in slices, and items too long for a slice one by one."""
    items, offset = [], 0
    while offset is not None:
        data = agent.call("content_retrieve", offset=offset, **arguments).data
        if "values" in data:
            return [fetch_values(agent, **arguments)]
        if "items" not in data:
            return [{**data, "value": fetch_text(agent, **arguments)}]
        items += data["items"]
        offset = data["next_offset"]
    for item in items:
        if "too_long" in item:
            item_arguments = {**arguments, "ids": [item["id"]]}
            is_list = "length" in item
            if is_list:
                item["value"] = fetch_values(agent, **item_arguments)["value"]
            else:
                item["value"] = fetch_text(agent, **item_arguments)
            del item["too_long"]
    return items


def fetch_values(agent: Agent, **arguments) -> dict:
    """Fetch the values that a list has lost, which are one item."""
    values, offset = [], 0
    while offset is not None:
        data = agent.call("content_retrieve", offset=offset, **arguments).data
        values += data["values"]
        offset = data["next_offset"]
    assert len(values) == data["total_count"]
    names = {"id", "pointer", "length"} & set(data)
    return {**{name: data[name] for name in names}, "value": values}


def fetch_text(agent: Agent, **arguments) -> object:
    """Fetch one item in slices of characters."""
    text, offset = "", 0
    while offset is not None:
        data = agent.call("content_retrieve", offset=offset, **arguments).data
        text += data["text"]
        offset = data["next_offset"]
    assert len(text) == data["total_chars"]
    return json.loads(text) if data["format"] == "json" else text


# To retrieve an answer of a megabyte takes hundreds of calls.


@pytest.fixture
def call_fitted(library, agent_of) -> Callable:
    """Returns a function that gives a result within a limit of tokens, and all that was dropped."""
    library(MAX_RESULT_TOKENS=10_000)
    alice = agent_of("alice")

    def ask(answer: object, limit: int) -> tuple[Result, list[dict]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Said, "answer", answer)
            taken = {CLIENT_LIMIT_KEY: limit}
            raw = alice.result("tools/call", name="said", arguments={}, _meta=taken)
            result = Result(raw)
            archives = result.envelope["meta"].get("content_archive_hashes", {})
            items = [item for name in archives for item in fetch_all(alice, archive_id=name)]
        assert count_tokens(raw["content"][0]["text"]) <= limit
        return result, items

    return ask


@pytest.mark.slow
def test_a_member_with_a_very_long_name_can_be_retrieved(library, call_fitted):
    library(MAX_RESULT_TOKENS=3000)
    for value in ({"n": list(range(4_000))}, "one two. " * 2000):
        _, (item,) = call_fitted({"k" * 5000: value}, 3000)
        assert item["value"] == (value["n"][-item["length"] :] if "length" in item else value)


@pytest.mark.slow
def test_an_item_with_any_id_can_be_retrieved(library, alice):
    library(MAX_RESULT_TOKENS=1000)
    for slug in (" s ", "s\n", "s\x00", "s,t", "s\ud800", "s/t.u[1]"):
        with pytest.MonkeyPatch.context() as patch:
            rows = [{"slug": f"{n}{slug}", "of": "x" * 99} for n in range(30)]
            patch.setattr(Said, "answer", rows)
            result = alice.call("said")
        archive_id, _ = archive_of(result)
        names = result.envelope["meta"]["dropped_content_ids"][:3]
        assert len(names) == 3
        for name in names:
            found = alice.call("content_retrieve", archive_id=archive_id, ids=[name]).data
            assert [item["id"] for item in found["items"]] == [name]


@pytest.mark.parametrize("envelope", ["ResponseV2", "Ok", "Status", "Plain"])
def test_a_generator_in_an_answer_is_not_consumed_before_it_is_sent(library, alice, envelope):
    """REST framework's encoder writes generators as arrays."""
    library(ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}Envelope")
    for count in (3, 300):
        with pytest.MonkeyPatch.context() as patch:
            rows = ({"id": n, "of": "x" * 40} for n in range(count))
            patch.setattr(Said, "answer", {"rows": rows})
            result = alice.call("said")
        data = result.envelope if envelope == "Plain" else result.data
        assert len(data["rows"]) == min(count, len(data["rows"])) > 2
        assert (count == 3) == (len(result.raw["content"][0]["text"]) < 1000)


class Lines(APIView):
    """Stream text without end."""

    def get(self, request) -> StreamingHttpResponse:
        return StreamingHttpResponse(itertools.repeat(b'a "line"\n'), content_type="text/plain")


@pytest.mark.slow
def test_long_documents_are_digests_whose_locators_lead_to_the_text(library, alice):
    library(MAX_RESULT_TOKENS=10_000)
    result = alice.call("documents", search="storm mole")
    meta = result.envelope["meta"]
    assert meta["content_fidelity"] == "summary"
    rows = {f"data[{place}].body": row for place, row in enumerate(result.data["results"])}
    for row in map(rows.pop, meta["dropped_content_ids"]):
        payload = DigestPayload.from_json(row["body"])
        assert verify_payload(payload, canonical_text(document(row["id"])["body"]))
        assert "storm" in payload.evidence_snippets[0].text
    assert list(rows.values()) == [document(row["id"]) for row in rows.values()]

    snippet = DigestPayload.from_json(result.data["results"][0]["body"]).evidence_snippets[0]
    start, end = map(int, snippet.locator.removeprefix("char:").split("-"))
    data = alice.call(
        "content_retrieve",
        archive_id=archive_of(result)[0],
        ids=meta["dropped_content_ids"][:1],
        canonical=True,
        offset=start,
        limit=end - start,
    ).data
    assert data["text"] == snippet.text


@pytest.mark.slow
def test_items_are_selected_by_id_pointer_and_offset(library, alice):
    """One argument may have several ids, with commas."""
    library()
    archive_id, _ = archive_of(alice.call("rows"))

    def ask(**arguments):
        return alice.call("content_retrieve", archive_id=archive_id, **arguments)

    whole, last = ask().data, [str(ROWS - 1), str(ROWS)]
    for ids in ([last[1], last[0]], [",".join(last)]):
        data = ask(ids=ids).data
        assert [item["id"] for item in data["items"]] == last
        assert [item["value"]["id"] for item in data["items"]] == list(map(int, last))
        assert data["total_count"] == 2
    (item,) = ask(ids=[f"/{ROWS - 1}"]).data["items"]
    assert item["value"]["id"] == ROWS
    refused = ask(ids=["1", last[1]])
    assert refused.code == "NOT_FOUND"
    assert refused.envelope["error"] == "Not among the archived items: 1."

    data = ask(offset=3, limit=2).data
    assert data["items"] == whole["items"][3:5]
    assert (data["offset"], data["next_offset"]) == (3, 5)
    assert data["total_count"] == whole["total_count"]
    beyond = ask(offset=99_999).data
    assert (beyond["items"], beyond["next_offset"]) == ([], None)


@pytest.mark.slow
def test_the_owner_may_name_content_by_id_and_hash_if_both_agree(library, agent_of):
    library()
    alice = agent_of("alice")
    archive_id, digest = archive_of(alice.call("rows"))
    other = f"sha256:{'0' * 64}"
    for named in (
        {"content_hash": digest},
        {"archive_id": digest},
        {"archive_id": digest, "content_hash": digest},
        {"archive_id": archive_id, "content_hash": digest},
    ):
        assert alice.call("content_retrieve", **named).data["archive_id"] == archive_id
    for name in (archive_id, digest):
        refused = alice.call("content_retrieve", archive_id=name, content_hash=other)
        assert refused.code == "NOT_FOUND"
    for agent in (agent_of("bob"), agent_of(None), agent_of("carol")):
        for named in ({"archive_id": archive_id}, {"archive_id": digest}, {"content_hash": digest}):
            refused = agent.call("content_retrieve", **named)
            assert refused.code == "NOT_FOUND"
            assert "Call the tool that gave it again" in refused.envelope["error"]


def test_anonymous_content_is_found_by_its_id_only(library, agent_of):
    library()
    anonymous = agent_of(None)
    archive_id, digest = archive_of(anonymous.call("rows"))
    assert anonymous.call("content_retrieve", archive_id=archive_id).data["items"]
    assert anonymous.call("content_retrieve", content_hash=digest).code == "NOT_FOUND"


@pytest.mark.slow
def test_content_is_not_found_after_it_expired_or_its_tool_was_removed(library, alice):
    library()
    archive_id, _ = archive_of(alice.call("rows"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time", lambda: 32_503_680_000.0)
        refused = alice.call("content_retrieve", archive_id=archive_id)
    assert refused.code == "NOT_FOUND"
    assert "expired" in refused.envelope["error"]
    archive_id, _ = archive_of(alice.call("rows"))
    library(EXCLUDE=["rows"])
    assert alice.call("content_retrieve", archive_id=archive_id).code == "NOT_FOUND"


def test_the_arguments_of_content_retrieve(library, alice):
    library()
    tool = alice.tools()["content_retrieve"]
    names = ["archive_id", "query", "ids", "offset"]
    assert list(tool["inputSchema"]["properties"]) == names
    # Others are taken: the schema is open.
    assert tool["inputSchema"].keys() == {"type", "properties", "required"}
    assert tool["inputSchema"]["required"] == ["archive_id"]
    assert tool["annotations"]["readOnlyHint"] is True
    assert alice.call("content_retrieve").code == "MISSING_REQUIRED"
    refused = alice.call("content_retrieve", archive_id="a", offset=-1)
    assert refused.problems[0]["pointer"] == "/offset"


@pytest.mark.slow
def test_without_an_archive_or_a_budget_there_is_no_content_retrieve(library, alice):
    library(MAX_RESULT_TOKENS=None)
    assert "content_retrieve" not in alice.tools()
    library(ARCHIVE_CLASS=None)
    assert "content_retrieve" not in alice.tools()
    result = alice.call("rows")
    assert result.envelope["meta"]["content_fidelity"] == "partial"
    assert "content_archive_hashes" not in result.envelope["meta"]


@pytest.mark.slow
def test_an_endpoint_with_its_own_registry_has_content_retrieve(settings, agent_of):
    own = Registry()
    own.register(Rows)
    module = type("URLConf", (), {})
    module.urlpatterns = [path("mcp", MCPView.as_view(registry=own)), path("rows/", Rows.as_view())]
    settings.ROOT_URLCONF = module
    settings.DRF_MCP = {"PERMISSION_CLASSES": [OPEN]}
    alice = agent_of("alice")
    archive_id, _ = archive_of(alice.call("rows"))
    assert alice.call("content_retrieve", archive_id=archive_id).data["items"]


class Broken(CacheArchive):
    """An archive that cannot store."""

    def store(self, entry) -> None:
        raise ConnectionError("no route to host")


class Lost(CacheArchive):
    """An archive that cannot read."""

    def read(self, archive_id):
        raise ConnectionError("no route to host")


def test_an_archive_that_cannot_be_read_is_unavailable(library, alice):
    library(ARCHIVE_CLASS=Lost)
    archive_id, _ = archive_of(alice.call("rows"))
    result = alice.call("content_retrieve", archive_id=archive_id)
    assert (result.code, result.data["error_type"]) == ("UNAVAILABLE", "unavailable")
    assert "route to host" not in result.raw["content"][0]["text"]


class Failing(Digester):
    """A digester that raises."""

    def digest(self, text: str, query: str) -> dict:
        raise ConnectionError("no route to host")


@pytest.mark.slow
def test_a_digester_that_raises_is_replaced_by_the_default(library, alice):
    library(DIGESTER_CLASS=Failing, MAX_RESULT_TOKENS=10_000)
    result = alice.call("documents")
    assert result.envelope["meta"]["content_fidelity"] == "summary"
    assert DigestPayload.from_json(result.data["results"][0]["body"])


def test_a_tool_may_have_its_own_budget(expose, alice):
    @mcp_tool(name="short", max_result_tokens=1250)
    class Short(Rows):
        """Has a small budget."""

    @mcp_tool(name="whole", max_result_tokens=0)
    class Whole(Rows):
        """Has no budget."""

    expose(
        path("short/", Short.as_view()), path("whole/", Whole.as_view()), MAX_RESULT_TOKENS=LIMIT
    )
    assert count_tokens(alice.call("short").raw["content"][0]["text"]) <= 1250
    assert len(alice.call("whole").data["results"]) == ROWS


def test_errors_have_their_own_budget(library, alice):
    library(MAX_ERROR_TOKENS=1000)
    refused = alice.call(
        "content_retrieve", archive_id="a", **{"x" * 60 + str(n): n for n in range(50)}
    )
    assert count_tokens(refused.raw["content"][0]["text"]) <= 1000
    assert refused.code == "VALIDATION_ERROR"
