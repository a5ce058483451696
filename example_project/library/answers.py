"""From what was found to an answer: in the documents' own words, or a language model's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from example_project.library.answer_model import AnswerModel
from example_project.library.indexes import Index, current_index
from example_project.library.passages import Sentence
from example_project.library.questions import terms_of
from example_project.library.retrievers import Context, Retriever
from example_project.library.stored_answers import Answer, stored_answers

SHORTEST, ENOUGH, LONGEST = 1000, 1600, 2500
# A sentence that says less of the question than this part of the best one's is left out.
SPEAKS = 0.35
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
    if contexts and model is None:
        return Extract(index, contexts, terms_of(index, question)).answer()
    text = model.answer(question, contexts) if contexts and model else NOTHING
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
        self.room = LONGEST - len(sources(contexts)) - 8 * len(contexts)
        self.chosen: list[list[Sentence]] = [[] for _ in contexts]
        self.said: set[str] = set()

    def answer(self) -> Answer:
        """A paragraph per document, then the list of the documents."""
        self.choose_all()
        quoted = [pair for pair in zip(self.contexts, self.chosen, strict=True) if pair[1]]
        paragraphs = [f"{in_order(*pair)} [{number}]" for number, pair in enumerate(quoted, 1)]
        listed = sources([context for context, _ in quoted])
        return {
            "answer": "\n\n".join([*paragraphs, listed]),
            "context_document_count": len(quoted),
        }

    def choose_all(self) -> None:
        """Choose the best sentences, then others if the answer is short or a document silent."""
        for number, sentence in self.candidates():
            if self.length >= (ENOUGH if self.everybody_speaks else self.room):
                break
            self.choose(number, sentence)
        for number, sentence in self.reserves():
            short = self.length + len(sources(self.contexts)) < SHORTEST
            if self.everybody_speaks and not short:
                break
            if short or not self.chosen[number]:
                self.choose(number, sentence)

    @property
    def length(self) -> int:
        """The characters of what is chosen."""
        return sum(len(sentence.text) + 1 for chosen in self.chosen for sentence in chosen)

    @property
    def everybody_speaks(self) -> bool:
        """Whether something of every document is chosen."""
        return all(self.chosen)

    def candidates(self) -> Iterator[tuple[int, Sentence]]:
        """What speaks of the question: the best of each document, the second best, and so on."""
        ranked = [self.ranked(context.sentences) for context in self.contexts]
        enough = SPEAKS * max(self.weight(sentences[0]) for sentences in ranked)
        for rank in range(max(map(len, ranked))):
            for number, sentences in enumerate(ranked):
                if rank < len(sentences) and (rank == 0 or self.weight(sentences[rank]) > enough):
                    yield number, sentences[rank]

    def reserves(self) -> Iterator[tuple[int, Sentence]]:
        """What else the documents say, the best document first."""
        for number, context in enumerate(self.contexts):
            for sentence in self.ranked((*context.sentences, *context.reserve)):
                yield number, sentence

    def ranked(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Sentences that speak of the question most, equal ones in their order."""
        return sorted(sentences, key=self.weight, reverse=True)

    def weight(self, sentence: Sentence) -> float:
        """How much a sentence speaks of the question."""
        return self.index.overlap(sentence, self.terms)

    def choose(self, number: int, sentence: Sentence) -> None:
        """Take a sentence if nobody said it before and there is room."""
        fits = self.length + len(sentence.text) < self.room
        if fits and sentence.text not in self.said:
            self.said.add(sentence.text)
            self.chosen[number].append(sentence)


def in_order(context: Context, chosen: Sequence[Sentence]) -> str:
    """The sentences chosen of a document as they follow each other there."""
    order = {s.text: place for place, s in enumerate((*context.sentences, *context.reserve))}
    return " ".join(sorted((sentence.text for sentence in chosen), key=order.__getitem__))


def sources(contexts: Sequence[Context]) -> str:
    """The list of documents."""
    documents = enumerate((context.document for context in contexts), start=1)
    lines = [f"[{number}] {document.title} ({document.name})" for number, document in documents]
    return "\n".join(["Sources:", *lines])
