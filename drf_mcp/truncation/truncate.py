"""Fitting an outcome into a budget, measured on the envelope exactly as it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from drf_mcp.json_text import content_hash, encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS, Outcome, Warning
from drf_mcp.truncation.digests import Digest, is_digest, shrunk
from drf_mcp.truncation.failures import FailureFitter
from drf_mcp.truncation.json_paths import Path, long_texts, replaced, value_at
from drf_mcp.truncation.metadata import Encode, Metadata, most
from drf_mcp.truncation.report import UNAVAILABLE, Reduction, Reporter
from drf_mcp.truncation.rows import Trimmed, trim

Write: TypeAlias = Callable[[Outcome], str]
"""Gives the envelope of an outcome, rendered and encoded as it is sent."""


class Storage(Protocol):
    """Keeps what one call's result has no room for."""

    def keep(self, outcome: Outcome, items: list[dict[str, Any]]) -> Any:
        """Store what an outcome leaves out; None if it was not stored.

        Returns:
            The ``archive_id``, always as long as `SOME_ID`, and the ``content_hash``.
        """


LONG_TEXT = 1500
"""Texts of up to this many characters are not digested."""
SHORTEST_DIGEST = 800
LONGEST_DIGEST = 16000

# Stands for a hash that is not known yet: all are of this length.
SOME_HASH = content_hash([])
# Stands for an archive id.
SOME_ID = "x" * 22


