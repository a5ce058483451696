"""A language model that answers, at an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException

from django.conf import settings

from example_project.library.exceptions import LibraryUnavailable
from example_project.library.retrievers import Context

INSTRUCTIONS = (
    "Answer the question from the numbered excerpts alone, in 1,000 to 2,500 characters. "
    "Cite excerpts as [1]. If they do not answer it, say so."
)
# The most characters of one document.
EXCERPT_LENGTH = 3000


@dataclass(frozen=True)
class AnswerModel:
    """The model that ``LIBRARY_ANSWER_MODEL`` names.

    Attributes:
        url: the endpoint, such as ``http://localhost:11434/v1/chat/completions``.
        name: the model's name.
        key: the bearer token; "" for none.
        timeout: the seconds it may take.
    """

    url: str
    name: str
    key: str = ""
    timeout: float = 30

    @classmethod
    def configured(cls) -> AnswerModel | None:
        """The project's model, None if it has none."""
        chosen = settings.LIBRARY_ANSWER_MODEL
        if not chosen.get("URL"):
            return None
        return cls(**{name.lower(): value for name, value in chosen.items()})

    def answer(self, question: str, contexts: Sequence[Context]) -> str:
        """Ask the model.

        Raises:
            LibraryUnavailable: if it cannot be reached, takes too long or answers nonsense.
        """
        body = {
            "model": self.name,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": INSTRUCTIONS},
                {"role": "user", "content": f"{excerpts(contexts)}\n\nQuestion: {question}"},
            ],
        }
        try:
            return str(self.reply(body)["choices"][0]["message"]["content"])
        except urllib.error.HTTPError as exc:
            raise self.refused(exc) from exc
        except (OSError, HTTPException) as exc:
            raise LibraryUnavailable("The answering model cannot be reached.") from exc
        except (ValueError, LookupError, TypeError) as exc:
            raise LibraryUnavailable("The answering model sent something else.") from exc

    def reply(self, body: dict) -> dict:
        """Send a request and return the JSON of the response."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        # The URL comes from the settings.
        with urllib.request.urlopen(request, timeout=self.timeout) as response:  # nosec B310
            return json.load(response)

    def refused(self, exc: urllib.error.HTTPError) -> LibraryUnavailable:
        """Return the exception for a response with an error status."""
        with exc:
            after = exc.headers.get("Retry-After", "")
        wait = int(after) if after.isdecimal() else None
        if exc.code == 429:
            return LibraryUnavailable("The answering model is asked too often.", wait)
        return LibraryUnavailable(f"The answering model refused with HTTP status {exc.code}.", wait)


def excerpts(contexts: Sequence[Context]) -> str:
    """Return the beginning of each document, numbered."""
    texts = (" ".join(s.text for s in context.sentences) for context in contexts)
    return "\n\n".join(
        f"[{number}] {context.document.title}\n{text[:EXCERPT_LENGTH]}"
        for number, (context, text) in enumerate(zip(contexts, texts, strict=True), start=1)
    )
