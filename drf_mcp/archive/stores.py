"""Where content waits that a result had no room for.

An entry is kept under a random id that only the reader of the result learns, and is gone after
ARCHIVE_TTL seconds.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.db import router, transaction
from django.db.models import Count, Sum
from django.utils import timezone

from drf_mcp.exceptions import contain
from drf_mcp.json_text import content_hash
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

ARCHIVE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}")
LONGEST_OWNER = 255
# SQLite takes 999 parameters in one query where it is old.
MOST_PARAMETERS = 500


class ArchiveUnavailable(Exception):
    """The archive did not take an entry."""


def can_archive() -> bool:
    """Return whether the settings let anything be archived."""
    return mcp_settings.ARCHIVE_CLASS is not None and mcp_settings.MAX_RESULT_CHARS is not None


def get_user_key(user: Any) -> str:
    """Return what tells a user from all others: its class and its primary key, "" for nobody."""
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    model = getattr(user, "_meta", None)
    # Not `type`: the user may be one of Django's lazy objects.
    kind = user.__class__
    label = model.concrete_model._meta.label if model else f"{kind.__module__}.{kind.__qualname__}"
    return "" if key is None else f"{label}:{key}"


def get_tenant_key(request: Any) -> str:
    """Return the tenant that middleware put on a request, "" if none did."""
    tenant = getattr(request, "tenant", None)
    if tenant is None:
        return ""
    return str(getattr(tenant, "pk", None) or getattr(tenant, "schema_name", tenant))


def new_archive_id() -> str:
    """Return an id that nobody can guess, always of the same length."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class Entry:
    """What one result had no room for.

    Attributes:
        archive_id: the id under which the content is kept.
        owner: whom the content was made for, see `Archive.get_owner`; "" for nobody known.
        tool: the name of the tool that was called.
        content: the items as JSON, ``[{"id", "pointer", "value"}, ...]``. ASCII, so that every
            database takes it.
        content_hash: the hash of the items, see `drf_mcp.json_text.content_hash`.
        created: when the entry was made.
        kwargs: the path's kwargs of the call.
        query_string: the encoded query of the call.
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
            owner: whom the content is for.
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
        return parse_items(self.content)

    def is_for(self, owner: str) -> bool:
        """Return whether somebody who knows the archive id may read the entry."""
        return self.owner in ("", owner)

    def is_equal(self, other: Entry) -> bool:
        """Return whether another entry holds the same content of the same call."""
        return all(getattr(self, name) == getattr(other, name) for name in SAME)


KEPT = {member.name for member in fields(Entry)} - {"archive_id"}
SAME = ("owner", "tool", "content_hash", "kwargs", "query_string")


# Slices of one content are fetched one after the other.
@functools.lru_cache(maxsize=2)
def parse_items(content: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(content)
    return items


class Archive:
    """Keeps entries. A subclass gives `store`, `read` and `latest`.

    An instance is made for each use and keeps nothing itself.

    Attributes:
        is_durable: True if every process of the project reads what one has stored, and nothing
            goes before ARCHIVE_TTL seconds have passed or the owner has stored too much. Only
            then is a time named to the caller.
    """

    is_durable = False

    def get_owner(self, user: Any, request: Any) -> str:
        """Return whom content is for: the user, within the tenant of the request.

        Args:
            user: who is calling.
            request: the request to the endpoint, whose ``tenant`` is that of middleware.

        Returns:
            At most 255 characters. "" for an anonymous user, whose content is found by its
            unguessable id alone.
        """
        key = get_user_key(user)
        tenant = get_tenant_key(request) if key else ""
        owner = f"{tenant}/{key}" if tenant else key
        return owner if len(owner) <= LONGEST_OWNER else hashlib.sha256(owner.encode()).hexdigest()

    def store(self, entry: Entry) -> str:
        """Keep an entry for ARCHIVE_TTL seconds and return the id under which it is kept.

        Returns:
            The entry's own id, or that of an equal entry, which is then kept as long.

        Raises:
            ArchiveUnavailable: if the entry is not kept; any other exception means the same.
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

    For a cache of its own that all processes share, such as a Redis database: a cache that is
    full drops entries, those of throttles and sessions too if it holds them.
    """

    @property
    def cache(self) -> BaseCache:
        """The cache."""
        return caches[mcp_settings.ARCHIVE_CACHE]

    def store(self, entry: Entry) -> str:
        """Keep an entry; a cache that drops it at once, as for its size, is unavailable."""
        same = self.find(entry.content_hash, entry.owner)
        if same is not None and same.is_equal(entry):
            entry = replace(entry, archive_id=same.archive_id)
        key = self.key(entry.archive_id)
        stored = {name: value for name, value in vars(entry).items() if name in KEPT}
        self.cache.set(key, stored, mcp_settings.ARCHIVE_TTL)
        if not self.cache.has_key(key):
            raise ArchiveUnavailable("The cache did not keep the entry.")
        if entry.owner:
            hash_key = self.hash_key(entry.owner, entry.content_hash)
            self.cache.set(hash_key, entry.archive_id, mcp_settings.ARCHIVE_TTL)
        return entry.archive_id

    def read(self, archive_id: str) -> Entry | None:
        """Return the entry of that id."""
        stored = self.cache.get(self.key(archive_id))
        return None if stored is None else Entry(archive_id, **stored)

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
    """Keeps entries in tables, `drf_mcp.models.ArchivedContent` and its chunks.

    Each entry that is stored takes some expired ones away; ``manage.py mcp_expire`` deletes all
    that have expired. A subclass may set the attributes.

    Attributes:
        max_entries: how many entries an owner may have; the oldest go first.
        max_size: how many characters the entries of an owner may have together.
        chunk_size: the most characters in one row of the database.
        sweep: how many expired entries go with each one that is stored.
    """

    is_durable = True
    max_entries = 1_000
    max_size = 100_000_000
    chunk_size = 500_000
    sweep = 20

    @property
    def model(self) -> Any:
        # Settings name this class before Django's models are loaded.
        from drf_mcp.models import ArchivedContent

        return ArchivedContent

    @property
    def table(self) -> Any:
        """All entries, read where they are written: a replica may lag behind."""
        return self.model._default_manager.using(router.db_for_write(self.model))

    @property
    def rows(self) -> Any:
        """The entries that have not expired."""
        return self.table.filter(expires__gt=timezone.now())

    def store(self, entry: Entry) -> str:
        """Keep an entry, in chunks; the oldest of an owner who has stored too much go."""
        with transaction.atomic(using=self.table.db):
            expires = entry.created + timedelta(seconds=mcp_settings.ARCHIVE_TTL)
            if same := self.find_equal(entry):
                self.rows.filter(pk=same).update(created=entry.created, expires=expires)
                return same
            self.delete(self.table.filter(expires__lte=entry.created)[: self.sweep])
            self.make_room(entry)
            stored = {name: getattr(entry, name) for name in KEPT - {"content"}}
            row = self.table.create(
                archive_id=entry.archive_id, **stored, size=len(entry.content), expires=expires
            )
            chunks = row.chunks.model
            texts = range(0, len(entry.content), self.chunk_size)
            chunks._default_manager.using(self.table.db).bulk_create(
                (
                    chunks(
                        content=row,
                        position=number,
                        text=entry.content[start : start + self.chunk_size],
                    )
                    for number, start in enumerate(texts)
                ),
                # A statement holds no more than a few megabytes.
                batch_size=4,
            )
        return entry.archive_id

    def find_equal(self, entry: Entry) -> str | None:
        """Return the id of an owner's entry with the same content of the same call."""
        if not entry.owner:
            return None
        members = {name: getattr(entry, name) for name in SAME if name != "kwargs"}
        rows = self.rows.filter(**members).values_list("pk", "kwargs")
        # Not every database compares JSON.
        return next((key for key, kwargs in rows if kwargs == entry.kwargs), None)

    def make_room(self, entry: Entry) -> None:
        """Delete the oldest entries of an owner until another one is within the limits.

        Raises:
            ArchiveUnavailable: if the entry alone is too large, or if the callers whom nothing
                tells apart have stored too much: none of them may displace another's content.
        """
        kept = self.rows.filter(owner=entry.owner)
        usage = kept.aggregate(count=Count("pk"), size=Sum("size"))
        count, size = usage["count"] + 1, (usage["size"] or 0) + len(entry.content)
        if count <= self.max_entries and size <= self.max_size:
            return
        if not entry.owner or len(entry.content) > self.max_size:
            raise ArchiveUnavailable("The archive has no room for the entry.")
        oldest = []
        for archive_id, length in kept.order_by("created").values_list("pk", "size"):
            if count <= self.max_entries and size <= self.max_size:
                break
            oldest.append(archive_id)
            count, size = count - 1, size - length
        self.delete(self.table.filter(pk__in=oldest))

    def read(self, archive_id: str) -> Entry | None:
        """Return the entry of that id."""
        row = self.rows.filter(pk=archive_id).first()
        if row is None:
            return None
        texts = row.chunks.order_by("position").values_list("text", flat=True)
        stored = {name: getattr(row, name) for name in KEPT - {"content"}}
        return Entry(row.pk, content="".join(texts), **stored)

    def latest(self, owner: str, content_hash: str) -> str | None:
        """Return the id of an owner's newest entry with that hash."""
        found = self.rows.filter(owner=owner, content_hash=content_hash).order_by("-created")
        archive_id: str | None = found.values_list("pk", flat=True).first()
        return archive_id

    def expire(self) -> int:
        """Delete what has expired."""
        return self.delete(self.table.filter(expires__lte=timezone.now()))

    def delete(self, rows: Any) -> int:
        """Delete entries and return how many."""
        # Databases differ in whether a subquery of DELETE may have a limit.
        keys = list(rows.values_list("pk", flat=True))
        for start in range(0, len(keys), MOST_PARAMETERS):
            self.table.filter(pk__in=keys[start : start + MOST_PARAMETERS]).delete()
        return len(keys)


@dataclass(frozen=True)
class Kept:
    """Where the content of one result is kept.

    Attributes:
        archive_id: the id to fetch the content by.
        content_hash: the hash of its items.
    """

    archive_id: str
    content_hash: str


class CallArchive:
    """The archive for one call's result.

    Args:
        owner: who may fetch the content, see `Archive.get_owner`.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner

    @property
    def is_durable(self) -> bool:
        """Whether the content is certain to be there for ARCHIVE_TTL seconds."""
        return bool(getattr(mcp_settings.ARCHIVE_CLASS, "is_durable", False))

    def keep(self, outcome: Outcome, items: list[dict[str, Any]]) -> Kept | None:
        """Store what an outcome leaves out; None if the content was not stored."""
        entry = Entry.of(new_archive_id(), self.owner, outcome.tool, items, **outcome.call)

        def store() -> Kept | None:
            archive_id = mcp_settings.ARCHIVE_CLASS().store(entry)
            return Kept(archive_id, entry.content_hash)

        def failed(exc: Exception) -> Kept | None:
            logger.warning("The archive did not keep what a result left out", exc_info=exc)
            return None

        return contain(store, failed)
