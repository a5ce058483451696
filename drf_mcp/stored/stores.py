"""Archives: the stores of what results had no room for."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.db import connections, router, transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from drf_mcp.access.scopes import find_principal
from drf_mcp.exceptions import catch
from drf_mcp.json_text import encode_ascii
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings, say_bound

logger = logging.getLogger("drf_mcp")

ARCHIVE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}")
# Old SQLite takes 999 parameters in one query.
MAX_PARAMETERS = 500
CHUNKS_PER_INSERT = 4
# One of so many entries that are stored deletes expired ones, of so many entries.
SWEEPS = 16


class ArchiveUnavailable(Exception):
    """The archive did not take an entry."""


class ArchiveFull(ArchiveUnavailable):
    """The owner has as much in the archive as one may have."""


def can_archive() -> bool:
    return mcp_settings.ARCHIVE_CLASS is not None and mcp_settings.MAX_RESULT_TOKENS is not None


def new_archive_id() -> str:
    # The length is always the same, because truncation counts the tokens of the id beforehand.
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, eq=False)
class Entry:
    """The items that one result had no room for.

    Attributes:
        archive_id: the id under which the content is kept.
        owner: the owner of the content, see `Archive.get_owner`; "" for an anonymous caller.
        content: the items as JSON, ``[{"id", "pointer", "value"}, ...]``, in ASCII.
        content_hash: the SHA-256 hash of the content, after ``sha256:``.
        terms: what has to hold for its owner to read it, see `StoredAnswer`; with the call's
            ``kwargs`` and ``query_string``.
        holder: whom the bounds of the archive count, "" for the owner.
    """

    archive_id: str
    owner: str
    tool: str
    content: str
    content_hash: str
    created: datetime
    terms: Mapping[str, Any] = field(default_factory=dict)
    holder: str = ""

    @classmethod
    def of(
        cls,
        archive_id: str,
        owner: str,
        tool: str,
        items: Iterable[dict[str, Any]],
        terms: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Make an entry of items."""
        content = encode_ascii([*items])
        content_hash = f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"
        made = (archive_id, owner, tool, content, content_hash, timezone.now())
        return cls(*made, terms or {})

    def __eq__(self, other: object) -> bool:
        # Subclasses included.
        return isinstance(other, Entry) and all(
            getattr(self, name) == getattr(other, name) for name in {*STORED, "archive_id"}
        )

    @cached_property
    def items(self) -> Sequence[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(self.content)
        return items

    @property
    def lifetime(self) -> int:
        """How many seconds the content is kept."""
        return mcp_settings.ARCHIVE_TTL  # type: ignore[no-any-return]

    def is_for(self, owner: str) -> bool:
        # The content of an anonymous caller is for everyone who knows the archive id.
        return self.owner in ("", owner)


STORED = {member.name for member in fields(Entry)} - {"archive_id", "holder"}


class Archive:
    """Keeps entries. A subclass gives `store`, `read` and `latest`.

    An instance is made for each use and has no state.

    Attributes:
        is_durable: True if no entry goes before its time. Only then the result names a time.
        is_shared: True if every process of the project reads what one process has stored. Only
            then the result names what was left out.
    """

    is_durable = False

    @property
    def is_shared(self) -> bool:
        return True

    def get_owner(self, user: Any, request: Any) -> str:
        """Return the owner of content: the user, within the tenant of the request.

        Args:
            user: who is calling.
            request: the request to the endpoint, whose ``tenant`` middleware set.

        An owner has at most 255 characters. The owner of an anonymous user is "": the
        content is found by its unguessable id alone.
        """
        owner = find_principal(user, request)
        return owner if len(owner) <= 255 else hashlib.sha256(owner.encode()).hexdigest()

    def store(self, entry: Entry) -> str:
        """Keep an entry for its `lifetime` and return the id under which it is kept.

        The id is the entry's own, or of an equal entry, which is then kept as long.

        Raises:
            ArchiveFull: if the owner has too much already; nothing makes room for an entry.
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
        """Delete expired entries and return how many, 0 for a store that does so by itself."""
        return 0

    def fetch(self, archive_id: str, owner: str) -> Entry | None:
        """Return the entry of that id, None if it has another owner."""
        entry = self.read(archive_id) if ARCHIVE_ID.fullmatch(archive_id) else None
        return entry if entry is not None and entry.is_for(owner) else None

    def find(self, content_hash: str, owner: str) -> Entry | None:
        """Return the newest entry with that hash; None for an anonymous owner."""
        if not owner or not CONTENT_HASH.fullmatch(content_hash):
            return None
        archive_id = self.latest(owner, content_hash)
        return None if archive_id is None else self.fetch(archive_id, owner)


class CacheArchive(Archive):
    """Keeps entries in the cache ARCHIVE_CACHE.

    The cache should be shared by all processes and hold nothing else, such as a Redis database
    of its own: a full cache drops entries, also of throttles and sessions.
    """

    @property
    def cache(self) -> BaseCache:
        return caches[mcp_settings.ARCHIVE_CACHE]

    @property
    def is_shared(self) -> bool:
        return not isinstance(self.cache, (DummyCache, LocMemCache))

    def store(self, entry: Entry) -> str:
        same = self.find(entry.content_hash, entry.owner)
        if same is not None and (same.tool, same.terms) == (entry.tool, entry.terms):
            entry = replace(entry, archive_id=same.archive_id)
        key = self._get_key(entry.archive_id)
        stored = {name: value for name, value in vars(entry).items() if name in STORED}
        self.cache.set(key, stored, entry.lifetime)
        # Memcached, for one, drops a value that is too long.
        if not self.cache.has_key(key):
            raise ArchiveUnavailable("The cache did not keep the entry.")
        if entry.owner:
            hash_key = self._get_hash_key(entry.owner, entry.content_hash)
            self.cache.set(hash_key, entry.archive_id, entry.lifetime)
        return entry.archive_id

    def read(self, archive_id: str) -> Entry | None:
        stored = self.cache.get(self._get_key(archive_id))
        return None if stored is None else Entry(archive_id, **stored)

    def latest(self, owner: str, content_hash: str) -> str | None:
        archive_id: str | None = self.cache.get(self._get_hash_key(owner, content_hash))
        return archive_id

    def _get_key(self, archive_id: str) -> str:
        return f"drf_mcp:archive:{archive_id}"

    def _get_hash_key(self, owner: str, content_hash: str) -> str:
        # Hashed, because caches refuse some characters of owners.
        return f"drf_mcp:hash:{hashlib.sha256(f'{content_hash}:{owner}'.encode()).hexdigest()}"


class StoredEntry(Entry):
    row: Any

    @classmethod
    def of_row(cls, row: Any) -> StoredEntry:
        entry = object.__new__(cls)
        members = {name: getattr(row, name) for name in STORED - {"content"}}
        entry.__dict__.update(members, archive_id=row.pk, row=row)
        return entry

    @cached_property
    def content(self) -> str:
        # A deferred field. Content of one chunk has no other rows.
        text: str = self.row.text
        if len(text) < self.row.size:
            later = self.row.chunks.order_by("position").values_list("text", flat=True)
            text = "".join([text, *later])
        return text


class DatabaseArchive(Archive):
    """Keeps entries in tables, `drf_mcp.models.ArchivedContent` and its chunks.

    Storing deletes expired entries now and then; ``manage.py mcp_expire`` deletes all of them.
    A subclass may set the attributes.

    Attributes:
        max_entries: how many entries a caller may have, None for MAX_KEPT_RESULTS.
        max_size: how many characters these may have together, None for MAX_KEPT_CHARACTERS.
        chunk_size: the most characters in one row of the database.
        sweep: how many expired entries are deleted for each entry that is stored, on average.
    """

    is_durable = True
    max_entries: int | None = None
    max_size: int | None = None
    chunk_size = 500_000
    sweep = 20

    @property
    def model(self) -> Any:
        # Settings import this class before Django loads models.
        from drf_mcp.models import ArchivedContent

        return ArchivedContent

    @property
    def table(self) -> Any:
        # Never a replica, which may lag behind.
        return self.model._default_manager.using(router.db_for_write(self.model))

    @property
    def rows(self) -> Any:
        return self.table.filter(expires__gt=timezone.now())

    def store(self, entry: Entry) -> str:
        expires = entry.created + timedelta(seconds=entry.lifetime)
        same = {name: getattr(entry, name) for name in ("tool", "content_hash")}
        usage = self.rows.filter(holder=entry.holder or entry.owner).aggregate(
            count=Count("pk"), size=Sum("size"), same=Count("pk", filter=Q(**same))
        )
        equal = self._find_equal(entry, same) if entry.owner and usage["same"] else None
        if equal and self.table.filter(pk=equal).update(created=entry.created, expires=expires):
            return equal
        # New content is refused, because results have promised the old content.
        size = (usage["size"] or 0) + len(entry.content)
        if usage["count"] >= (self.max_entries or mcp_settings.MAX_KEPT_RESULTS):
            raise ArchiveFull(say_bound("MAX_KEPT_RESULTS"))
        if size > (self.max_size or mcp_settings.MAX_KEPT_CHARACTERS):
            raise ArchiveFull(say_bound("MAX_KEPT_CHARACTERS"))
        if not secrets.randbelow(SWEEPS):
            self._delete(self.table.filter(expires__lte=entry.created)[: SWEEPS * self.sweep])
        self._insert(entry, expires)
        return entry.archive_id

    def _insert(self, entry: Entry, expires: datetime) -> None:
        places = range(0, len(entry.content), self.chunk_size)
        texts = (entry.content[start : start + self.chunk_size] for start in places)
        using = self.table.db
        is_whole = len(places) > 1 or connections[using].in_atomic_block
        # One statement needs no transaction, but must not break a caller's.
        with transaction.atomic(using=using) if is_whole else nullcontext():
            row = self.table.create(
                archive_id=entry.archive_id,
                holder=entry.holder or entry.owner,
                **{name: getattr(entry, name) for name in STORED - {"content"}},
                size=len(entry.content),
                text=next(texts),
                expires=expires,
            )
            chunk = row.chunks.model
            later = (chunk(content=row, position=p, text=text) for p, text in enumerate(texts, 1))
            # A few at a time, for the limits of statements and of memory.
            while some := list(islice(later, CHUNKS_PER_INSERT)):
                chunk._default_manager.using(using).bulk_create(some)

    def _find_equal(self, entry: Entry, same: dict[str, Any]) -> str | None:
        # JSON is compared here, because not every database compares it.
        rows = self.rows.filter(owner=entry.owner, **same).values_list("pk", "terms")
        return next((str(key) for key, terms in rows if terms == entry.terms), None)

    def read(self, archive_id: str) -> Entry | None:
        row = self.rows.filter(pk=archive_id).defer("text").first()
        return None if row is None else StoredEntry.of_row(row)

    def latest(self, owner: str, content_hash: str) -> str | None:
        found = self.rows.filter(owner=owner, content_hash=content_hash).order_by("-created")
        archive_id: str | None = found.values_list("pk", flat=True).first()
        return archive_id

    def expire(self) -> int:
        return self._delete(self.table.filter(expires__lte=timezone.now()))

    def _delete(self, rows: Any) -> int:
        # By keys, because not every database takes a limited subquery in DELETE.
        keys = list(rows.values_list("pk", flat=True))
        for start in range(0, len(keys), MAX_PARAMETERS):
            self.table.filter(pk__in=keys[start : start + MAX_PARAMETERS]).delete()
        return len(keys)


class CallArchive:
    """The archive for one call's result.

    Args:
        note_terms: returns what has to hold for the caller to read the content.
        holder: whom the bounds of the archive count.
    """

    def __init__(
        self, owner: str, note_terms: Callable[[Outcome], Mapping[str, Any]], holder: str
    ) -> None:
        self.owner = owner
        self.holder = holder
        self.note_terms = note_terms
        self.is_full = False

    @property
    def seconds(self) -> int | None:
        """How long the content can be read, None where that is not certain."""
        is_durable = getattr(mcp_settings.ARCHIVE_CLASS, "is_durable", False)
        return mcp_settings.ARCHIVE_TTL if is_durable else None

    def keep(self, outcome: Outcome, items: Iterable[dict[str, Any]]) -> Entry | None:
        """Store what an outcome leaves out and return its entry, None if it was not stored."""
        with catch() as caught:
            archive = mcp_settings.ARCHIVE_CLASS()
            terms = self.note_terms(outcome) if archive.is_shared else {}
            if not terms.get("rights"):
                return None
            entry = Entry.of(new_archive_id(), self.owner, outcome.tool, items, terms)
            entry = replace(entry, holder=self.holder)
            return replace(entry, archive_id=archive.store(entry))
        exc = caught.exception
        self.is_full = isinstance(exc, ArchiveFull)
        level = logging.INFO if self.is_full else logging.WARNING
        logger.log(level, "The archive did not keep what a result left out", exc_info=exc)
        return None
