"""Truncation: an outcome that is too long becomes one that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from django.utils.translation import gettext

from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS, Outcome, Warning
from drf_mcp.truncation.metadata import FailureCutter, MetadataCutter
from drf_mcp.truncation.paths import Path, replace_values
from drf_mcp.truncation.report import FULL, UNAVAILABLE, Excerpt, Reduction, Reporter
from drf_mcp.truncation.rows import SHORTEST_EXCERPT, RowCutter, find_texts
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN

Write: TypeAlias = Callable[[Outcome], str]
"""Gives the envelope of an outcome, rendered and encoded as it is sent."""

LONG_DIGEST = 1500
"""Texts whose share of the room is larger than this keep their beginning instead of a digest."""
ATTEMPTS = 5
# As long as archives' ids and hashes, and of more tokens than any of them: which random
# characters a call happens to get may not decide how much of its answer fits.
SOME_ID = "a0" * 11
SOME_HASH = f"sha256:{'a0' * 32}"


class Storage(Protocol):
    """Keeps what one call's result has no room for."""

    is_full: bool
    """Whether it did not keep something for lack of room."""

    @property
    def seconds(self) -> int | None:
        """How long what is kept is certain to be there, None where it is not certain."""

    def keep(self, outcome: Outcome, items: Iterable[dict[str, Any]]) -> Any:
        """Store what an outcome leaves out; None if it was not stored.

        Returns:
            The ``archive_id``, always as long as `SOME_ID`, and the ``content_hash``.
        """


class NotKept(Exception):
    """The archive did not take what a result leaves out."""


