"""Where content waits that a result had no room for.

An entry is written once, under a random id that only the result's reader learns, and
is gone after ARCHIVE_TTL seconds. Any process of the project can read it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.utils import timezone

from drf_mcp.exceptions import contain
from drf_mcp.json_text import content_hash
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

ARCHIVE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}")


class ArchiveUnavailable(Exception):
    """The archive did not take an entry."""


def can_archive() -> bool:
    """Return whether the settings let anything be archived."""
    return mcp_settings.ARCHIVE_CLASS is not None and mcp_settings.MAX_RESULT_CHARS is not None


def owner_of(user: Any) -> str:
    """Return the owner that a user is to the archive: its class and its primary key.

    Returns:
        "" for an anonymous user, and for one whom nothing tells from others: what is made
        for them is found by its unguessable id alone.
    """
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    model = getattr(user, "_meta", None)
    # Not `type`: the user may be one of Django's lazy objects.
    kind = user.__class__
    label = model.concrete_model._meta.label if model else f"{kind.__module__}.{kind.__qualname__}"
    return "" if key is None else f"{label}:{key}"


def new_archive_id() -> str:
    """Return an id that nobody can guess, always of the same length."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class Entry:
    """What one result had no room for.

    Attributes:
        archive_id: the id under which it is kept.
        owner: whom it was made for, see `owner_of`.
        tool: the name of the tool that gave it.
        content: the items as JSON, ``[{"id", "pointer", "value"}, ...]``, the members of
            each value in their own order. ASCII, so that every database takes it.
        content_hash: the hash of the items, see `drf_mcp.json_text.content_hash`.
        created: when it was made.
        kwargs: the path's kwargs of the call that gave it.
        query_string: its encoded query.
    """

    archive_id: str
    owner: str
    tool: str
    content: str
    content_hash: str
    created: datetime
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    query_string: str = ""

    @classmethod
    def of(
        cls, archive_id: str, owner: str, tool: str, items: list[dict[str, Any]], **call: Any
    ) -> Entry:
        """Make an entry of items.

        Args:
            archive_id: a new id.
            owner: whom it is for.
            tool: the name of the tool.
            items: what is to be kept.
            call: ``kwargs`` and ``query_string`` of the call.
        """
        content = json.dumps(items, separators=(",", ":"))
        now = timezone.now()
        return cls(archive_id, owner, tool, content, content_hash(items), now, **call)

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        """The items, each with its id, its JSON pointer into the whole answer, its value."""
        return parsed(self.content)

    def is_for(self, owner: str) -> bool:
        """Return whether somebody who knows the archive id may read it."""
        return self.owner in ("", owner)


KEPT = {member.name for member in fields(Entry)} - {"archive_id"}


@functools.lru_cache(maxsize=2)
def parsed(content: str) -> list[dict[str, Any]]:
    """Return the items in a content; that of the last ones is kept, as slices follow each other."""
    items: list[dict[str, Any]] = json.loads(content)
    return items


class Archive:
    """Keeps entries. A subclass gives `store`, `read` and `latest`.

    An instance is made for each use and keeps nothing itself.
    """

    def store(self, entry: Entry) -> None:
        """Keep an entry for ARCHIVE_TTL seconds.

        Raises:
            ArchiveUnavailable: if it is not kept; whatever else it raises means the same.
        """
        raise NotImplementedError(f"{type(self).__name__} must define store().")

    def read(self, archive_id: str) -> Entry | None:
        """Return the entry of that id, None if there is none or it has expired."""
        raise NotImplementedError(f"{type(self).__name__} must define read().")

    def latest(self, owner: str, content_hash: str) -> str | None:
        """Return the id of an owner's newest entry with that hash."""
        raise NotImplementedError(f"{type(self).__name__} must define latest().")

    def expire(self) -> int:
        """Delete what has expired and return how many, 0 where that happens by itself."""
        return 0

    def fetch(self, archive_id: str, owner: str) -> Entry | None:
        """Return the entry of that id, None if it is somebody else's."""
        entry = self.read(archive_id) if ARCHIVE_ID.fullmatch(archive_id) else None
        return entry if entry is not None and entry.is_for(owner) else None

    def find(self, content_hash: str, owner: str) -> Entry | None:
        """Return the newest entry with that hash, of an owner who is somebody."""
        if not owner or not CONTENT_HASH.fullmatch(content_hash):
            return None
        archive_id = self.latest(owner, content_hash)
        return None if archive_id is None else self.fetch(archive_id, owner)


