"""The default digester, which needs no model: the beginning of a text and its structure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any, ClassVar

from drf_mcp.truncation.digests import (
    ITEM_LENGTH,
    MAX_ITEMS,
    NEWLINES,
    SHORT_SUMMARY_LENGTH,
    SUMMARY_LENGTH,
    Condensed,
    Digester,
    Evidence,
)
from drf_mcp.truncation.tokens import clip_text


class LeadDigester(Digester):
    """Shows how a text begins and ends, and its structure; the same text gives the same digest.

    The summary is the beginning. The key points depend on the kind of text: a document, such as a
    README or a changelog, has its headings with the first lines below them, prose the sentences
    with the rarest words, CSV its columns with their values, JSON its keys with a value, a log its
    errors, the last one first, code its definitions. Base64 has its length alone. The
    evidence is the sentences with words of the query; the share of these words is their relevance.
    Only the first `head` characters and the last `tail` are read.

    Attributes:
        head: how many characters are read of the beginning.
        tail: how many characters are read of the end.
    """

    head: ClassVar[int] = 64_000
    tail: ClassVar[int] = 2_000
    # The text as it was given: its canonical form has no marks of headings and of code.
    given = ""

    def digest(self, text: str, query: str = "") -> dict[str, Any]:
        self.given = text
        return super().digest(text, query)

    def condense(self, text: str, query: str) -> Condensed:
        data = self._describe_data(text)
        if data:
            return Condensed(data)
        head = text[: self.head]
        beginning = self._find_beginning(head)
        evidence = sorted(self._find_evidence(head, query), key=lambda item: -item.relevance)
        if len(text) <= SUMMARY_LENGTH:
            return Condensed(beginning, (), evidence[:MAX_ITEMS])
        end = text[max(self.head, len(text) - self.tail) :]
        lines = [line for line in f"{head}\n{end}".split("\n") if line.strip()]
        readers = (
            self._read_json,
            self._read_csv,
            self._read_document,
            self._read_log,
            self._read_code,
        )
        points = next(filter(None, (read(text, lines) for read in readers)), None)
        if points:
            # The structure says more than the beginning.
            beginning = clip_text(beginning, SHORT_SUMMARY_LENGTH)
        points = points or self._read_prose(text, lines)
        packed = [""]
        for point in dict.fromkeys(points):
            if point in beginning:
                continue
            if packed[-1] and len(packed[-1]) + len(point) + 1 > ITEM_LENGTH:
                packed.append("")
            packed[-1] = f"{packed[-1]}\n{point}".strip()
        return Condensed(beginning, packed, evidence[:MAX_ITEMS])

    def _describe_data(self, text: str) -> str:
        start = text[:4000]
        if start.count("\ufffd") * 20 > len(start):
            return f"Data that is no text, {len(text)} characters."
        if not _BASE64.fullmatch(start):
            return ""
        return f"Base64, {len(text)} characters, some {len(text) * 3 // 4} bytes."

    def _find_beginning(self, head: str) -> str:
        # Whole sentences or lines.
        if len(head) <= SUMMARY_LENGTH:
            return head
        head = head[_find_content(head) :]
        ends = [end.end() for end in _SENTENCE_END.finditer(head, 0, SUMMARY_LENGTH)]
        return head[: ends[-1]].rstrip() if ends else clip_text(head, SUMMARY_LENGTH)

    def _read_json(self, text: str, lines: Sequence[str]) -> list[str]:
        # The keys, each with a value, the rarest first.
        values: dict[str, list[str]] = {}
        for key, value in _JSON_MEMBER.findall("\n".join(lines)) if text[:1] in ("{", "[") else ():
            values.setdefault(key, []).append(value.strip('"'))
        points = [f"JSON with the keys {', '.join(list(values)[:60])}"] if values else []
        for key, found in sorted(values.items(), key=lambda each: len(each[1])):
            shown = clip_text(next(filter(None, found), ""), 80)
            if shown:
                points.append(f"{key}: {shown}" + (f" (x{len(found)})" if found[1:] else ""))
        return points

    def _read_csv(self, text: str, lines: Sequence[str]) -> list[str]:
        # The first lines have the same number of separators.
        for separator in ",;|\t":
            counts = {line.count(separator) for line in lines[:5]}
            if len(lines) > 3 and len(counts) == 1 and min(counts) > 1:
                break
        else:
            return []
        rows = text.count("\n")
        title = f"Table with the columns {lines[0]}"
        cells = [row.split(separator) for row in lines[1:]]
        columns = zip(lines[0].split(separator), zip_longest(*cells, fillvalue=""), strict=False)
        number = f"{rows} row{'s' * (rows != 1)}"
        held = [f"{name.strip()}: {describe_column(column)}" for name, column in columns]
        return [title, number, *held, lines[-1]]

    def _read_document(self, text: str, lines: Sequence[str]) -> list[str]:
        # The headings with the first lines below them, then sentences. Code is left out.
        head, end = (
            self.given[: self.head],
            self.given[max(self.head, len(self.given) - self.tail) :],
        )
        document = NEWLINES.sub("\n", f"{head}\n{end}")
        sections, prose = _read_sections(document.split("\n"))
        # A file of code may have headings in its comments.
        top = [line for line in prose if line[:1].strip()]
        code = sum(1 for line in top if _CODE_LINE.match(line))
        if not (len(sections) > 2 or _FENCE.search(document)) or code * 4 > len(top):
            return []
        # Up to 45 headings find room.
        length = min(max(MAX_ITEMS * ITEM_LENGTH // max(len(sections), 1) - 1, 110), 240)
        points = [clip_text(self.canonical(section), length) for section in sections]
        said = "\n".join(points)
        others = self._read_prose(text, self.canonical("\n".join(prose)).split("\n"))
        return [*points, *(point for point in others if point not in said)]

    def _read_log(self, text: str, lines: Sequence[str]) -> list[str]:
        # The lines start with times or levels.
        entries = sum(bool(_LOG_LINE.match(line)) for line in lines[:20])
        if entries * 2 < len(lines[:20]) or entries < 3:
            return []
        # Many differ in times and numbers only: the last of them is kept.
        errors: dict[str, str] = {}
        for line in lines:
            if _LOG_ERROR.search(line) and not line.startswith("Traceback"):
                kind = re.sub(r"\d+", "0", line)
                errors.pop(kind, None)
                errors[kind] = clip_text(line, 300)
        plural = "s" * (len(errors) != 1)
        title = f"Log of {len(errors)} kind{plural} of error{plural}"
        *others, last = [lines[-1], *errors.values()]
        return [title, last, *reversed(others)]

    def _read_code(self, text: str, lines: Sequence[str]) -> list[str]:
        # Many lines are definitions.
        definitions = []
        for line, following in pairwise([*lines, ""]):
            if match := _DEFINITION.match(line):
                doc = _DOCSTRING.match(following) if match["name"] else None
                definitions.append(
                    f"{line.strip()} {doc['words'].strip()}" if doc else line.strip()
                )
        named = sum(1 for line in lines if (match := _DEFINITION.match(line)) and match["name"])
        return definitions if named >= 3 and named * 40 >= len(lines) else []

    def _read_prose(self, text: str, lines: Sequence[str]) -> list[str]:
        # The last sentence, then those with the rarest words, with their headings.
        found = (part.replace("\n", " ").strip() for part in _SENTENCE_END.split("\n".join(lines)))
        sentences = [sentence for sentence in found if sentence]
        words = [set(_WORD.findall(sentence.casefold())) for sentence in sentences]
        common = Counter(word for each in words for word in each)
        rarities = {
            word: math.log(len(words) / count) + 3 * word[0].isdigit()
            for word, count in common.items()
        }
        weighed = []
        for before, sentence, each in zip(["", *sentences], sentences, words, strict=False):
            rarity = sum(rarities[word] for word in each)
            leads = _is_heading(before) and not _is_heading(sentence)
            text = clip_text(f"{before}: {sentence}" if leads else sentence, 240)
            weighed.append((rarity * (1.5 if leads else 1) / (len(text) + 30), text))
        ranked = sorted(weighed, key=lambda each: -each[0])
        shown = [text for _weight, text in ranked if len(text) > 12]
        return [clip_text(sentences[-1], 240), *shown[:80]] if sentences else []

    def _find_evidence(self, head: str, query: str) -> Iterator[Evidence]:
        words = set(_WORD.findall(query.casefold()))
        if not words:
            return
        # A short word of ASCII is searched as a whole word, others within words too.
        expressions = (
            rf"\b{word}\b" if len(word) < 4 and word.isascii() else re.escape(word)
            for word in sorted(words)[:32]
        )
        patterns = [re.compile(expression, re.IGNORECASE) for expression in expressions]
        seen: set[str] = set()
        for text, start in _iterate_sentences(head):
            found = sum(1 for pattern in patterns if pattern.search(text))
            if found and text not in seen:
                seen.add(text)
                yield Evidence(text, found / len(patterns), start)


_BASE64 = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{400,}={0,2}[A-Za-z0-9+/_=-]*")
# A key, and its value unless that is an object or an array.
_JSON_MEMBER = re.compile(r'"([^"\\\n]{1,60})"\s?:\s?("(?:[^"\\\n]|\\.){0,200}"|[-+.\w]{1,40}|)')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LOG_LINE = re.compile(
    r"\W?(?:\d{4}-\d\d-\d\d|\d\d?[/. ][A-Z][a-z]{2}|[A-Z][a-z]{2} \d|\d\d:\d\d:\d\d|"
    r"(?:DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL))"
)
_LOG_ERROR = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL|PANIC|WARN(?:ING)?|Traceback|[A-Z]\w*(?:Error|Exception))\b"
)
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub|@\w+) )*"
    r"(?:(?P<name>class|def|function|func|fn|interface|struct|enum|trait|impl|type|module|package|"
    r"CREATE TABLE|const \w+ = (?:async )?\()\b|[A-Z][A-Z0-9_]{2,} ?(?::[^=\n]{1,80})?=[^=])"
)
_DOCSTRING = re.compile(r"\s*[rR]?(\"\"\"|''')\s*(?P<words>.{3,200}?)(?:\1|$)")
# More tildes underline a heading.
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,4}(?!~))", re.MULTILINE)
_ITEM = re.compile(r"\A\s*(?:[-*+\u2022]|\d{1,2}[.)]) +")
_CODE_LINE = re.compile(
    r"(?:import|from|def|class|async|fn|func|function|const|let|var|export|public|package|static|pub"
    r"|use|struct|typedef|#\w+|if|for|return)\b(?=.*[:;({,\w]$)|[\w.\[\]]+(?:: [\w.\[\]| ]+)? = "
    r"|[)\]}@]|.*[{;(]$"
)
# What underlines a heading, and headings: marked ones, versions and days without a time.
_RULE = re.compile(r"([=~^\"*#+-])\1{2,}\s*$")
_TITLE = re.compile(
    r"(?:#{1,6}|={1,6}) +\S|(?![^\n]*\d:\d\d)(?:(?i:version|release) |[\w.+-]+ )?"
    r"[\[(v]{0,2}\d+(?:[.-]\d+){1,3}\b[^\n]{0,80}(?<![.!?:;,])$"
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


def _iterate_sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield the sentences of a text, in pieces of an evidence's length, and their positions."""
    position = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        for start in range(position, end, ITEM_LENGTH):
            piece = text[start : min(start + ITEM_LENGTH, end)]
            if stripped := piece.strip():
                yield stripped, start + piece.index(stripped)
        position = end


