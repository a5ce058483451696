"""Digests: a long text as a summary, key points, and evidence that can be verified.

A subclass of `Digester` condenses a text. The base class makes a payload of the ``digest/v1``
contract, with its limits, counts, hashes and locators.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import string
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.json_text import encode_plain, to_bytes
from drf_mcp.truncation.tokens import clip_text, count_tokens

CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")
NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Two expressions that match little: one for both would match each single space.
OTHER_SPACE = re.compile(r"[^\S\n ]")
SPACES = re.compile(r"  +")
LINE_EDGES = re.compile(r" \n ?|\n ")
MARKS = re.compile(r"[^\w\s]{65,}")
BLANK_LINES = re.compile(r"\n{3,}")

HTML = re.compile(
    r"<(?:!doctype html|/?(?:html|body|div|p|br|h[1-6]|ul|ol|li|table|span|article|section|a|b|em|"
    r"strong|i|pre|blockquote)(?:\s[^<>]{0,1000})?/?)>",
    re.IGNORECASE,
)
# Bounded, here and below, so that unclosed tags and links cost no more than other text.
TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)(?:[\s/][^<>]{0,4000})?>|<![a-zA-Z][^<>]{0,1000}>")
INLINE_TAG = re.compile(
    r"a|abbr|b|bd[io]|cite|code|data|dfn|em|font|i|kbd|mark|q|s|samp|small|span|strong|su[bp]|time"
    r"|u|var|wbr",
    re.IGNORECASE,
)
# str.lower changes the length of some letters.
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
UNSEEN = ("script", "style", "template", "head")

MARKDOWN = re.compile(r"^#{1,6} \S|^(?:```|~~~)|\*\*\S|\]\(\S", re.MULTILINE)
FENCES = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
LINE_MARKS = re.compile(r"^ {0,3}(?:#{1,6} +|(?:> ?)+)", re.MULTILINE)
LINKS = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,200}\")?\)")
STRONG = re.compile(r"\*\*(?=\S)([^*\n]{1,1000})(?<=\S)\*\*")
CODE = re.compile(r"`([^`\n]{1,1000})`")


def canonical_text(text: str) -> str:
    """Return a text in canonical form.

    In this order:

    1. Newlines of every kind become line feeds; byte order marks and control characters
       but tabs go; half a surrogate pair becomes U+FFFD.
    2. HTML, recognised by a common tag, loses comments, its tags, and the contents of
       ``script``, ``style``, ``template`` and ``head``: an inline tag (``a``, ``b``,
       ``span``, ...) leaves nothing, every other tag a line feed. Then character
       references are resolved.
    3. Markdown, recognised by a heading, a fence, ``**`` or a link, loses fences, the
       marks of headings and quotations, strong emphasis and backticks; a link or an
       image leaves its text.
    4. Unicode normalisation form C; what has more than 64 characters in a row that are
       neither letters, digits nor spaces, such as marks upon marks, stays as it is.
    5. Spaces of every kind in a row become one space, none at either end of a line, and
       no more than one line in a row is empty. The text starts and ends with a
       character that is not a space.
    """
    text = to_bytes(CONTROLS.sub("", NEWLINES.sub("\n", text))).decode()
    if HTML.search(text):
        text = _remove_between(text, "<!--", "-->")
        for name in UNSEEN:
            text = _remove_between(text, f"<{name}", f"</{name}")
        text = TAG.sub(lambda tag: "" if INLINE_TAG.fullmatch(tag[1] or "") else "\n", text)
        text = html.unescape(text).replace("\r", "\n")
    if MARKDOWN.search(text):
        text = LINE_MARKS.sub("", FENCES.sub("", text))
        # Twice, for a link around an image.
        text = LINKS.sub(r"\1", LINKS.sub(r"\1", text))
        text = CODE.sub(r"\1", STRONG.sub(r"\1", text))
    # Sorting an endless run of marks would take the square of its length.
    pieces, position = [], 0
    for run in MARKS.finditer(text):
        pieces += [unicodedata.normalize("NFC", text[position : run.start()]), run[0]]
        position = run.end()
    text = "".join([*pieces, unicodedata.normalize("NFC", text[position:])])
    text = LINE_EDGES.sub("\n", SPACES.sub(" ", OTHER_SPACE.sub(" ", text)))
    return BLANK_LINES.sub("\n\n", text).strip()


def _remove_between(text: str, opening: str, closing: str) -> str:
    """Return text without the elements, or the comments, between two marks in lower case.

    An element that is never closed stays.
    """
    searched = text.translate(LOWER)
    is_comment = closing == "-->"
    kept, position, start = [], 0, searched.find(opening)
    while start >= 0:
        behind = searched[start + len(opening) : start + len(opening) + 1]
        # ``<head`` does not open ``<header>``.
        if is_comment or not (behind.isalnum() or behind == "-"):
            end = searched.find(closing, start)
            if end < 0:
                break
            kept.append(text[position:start])
            position = end + len(closing) if is_comment else searched.find(">", end) + 1
            position = position or len(text)
            start = position - 1
        start = searched.find(opening, start + 1)
    return "".join([*kept, text[position:]])


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
        snippets = list(self.find_snippets(condensed.evidence, canonical))
        payload = {
            "version": VERSION,
            "content_type": CONTENT_TYPE,
            "query_hash": hashlib.sha256(to_bytes(query)).hexdigest()[:8],
            "summary": clip_text(condensed.summary, SUMMARY_LENGTH),
            "key_points": points[:MAX_ITEMS],
            "evidence_snippets": snippets[:MAX_ITEMS],
            "original_chars": len(text),
            "digest_chars": 0,
            "compression_ratio": 0.0,
            "source_text_hash": f"sha256:{hashlib.sha256(to_bytes(canonical)).hexdigest()}",
        }
        return _with_counts(payload)

    def find_snippets(
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


def _with_counts(payload: Mapping[str, Any]) -> dict[str, Any]:
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
    summary = clip_text(payload["summary"], max(room * 4 // 3, SHORT_SUMMARY_LENGTH))
    versions = [*_find_shorter({**payload, "summary": summary})]

    def fits(version: Mapping[str, Any]) -> bool:
        return count(encode_plain(_write_digest(version))) <= room

    # Each version is shorter than the one before, so not each has to be measured.
    place = bisect_left(versions, True, key=fits)
    if place < len(versions):
        return _write_digest(versions[place])
    shortest = versions[-1]
    while True:
        text = _write_digest(shortest)
        size, length = count(encode_plain(text)), len(shortest["summary"])
        if size <= room or not length:
            return text
        summary = clip_text(shortest["summary"], min(length * room // size, length - 1))
        shortest = {**shortest, "summary": summary}


def _write_digest(payload: Mapping[str, Any]) -> str:
    return json.dumps(_with_counts(payload), ensure_ascii=False, separators=(",", ":"))


def _find_shorter(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a payload, and the payload without more and more of its evidence and key points."""
    yield payload
    points, evidence = payload["key_points"], payload["evidence_snippets"]
    while points or evidence:
        if len(evidence) > len(points) or len(evidence) == len(points) > 1:
            evidence = evidence[:-1]
        else:
            # The first lines of a point are the most important.
            shown = points[-1].split("\n")
            kept = ["\n".join(shown[: len(shown) // 2])] if shown[1:] else []
            points = [*points[:-1], *kept]
        yield {**payload, "key_points": points, "evidence_snippets": evidence}