class CacheArchive(Archive):
    """Keeps entries in the cache ARCHIVE_CACHE.

    Several processes need a cache that they share, such as Redis; a cache may drop an
    entry before its time.
    """

    @property
    def cache(self) -> BaseCache:
        """The cache."""
        return caches[mcp_settings.ARCHIVE_CACHE]

    def store(self, entry: Entry) -> None:
        """Keep an entry; a cache that drops it at once, as for its size, is unavailable."""
        key = self.key(entry.archive_id)
        members = {name: value for name, value in vars(entry).items() if name in KEPT}
        self.cache.set(key, members, mcp_settings.ARCHIVE_TTL)
        if not self.cache.has_key(key):
            raise ArchiveUnavailable("The cache did not keep the entry.")
        if entry.owner:
            hash_key = self.hash_key(entry.owner, entry.content_hash)
            self.cache.set(hash_key, entry.archive_id, mcp_settings.ARCHIVE_TTL)

    def read(self, archive_id: str) -> Entry | None:
        """Return the entry of that id."""
        members = self.cache.get(self.key(archive_id))
        return None if members is None else Entry(archive_id, **members)

    def latest(self, owner: str, content_hash: str) -> str | None:
        """Return the id of an owner's newest entry with that hash."""
        archive_id: str | None = self.cache.get(self.hash_key(owner, content_hash))
        return archive_id

    def key(self, archive_id: str) -> str:
        """Return the cache key of an entry."""
        return f"drf_mcp:archive:{archive_id}"

    def hash_key(self, owner: str, content_hash: str) -> str:
        """Return the cache key of an owner's hash, in characters that every cache takes."""
        return f"drf_mcp:hash:{hashlib.sha256(f'{content_hash}:{owner}'.encode()).hexdigest()}"


class DatabaseArchive(Archive):
    """Keeps entries in a table, `drf_mcp.models.ArchivedContent`.

    ``manage.py mcp_expire`` deletes what has expired.
    """

    @property
    def rows(self) -> Any:
        """The entries that have not expired."""
        return self.table.filter(expires__gt=timezone.now())

    @property
    def table(self) -> Any:
        """All entries."""
        # Imported here: settings name this class before Django's models are loaded.
        from drf_mcp.models import ArchivedContent

        return ArchivedContent._default_manager

    def store(self, entry: Entry) -> None:
        """Keep an entry."""
        self.table.create(
            archive_id=entry.archive_id,
            **{name: getattr(entry, name) for name in KEPT},
            expires=entry.created + timedelta(seconds=mcp_settings.ARCHIVE_TTL),
        )

    def read(self, archive_id: str) -> Entry | None:
        """Return the entry of that id."""
        row = self.rows.filter(pk=archive_id).first()
        if row is None:
            return None
        return Entry(row.pk, **{name: getattr(row, name) for name in KEPT})

    def latest(self, owner: str, content_hash: str) -> str | None:
        """Return the id of an owner's newest entry with that hash."""
        found = self.rows.filter(owner=owner, content_hash=content_hash).order_by("-created")
        archive_id: str | None = found.values_list("pk", flat=True).first()
        return archive_id

    def expire(self) -> int:
        """Delete what has expired."""
        deleted, _ = self.table.filter(expires__lte=timezone.now()).delete()
        return int(deleted)


class CallArchive:
    """The archive for one call's result.

    Args:
        owner: who may fetch it, see `owner_of`.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def new_archive_id(self) -> str:
        """Return an id that nobody can guess, always of the same length."""
        return new_archive_id()

    def keep(self, archive_id: str, outcome: Outcome, items: list[dict[str, Any]]) -> str:
        """Store what an outcome leaves out and return its hash, "" if it was not stored."""
        entry = Entry.of(archive_id, self.owner, outcome.tool, items, **outcome.call)

        def store() -> str:
            mcp_settings.ARCHIVE_CLASS().store(entry)
            return entry.content_hash

        def failed(exc: Exception) -> str:
            logger.warning("The archive did not keep what a result left out", exc_info=exc)
            return ""

        return contain(store, failed)
