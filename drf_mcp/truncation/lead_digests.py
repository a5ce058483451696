"""The digester that needs no model: how a text begins, and what it is made of."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from drf_mcp.codes import gettext_noop
from drf_mcp.truncation.digests import (
    ITEM_LENGTH,
    ITEMS,
    SUMMARY_LENGTH,
    Condensed,
    Digester,
    Evidence,
)
from drf_mcp.truncation.tokens import clip_text


class LeadDigester(Digester):
    """Shows how a text begins, and its structure; the same text gives the same digest.

    The summary is the beginning. The key points are what a reader looks for in a text of its
    kind: of prose the headings and the first sentences of paragraphs, of CSV the columns, of
    JSON the keys, of a log its errors, of code its definitions; of base64 there is the type
    and the length alone. The evidence is what holds words of the query, the share of them
    being its relevance. No more than the first `head` characters are read.

    Attributes:
        head: how many characters are read.
    """

    head: ClassVar[int] = 64_000

    def condense(self, text: str, query: str) -> Condensed:
        """Return the beginning, the structure, and what answers the query."""
        data = self.describe_data(text)
        if data:
            return Condensed(data)
        head = text[: self.head]
        lines = [line for line in head.split("\n") if line.strip()]
        for get_points in (
            self.get_json_keys,
            self.get_columns,
            self.get_errors,
            self.get_definitions,
            self.get_leads,
        ):
            points = get_points(head, lines)
            if points:
                break
        beginning = self.get_beginning(head)
        points = [point for point in dict.fromkeys(points) if point not in beginning]
        evidence = sorted(self.find_evidence(head, query), key=lambda item: -item.relevance)
        return Condensed(beginning, points, evidence[:ITEMS])

    def describe_data(self, text: str) -> str:
        """Return the type and the length of data in letters or of unreadable characters."""
        start = text[:4000]
        if start.count("\ufffd") * 20 > len(start):
            return _("Data that is no text, %(count)d characters.") % {"count": len(text)}
        if not _BASE64.fullmatch(start):
            return ""
        try:
            encoded = start.rpartition(",")[2].translate(_STANDARD)
            content = base64.b64decode(encoded[:64], validate=True)
        except binascii.Error:
            content = b""
        kinds = (kind for magic, kind in _MAGIC.items() if content.startswith(magic))
        kind = next(kinds, gettext_noop("data of an unknown type"))
        facts = {"kind": _(kind), "count": len(text), "size": len(text) * 3 // 4}
        # Translators: the kind is such as "a PNG image".
        return _("Base64 of %(kind)s, %(count)d characters, some %(size)d bytes.") % facts

    def get_beginning(self, head: str) -> str:
        """Return the first sentences, or lines, that a summary holds."""
        if len(head) <= SUMMARY_LENGTH:
            return head
        ends = [end.end() for end in _SENTENCE_END.finditer(head, 0, SUMMARY_LENGTH)]
        return head[: ends[-1]].rstrip() if ends else head

    def get_json_keys(self, head: str, lines: Sequence[str]) -> list[str]:
        """Return the keys of JSON."""
        keys = list(dict.fromkeys(_JSON_KEY.findall(head))) if head[:1] in ("{", "[") else []
        facts = {"keys": ", ".join(keys[:60])}
        return [_("JSON with the keys %(keys)s") % facts] if keys else []

    def get_columns(self, head: str, lines: Sequence[str]) -> list[str]:
        """Return the columns of CSV: its first lines have as many of a separator."""
        for separator in ",;|":
            counts = {line.count(separator) for line in lines[:5]}
            if len(lines) > 3 and len(counts) == 1 and min(counts) > 1:
                return [_("Table with the columns %(columns)s") % {"columns": lines[0]}]
        return []

    def get_errors(self, head: str, lines: Sequence[str]) -> list[str]:
        """Return the errors of a log, each once, where lines start with times or levels."""
        entries = sum(bool(_LOG_LINE.match(line)) for line in lines[:20])
        if entries * 2 < len(lines[:20]) or entries < 3:
            return []
        # Times and numbers aside, many of them are the same.
        errors = {re.sub(r"\d+", "0", line): line for line in lines if _LOG_ERROR.search(line)}
        kinds = len(errors)
        title = ngettext(
            "Log of %(count)d kind of error", "Log of %(count)d kinds of errors", kinds
        )
        return [title % {"count": kinds}, *errors.values()]

    def get_definitions(self, head: str, lines: Sequence[str]) -> list[str]:
        """Return the lines that define something, where there are many of them."""
        definitions = [line.strip() for line in lines if _DEFINITION.match(line)]
        if len(definitions) < 3 or len(definitions) * 40 < len(lines):
            return []
        # Many definitions in few points.
        return join_lines(definitions, ITEM_LENGTH)

    def get_leads(self, head: str, lines: Sequence[str]) -> list[str]:
        """Return headings and the first sentences of the paragraphs behind the beginning."""
        rest = head[len(self.get_beginning(head)) :]
        paragraphs = [part.strip() for part in rest.split("\n\n")[1:]] or lines[1:]
        leads = (_SENTENCE_END.split(part, 1)[0].strip() for part in paragraphs)
        return [clip_text(lead.replace("\n", " "), 200) for lead in leads if len(lead) > 3]

    def find_evidence(self, head: str, query: str) -> Iterator[Evidence]:
        """Yield the sentences that hold words of the query, each once."""
        words = set(_WORD.findall(query.casefold()))
        if not words:
            return
        patterns = [re.compile(find_word(word), re.IGNORECASE) for word in sorted(words)[:32]]
        seen: set[str] = set()
        for text, start in iterate_sentences(head):
            found = sum(1 for pattern in patterns if pattern.search(text))
            if found and text not in seen:
                seen.add(text)
                yield Evidence(text, found / len(patterns), start)


_STANDARD = str.maketrans("-_", "+/")
_BASE64 = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{400,}={0,2}[A-Za-z0-9+/_=-]*")
_MAGIC = {
    b"\x89PNG": gettext_noop("a PNG image"),
    b"\xff\xd8\xff": gettext_noop("a JPEG image"),
    b"GIF8": gettext_noop("a GIF image"),
    b"%PDF": gettext_noop("a PDF document"),
    b"PK\x03\x04": gettext_noop("a ZIP archive or an office document"),
    b"\x1f\x8b": gettext_noop("a gzip archive"),
}
_JSON_KEY = re.compile(r'"([^"\\\n]{1,60})"\s?:')
_LOG_LINE = re.compile(
    r"\W?(?:\d{4}-\d\d-\d\d|\d\d?[/. ][A-Z][a-z]{2}|[A-Z][a-z]{2} \d|\d\d:\d\d:\d\d|"
    r"(?:DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL))"
)
_LOG_ERROR = re.compile(r"\b(?:ERROR|CRITICAL|FATAL|PANIC|Traceback|[A-Z]\w*(?:Error|Exception))\b")
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub|@\w+) )*"
    r"(?:class|def|function|func|fn|interface|struct|enum|trait|impl|type|module|package|"
    r"CREATE TABLE|const \w+ = (?:async )?\()\b"
)
# After the full stop of a script that separates sentences by spaces; after the full stop of
# one that does not; at the end of a line, unless it was wrapped there: it is long, no sentence
# ends with it, and the next line starts in lower case or with a quotation.
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362])[\"')\]\u201d\u2019\u00bb]*[^\S\n]+"
    r"|(?<=[\u3002\uff01\uff1f\uff61])[\u300d\u300f\u201d\u2019\uff09]*"
    r"|\n(?!(?<=[^\n]{39}[^\n.!?:;\u2026]\n)[a-z\u00df-\u00ff\u03ac-\u03ce\u0430-\u045f\"'`(])\n*"
)
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]+[^\W_]*)*")


def find_word(word: str) -> str:
    """Return a pattern that finds a word, a long one, and one of Chinese, within others too."""
    pattern = re.escape(word)
    return rf"\b{pattern}\b" if len(word) < 4 and word.isascii() else pattern


def iterate_sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield the sentences of a text, as long as a snippet may be, and where they start."""
    position = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        for start in range(position, end, ITEM_LENGTH):
            piece = text[start : min(start + ITEM_LENGTH, end)]
            if stripped := piece.strip():
                yield stripped, start + piece.index(stripped)
        position = end


def join_lines(lines: Sequence[str], length: int) -> list[str]:
    """Return lines joined to texts of no more than this many characters."""
    texts = [""]
    for line in lines:
        if texts[-1] and len(texts[-1]) + len(line) + 1 > length:
            texts.append("")
        texts[-1] = f"{texts[-1]}\n{line}".strip()
    return texts
