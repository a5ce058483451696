"""The archive in the database."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from django.db import connections, router, transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from drf_mcp.settings import mcp_settings, say_bound
from drf_mcp.stored.stores import STORED, Archive, ArchiveFull, Entry

# Old SQLite takes 999 parameters in one query.
MAX_PARAMETERS = 500
CHUNKS_PER_INSERT = 4
# One of so many entries that are stored deletes expired ones, of so many entries.
SWEEPS = 16


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