def _read_sections(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each heading of a document with the paragraph below it, and the lines of all text."""
    sections: list[str] = []
    prose: list[str] = []
    fence = before = ""
    in_list = in_code = in_first = False
    for line, following in pairwise([*lines, ""]):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence, before, in_first = "" if fence else mark[1], "", False
            continue
        is_item, is_blank = bool(_ITEM.match(line)), not line.strip()
        if line[:1].strip() or is_item:
            in_list, in_code = is_item, False
        elif line.startswith(("    ", "\t")) and not before and not in_list:
            in_code = True
        if fence or (in_code and not is_blank) or _RULE.match(line):
            before = "" if fence or in_code else before
        elif line.startswith("##") or (
            not before and not is_blank and (_RULE.match(following) or _TITLE.match(line))
        ):
            title = line.lstrip("#= ").strip()
            # A heading right below a heading belongs to it: "3.1.0, Fixed".
            if in_first and sections[-1].endswith(":"):
                title = f"{sections.pop()[:-1]}, {title}"
            sections.append(f"{title}:")
            before, in_first = "", True
        else:
            # A few words, such as a name, are followed by what matters.
            is_answered = in_first and len(sections[-1].rpartition(":")[2]) > 30
            in_first = in_first and not (is_answered and (is_blank or is_item))
            if in_first and not is_blank:
                sections[-1] += f" {_ITEM.sub('', line, count=1).strip()}"
            prose.append(line)
            before = line.strip()
    return sections, prose


def _find_content(head: str) -> int:
    """Return the position of the first paragraph behind a menu, which has many short lines."""
    position = short = 0
    for line in head.split("\n"):
        if len(line) > 80 or line.endswith((".", "!", "?")):
            return max(head.rfind("\n", 0, position - 1), 0) if short > 5 and position else 0
        short += bool(line)
        position += len(line) + 1
    return 0


def _is_heading(line: str) -> bool:
    return 0 < len(line) < 80 and not line.endswith((".", "!", "?", ",", ";"))


def describe_column(cells: Iterable[str]) -> str:
    """Return the range of a column, or its values, the rarest first."""
    values = Counter(cell.strip() for cell in cells if cell.strip())
    numbers = sorted((float(value), value) for value in values if _NUMBER.fullmatch(value))
    if numbers and len(numbers) * 10 > len(values) * 9:
        return f"{numbers[0][1]} .. {numbers[-1][1]}"
    shown = [value for value, _count in reversed(values.most_common())]
    if len(shown) > 12:
        return f"{min(shown)} .. {max(shown)}"
    return ", ".join(clip_text(value, 60) for value in shown)
