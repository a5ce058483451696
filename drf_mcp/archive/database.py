"""Archived content in the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import router, transaction
from django.db.models import Count, Sum
from django.utils import timezone

from drf_mcp.archive.stores import KEPT, SAME, Archive, ArchiveUnavailable, Entry
from drf_mcp.settings import mcp_settings

# SQLite takes 999 parameters in one query where it is old.
MOST_PARAMETERS = 500


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
        # Read where it is written: a replica may lag behind.
        return self.model._default_manager.using(router.db_for_write(self.model))

    @property
    def rows(self) -> Any:
        return self.table.filter(expires__gt=timezone.now())

    def store(self, entry: Entry) -> str:
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
        if not entry.owner:
            return None
        members = {name: getattr(entry, name) for name in SAME if name != "kwargs"}
        rows = self.rows.filter(**members).values_list("pk", "kwargs")
        # Not every database compares JSON.
        return next((key for key, kwargs in rows if kwargs == entry.kwargs), None)

    def make_room(self, entry: Entry) -> None:
        kept = self.rows.filter(owner=entry.owner)
        usage = kept.aggregate(count=Count("pk"), size=Sum("size"))
        count, size = usage["count"] + 1, (usage["size"] or 0) + len(entry.content)
        if count <= self.max_entries and size <= self.max_size:
            return
        # Of callers whom nothing tells apart none may displace another's content.
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
        row = self.rows.filter(pk=archive_id).first()
        if row is None:
            return None
        texts = row.chunks.order_by("position").values_list("text", flat=True)
        stored = {name: getattr(row, name) for name in KEPT - {"content"}}
        return Entry(row.pk, content="".join(texts), **stored)

    def latest(self, owner: str, content_hash: str) -> str | None:
        found = self.rows.filter(owner=owner, content_hash=content_hash).order_by("-created")
        archive_id: str | None = found.values_list("pk", flat=True).first()
        return archive_id

    def expire(self) -> int:
        return self.delete(self.table.filter(expires__lte=timezone.now()))

    def delete(self, rows: Any) -> int:
        # Databases differ in whether a subquery of DELETE may have a limit.
        keys = list(rows.values_list("pk", flat=True))
        for start in range(0, len(keys), MOST_PARAMETERS):
            self.table.filter(pk__in=keys[start : start + MOST_PARAMETERS]).delete()
        return len(keys)
