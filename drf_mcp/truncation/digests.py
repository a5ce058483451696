"""Digests: a long text as a summary, key points, and evidence that can be verified.

A subclass of `Digester` condenses a text. The base class makes a payload of the ``digest/v1``
contract, with its limits, counts, hashes and locators.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.json_text import encode_plain, to_bytes
from drf_mcp.truncation.canonical_text import canonical_text
from drf_mcp.truncation.tokens import clip_text, count_tokens

VERSION = "1.0"
CONTENT_TYPE = "digest/v1"
SUMMARY_LENGTH = 2000
ITEM_LENGTH = 500
MAX_ITEMS = 10
# A summary is not cut below this to make room for key points.
SHORT_SUMMARY_LENGTH = 160


@dataclass(frozen=True)
class Evidence:
    """A quotation that supports the summary or answers the query.

    Attributes:
        text: exactly as in the canonical text.
        relevance: to the query, from 0 to 1.
        start: its position in the canonical text, None to have it looked up.
    """

    text: str
    relevance: float = 1.0
    start: int | None = None


@dataclass(frozen=True)
class Condensed:
    """What matters in a text.

    Attributes:
        summary: in a few sentences.
        key_points: one sentence each, the most important first.
        evidence: quotations, the most relevant first.
    """

    summary: str
    key_points: Sequence[str] = ()
    evidence: Sequence[Evidence] = ()


class Digester:
    """Makes digests. A subclass gives `condense`; DIGESTER_CLASS names it.

    An instance is made for each result with several texts too long.
    """

    def condense(self, text: str, query: str) -> Condensed:
        """Return what matters in a text.

        Long parts are cut later, and evidence that the text does not hold is left out.

        Args:
            text: the text in canonical form.
            query: what the caller was looking for, in canonical form; "" if not known.
        """
        raise NotImplementedError(f"{type(self).__name__} must define condense().")

    def canonical(self, text: str) -> str:
        """Return a text in the form that hashes and locators refer to."""
        return canonical_text(text)

    def digest(self, text: str, query: str = "") -> dict[str, Any]:
        """Return the ``digest/v1`` payload of a text."""
        canonical = self.canonical(text)
        condensed = self.condense(canonical, self.canonical(query))
        points = [clip_text(point, ITEM_LENGTH) for point in condensed.key_points if point.strip()]
        payload = {
            "version": VERSION,
            "content_type": CONTENT_TYPE,
            "query_hash": hashlib.sha256(to_bytes(query)).hexdigest()[:8],
            "summary": clip_text(condensed.summary, SUMMARY_LENGTH),
            "key_points": points[:MAX_ITEMS],
            "evidence_snippets": list(self.get_snippets(condensed.evidence, canonical))[:MAX_ITEMS],
            "original_chars": len(text),
            "digest_chars": 0,
            "compression_ratio": 0.0,
            "source_text_hash": f"sha256:{hashlib.sha256(to_bytes(canonical)).hexdigest()}",
        }
        return with_counts(payload)

    def get_snippets(
        self, evidence: Iterable[Evidence], canonical: str
    ) -> Iterator[dict[str, Any]]:
        """Yield the evidence that the canonical text holds, with its locators."""
        for item in evidence:
            text = item.text[:ITEM_LENGTH]
            start = canonical.find(text) if item.start is None else item.start
            if not text or start < 0 or canonical[start : start + len(text)] != text:
                continue
            yield {
                "text": text,
                "locator": f"char:{start}-{start + len(text)}",
                "relevance_score": round(min(max(float(item.relevance), 0.0), 1.0), 4),
            }


def with_counts(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload with its counts; ``digest_chars`` counts the texts to read."""
    texts = [payload["summary"], *payload["key_points"]]
    texts += [snippet["text"] for snippet in payload["evidence_snippets"]]
    size, original = sum(map(len, texts)), payload["original_chars"]
    ratio = round(min(size / original, 1.0), 4) if original else 0.0
    return {**payload, "digest_chars": size, "compression_ratio": ratio}


def shrink_digest(
    payload: Mapping[str, Any], room: int, count: Callable[[str], int] = count_tokens
) -> str:
    """Return a payload as JSON that takes no more tokens than a room, as a JSON string.

    The summary keeps a third of the room. Evidence and lines of key points are left out in turn,
    the least important first, and then the rest of the summary.
    """
    small = dict(payload)
    small["summary"] = clip_text(small["summary"], max(room * 4 // 3, SHORT_SUMMARY_LENGTH))
    while True:
        text = json.dumps(with_counts(small), ensure_ascii=False, separators=(",", ":"))
        size = count(encode_plain(text))
        points, evidence = small["key_points"], small["evidence_snippets"]
        if size <= room:
            return text
        if len(evidence) > len(points) or len(evidence) == len(points) > 1:
            small["evidence_snippets"] = evidence[:-1]
        elif points:
            # The first lines of a point are the most important.
            shown = points[-1].split("\n")
            kept = ["\n".join(shown[: len(shown) // 2])] if shown[1:] else []
            small["key_points"] = [*points[:-1], *kept]
        elif small["summary"]:
            length = len(small["summary"])
            small["summary"] = clip_text(small["summary"], min(length * room // size, length - 1))
        else:
            return text
