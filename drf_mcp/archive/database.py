"""The archive in the database."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

from django.db import router, transaction
from django.db.models import Count, Sum
from django.utils import timezone

from drf_mcp.archive.stores import STORED, Archive, ArchiveFull, Entry

# Old SQLite takes 999 parameters in one query.
MAX_PARAMETERS = 500
CHUNKS_PER_INSERT = 4


class StoredEntry(Entry):
    row: Any

    @classmethod
    def of_row(cls, row: Any) -> StoredEntry:
        entry = object.__new__(cls)
        members = {name: getattr(row, name) for name in STORED - {"content", "rows"}}
        entry.__dict__.update(members, archive_id=row.pk, row=row, starts=(), seconds=None)
        return entry

    @property
    def rows(self) -> Sequence[Any]:
        # A deferred field: one value for each item.
        rows: Sequence[Any] = self.row.rows
        return rows

    @cached_property
    def content(self) -> str:
        return self.read_chunks(0, None)

    @cached_property
    def items(self) -> Sequence[dict[str, Any]]:
        # An index of two pairs, or none, is that of content without parts.
        index = self.row.index
        if len(index) > 2:
            return StoredItems(index, self.read_chunks)
        items: list[dict[str, Any]] = json.loads(self.content)
        return items

    def read_chunks(self, first: int, end: int | None) -> str:
        chunks = self.row.chunks.filter(position__gte=first).order_by("position")
        chunks = chunks if end is None else chunks.filter(position__lt=end)
        return "".join(chunks.values_list("text", flat=True))


class StoredItems(Sequence[dict[str, Any]]):
    """The items of an entry, read some chunks at a time.

    Args:
        index: pairs of the number of a chunk and the number of the item that it begins with;
            the last pair is the number of chunks and of items.
        read: returns the text of the chunks from one number to another.
    """

    def __init__(self, index: Sequence[Sequence[int]], read: Callable[[int, int], str]) -> None:
        self.chunks = [chunk for chunk, _ in index]
        self.numbers = [number for _, number in index]
        self.read = read
        # The last run of chunks: the next slice often begins in it.
        self._last: tuple[tuple[int, int], list[dict[str, Any]]] = ((0, 0), [])

    def __len__(self) -> int:
        return self.numbers[-1]

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return self[key : key + 1][0]
        start, stop, _ = key.indices(len(self))
        if start >= stop:
            return []
        first = bisect_right(self.numbers, start) - 1
        end = bisect_left(self.numbers, stop)
        return self._parse(first, end)[start - self.numbers[first] : stop - self.numbers[first]]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for first in range(len(self.numbers) - 1):
            yield from self._parse(first, first + 1)

    def _parse(self, first: int, end: int) -> list[dict[str, Any]]:
        if self._last[0] != (first, end):
            text = self.read(self.chunks[first], self.chunks[end])
            # The text begins with a bracket or comma and ends before a comma or with the end.
            closing = "" if end == len(self.chunks) - 1 else "]"
            self._last = ((first, end), json.loads(f"[{text[1:]}{closing}"))
        return self._last[1]


class DatabaseArchive(Archive):
    """Keeps entries in tables, `drf_mcp.models.ArchivedContent` and its chunks.

    Storing an entry deletes some expired ones; ``manage.py mcp_expire`` deletes all of them.
    A subclass may set the attributes.

    Attributes:
        max_entries: how many entries an owner may have; more are refused.
        max_size: how many characters the entries of an owner may have together.
        chunk_size: the most characters in one row of the database.
        sweep: how many expired entries are deleted with each entry that is stored.
    """

    is_durable = True
    max_entries = 1_000
    max_size = 100_000_000
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
        with transaction.atomic(using=self.table.db):
            expires = entry.created + timedelta(seconds=entry.lifetime)
            if same := self._find_equal(entry):
                self.rows.filter(pk=same).update(created=entry.created, expires=expires)
                return same
            self._delete(self.table.filter(expires__lte=entry.created)[: self.sweep])
            kept = self.rows.filter(owner=entry.owner)
            usage = kept.aggregate(count=Count("pk"), size=Sum("size"))
            size = (usage["size"] or 0) + len(entry.content)
            # New content is refused, because results have promised the old content.
            if usage["count"] >= self.max_entries or size > self.max_size:
                raise ArchiveFull("The owner has as much in the archive as one may have.")
            stored = {name: getattr(entry, name) for name in STORED - {"content"}}
            index, places = self.cut_chunks(entry)
            row = self.table.create(
                archive_id=entry.archive_id,
                **stored,
                size=len(entry.content),
                index=index,
                expires=expires,
            )
            chunk = row.chunks.model
            # A few at a time, for the limits of statements and of memory.
            for first in range(0, len(places), CHUNKS_PER_INSERT):
                numbered = enumerate(places[first : first + CHUNKS_PER_INSERT], first)
                chunk._default_manager.using(self.table.db).bulk_create(
                    chunk(content=row, position=position, text=entry.content[start:end])
                    for position, (start, end) in numbered
                )
        return entry.archive_id

    def cut_chunks(self, entry: Entry) -> tuple[list[list[int]], list[tuple[int, int]]]:
        """Return the index for `StoredItems`, and the start and end of each chunk."""
        index: list[list[int]] = []
        places: list[tuple[int, int]] = []
        begin, first = 0, 0
        starts = entry.starts or [(0, 0), (len(entry.content), 0)]
        for (place, number), (end, _) in pairwise([*starts, (starts[-1][0] + self.chunk_size, 0)]):
            if place > begin and (end - begin > self.chunk_size):
                index.append([len(places), first])
                chunks = range(begin, place, self.chunk_size)
                places += [(start, min(start + self.chunk_size, place)) for start in chunks]
                begin, first = place, number
        return [*index, [len(places), starts[-1][1]]] if entry.starts else [], places

    def _find_equal(self, entry: Entry) -> str | None:
        if not entry.owner:
            return None
        # JSON is compared here, because not every database compares it.
        columns = ("owner", "tool", "content_hash", "query_string")
        rows = self.rows.filter(**{name: getattr(entry, name) for name in columns})
        stored = map(StoredEntry.of_row, rows)
        return next((each.archive_id for each in stored if each.has_same_content(entry)), None)

    def read(self, archive_id: str) -> Entry | None:
        row = self.rows.filter(pk=archive_id).defer("rows").first()
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
