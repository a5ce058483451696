"""Shortens an outcome that is too long to one that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS, Outcome, Warning
from drf_mcp.truncation.digests import shrink_digest
from drf_mcp.truncation.metadata import FailureCutter, MetadataCutter, find_lost
from drf_mcp.truncation.report import FailureReporter, Reporter, warn_not_kept
from drf_mcp.truncation.rows import (
    MIN_EXCERPT_TOKENS,
    Excerpt,
    Path,
    Reduction,
    RowCutter,
    find_texts,
    replace_values,
)
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN, cut_text

Write: TypeAlias = Callable[[Outcome], str]
"""Gives the envelope of an outcome, rendered and encoded as it is sent."""
Shortened: TypeAlias = tuple[Outcome, Reduction, Reporter]
"""An outcome with shorter metadata, its shortened data, and what reports on both."""
# A text with more room than this keeps its beginning instead of a digest.
MAX_DIGEST_TOKENS = 1500
MAX_ATTEMPTS = 5
# The tokens of an excerpt's name in the report, and the tokens that an attempt leaves unused.
NAME_TOKENS, SPARE = 8, 4
# As long as any id and hash of an archive, with more tokens than any of them: random characters
# never decide how much of an answer fits.
SAMPLE_ID = "a0" * 11
SAMPLE_HASH = f"sha256:{'a0' * 32}"


def fit_outcome(budget: Any, outcome: Outcome, write: Write, length: int, sample: str) -> Outcome:
    """Return an outcome that fits a budget; see `Truncation`."""
    limit = budget.get_limit(outcome)
    if limit is None:
        return outcome
    return Truncation(budget, limit, write, length, sample).fit(outcome)


class Truncation:
    """Shortens the outcome of one call.

    Args:
        budget: the `ToolBudget` of the call.
        limit: the most tokens of the envelope.
        write: renders and encodes the envelope exactly as it is sent.
        length: the characters of the envelope as it would be sent, or of its data at least.
        sample: the beginning of the data as JSON.
    """

    def __init__(self, budget: Any, limit: int, write: Write, length: int, sample: str) -> None:
        self.budget = budget
        self.write = write
        self.length = length
        self.sample = sample
        self.stated_limit = limit
        # The result may have a few more tokens than `measure` counts.
        self.limit = limit - limit // 200 - 2
        self._digests: dict[str, Mapping[str, object] | None] = {}

    def fit(self, outcome: Outcome) -> Outcome:
        """Return an outcome that fits.

        Stopping as soon as it fits, long texts are cut to their beginnings or digested, rows
        are left out from the ends of lists, and a row too long for the room is reduced to
        its identifiers and label. Where nothing of the answer fits, an empty one of its type
        remains, with the members that say so: no budget makes it shorter.

        Args:
            outcome: any outcome, its data plain JSON.
        """
        # A much longer envelope is not written only to be counted.
        is_long = self.length > 2 * CHARS_PER_TOKEN * self.limit
        if not is_long and self.measure(outcome) <= self.limit:
            return outcome
        failure = outcome.failure
        if failure is not None:
            # A soft failure keeps its answer, which is shortened next.
            answer = outcome.data if failure.soft else None
            alone = outcome if answer is None else outcome.changed(data=None)
            room = self.limit if answer is None else self.limit // 2
            if self.measure(alone) > room:
                shortened = self._keep_rest(alone, partial(self._cut_failure, alone, room))
                outcome = shortened.changed(data=answer) if answer is not None else shortened
            if outcome.is_error or self.measure(outcome) <= self.limit:
                return outcome
        return self._keep_rest(outcome, partial(self._reduce, outcome))

    def _keep_rest(self, outcome: Outcome, shorten: Callable[..., Shortened]) -> Outcome:
        # What a shortened outcome lost is kept, and named in its report; or it is shortened anew
        # with a report that names no archive.
        archive = self.budget.get_archive()
        base, reduction, reporter = shorten(archive)
        if archive is None:
            return reporter.report(base, reduction)
        items = iter(reporter.find_items(reduction))
        first = next(items, None)
        kept = None if first is None else archive.keep(outcome, chain([first], items))
        if kept is None:
            base, reduction, reporter = shorten(None, *([warn_not_kept(archive)] if first else []))
            return reporter.report(base, reduction)
        reporter.archive_id = kept.archive_id
        return reporter.report(base, reduction, kept.content_hash)

    def _cut_failure(
        self, outcome: Outcome, room: int, archive: Any, *warnings: Warning
    ) -> Shortened:
        reporter = self._make_reporter(FailureReporter, outcome, archive, warnings)

        def fits(cut: Outcome) -> bool:
            reporter.metadata = find_lost(outcome, cut)
            report = reporter.report(cut, Reduction(cut.data), SAMPLE_HASH)
            return self.measure(report) <= room

        cutter = FailureCutter(self.measure, self.budget.encode, self.count_tokens)
        cut = cutter.cut_failure(outcome, room, fits)
        reporter.metadata = find_lost(outcome, cut)
        return cut, Reduction(cut.data), reporter

    def measure(self, outcome: Outcome) -> int:
        """Return the tokens of an envelope, the same for each call with the same answer."""
        # The longest of what differs between calls.
        telemetry = {
            name: 99999.999 if isinstance(value, float) and abs(value) < 99999 else value
            for name, value in outcome.telemetry.items()
        }
        request_id = ("a0" * len(outcome.request_id))[: len(outcome.request_id)]
        stable = outcome.changed(telemetry=telemetry, request_id=request_id)
        return self.count_tokens(self.write(stable))

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, a lower bound for a text that is much too long."""
        least = -(-len(text) // CHARS_PER_TOKEN)
        if least > 2 * self.stated_limit:
            return least
        return max(least, int(self.budget.count_tokens(text)))

    def count_text(self, text: str) -> int:
        """Return the tokens of a text of the answer as JSON."""
        return self.count_tokens(encode_plain(text))

    def digest_text(self, text: str, room: int) -> str | None:
        """Return the digest of a text in so many tokens, None for its beginning instead."""
        # Once for several rooms, because a language model may make it.
        if text not in self._digests:
            self._digests[text] = self.budget.digest(text)
        payload = self._digests[text]
        return None if payload is None else shrink_digest(payload, room, self.count_tokens)

    def _reduce(self, outcome: Outcome, archive: Any, *warnings: Warning) -> Shortened:
        reporter = self._make_reporter(Reporter, outcome, archive, warnings)
        # Metadata is cut where the data would have less than half the room.
        cutter = MetadataCutter(self.measure, self.budget.encode, self.count_tokens)
        for room in (self.limit // 2, 0):
            base, reporter.metadata = cutter.cut(outcome, room)
            reduction = Reducer(self, reporter, base).reduce()
            if reduction is not None:
                return base, reduction, reporter
        return base, _empty_answer(base), reporter

    def _make_reporter(
        self, kind: type[Reporter], outcome: Outcome, archive: Any, warnings: tuple[Warning, ...]
    ) -> Reporter:
        archive_id = None if archive is None else SAMPLE_ID
        seconds = None if archive is None else archive.seconds
        return kind(outcome.data, self.stated_limit, self.budget, archive_id, seconds, warnings)


class Reducer:
    """Finds the longest reduction of an answer that fits together with its report.

    Rows are cut to a number of characters, since these need no estimate: a sample says how many
    of them a token has, and each attempt corrects this number.
    """

    def __init__(self, truncation: Truncation, reporter: Reporter, base: Outcome) -> None:
        self.truncation = truncation
        self.reporter = reporter
        self.base = base
        # About how many characters of the answer a token has.
        sample = truncation.sample
        self.rate = max(len(sample), 1) / max(truncation.count_tokens(sample), 1)
        excerpt = int((MIN_EXCERPT_TOKENS + NAME_TOKENS) * self.rate)
        is_object = isinstance(base.data, dict)
        self.cutter = RowCutter(excerpt, keep_members=base.is_page and is_object)

    def reduce(self) -> Reduction | None:
        """Return a reduction that fits, None if not even an empty answer does."""
        limit = self.truncation.limit
        if self.reporter.metadata:
            whole = Reduction(self.base.data)
            if self._measure(whole) <= limit:
                return whole
        best = _empty_answer(self.base)
        tokens = limit - self._measure(best)
        if tokens < 0:
            return None
        rate, last = self.rate, None
        for _ in range(MAX_ATTEMPTS):
            attempt = self._cut(int((tokens - SPARE) * rate))
            # A little more room often has no row more.
            if attempt is None or attempt[0] in (last, best):
                break
            last, used = attempt
            spare = limit - self._measure(last)
            if spare >= 0:
                best = last
                if spare <= limit // 100:
                    break
            # The characters of a token of what this attempt kept.
            rate = used / max(tokens - spare, 1)
        return best

    def _measure(self, reduction: Reduction) -> int:
        return self.truncation.measure(self.reporter.report(self.base, reduction, SAMPLE_HASH))

    def _cut(self, room: int) -> tuple[Reduction, int] | None:
        # With the characters that it takes; None if the answer cannot be cut so far.
        cut = self.cutter.cut(self.base.data, room)
        if cut is None:
            return None
        reduction, size = cut
        if not self.cutter.has_long_texts:
            return reduction, size
        texts = dict(find_texts(reduction.value))
        values, excerpts, left = self._cut_texts(texts, int((room - size) / self.rate))
        value = replace_values(reduction.value, values)
        return replace(reduction, value=value, excerpts=excerpts), room - int(left * self.rate)

    def _cut_texts(
        self, texts: Mapping[Path, str], left: int
    ) -> tuple[dict[Path, str], tuple[Excerpt, ...], int]:
        # `RowCutter.measure` has counted the least of each text; the rest is shared.
        least, count = MIN_EXCERPT_TOKENS, self.truncation.count_text
        sizes = {path: count(text) for path, text in texts.items()}
        cut = sorted(texts, key=sizes.__getitem__)
        while cut and sizes[cut[0]] <= least + left // len(cut):
            left -= sizes[cut.pop(0)] - least
        values: dict[Path, str] = {}
        excerpts = []
        # All texts become digests, or all become beginnings.
        are_digests = len(cut) > 1 and least + left // len(cut) <= MAX_DIGEST_TOKENS
        for number, path in enumerate(path for path in texts if path in cut):
            share, text = least + left // (len(cut) - number), texts[path]
            size = sizes[path]
            # A digest shorter than its share leaves room for a whole text.
            if size > share:
                digest = self.truncation.digest_text(text, share) if are_digests else None
                values[path] = digest or cut_text(text, share, self.truncation.budget.count_tokens)
                excerpts.append(Excerpt(path, None if digest else len(values[path]), len(text)))
                size = count(values[path])
            left -= size - least
        return values, tuple(excerpts), left


def _empty_answer(outcome: Outcome) -> Reduction:
    """Return an empty answer of the same type; a page keeps count and links."""
    tree = outcome.data
    if outcome.is_page and isinstance(tree, dict):
        kept = {name: value for name, value in tree.items() if name in PAGE_MEMBERS}
        return Reduction({**kept, "results": []}, is_empty=True)
    empty = type(tree)() if isinstance(tree, (dict, list, str)) else tree
    return Reduction(empty, is_empty=True)
