"""Where content waits that a result had no room for.

An entry is kept under a random id that only the reader of the result learns, and is gone after
ARCHIVE_TTL seconds.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

from django.utils import timezone

from drf_mcp.access.principals import get_principal
from drf_mcp.exceptions import contain
from drf_mcp.json_text import canonical_json, to_bytes
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings

logger = logging.getLogger("drf_mcp")

ARCHIVE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTENT_HASH = re.compile(r"sha256:[0-9a-f]{64}")
LONGEST_OWNER = 255
# Characters of a block of items, which is read as a whole, and the items in one.
BLOCK_LENGTH, MOST_IN_BLOCK = 30_000, 500
# The members of most items, in their order.
ORDERED = ("id", "pointer", "value")


class ArchiveUnavailable(Exception):
    """The archive did not take an entry."""


class ArchiveFull(ArchiveUnavailable):
    """The owner has as much in the archive as one may have."""


def can_archive() -> bool:
    """Return whether the settings let anything be archived."""
    return mcp_settings.ARCHIVE_CLASS is not None and mcp_settings.MAX_RESULT_TOKENS is not None


def new_archive_id() -> str:
    # Nobody can guess it, and it is always of the same length.
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, eq=False)
class Entry:
    """What one result had no room for.

    Attributes:
        archive_id: the id under which the content is kept.
        owner: whom the content was made for, see `Archive.get_owner`; "" for nobody known.
        content: the items as JSON, ``[{"id", "pointer", "value"}, ...]``. ASCII, so that every
            database takes it.
        content_hash: the hash of the items, see `drf_mcp.json_text.content_hash`.
        kwargs: the path's kwargs of the call.
        query_string: the encoded query of the call.
        terms: what has to hold when the content is read, see `drf_mcp.dispatch.stored_answers`.
        rows: for each item the primary key of its row, or the place of its object among those that
            the call named; None for an item that is no row. Empty where no item is one.
        seconds: how long the content is kept, None for ARCHIVE_TTL.
        starts: where parts of the content can be read by themselves: the place of the bracket or
            comma before an item, and the number of the item; last the ends of both.
    """

    archive_id: str
    owner: str
    tool: str
    content: str
    content_hash: str
    created: datetime
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    query_string: str = ""
    starts: Sequence[tuple[int, int]] = field(default=(), repr=False)
    terms: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Any] = ()
    seconds: int | None = None

    @classmethod
    def of(
        cls, archive_id: str, owner: str, tool: str, items: Iterable[dict[str, Any]], **call: Any
    ) -> Entry:
        """Make an entry of items; `call` has its further members.

        A member ``row`` of an item goes to the `rows` of the entry.
        """
        texts: list[str] = []
        rows: list[Any] = []
        digest, starts, length, number = hashlib.sha256(), [], 0, 0
        for block in cut_blocks(take_rows(items, rows)):
            starts.append((length, number))
            number += len(block.items)
            mark = "," if length else "["
            texts += (mark, block.text)
            length += 1 + len(block.text)
            # Apart from the block: a long text would be copied once more.
            digest.update(mark.encode())
            digest.update(to_bytes(block.canonical_text))
        texts.append("]" if texts else "[]")
        digest.update(texts[-1].encode())
        content, content_hash = "".join(texts), f"sha256:{digest.hexdigest()}"
        starts.append((len(content), number))
        call |= {"starts": tuple(starts), "rows": rows if any_row(rows) else []}
        return cls(archive_id, owner, tool, content, content_hash, timezone.now(), **call)

    def __eq__(self, other: object) -> bool:
        # Whatever class reads the content when it is needed.
        return isinstance(other, Entry) and all(
            getattr(self, name) == getattr(other, name) for name in {*KEPT, "archive_id"}
        )

    @cached_property
    def items(self) -> Sequence[dict[str, Any]]:
        return self.parse_items()

    def parse_items(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(self.content)
        return items

    @property
    def lifetime(self) -> int:
        """How many seconds the content is kept."""
        limit: int = mcp_settings.ARCHIVE_TTL
        return limit if self.seconds is None else min(limit, self.seconds)

    def is_for(self, owner: str) -> bool:
        # Somebody who knows the archive id.
        return self.owner in ("", owner)

    def is_equal(self, other: Entry) -> bool:
        return all(getattr(self, name) == getattr(other, name) for name in SAME)


KEPT = {member.name for member in fields(Entry)} - {"archive_id", "starts", "seconds"}
SAME = ("owner", "tool", "content_hash", "kwargs", "query_string", "terms", "rows")


def take_rows(items: Iterable[dict[str, Any]], rows: list[Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        rows.append(item.pop("row", None))
        yield item


def any_row(rows: Iterable[Any]) -> bool:
    return any(row is not None for row in rows)


class Block:
    """Some items as JSON, so that content of any length is written block by block."""

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        self.items = items
        # The names of an item in their order, those inside its value as they are.
        ordered = [
            item if (*item,) == ORDERED else {name: item[name] for name in sorted(item)}
            for item in items
        ]
        self.text = json.dumps(ordered, separators=(",", ":"))[1:-1]

    @property
    def canonical_text(self) -> str:
        # Without further objects, and without characters that are escaped here alone, the text is
        # canonical already.
        if self.text.count("{") == len(self.items) and "\\u" not in self.text:
            return self.text
        return canonical_json(self.items)[1:-1]


def cut_blocks(items: Iterable[Mapping[str, Any]]) -> Iterator[Block]:
    """Yield blocks of about `BLOCK_LENGTH` characters, or one item."""
    left, count = iter(items), 1
    while taken := list(islice(left, count)):
        block = Block(taken)
        yield block
        count = max(1, min(BLOCK_LENGTH * len(taken) // len(block.text), MOST_IN_BLOCK))


class Archive:
    """Keeps entries. A subclass gives `store`, `read` and `latest`.

    An instance is made for each use and keeps nothing itself.

    Attributes:
        is_durable: True if every process of the project reads what one has stored, and nothing
            goes before its time. Only then is a time named to the caller.
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
        owner = get_principal(user, request)
        return owner if len(owner) <= LONGEST_OWNER else hashlib.sha256(owner.encode()).hexdigest()

    def store(self, entry: Entry) -> str:
        """Keep an entry for its `lifetime` and return the id under which it is kept.

        Returns:
            The entry's own id, or that of an equal entry, which is then kept as long.

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


class CallArchive:
    """The archive for one call's result.

    Args:
        seal: returns the terms under which the answer may be read, with `find_row(item)`.
        seconds: how long the answer is kept at most.
    """

    def __init__(self, owner: str, seal: Callable[[Outcome], Any], seconds: int) -> None:
        self.owner = owner
        self.seal = seal
        self.kept_seconds = seconds
        self.is_full = False

    @property
    def seconds(self) -> int | None:
        """How long what is kept can be read, None where that is not certain."""
        is_durable = getattr(mcp_settings.ARCHIVE_CLASS, "is_durable", False)
        return self.kept_seconds if is_durable else None

    def keep(self, outcome: Outcome, items: Iterable[dict[str, Any]]) -> Entry | None:
        """Return the entry of what an outcome leaves out; None if it was not stored."""

        def store() -> Entry | None:
            sealed = self.seal(outcome)
            numbered = ({**item, "row": sealed.find_row(item)} for item in items)
            entry = Entry.of(
                new_archive_id(),
                self.owner,
                outcome.tool,
                numbered,
                terms=sealed.terms,
                seconds=self.kept_seconds,
                **outcome.call,
            )
            return replace(entry, archive_id=mcp_settings.ARCHIVE_CLASS().store(entry))

        def failed(exc: Exception) -> Entry | None:
            self.is_full = isinstance(exc, ArchiveFull)
            level = logging.INFO if self.is_full else logging.WARNING
            logger.log(level, "The archive did not keep what a result left out", exc_info=exc)
            return None

        return contain(store, failed)