class Limits(Protocol):
    """What truncation asks of the budget of a call."""

    limit: int
    less: str

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text."""

    def cut_text(self, text: str, room: int) -> str:
        """Return the beginning of a text that takes so many tokens as JSON."""

    def digest_text(self, text: str, room: int) -> str | None:
        """Return the digest of a text in so many tokens, None for its beginning instead."""


class Truncation:
    """Shortens the outcome of one call.

    Args:
        limits: the budget of the call.
        write: renders and encodes the envelope exactly as it is sent.
        encode: writes a value as REST framework's JSON encoder does.
        archive: keeps what is left out; None if nothing can be retrieved later.
    """

    def __init__(
        self,
        limits: Limits,
        write: Write,
        encode: Callable[[Any], str],
        archive: Storage | None = None,
    ) -> None:
        self.limits = limits
        # What is sent may have a few more tokens than what is measured, see `measure`.
        self.limit = limits.limit - limits.limit // 200 - 2
        self.write = write
        self.encode = encode
        self.archive = archive

    def fit(self, outcome: Outcome, length: int) -> Outcome:
        """Return an outcome that fits.

        Stopping as soon as it fits, long texts are cut to their beginnings or digested, rows
        are left out from the tails of lists, and a row too long for the room is reduced to
        its identifiers and label. Where nothing of the answer fits, an empty one of its type
        remains, with the members that say so: no budget makes it shorter.

        Args:
            outcome: any outcome, its data plain JSON.
            length: the characters of its envelope as it would be sent.
        """
        # An envelope that is much too long need not be written and counted once more.
        if length <= 2 * CHARS_PER_TOKEN * self.limit and self.measure(outcome) <= self.limit:
            return outcome
        if outcome.failure is not None:
            room = self.limit
            if not outcome.is_error and outcome.data is not None:
                room //= 2
            cutter = FailureCutter(self.measure, self.encode, self.limits.count_tokens)
            outcome = cutter.cut(outcome, room, self.limits.limit)
            if outcome.is_error or self.measure(outcome) <= self.limit:
                return outcome
        if self.archive is None:
            return self.shorten(outcome)
        try:
            return self.shorten(outcome, self.archive)
        except NotKept:
            warning = FULL if self.archive.is_full else UNAVAILABLE
            return self.shorten(outcome, None, replace(warning, message=gettext(warning.message)))

    def measure(self, outcome: Outcome) -> int:
        """Return the tokens of an envelope, the same for each call with the same answer."""
        return self.limits.count_tokens(self.write(with_stable_members(outcome)))

    def shorten(
        self, outcome: Outcome, archive: Storage | None = None, *warnings: Warning
    ) -> Outcome:
        """Return a success that fits.

        Raises:
            NotKept: if the archive does not keep what the outcome lacks.
        """
        tree = outcome.data
        stable_id = None if archive is None else SOME_ID
        # What stands beside the data is cut where the data would have less than half the room.
        for room in (self.limit // 2, 0):
            cutter = MetadataCutter(self.measure, self.encode, self.limits.count_tokens)
            base, asides = cutter.cut(outcome, room)
            reporter = Reporter(
                tree,
                self.limits.limit,
                stable_id,
                None if archive is None else archive.seconds,
                warnings,
                self.limits.less,
                asides,
            )
            reduction = Reducer(self, reporter, base).reduce()
            if reduction is not None:
                break
        else:
            reduction = empty_answer(base)
        if archive is None:
            return reporter.report(base, reduction, "")
        kept = archive.keep(base, reporter.get_items(reduction))
        if kept is None:
            raise NotKept
        reporter.archive_id = kept.archive_id
        return reporter.report(base, reduction, kept.content_hash)


class Reducer:
    """Looks for the longest reduction of an answer that fits with what is said of it."""

    def __init__(self, truncation: Truncation, reporter: Reporter, base: Outcome) -> None:
        self.truncation = truncation
        self.limits = truncation.limits
        self.reporter = reporter
        self.base = base
        self.tree = base.data
        self.cutter = RowCutter(
            self.limits.count_tokens, keep_members=base.is_page and isinstance(self.tree, dict)
        )

    def reduce(self) -> Reduction | None:
        """Return a reduction that fits, None if not even an empty answer does."""
        if self.reporter.asides:
            whole = Reduction(self.tree)
            if self.measure(whole) <= self.truncation.limit:
                return whole
        floor = best = empty_answer(self.base)
        used = self.measure(floor)
        if used > self.truncation.limit:
            return None
        # The envelope of the empty answer leaves the room, what is said of another one and
        # tokens across the seams take some of it: the next attempt corrects by the error.
        room, lowest = self.truncation.limit - used, 0
        for _ in range(ATTEMPTS):
            attempt = self.cut(room)
            if attempt is None:
                break
            reduction, used = attempt
            spare = self.truncation.limit - self.measure(reduction)
            if spare >= 0:
                best, lowest = reduction, room
                if spare <= self.truncation.limit // 100:
                    break
            room = used + spare - 4
            if room <= lowest:
                break
        return best

    def measure(self, reduction: Reduction) -> int:
        """Return the tokens of the envelope of a reduction."""
        return self.truncation.measure(self.reporter.report(self.base, reduction, SOME_HASH))

    def cut(self, room: int) -> tuple[Reduction, int] | None:
        """Return the answer in a room and the tokens it takes, None if it cannot be cut so far."""
        cut = self.cutter.cut(self.tree, room)
        if cut is None:
            return None
        texts = dict(find_texts(cut.value, self.cutter.is_long))
        left = room - self.cutter.measure(cut.value, room)
        values, excerpts, left = self.cut_texts(texts, left)
        value = replace_values(cut.value, values)
        return Reduction(value, cut.tails, cut.reduced, excerpts), room - left

    def cut_texts(
        self, texts: Mapping[Path, str], left: int
    ) -> tuple[dict[Path, str], tuple[Excerpt, ...], int]:
        """Return what stands in the place of the texts that are too long for their shares.

        Each text has `SHORTEST_EXCERPT`, and its share of what is left.
        """
        most = left + SHORTEST_EXCERPT
        sizes = {path: self.measure_text(text, most) for path, text in texts.items()}
        shortest = sorted(sizes, key=lambda path: sizes[path])
        whole = 0
        for path in shortest:
            if sizes[path] > SHORTEST_EXCERPT + left // (len(shortest) - whole):
                break
            left -= sizes[path] - SHORTEST_EXCERPT
            whole += 1
        cut = [path for path in texts if path in shortest[whole:]]
        values, excerpts = {}, []
        # All alike: several texts in shares that are short become digests, others beginnings.
        digests = len(cut) > 1 and SHORTEST_EXCERPT + left // len(cut) <= LONG_DIGEST
        for number, path in enumerate(cut):
            share = SHORTEST_EXCERPT + left // (len(cut) - number)
            size = sizes[path]
            # Digests may be shorter than their shares, and leave room for a whole text.
            if size > share:
                values[path], shown = self.cut_text(texts[path], share, digests=digests)
                size = self.measure_text(values[path], most)
                excerpts.append(Excerpt(path, shown, len(texts[path])))
            left -= size - SHORTEST_EXCERPT
        return values, tuple(excerpts), left

    def cut_text(self, text: str, share: int, *, digests: bool) -> tuple[str, int | None]:
        """Return a digest, or the beginning of a text and how many characters it has."""
        if digests:
            digest = self.limits.digest_text(text, share)
            if digest is not None:
                return digest, None
        beginning = self.limits.cut_text(text, share)
        return beginning, len(beginning)

    def measure_text(self, text: str, most: int) -> int:
        """Return the tokens of a text, a number above ``most`` if it is surely longer."""
        if len(text) > 4 * most:
            return len(text)
        return self.limits.count_tokens(encode_plain(text))


def empty_answer(outcome: Outcome) -> Reduction:
    """Return an empty answer of the same type; a page keeps count and links."""
    tree = outcome.data
    if outcome.is_page and isinstance(tree, dict):
        kept = {name: value for name, value in tree.items() if name in PAGE_MEMBERS}
        return Reduction({**kept, "results": []}, empty=True)
    empty = type(tree)() if isinstance(tree, (dict, list, str)) else tree
    return Reduction(empty, empty=True)


def with_stable_members(outcome: Outcome) -> Outcome:
    """Return an outcome with the longest of what differs from one call to the next."""
    telemetry = {
        name: 99999.999 if isinstance(value, float) and abs(value) < 99999 else value
        for name, value in outcome.telemetry.items()
    }
    stable_id = ("a0" * len(outcome.request_id))[: len(outcome.request_id)]
    return outcome.changed(telemetry=telemetry, request_id=stable_id)
