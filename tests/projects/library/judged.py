"""Questions of users, and the verdict on a retriever's answers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from example_project.library.answers import answer
from example_project.library.retrievers import Retriever


@dataclass(frozen=True)
class JudgedQuestion:
    """A question and what its answer must have.

    Attributes:
        question: the question of a user.
        first: the topics that may come first; none if the library has no answer.
        says: words that the answer must have.
        never: topics that must not be among the sources.
    """

    question: str
    first: tuple[str, ...]
    words: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def verdict(self, retriever: Retriever) -> str:
        """Return ``right``, ``silent``, ``incomplete`` or ``wrong`` (another topic is first)."""
        text, _, listed = answer(retriever, self.question)["answer"].partition("\n\nSources:\n")
        sources = re.findall(r"\(([-\w]+)\)$", listed, re.M)
        if not sources:
            return "silent" if self.first else "right"
        if sources[0] not in self.first:
            return "wrong"
        complete = all(words in text.lower() for words in self.words)
        return "right" if complete and not {*sources} & {*self.never} else "incomplete"


def judged_questions(name: str = "questions") -> list[JudgedQuestion]:
    """Return the questions that the retrievers were tuned to, or the ``kept_questions``."""
    text = Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    return [
        JudgedQuestion(
            **{name: value if name == "question" else tuple(value) for name, value in row.items()}
        )
        for row in json.loads(text)
    ]
