"""From what was found to an answer: in the documents' own words, or a language model's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from example_project.library.answer_model import AnswerModel
from example_project.library.indexes import Index, current_index
from example_project.library.passages import Sentence
from example_project.library.retrievers import Context, Retriever
from example_project.library.stored_answers import Answer, stored_answers
from example_project.library.words import words

SHORTEST, ENOUGH, LONGEST = 1000, 1600, 2500
NOTHING = "The library has nothing about this. Ask with other words, or about Python."


def answer(retriever: Retriever, question: str) -> Answer:
    """Answer a question, or repeat the answer that was given before.

    Raises:
        LibraryUnavailable: if the index, the cache or the language model is not there.
    """
    index, model = current_index(), AnswerModel.configured()
    asked = (type(retriever).__name__, index.version, model.name if model else "", question)
    return stored_answers.get_or_write(asked, lambda: written(index, retriever, question, model))


def written(index: Index, retriever: Retriever, question: str, model: AnswerModel | None) -> Answer:
    """A new answer."""
    contexts = retriever.retrieve(index, question)
    if not contexts:
        text = NOTHING
    elif model is not None:
        text = model.answer(question, contexts)
    else:
        text = Extract(index, contexts, words(question)).text()
    return {"answer": text, "context_document_count": len(contexts)}


class Extract:
    """An answer made of the sentences that say most, each document cited by number.

    Args:
        index: weighs words.
        contexts: what was found, best first.
        terms: the words of the question.
    """

    def __init__(self, index: Index, contexts: Sequence[Context], terms: Sequence[str]) -> None:
        self.index = index
        self.contexts = contexts
        self.terms = terms
        self.room = LONGEST - len(self.sources()) - 8 * len(contexts)
        self.chosen: list[list[Sentence]] = [[] for _ in contexts]
        self.said: set[str] = set()

    def text(self) -> str:
        """The answer: a paragraph per document, then the list of documents."""
        for number, sentence in self.candidates():
            if self.length >= (ENOUGH if self.everybody_speaks else self.room):
                break
            self.choose(number, sentence)
        for number, sentence in self.reserves():
            if self.length + len(self.sources()) >= SHORTEST:
                break
            self.choose(number, sentence)
        paragraphs = [
            f"{' '.join(sentence.text for sentence in self.in_order(number))} [{number + 1}]"
            for number in range(len(self.contexts))
            if self.chosen[number]
        ]
        return "\n\n".join([*paragraphs, self.sources()])

    @property
    def length(self) -> int:
        """The characters of what is chosen."""
        return sum(len(sentence.text) + 1 for chosen in self.chosen for sentence in chosen)

    @property
    def everybody_speaks(self) -> bool:
        """Whether something of every document is chosen."""
        return all(self.chosen)

    def candidates(self) -> Iterator[tuple[int, Sentence]]:
        """What was found: the best of each document, then the second best, and so on."""
        ranked = [self.ranked(context.sentences) for context in self.contexts]
        for rank in range(max(map(len, ranked))):
            for number, sentences in enumerate(ranked):
                if rank < len(sentences):
                    yield number, sentences[rank]

    def reserves(self) -> Iterator[tuple[int, Sentence]]:
        """What else the documents say, the best document first."""
        for number, context in enumerate(self.contexts):
            for sentence in self.ranked(context.reserve):
                yield number, sentence

    def ranked(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Sentences that speak of the question most, equal ones in their order."""
        return sorted(sentences, key=lambda s: -self.index.overlap(s, self.terms))

    def choose(self, number: int, sentence: Sentence) -> None:
        """Take a sentence if nobody said it before and there is room."""
        fits = self.length + len(sentence.text) < self.room
        if fits and sentence.text not in self.said:
            self.said.add(sentence.text)
            self.chosen[number].append(sentence)

    def in_order(self, number: int) -> list[Sentence]:
        """The sentences chosen of a document as they follow each other there."""
        context = self.contexts[number]
        order = {s.text: place for place, s in enumerate((*context.sentences, *context.reserve))}
        return sorted(self.chosen[number], key=lambda sentence: order[sentence.text])

    def sources(self) -> str:
        """The list of documents."""
        documents = enumerate((context.document for context in self.contexts), start=1)
        lines = [f"[{number}] {document.title} ({document.name})" for number, document in documents]
        return "\n".join(["Sources:", *lines])
