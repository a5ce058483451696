"""Sentences and terms of a text in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# After the full stop of a script that separates sentences by spaces; after the full stop
# of one that does not; at the end of a line, unless it was wrapped there: it is long, no
# sentence ends with it, and the next line starts in lower case or with a quotation.
BOUNDARY = re.compile(
    r"(?<=[.!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362])[\"')\]\u201d\u2019\u00bb]*[^\S\n]+"
    r"|(?<=[\u3002\uff01\uff1f\uff61])[\u300d\u300f\u201d\u2019\uff09]*"
    r"|\n(?!(?<=[^\n]{39}[^\n.!?:;\u2026]\n)[a-z\u00df-\u00ff\u03ac-\u03ce\u0430-\u045f\"'`(])\n*"
)
# With the marks that belong to letters, which \w leaves out.
WORD = re.compile(
    r"[\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
    r"\u1000-\u109f\u1780-\u17d3\u200c\u200d]+"
)
# Chinese, Japanese, Thai, Lao, Burmese, Khmer and others, written without spaces.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
LONGEST = 480


@dataclass(frozen=True)
class Sentence:
    """One sentence of a canonical text.

    Attributes:
        text: exactly as it stands there.
        start: where it stands.
        terms: what it speaks of.
    """

    text: str
    start: int
    terms: frozenset[str]

    @property
    def line(self) -> str:
        """The text in one line, where it was wrapped."""
        return self.text.replace("\n", " ")


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text; a line is one at least, what is too long is cut."""
    position = 0
    for boundary in BOUNDARY.finditer(text):
        yield from pieces(text, position, boundary.end())
        position = boundary.end()
    yield from pieces(text, position, len(text))


def pieces(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield a sentence, in pieces of no more than `LONGEST` characters, at words where it can."""
    while start < end:
        stop = min(start + LONGEST, end)
        if stop < end:
            space = text.rfind(" ", start + LONGEST // 2, stop)
            stop = space if space > 0 else stop
        piece = text[start:stop].strip()
        if piece:
            begin = text.index(piece, start)
            yield Sentence(piece, begin, frozenset(terms(piece)))
        start = stop


def terms(text: str) -> Iterator[str]:
    """Yield what a text speaks of: its words, or pairs of characters where none are marked."""
    for word in WORD.findall(text.casefold()):
        if not UNSPACED.search(word):
            if len(word) > 1:
                yield word
        elif len(word) < 3:
            yield word
        else:
            for index in range(len(word) - 1):
                yield word[index : index + 2]
