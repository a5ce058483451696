"""Answers from the documents that were found: extracts, or texts of a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from example_project.library.answer_model import AnswerModel
from example_project.library.indexes import Index, current_index
from example_project.library.passages import Sentence
from example_project.library.retrievers import Context, Retriever
from example_project.library.stored_answers import Answer, stored_answers

SHORTEST, ENOUGH, LONGEST = 1000, 1600, 2500
# A sentence is left out whose weight is less than this part of the highest weight.
LEAST_WEIGHT = 0.35
NOTHING = "The library has nothing about this. Ask with other words, or about Python."


def answer(retriever: Retriever, question: str) -> Answer:
    """Answer a question, or repeat the answer that was given before.

    Raises:
        LibraryUnavailable: if the index, the cache or the language model is not there.
    """
    index, model = current_index(), AnswerModel.configured()
    asked = (type(retriever).__name__, index.version, model.name if model else "", question)
    return stored_answers.get_or_write(asked, lambda: write(index, retriever, question, model))


def write(index: Index, retriever: Retriever, question: str, model: AnswerModel | None) -> Answer:
    """Return a new answer."""
    contexts = retriever.retrieve(index, question)
    if contexts and model is None:
        return Extract(index, contexts, list(retriever.read(index, question).weights)).answer()
    text = model.answer(question, contexts) if contexts and model else NOTHING
    return {"answer": text, "context_document_count": len(contexts)}


class Extract:
    """An answer made of the sentences with the highest weights, each document cited by number.

    Args:
        index: the index, which weighs words.
        contexts: the documents that were found, best first.
        terms: the words of the question.
    """

    def __init__(self, index: Index, contexts: Sequence[Context], terms: Sequence[str]) -> None:
        self.index = index
        self.contexts = contexts
        self.terms = terms
        self.room = LONGEST - len(sources(contexts)) - 8 * len(contexts)
        self.chosen: list[list[Sentence]] = [[] for _ in contexts]
        self.texts: set[str] = set()

    def answer(self) -> Answer:
        """Return a paragraph for each document, then the list of the documents."""
        self.choose_all()
        quoted = [pair for pair in zip(self.contexts, self.chosen, strict=True) if pair[1]]
        paragraphs = [f"{in_order(*pair)} [{number}]" for number, pair in enumerate(quoted, 1)]
        listed = sources([context for context, _ in quoted])
        return {"answer": "\n\n".join([*paragraphs, listed]), "context_document_count": len(quoted)}

    def choose_all(self) -> None:
        """Choose the best sentences, then others if the answer is short or lacks a document."""
        for number, sentence in self.candidates():
            if self.length >= (ENOUGH if self.has_every_document else self.room):
                break
            self.choose(number, sentence)
        for number, sentence in self.reserves():
            short = self.length + len(sources(self.contexts)) < SHORTEST
            if self.has_every_document and not short:
                break
            if short or not self.chosen[number]:
                self.choose(number, sentence)

    @property
    def length(self) -> int:
        """The characters of the chosen sentences."""
        return sum(len(sentence.text) + 1 for chosen in self.chosen for sentence in chosen)

    @property
    def has_every_document(self) -> bool:
        """Whether a sentence of every document is chosen."""
        return all(self.chosen)

    def candidates(self) -> Iterator[tuple[int, Sentence]]:
        """Yield sentences about the question: the best of each document, then the second best, …"""
        ranked = [self.ranked(context.sentences) for context in self.contexts]
        enough = LEAST_WEIGHT * max(self.weight(sentences[0]) for sentences in ranked)
        for rank in range(max(map(len, ranked))):
            for number, sentences in enumerate(ranked):
                if rank < len(sentences) and (rank == 0 or self.weight(sentences[rank]) > enough):
                    yield number, sentences[rank]

    def reserves(self) -> Iterator[tuple[int, Sentence]]:
        """Yield all sentences of the documents, the best document first."""
        for number, context in enumerate(self.contexts):
            for sentence in self.ranked((*context.sentences, *context.reserve)):
                yield number, sentence

    def ranked(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences by their weight, equal ones in their order."""
        return sorted(sentences, key=self.weight, reverse=True)

    def weight(self, sentence: Sentence) -> float:
        """Return the weight of the words that a sentence shares with the question."""
        return self.index.overlap(sentence, self.terms)

    def choose(self, number: int, sentence: Sentence) -> None:
        """Take a sentence if it is not chosen already and there is room."""
        fits = self.length + len(sentence.text) < self.room
        if fits and sentence.text not in self.texts:
            self.texts.add(sentence.text)
            self.chosen[number].append(sentence)


def in_order(context: Context, chosen: Sequence[Sentence]) -> str:
    """Return the chosen sentences of a document in the order of the document."""
    order = {s.text: place for place, s in enumerate((*context.sentences, *context.reserve))}
    return " ".join(sorted((sentence.text for sentence in chosen), key=order.__getitem__))


def sources(contexts: Sequence[Context]) -> str:
    """Return the list of documents."""
    documents = enumerate((context.document for context in contexts), start=1)
    lines = [f"[{number}] {document.title} ({document.name})" for number, document in documents]
    return "\n".join(["Sources:", *lines])
