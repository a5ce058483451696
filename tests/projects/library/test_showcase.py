"""A list of long documents fits the budget as digests, and its originals can be retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from drf_mcp.envelopes import DigestPayload, verify_payload
from drf_mcp.envelopes.digest import Locator
from tests.agents import REVISIONS, Agent, make_agent

BUDGET = 40_000
ARGUMENTS = {"search": "exception", "page_size": 20}
URL = "/api/library/documents/texts/"


@dataclass(frozen=True)
class Shelf:
    """A shortened list of documents.

    Attributes:
        agent: the agent that called the tool.
        text: the envelope as it was sent.
        rows: the rows of the list.
        meta: the meta of the envelope.
    """

    agent: Agent
    text: str
    rows: list[dict[str, Any]]
    meta: dict[str, Any]

    @classmethod
    def call(cls, agent: Agent, arguments: Mapping[str, Any] = ARGUMENTS) -> Shelf:
        """Call the tool, and return its list."""
        result = agent.call("documents_texts", **arguments)
        text = result.raw["content"][0]["text"]
        return cls(agent, text, result.data["results"], result.envelope["meta"])

    @property
    def archive(self) -> tuple[str, str]:
        """The archive id and the content hash."""
        (archive,) = self.meta["content_archive_hashes"].items()
        return archive

    @property
    def digests(self) -> dict[str, DigestPayload]:
        """The validated digests, by the ids under which their originals are archived."""
        return {
            name: DigestPayload.from_json(self.rows[index]["text"])
            for index in range(len(self.rows))
            for name in (f"results[{index}].text",)
            if name in self.meta["dropped_content_ids"]
        }

    def original(self, name: str, **arguments: Any) -> str:
        """Retrieve an original in slices."""
        text, offset = "", 0
        while offset is not None:
            data = self.agent.call(
                "content_retrieve",
                archive_id=self.archive[0],
                ids=[name],
                offset=offset,
                **arguments,
            ).data
            text, offset = text + data["text"], data["next_offset"]
        return text


@pytest.fixture(scope="module")
def shelf(shared_db) -> Shelf:
    """The list for alice."""
    return Shelf.call(make_agent("alice"))


def test_the_list_fits_and_no_document_is_missing(shelf, http):
    whole = http.get(URL, ARGUMENTS).json()
    assert sum(row["length"] for row in whole["results"]) > 4 * BUDGET
    assert len(shelf.text) <= BUDGET
    assert [row["name"] for row in shelf.rows] == [row["name"] for row in whole["results"]]
    assert shelf.meta["content_fidelity"] == "summary"
    assert shelf.meta["content_fidelity_schema_version"] == "1.0"


def test_every_digest_verifies_against_the_canonical_text(shelf):
    assert len(shelf.digests) > 10
    for name, digest in shelf.digests.items():
        canonical = shelf.original(name, canonical=True)
        assert verify_payload(digest, canonical)
        for snippet in digest.evidence_snippets:
            assert Locator.parse(snippet.locator).excerpt(canonical) == snippet.text


def test_every_original_is_retrieved_byte_for_byte(shelf, http):
    rows = [dict(row) for row in shelf.rows]
    for name in shelf.digests:
        rows[int(name[8 : name.index("]")])]["text"] = shelf.original(name)
    assert rows == http.get(URL, ARGUMENTS).json()["results"]


def test_the_evidence_matches_the_search(shelf):
    for digest in shelf.digests.values():
        first = digest.evidence_snippets[0]
        assert "exception" in first.text.casefold()
        assert first.relevance_score > 0.5


def test_every_revision_has_the_same_list_and_originals(shelf, agent_of):
    name = next(iter(shelf.digests))
    for revision in {*REVISIONS} - {shelf.agent.revision}:
        other = Shelf.call(agent_of("alice", revision=revision))
        assert (other.rows, len(other.text) <= BUDGET) == (shelf.rows, True), revision
        assert other.original(name) == shelf.original(name), revision


def test_another_user_cannot_retrieve_the_originals(shelf, agent_of):
    archive_id, digest = shelf.archive
    for username in ("bob", "carol"):
        for arguments in ({"archive_id": archive_id}, {"content_hash": digest}):
            refused = agent_of(username).call("content_retrieve", **arguments)
            assert refused.is_error
            assert refused.code == "NOT_FOUND"
