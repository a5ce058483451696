"""BM25, the ranking of keyword searches, by SQLite's full-text search."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterable, Sequence
from itertools import chain

from example_project.library.exceptions import LibraryUnavailable

TABLE = "CREATE VIRTUAL TABLE passages USING fts5(words)"
SEARCH = "SELECT rowid, -bm25(passages) FROM passages WHERE passages MATCH ?"


class KeywordSearch:
    """An index in memory, independent of the project's database.

    Args:
        texts: the words of each text.

    Raises:
        LibraryUnavailable: if the SQLite of this Python has no full-text search.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.count = len(texts)
        # SQLite gets a name for each word: it would cut words at underscores and fold accents.
        self.names = {word: f"w{number}" for number, word in enumerate(set(chain(*texts)))}
        self.lock = threading.Lock()
        # Any thread may use the connection; the lock admits one at a time.
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        # Python 3.13 warns of a connection that is left open.
        weakref.finalize(self, self.connection.close)
        try:
            self.connection.execute(TABLE)
        except sqlite3.OperationalError as exc:
            raise LibraryUnavailable("The SQLite of this Python has no FTS5.") from exc
        rows = (
            (place, " ".join(self.names[word] for word in text)) for place, text in enumerate(texts)
        )
        self.connection.executemany("INSERT INTO passages (rowid, words) VALUES (?, ?)", rows)

    def scores(self, terms: Iterable[str]) -> list[float]:
        """Return the BM25 score of every text, 0 where none of the terms occurs."""
        scores = [0.0] * self.count
        asked = " OR ".join(self.names[term] for term in terms if term in self.names)
        if asked:
            with self.lock:
                found = self.connection.execute(SEARCH, [asked]).fetchall()
            for place, score in found:
                scores[place] = score
        return scores