@dataclass(frozen=True)
class Fitter:
    """Fits outcomes into a budget.

    Attributes:
        limit: the longest envelope, in characters of its text.
        encode: writes a value as REST framework's JSON encoder does.
        digest: makes the payload of a long text; None leaves texts as they are.
        archive: keeps what is left out; None if nothing can be retrieved later.
        query: what the caller was looking for, "" if not known.
        less: how to ask for less, "" where there is no way.
    """

    limit: int
    encode: Encode
    digest: Digest | None = None
    archive: Storage | None = None
    query: str = ""
    less: str = ""

    def fit(self, outcome: Outcome, write: Write) -> tuple[Outcome, str]:
        """Return an outcome that fits, and its text.

        Stopping as soon as it fits, long texts become digests, rows are left out from
        the tails of the longest lists, and a row too long for what room there is is
        reduced to its identifiers and label. Where nothing of the answer fits, an empty
        one of its type remains, with the facts that say so: no budget makes it shorter.

        Args:
            outcome: any outcome.
            write: renders and encodes the envelope exactly as it is sent.
        """
        text = write(outcome)
        if len(text) <= self.limit:
            return outcome, text
        if outcome.is_error:
            outcome = FailureFitter(write, self.encode, self.limit).fit(outcome, self.limit)
            return outcome, write(outcome)
        if outcome.failure is not None:
            outcome = self.softly_failed(outcome, write)
            text = write(outcome)
        if len(text) > self.limit:
            outcome = self.stored(outcome, write)
            text = write(outcome)
        return outcome, text

    def softly_failed(self, outcome: Outcome, write: Write) -> Outcome:
        """Return a soft failure that leaves room for its answer."""
        answer = outcome.data
        room = self.limit if answer is None else self.limit // 2
        bare = outcome.changed(data=None)
        if len(write(bare)) <= room:
            return outcome
        return FailureFitter(write, self.encode, self.limit).fit(bare, room).changed(data=answer)

    def stored(self, outcome: Outcome, write: Write) -> Outcome:
        """Return a success that fits, what it has lost being archived first."""
        tree = json.loads(self.encode(outcome.data))
        if self.archive is None:
            return self.attempt(tree, outcome, write, None).outcome("")
        attempt = self.attempt(tree, outcome, write, SOME_ID)
        items = attempt.reporter.items(attempt.reduction)
        if kept := self.archive.keep(outcome, items):
            attempt.reporter.archive_id = kept.archive_id
            return attempt.outcome(kept.content_hash)
        return self.attempt(tree, outcome, write, None, UNAVAILABLE).outcome("")

    def attempt(
        self,
        tree: Any,
        outcome: Outcome,
        write: Write,
        archive_id: str | None,
        *warnings: Warning,
    ) -> Attempt:
        """Return a reduction that fits with what is said of it, or the floor.

        What stands beside the data is shortened first where the data would have less than
        half of the room.
        """
        for room in (self.limit // 2, 0):
            base, asides = Metadata(write, self.encode).shorten(outcome, room)
            reporter = Reporter(tree, self.limit, archive_id, warnings, self.less, asides)
            reducer = Reducer(self, reporter, base, write)
            attempt = reducer.attempt()
            if attempt is not None:
                return attempt
        return Attempt(base, reducer.floor(), reporter)


@dataclass(frozen=True)
class Attempt:
    """A reduction with what is said of it.

    Attributes:
        base: the outcome without the report.
        reduction: the shortened answer.
        reporter: says what is missing.
    """

    base: Outcome
    reduction: Reduction
    reporter: Reporter

    def outcome(self, content_hash: str) -> Outcome:
        """Return the outcome to send."""
        return self.reporter.outcome(self.base, self.reduction, content_hash)


class Reducer:
    """Reduces one answer until it fits."""

    def __init__(self, fitter: Fitter, reporter: Reporter, outcome: Outcome, write: Write) -> None:
        self.fitter = fitter
        self.reporter = reporter
        self.base = outcome
        self.write = write
        self.limit = fitter.limit
        self.tree = reporter.tree
        self.is_page = outcome.pagination is not None and isinstance(self.tree, dict)

    def attempt(self) -> Attempt | None:
        """Return the first reduction that fits, None if not even an empty answer does."""
        for reduce in (self.whole, self.reduced, self.floor):
            reduction = reduce()
            if reduction is not None and self.fits(reduction):
                return Attempt(self.base, reduction, self.reporter)
        return None

    def fits(self, reduction: Reduction) -> bool:
        """Return whether the envelope of a reduction fits."""
        outcome = self.reporter.outcome(self.base, reduction, SOME_HASH)
        return len(self.write(outcome)) <= self.limit

    def whole(self) -> Reduction | None:
        """Return the answer as it is, if something beside it was left out."""
        return Reduction(self.tree) if self.reporter.asides else None

    def reduced(self) -> Reduction | None:
        """Return the answer with digests, and without rows if that is not enough."""
        cap = self.cap()
        places = self.placeholders(cap)
        tree = replaced(self.tree, places)
        reduction = Reduction(tree, digested=tuple(places))
        if not places or not self.fits(reduction):
            trimmed = trim(
                tree,
                self.limit,
                lambda trimmed: self.fits(with_rows(trimmed, places)),
                keep_root=self.is_page,
            )
            if trimmed is None:
                return None
            reduction = with_rows(trimmed, places)
        reduction = self.with_digests(reduction, cap)
        return reduction if reduction.lists else self.with_texts_back(reduction)

    @cached_property
    def texts(self) -> Mapping[Path, str]:
        """The texts that can be digested, by where they stand."""
        if self.fitter.digest is None:
            return {}
        return {
            path: text
            for path, text in long_texts(self.tree, LONG_TEXT)
            if not is_digest(text) and not is_digest(value_at(self.tree, path[:-1]))
        }

    @cached_property
    def lengths(self) -> Mapping[Path, int]:
        """The lengths of these texts as JSON."""
        return {path: len(encode_plain(text)) for path, text in self.texts.items()}

    def cap(self) -> int:
        """Return the longest that digests may be so that all fits, or the shortest there is.

        Placeholders stand for the digests: only what stays in the answer is digested.
        """
        low, high = SHORTEST_DIGEST, LONGEST_DIGEST
        lengths = self.lengths.values()
        rest = len(encode_plain(self.tree)) - sum(lengths) if lengths else 0
        while lengths and low < high - 1:
            cap = (low + high) // 2
            size = rest + sum(min(length, cap) for length in lengths)
            places = self.placeholders(cap) if size <= self.limit else {}
            tree = replaced(self.tree, places)
            if places and self.fits(Reduction(tree, digested=tuple(places))):
                low = cap
            else:
                high = cap
        return low

    def placeholders(self, cap: int) -> dict[Path, str]:
        """Return what stands for the digests of the texts that are too long."""
        longest, placeholder = max(cap, LONG_TEXT), "x" * (cap - 2)
        return {path: placeholder for path, length in self.lengths.items() if length > longest}

    def with_digests(self, reduction: Reduction, cap: int) -> Reduction:
        """Return a reduction with digests where the placeholders stand."""
        digest = self.fitter.digest
        if digest is None:
            return reduction
        digests = {
            path: shrunk(digest(self.texts[path], self.fitter.query), cap)
            for path in reduction.digested
        }
        return replace(reduction, value=replaced(reduction.value, digests))

    def with_texts_back(self, reduction: Reduction) -> Reduction:
        """Return a reduction with the shortest texts whole again, as many as fit.

        Digests are mostly shorter than the room that was kept for them.
        """
        shortest = sorted(reduction.digested, key=self.lengths.__getitem__)

        def with_first(count: int) -> Reduction:
            back = {path: self.texts[path] for path in shortest[:count]}
            digested = tuple(path for path in reduction.digested if path not in back)
            return replace(reduction, value=replaced(reduction.value, back), digested=digested)

        return with_first(most(len(shortest), lambda count: self.fits(with_first(count))))

    def floor(self) -> Reduction:
        """Return an empty answer of the same type; a page keeps count and links."""
        if self.is_page:
            kept = {name: value for name, value in self.tree.items() if name in PAGE_MEMBERS}
            return Reduction({**kept, "results": []}, empty=True)
        empty = type(self.tree)() if isinstance(self.tree, (dict, list, str)) else self.tree
        return Reduction(empty, empty=True)


def with_rows(trimmed: Trimmed, places: Mapping[Path, str]) -> Reduction:
    """Return a trimmed answer as a reduction, with the digests that are left in it."""
    gone: dict[Path, set[str | int]] = {}
    for lost in (*trimmed.dropped, *trimmed.reduced) if places else ():
        gone.setdefault(lost.path, set()).update(lost.keys)
    digested = tuple(path for path in places if not is_gone(path, gone))
    return Reduction(trimmed.value, trimmed.dropped, trimmed.reduced, digested)


def is_gone(path: Path, gone: Mapping[Path, set[str | int]]) -> bool:
    """Return whether a path leads through an entry that its collection has lost."""
    return any(key in gone.get(path[:depth], ()) for depth, key in enumerate(path))
