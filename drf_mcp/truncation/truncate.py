"""Shortens an outcome that is too long to one that fits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import PAGE_MEMBERS, Fidelity, Outcome, Warning
from drf_mcp.truncation.budget import Budget, Storage
from drf_mcp.truncation.digests import shrink_digest
from drf_mcp.truncation.metadata import FailureCutter, MetadataCutter, add_fidelity
from drf_mcp.truncation.report import FULL, UNAVAILABLE, Reporter, describe_retrieval
from drf_mcp.truncation.rows import (
    LONG_TEXT_TOKENS,
    MIN_EXCERPT_TOKENS,
    Excerpt,
    OmittedEntries,
    Path,
    Reduction,
    RowCutter,
    find_texts,
    is_digest,
    replace_values,
)
from drf_mcp.truncation.tokens import CHARS_PER_TOKEN, cut_text

Write: TypeAlias = Callable[[Outcome], str]
"""Gives the envelope of an outcome, rendered and encoded as it is sent."""
# A text with more room than this keeps its beginning instead of a digest.
MAX_DIGEST_TOKENS = 1500
MAX_ATTEMPTS = 5
# The tokens of an excerpt's name in the report.
NAME_TOKENS = 8
# As long as any id and hash of an archive, with more tokens than any of them: random characters
# never decide how much of an answer fits.
SAMPLE_ID = "a0" * 11
SAMPLE_HASH = f"sha256:{'a0' * 32}"
# A shortened answer lacks rows and members, repeats reduced rows, and has digests for texts; the
# negated keywords would turn round where a part of them is gone.
BROKEN = frozenset(
    {
        "required",
        "dependentRequired",
        "minProperties",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
SCHEMAS_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
# Keywords whose values are no schemas.
VALUES = frozenset({"enum", "const", "default", "examples"})


def fit_outcome(
    budget: Budget, outcome: Outcome, write: Write, length: int, sample: str
) -> Outcome:
    """Return an outcome that fits a budget; see `Truncation`."""
    limit = budget.get_limit(outcome)
    if limit is None:
        return outcome
    return Truncation(budget, limit, write, length, sample).fit(outcome)


class NotKept(Exception):
    """The archive did not take what a result leaves out."""


class Truncation:
    """Shortens the outcome of one call.

    Args:
        budget: the budget of the call.
        limit: the most tokens of the envelope.
        write: renders and encodes the envelope exactly as it is sent.
        length: the characters of the envelope as it would be sent, or of its data at least.
        sample: the beginning of the data as JSON.
    """

    def __init__(self, budget: Budget, limit: int, write: Write, length: int, sample: str) -> None:
        self.budget = budget
        self.write = write
        self.length = length
        self.sample = sample
        self.stated_limit = limit
        # The result may have a few more tokens than `measure` counts.
        self.limit = limit - limit // 200 - 2
        self._digests: dict[str, Mapping[str, object] | None] = {}
        self._text_tokens: dict[str, int] = {}

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
        if outcome.failure is not None:
            room = self.limit
            if not outcome.is_error and outcome.data is not None:
                room //= 2
            outcome = self._cut_failure(outcome, room)
            if outcome.is_error or self.measure(outcome) <= self.limit:
                return outcome
        archive = self.budget.get_archive()
        if archive is None:
            return self._shorten(outcome)
        try:
            return self._shorten(outcome, archive)
        except NotKept:
            warning = FULL if archive.is_full else UNAVAILABLE
            return self._shorten(outcome, None, replace(warning, message=warning.message))

    def _cut_failure(self, outcome: Outcome, room: int) -> Outcome:
        """Return a failure that fits; what it loses is kept and named like an answer."""
        parts, limit = (self.measure, self.budget.encode, self.count_tokens), self.stated_limit
        cut, lost = FailureCutter(*parts).cut_failure(outcome, room, limit)
        archive = self.budget.get_archive() if lost else None
        if archive is None:
            return cut
        sample = describe_retrieval(SAMPLE_ID, archive.seconds)
        fidelity = Fidelity("partial", tuple(lost), {SAMPLE_ID: SAMPLE_HASH})
        named, lost = FailureCutter(*parts, sample, fidelity).cut_failure(outcome, room, limit)
        items = [{"id": name, "pointer": None, "value": value} for name, value in lost.items()]
        kept = archive.keep(outcome, json.loads(self.budget.encode(items)))
        if kept is None:
            return cut.changed(warnings=(*cut.warnings, FULL if archive.is_full else UNAVAILABLE))
        said = describe_retrieval(kept.archive_id, archive.seconds)
        *others, last = named.warnings
        last = replace(last, message=last.message.replace(sample, said))
        fidelity = Fidelity("partial", tuple(lost), {kept.archive_id: kept.content_hash})
        return named.changed(
            warnings=(*others, last), fidelity=add_fidelity(outcome.fidelity, fidelity)
        )

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
        return max(least, self.budget.count_tokens(text))

    def find_rate(self) -> float:
        """Return about how many characters of the answer a token has."""
        # With little of its long texts, which are cut to a number of tokens.
        parts = self.sample.split('"')
        sample = '"'.join(part if len(part) <= LONG_TEXT_TOKENS else part[:40] for part in parts)
        return max(len(sample), 1) / max(self.count_tokens(sample), 1)

    def is_long(self, text: str) -> bool:
        """Return whether a text can be shortened by itself."""
        if len(text) <= LONG_TEXT_TOKENS or is_digest(text):
            return False
        if len(text) > CHARS_PER_TOKEN * LONG_TEXT_TOKENS:
            return True
        return self.count_text(text) > LONG_TEXT_TOKENS

    def count_text(self, text: str) -> int:
        """Return the tokens of a text of the answer as JSON, counted once for all attempts."""
        if text not in self._text_tokens:
            self._text_tokens[text] = self.count_tokens(encode_plain(text))
        return self._text_tokens[text]

    def digest_text(self, text: str, room: int) -> str | None:
        """Return the digest of a text in so many tokens, None for its beginning instead."""
        # Once for several rooms, because a language model may make it.
        if text not in self._digests:
            self._digests[text] = self.budget.digest(text)
        payload = self._digests[text]
        return None if payload is None else shrink_digest(payload, room, self.count_tokens)

    def _shorten(
        self, outcome: Outcome, archive: Storage | None = None, *warnings: Warning
    ) -> Outcome:
        # Metadata is cut where the data would have less than half the room.
        cutter = MetadataCutter(self.measure, self.budget.encode, self.count_tokens)
        for room in (self.limit // 2, 0):
            base, omitted = cutter.cut(outcome, room)
            reporter = Reporter(
                outcome.data,
                self.stated_limit,
                None if archive is None else SAMPLE_ID,
                None if archive is None else archive.seconds,
                warnings,
                self.budget.fields_hint,
                getattr(self.budget, "reads", True),
                omitted,
            )
            reduction = Reducer(self, reporter, base).reduce()
            if reduction is not None:
                break
        else:
            reduction = _empty_answer(base)
        if archive is None:
            return reporter.report(base, reduction, "")
        kept = archive.keep(base, reporter.find_items(reduction))
        if kept is None:
            raise NotKept
        reporter.archive_id = kept.archive_id
        return reporter.report(base, reduction, kept.content_hash)


class Reducer:
    """Finds the longest reduction of an answer that fits together with its report.

    Rows are cut to a number of characters, since these need no estimate: a sample says how many
    of them a token has, and each attempt corrects this number.
    """

    def __init__(self, truncation: Truncation, reporter: Reporter, base: Outcome) -> None:
        self.truncation = truncation
        self.reporter = reporter
        self.base = base
        self.tree = base.data
        self.rate = truncation.find_rate()
        self.cutter = RowCutter(
            truncation.is_long,
            int((MIN_EXCERPT_TOKENS + NAME_TOKENS) * self.rate),
            keep_members=base.is_page and isinstance(self.tree, dict),
        )

    def reduce(self) -> Reduction | None:
        """Return a reduction that fits, None if not even an empty answer does."""
        limit, rate = self.truncation.limit, self.rate
        if self.reporter.metadata:
            whole = Reduction(self.tree)
            if self._measure(whole) <= limit:
                return whole
        best = _empty_answer(self.base)
        tokens = limit - self._measure(self._drop_rows(best))
        if tokens <= 0 and self._measure(best) > limit:
            return None
        room = int(tokens * rate)
        # Each attempt corrects the room by the error of the last one.
        lowest, spare = 0, 0
        last: Reduction | None = None
        before = (0, 0)
        for _ in range(MAX_ATTEMPTS):
            attempt = self._cut(room)
            if attempt is None:
                break
            reduction, used = attempt
            # A little more room often has no row more.
            is_new = reduction != last
            if is_new:
                spare, last = limit - self._measure(reduction), reduction
                # The characters for each token of what one of two attempts has more.
                more = (used - before[0], tokens - spare - before[1])
                if more[0] * more[1] > 0:
                    rate = min(more[0] / more[1], CHARS_PER_TOKEN)
                before = (used, tokens - spare)
            if spare >= 0:
                best, lowest = reduction, room
                if spare <= limit // 100:
                    break
            room = int(used + (spare - 4) * rate)
            # Long rows leave room.
            if room <= lowest:
                if spare <= limit // 10 or not is_new:
                    break
                room = int(lowest + spare // 2 * rate)
        return best if lowest or self._measure(best) <= limit else None

    def _drop_rows(self, empty: Reduction) -> Reduction:
        # The report on a list that lost rows is longer than that on the empty answer.
        path: Path = ("results",) if isinstance(self.tree, dict) else ()
        rows = self.tree.get("results") if isinstance(self.tree, dict) else self.tree
        if not isinstance(rows, list) or not rows:
            return empty
        return Reduction(empty.value, (OmittedEntries(path, 0, len(rows)),))

    def _measure(self, reduction: Reduction) -> int:
        return self.truncation.measure(self.reporter.report(self.base, reduction, SAMPLE_HASH))

    def _cut(self, room: int) -> tuple[Reduction, int] | None:
        # With the characters that it takes; None if the answer cannot be cut so far.
        cut = self.cutter.cut(self.tree, room)
        if cut is None:
            return None
        reduction, size = cut
        if not self.cutter.has_long_texts:
            return reduction, size
        texts = dict(find_texts(reduction.value, self.truncation.is_long))
        values, excerpts, left = self._cut_texts(texts, int((room - size) / self.rate))
        value = replace_values(reduction.value, values)
        return replace(reduction, value=value, excerpts=excerpts), room - int(left * self.rate)

    def _cut_texts(
        self, texts: Mapping[Path, str], left: int
    ) -> tuple[dict[Path, str], tuple[Excerpt, ...], int]:
        # `RowCutter.measure` has counted the least of each text; the rest is shared.
        least, most = MIN_EXCERPT_TOKENS, left + MIN_EXCERPT_TOKENS
        sizes = {path: self._measure_text(text, most) for path, text in texts.items()}
        shortest = sorted(sizes, key=lambda path: sizes[path])
        whole = 0
        for path in shortest:
            if sizes[path] > least + left // (len(shortest) - whole):
                break
            left -= sizes[path] - least
            whole += 1
        cut = [path for path in texts if path in shortest[whole:]]
        values: dict[Path, str] = {}
        excerpts = []
        # All texts become digests, or all become beginnings.
        are_digests = len(cut) > 1 and least + left // len(cut) <= MAX_DIGEST_TOKENS
        for number, path in enumerate(cut):
            share = least + left // (len(cut) - number)
            size = sizes[path]
            # A digest shorter than its share leaves room for a whole text.
            if size > share:
                text = texts[path]
                digest = self.truncation.digest_text(text, share) if are_digests else None
                beginning = digest or cut_text(text, share, self.truncation.budget.count_tokens)
                values[path] = beginning
                shown = None if digest else len(beginning)
                size = self._measure_text(values[path], share)
                excerpts.append(Excerpt(path, shown, len(text)))
            left -= size - least
        return values, tuple(excerpts), left

    def _measure_text(self, text: str, most: int) -> int:
        # Any number above `most` for a text that is surely longer.
        if len(text) > 4 * most:
            return len(text)
        return self.truncation.count_text(text)


def _empty_answer(outcome: Outcome) -> Reduction:
    """Return an empty answer of the same type; a page keeps count and links."""
    tree = outcome.data
    if outcome.is_page and isinstance(tree, dict):
        kept = {name: value for name, value in tree.items() if name in PAGE_MEMBERS}
        return Reduction({**kept, "results": []}, is_empty=True)
    empty = type(tree)() if isinstance(tree, (dict, list, str)) else tree
    return Reduction(empty, is_empty=True)


def relax_schema(schema: Any) -> Any:
    """Return a JSON Schema, or a list of them, without what a shortened answer may break."""
    if isinstance(schema, list):
        return [relax_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in VALUES:
            kept[keyword] = value
        elif keyword in SCHEMAS_BY_NAME and isinstance(value, Mapping):
            kept[keyword] = {name: relax_schema(part) for name, part in value.items()}
        elif keyword not in BROKEN:
            kept[keyword] = relax_schema(value)
    # Several of the relaxed choices may hold at once.
    if "oneOf" in kept:
        kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": kept.pop("oneOf")}]
    return kept
