"""Long documents cut into passages that a search can find, and passages into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from example_project.library.models import Document
from example_project.library.plain_text import plain
from example_project.library.words import words

PASSAGE_LENGTH = 900
SENTENCE_LENGTHS = range(30, 800)

UNDERLINE = re.compile(r"([*=\-~^#])\1{2,}")
SENTENCE_END = re.compile(
    r"(?:(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<=[.!?])|(?<=[.!?][)”]))\s+(?=[A-Z\"“(]|__[a-z])"
)
SENTENCE_START = re.compile(r"[A-Z\"“(]|__[a-z]|\S.{0,160}?: [A-Z\"“]")
# A name whose explanation follows: a method, an attribute.
DEFINED = re.compile(r"(\w+(?:\.\w+)*(?=\()|\w+(?:\.\w+)+(?=: )).*?: ")
ROW = re.compile(r'[A-Z]\w+ ".*": ')
# A sentence about the documentation instead of the language.
ASIDE = re.compile(r"\(?See |Note[: ]|\(?For (?:more|full|details)")
# A sentence that points to text which an answer does not have, or that concerns few readers.
POINTER = re.compile(
    r", (?:please )?see |\b(?:above|below|as follows|here are|tables?|box|section)\b"
    r"|\b(?:next item|first example)\b|\bfollowing\b.*\.$|[Rr]aises an auditing event"
)
# The beginning of a sentence that depends on the sentence before it.
DEPENDENT = re.compile(
    r"\(|(?:This|That|These|Those|It|They|Its|Their|Such|Then|Thus|Therefore|Hence|However|So|But"
    r"|And|First|Second|Next|Finally|Else|Otherwise|Instead|Also|Similarly|Likewise|Conversely"
    r"|Again|Accordingly|Nevertheless|Previously|Both(?! \w+ and)|Neither|Either|Can|May"
    r"|Must|Should"
    r"|(?:In|For|By|At|With|On|To) (?:this|that|these|those|such|either|both|particular|other)"
    r"|If (?:so|not|it|this|these|they|none)|As (?:this|such|a)|The (?:former|latter|same|result)"
    r"|In (?:addition|contrast|fact|the (?:former|latter))|For (?:example|instance)|A similar"
    r"|There (?:is|are) .*\bthis|(?:When|Where) this|An equivalent|Rather than"
    r"|.*\b(?:do|support|all of) (?:this|these))\b"
)
# Marks of grammar, programs, tables and notes on versions, which prose does not have.
NOT_PROSE = re.compile(
    r"::=|>>>|\.\.\. |\s#\s|^\s*(?:def \w+\(|class \w+[(:]|import [\w.]+$|from [\w.]+ import"
    r"|[@#|+])"
    r"|\A\s*(?:New|Changed|Deprecated|Removed) (?:in|since) version",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of prose, with the following sentences that depend on it.

    Attributes:
        text: the text as in the document's plain text.
        opens: whether the sentence is the first of its paragraph.
    """

    text: str
    opens: bool = False

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of the name that the sentence explains, if it begins with a name."""
        name = DEFINED.match(self.text)
        return frozenset(words(name[1])) if name else frozenset()

    @cached_property
    def is_row(self) -> bool:
        """Whether the sentence was a row of a table."""
        return bool(ROW.match(self.text))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence that a question may share."""
        return frozenset(words(self.text))


@dataclass(frozen=True)
class Passage:
    """A part of a document, at most one section long.

    Attributes:
        document: the document's place in the library.
        heading: the title of its section.
        text: the text as in the document's plain text.
        sentences: the sentences of the text.
        opens: whether the passage is the first of its section.
    """

    document: int
    heading: str
    text: str
    sentences: tuple[Sentence, ...]
    opens: bool = False


def passages_of(documents: Iterable[Document]) -> list[Passage]:
    """Return the passages of all documents that have prose.

    A section of several documents belongs to the shortest of them.
    """
    passages: list[Passage] = []
    seen: set[str] = set()
    for number, document in sorted(enumerate(documents), key=lambda pair: len(pair[1].text)):
        for heading, paragraphs in sections(plain(document.text)):
            section: list[Passage] = []
            for text in packed(paragraphs):
                sentences = sentences_of(text)
                if sentences and text not in seen:
                    section.append(Passage(number, heading, text, sentences, not section))
                elif section and not sentences:
                    # Programs and grammar are found with the prose above them.
                    section[-1] = replace(section[-1], text=f"{section[-1].text}\n\n{text}")
                seen.add(text)
            passages += section
    return passages


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the headings of a text with the paragraphs below each."""
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
    """Yield neighbouring paragraphs, joined as long as they are short enough together."""
    text = ""
    for paragraph in paragraphs:
        if text and (
            len(text) + len(paragraph) > PASSAGE_LENGTH
            or (DEFINED.match(paragraph) and sentences_of(text) and sentences_of(paragraph))
        ):
            yield text
            text = ""
        text = f"{text}\n\n{paragraph}" if text else paragraph
    if text:
        yield text


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a passage, without its programs and its grammar."""
    found: dict[str, Sentence] = {}
    for paragraph in filter(is_prose, text.split("\n\n")):
        flat = " ".join(paragraph.split())
        for sentence in join_dependent(SENTENCE_END.split(flat)):
            if len(sentence) in SENTENCE_LENGTHS:
                found.setdefault(sentence, Sentence(sentence, flat.startswith(sentence)))
    return tuple(found.values())


def join_dependent(sentences: Iterable[str]) -> list[str]:
    """Return the sentences of a paragraph that can be quoted, with those that depend on them."""
    found: list[str] = []
    broken = True
    for sentence in sentences:
        depends = DEPENDENT.match(sentence)
        if not is_whole(sentence) or (depends and broken):
            broken = True
        elif not depends:
            found.append(sentence)
            broken = False
        elif len(found[-1]) + len(sentence) + 1 in SENTENCE_LENGTHS:
            found[-1] = f"{found[-1]} {sentence}"
        else:
            broken = True
    return found


def is_whole(sentence: str) -> bool:
    """Whether a text is a complete sentence about the language."""
    return bool(
        SENTENCE_START.match(sentence)
        and sentence.endswith((".", "!", "?", ".)", ".”"))
        and not ASIDE.match(sentence)
        and not POINTER.search(sentence)
    )


def is_prose(paragraph: str) -> bool:
    """Whether a paragraph has neither program nor grammar."""
    return not NOT_PROSE.search(paragraph)
