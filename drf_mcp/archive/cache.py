"""Archived content in a cache."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from drf_mcp.archive.stores import KEPT, Archive, ArchiveUnavailable, Entry
from drf_mcp.settings import mcp_settings


class CacheArchive(Archive):
    """Keeps entries in the cache ARCHIVE_CACHE.

    For a cache of its own that all processes share, such as a Redis database: a cache that is
    full drops entries, those of throttles and sessions too if it holds them.
    """

    @property
    def cache(self) -> BaseCache:
        return caches[mcp_settings.ARCHIVE_CACHE]

    def store(self, entry: Entry) -> str:
        # A cache that drops an entry at once, as for its size, is unavailable.
        same = self.find(entry.content_hash, entry.owner)
        if same is not None and same.is_equal(entry):
            entry = replace(entry, archive_id=same.archive_id)
        key = self.key(entry.archive_id)
        stored = {name: value for name, value in vars(entry).items() if name in KEPT}
        self.cache.set(key, stored, entry.lifetime)
        if not self.cache.has_key(key):
            raise ArchiveUnavailable("The cache did not keep the entry.")
        if entry.owner:
            hash_key = self.hash_key(entry.owner, entry.content_hash)
            self.cache.set(hash_key, entry.archive_id, entry.lifetime)
        return entry.archive_id

    def read(self, archive_id: str) -> Entry | None:
        stored = self.cache.get(self.key(archive_id))
        return None if stored is None else Entry(archive_id, **stored)

    def latest(self, owner: str, content_hash: str) -> str | None:
        archive_id: str | None = self.cache.get(self.hash_key(owner, content_hash))
        return archive_id

    def key(self, archive_id: str) -> str:
        return f"drf_mcp:archive:{archive_id}"

    def hash_key(self, owner: str, content_hash: str) -> str:
        # In characters that every cache takes.
        return f"drf_mcp:hash:{hashlib.sha256(f'{content_hash}:{owner}'.encode()).hexdigest()}"
