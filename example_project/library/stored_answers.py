"""Answers in Django's cache, with counts of hits and misses."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypedDict

from django.core.cache import cache
from django.db import DatabaseError

from example_project.library.exceptions import LibraryUnavailable

PREFIX = "library"
KEYS, HITS, MISSES = (f"{PREFIX}:{name}" for name in ("keys", "hits", "misses"))
SECONDS_KEPT = 3600
UNITS = ("KB", "MB", "GB")


class Answer(TypedDict):
    """What a retrieval tool answers."""

    answer: str
    context_document_count: int


class CacheStatistics(TypedDict):
    """The number and size of the stored answers, and the share of hits."""

    total_keys: int
    hit_rate: float
    memory_usage: str


class StoredAnswers:
    """The answers given in the last hour.

    Hits and misses are counted exactly. Of two answers that are stored at the same moment,
    one may be left out of the number of keys, because caches have no sets; both are found.
    """

    def get_or_write(self, asked: Sequence[str], write: Callable[[], Answer]) -> Answer:
        """Return the stored answer to a question, or write and store one.

        Raises:
            LibraryUnavailable: if the cache cannot be reached, or whatever writing raises.
        """
        key = f"{PREFIX}:{hashlib.sha256(json.dumps(asked).encode()).hexdigest()}"
        with reaching_the_cache():
            kept: Answer | None = cache.get(key)
            count(HITS if kept else MISSES)
        if kept:
            return kept
        answer = write()
        with reaching_the_cache():
            cache.set(key, answer, SECONDS_KEPT)
            cache.set(KEYS, {*self.kept(), key}, None)
        return answer

    def kept(self) -> dict[str, Answer]:
        """Return the stored answers by key."""
        return cache.get_many(cache.get(KEYS, ()))

    def statistics(self) -> CacheStatistics:
        """Count the stored answers.

        Raises:
            LibraryUnavailable: if the cache cannot be reached.
        """
        with reaching_the_cache():
            kept, hits, misses = self.kept(), cache.get(HITS, 0), cache.get(MISSES, 0)
        size = sum(len(json.dumps(answer).encode()) for answer in kept.values())
        return {
            "total_keys": len(kept),
            "hit_rate": round(hits / max(1, hits + misses), 4),
            "memory_usage": file_size(size),
        }


def count(key: str) -> None:
    """Add one to a counter."""
    cache.add(key, 0, None)
    cache.incr(key)


@contextmanager
def reaching_the_cache() -> Iterator[None]:
    """Turn the failures of any cache into `LibraryUnavailable`."""
    try:
        yield
    except cache_failures() as exc:
        raise LibraryUnavailable("The cache of answers cannot be reached.") from exc


def cache_failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of Django's caches whose store is gone, including those of redis."""
    redis = sys.modules.get("redis")
    return (OSError, DatabaseError, *([redis.RedisError] if redis else []))


def file_size(size: float) -> str:
    """Return a number of bytes as a text such as ``2.5MB``."""
    if size < 1024:
        return f"{size:.0f}B"
    for unit in UNITS:
        size /= 1024
        if size < 1024:
            return f"{size:.1f}{unit}"
    return f"{size:.1f}{UNITS[-1]}"


stored_answers = StoredAnswers()
