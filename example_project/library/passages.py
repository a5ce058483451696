"""Long documents cut into passages that a search can find, and passages into sentences."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from example_project.library.models import Document
from example_project.library.words import words

PASSAGE_LENGTH = 900
SENTENCE_LENGTHS = range(30, 480)

UNDERLINE = re.compile(r"([*=\-~^#])\1{2,}")
SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<=[.!?])\s+(?=[A-Z\"“*(])")
# What is said of the documentation, not of the language.
ASIDE = re.compile(r"(?:New|Changed) in version|Deprecated since|\*\*PEP|\(?See |Note[: ]")
LIST_MARK = re.compile(r"^(?:[*•-]|\d+\.)\s+")
# What grammar and programs have and prose has not.
NOT_PROSE = re.compile(r"::=|>>>|\.\.\. |^\s*(?:def|class|import|from|@|#)\s?", re.MULTILINE)


@dataclass(frozen=True)
class Sentence:
    """One sentence of prose.

    Attributes:
        text: the sentence.
        opens: whether it is the first of its passage.
    """

    text: str
    opens: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """What a question may share with it."""
        return frozenset(words(self.text))


@dataclass(frozen=True)
class Passage:
    """A part of a document, at most one section long.

    Attributes:
        document: the document's place in the library.
        heading: the title of its section.
        text: the text as it stands in the document.
        sentences: the sentences among its text.
    """

    document: int
    heading: str
    text: str
    sentences: tuple[Sentence, ...]


def passages_of(documents: Iterable[Document]) -> list[Passage]:
    """The passages of all documents that have prose.

    A section that several documents hold belongs to the shortest of them, the one that is
    about nothing else.
    """
    passages, seen = [], set()
    for number, document in sorted(enumerate(documents), key=lambda pair: len(pair[1].text)):
        for heading, paragraphs in sections(document.text):
            for text in packed(paragraphs):
                sentences = sentences_of(text)
                if sentences and text not in seen:
                    passages.append(Passage(number, heading, text, sentences))
                seen.add(text)
    return passages


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The headings of a text with the paragraphs below each."""
    heading, paragraphs = "", []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip("\n").splitlines()
        if len(lines) == 2 and UNDERLINE.fullmatch(lines[1].strip()):
            if paragraphs:
                yield heading, paragraphs
            heading, paragraphs = lines[0].strip(), []
        elif lines:
            paragraphs.append("\n".join(lines))
    if paragraphs:
        yield heading, paragraphs


def packed(paragraphs: Iterable[str]) -> Iterator[str]:
    """Neighbouring paragraphs joined as long as they are short enough together."""
    text = ""
    for paragraph in paragraphs:
        if text and len(text) + len(paragraph) > PASSAGE_LENGTH:
            yield text
            text = ""
        text = f"{text}\n\n{paragraph}" if text else paragraph
    if text:
        yield text


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a passage, its programs and its grammar left out."""
    found: dict[str, None] = {}
    for paragraph in text.split("\n\n"):
        if not is_prose(paragraph):
            continue
        flowing = " ".join(LIST_MARK.sub("", without_term(paragraph).strip()).split())
        for sentence in SENTENCE_END.split(flowing):
            whole = sentence[:1].isupper() or sentence[:1] in '"“*('
            ends = sentence.endswith((".", "!", "?"))
            fits = len(sentence) in SENTENCE_LENGTHS and not ASIDE.match(sentence)
            if whole and ends and fits:
                found[sentence] = None
    return tuple(Sentence(sentence, place == 0) for place, sentence in enumerate(found))


def without_term(paragraph: str) -> str:
    """A paragraph without the term that the lines indented below it explain."""
    first, _, rest = textwrap.dedent(paragraph).partition("\n")
    explains = rest.startswith(" ") and not LIST_MARK.match(first)
    return rest if explains else paragraph


def is_prose(paragraph: str) -> bool:
    """Whether a paragraph is written for people only."""
    return paragraph.rstrip().endswith((".", ":", "!", "?", ")", "]")) and not NOT_PROSE.search(
        paragraph
    )
