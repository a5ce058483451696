"""How a shortened result says so: how much is missing, why, and the next call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from drf_mcp.codes import gettext_noop
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Fidelity, Outcome, Severity, Warning
from drf_mcp.truncation.paths import (
    Aside,
    Path,
    Tail,
    find_value,
    format_path,
    get_identifier,
    summarise,
)
from drf_mcp.truncation.rows import Cut

RETRIEVAL_TOOL = "content_retrieve"
TRUNCATED = "CONTENT_TRUNCATED"
TOKEN_LIMIT = "token_limit_exceeded"
MOST_KEYS = 20
"""So many rows that are missing are named one by one, more of them by their positions."""
MOST_NAMES = 50

UNAVAILABLE = Warning(
    "ARCHIVE_UNAVAILABLE",
    gettext_noop("What is left out of this result could not be kept for later."),
    Severity.WARNING,
)
FULL = Warning(
    "ARCHIVE_FULL",
    gettext_noop(
        "What is left out of this result was not kept: as much as one caller may have is kept "
        "already, until it expires."
    ),
    Severity.WARNING,
)
# Characters of a text that is one of several values of one item.
LONGEST_VALUE = 200


@dataclass(frozen=True)
class Excerpt:
    """What stands in the place of a long text.

    Attributes:
        path: where it stands.
        shown: the characters of its beginning that are shown, None for a digest.
        total: the characters of the text.
    """

    path: Path
    shown: int | None
    total: int


@dataclass(frozen=True)
class Reduction(Cut):
    """A shortened answer.

    Attributes:
        excerpts: the texts of which a beginning or a digest is left.
        empty: True if nothing of the answer is left.
    """

    excerpts: tuple[Excerpt, ...] = ()
    empty: bool = False

    @property
    def level(self) -> str:
        """The ``content_fidelity``: the last step that was taken."""
        if self.reduced or self.empty:
            return "reference_only"
        digests = any(excerpt.shown is None for excerpt in self.excerpts)
        return "summary" if digests and not self.tails else "partial"

    @property
    def paths(self) -> list[Path]:
        """Where values stand that are not whole."""
        cut = [*self.reduced, *(excerpt.path for excerpt in self.excerpts)]
        return [*cut, ()] if self.empty else cut


class Reporter:
    """Reports on reductions of one answer.

    Args:
        tree: the whole answer as plain JSON.
        limit: the tokens that it has to fit.
        archive_id: where the rest will be kept, None if nowhere.
        seconds: how long it will be kept, None if that is not certain.
        warnings: what else there is to say.
        less: how to ask for less, "" where there is no way.
        asides: what was left out beside the answer.
    """

    def __init__(
        self,
        tree: Any,
        limit: int,
        archive_id: str | None,
        seconds: int | None,
        warnings: tuple[Warning, ...] = (),
        less: str = "",
        asides: tuple[Aside, ...] = (),
    ) -> None:
        self.tree = tree
        self.limit = limit
        self.archive_id = archive_id
        self.seconds = seconds
        self.warnings = warnings
        self.less = less
        self.asides = asides

    def report(self, outcome: Outcome, reduction: Reduction, content_hash: str) -> Outcome:
        """Return an outcome with the reduced answer, and what is to be said of it."""
        archives = {} if self.archive_id is None else {self.archive_id: content_hash}
        names = tuple(self.get_names(reduction))[:MOST_NAMES]
        return replace(
            outcome,
            data=reduction.value,
            fidelity=Fidelity(reduction.level, names, archives),
            warnings=(*outcome.warnings, self.get_warning(reduction), *self.warnings),
        )

    def get_names(self, reduction: Reduction) -> Iterator[str]:
        """Yield the names under which what is missing can be fetched.

        A few rows are named one by one, many rows of a list by their positions in one name,
        ``results[17:2000]``.
        """
        for tail in reduction.tails:
            if isinstance(find_value(self.tree, tail.path), list) and tail.count > MOST_KEYS:
                yield tail.name
            else:
                alone = len(reduction.tails) == 1
                items = self.get_entries(tail, MOST_KEYS, alone=alone)
                yield from (item["id"] for item in items)
        for path in reduction.paths:
            yield self.get_name(path)
        for aside in self.asides:
            yield aside.name

    def get_name(self, path: Path) -> str:
        """Return the name of the value at a path."""
        name = format_path(path)
        # A member of the answer may be called as what stood beside the answer.
        taken = any(aside.name == name for aside in self.asides)
        return JSONPointer.from_path(path) if taken else name

    def get_items(self, reduction: Reduction) -> Iterator[dict[str, Any]]:
        """Yield what is to be archived: the originals, each with its name and place.

        What stood beside the answer has no place in it: its pointer is None.
        """
        alone = len(reduction.tails) == 1
        for tail in reduction.tails:
            yield from self.get_entries(tail, None, alone=alone)
        for path in reduction.paths:
            yield self.get_item(path, self.get_name(path))
        for aside in self.asides:
            yield {"id": aside.name, "pointer": None, "value": aside.left_out}

    def get_item(self, path: Path, name: str) -> dict[str, Any]:
        """Return the value at a path."""
        value = find_value(self.tree, path)
        return {"id": name, "pointer": JSONPointer.from_path(path), "value": value}

    def get_entries(self, tail: Tail, most: int | None, *, alone: bool) -> Iterator[dict[str, Any]]:
        """Yield the entries that a collection lost, each as an item.

        The scalars of a list are one item, whose ``length`` says how many they are.
        """
        whole = find_value(self.tree, tail.path)
        pointer = JSONPointer.from_path(tail.path)
        if isinstance(whole, dict):
            stop = None if most is None else tail.start + most
            for key, value in islice(whole.items(), tail.start, stop):
                name, place = self.get_name((*tail.path, key)), JSONPointer.escape(str(key))
                yield {"id": name, "pointer": f"{pointer}/{place}", "value": value}
        elif all(map(is_short_scalar, islice(whole, tail.start, None))):
            item = self.get_item((*tail.path, tail.start), tail.name)
            yield {**item, "length": tail.count, "value": whole[tail.start :]}
        else:
            keys = self.get_keys(whole) if alone else None
            for index in range(tail.start, tail.total):
                name = keys[index] if keys else format_path((*tail.path, index))
                yield {"id": name, "pointer": f"{pointer}/{index}", "value": whole[index]}

    def get_keys(self, rows: Sequence[Any]) -> list[str] | None:
        """Return the primary keys of rows, None if the keys do not tell all of them apart."""
        keys: list[str] = []
        for key in map(get_identifier, rows):
            if key is None:
                return None
            keys.append(key)
        members = self.tree if isinstance(self.tree, dict) else ()
        names = {*members, *(aside.name for aside in self.asides)}
        distinct = len(set(keys)) == len(rows) and names.isdisjoint(keys)
        return keys if distinct else None

    def get_warning(self, reduction: Reduction) -> Warning:
        """Return the warning that says how much is missing, why, and what to call."""
        dropped = sum(tail.count for tail in reduction.tails)
        cut = len(reduction.paths)
        total = sum(tail.total for tail in reduction.tails) + cut
        losses = [*self.get_losses(reduction), *self.get_asides(reduction)]
        summary = summarise(losses, self.limit)
        context = {
            "dropped_count": dropped + cut + sum(aside.count for aside in self.asides),
            "total_count": total + sum(aside.total for aside in self.asides),
            "reason": TOKEN_LIMIT,
        }
        sentences = [summary, self.get_next_call(reduction), self.less]
        message = " ".join(sentence for sentence in sentences if sentence)
        return Warning(TRUNCATED, message, Severity.INFO, context, summary=summary)

    def get_losses(self, reduction: Reduction) -> Iterator[str]:
        """Yield what was done to how many."""
        if reduction.empty:
            yield (
                _("Nothing of the answer fits, nor all that stood beside it")
                if self.asides
                else _("Nothing of the answer fits")
            )
            return
        total = sum(tail.total for tail in reduction.tails)
        if total:
            dropped = total - sum(tail.start for tail in reduction.tails)
            yield _("%(count)d of %(total)d items left out") % {"count": dropped, "total": total}
        if count := len(reduction.reduced):
            yield ngettext(
                "%(count)d item reduced to identifier and label",
                "%(count)d items reduced to identifier and label",
                count,
            ) % {"count": count}
        yield from self.get_text_losses(reduction)

    def get_text_losses(self, reduction: Reduction) -> Iterator[str]:
        """Yield what was done to how many long texts."""
        heads = [excerpt for excerpt in reduction.excerpts if excerpt.shown is not None]
        digests = len(reduction.excerpts) - len(heads)
        if len(heads) == 1:
            (head,) = heads
            dropped = head.total - (head.shown or 0)
            facts = {"count": dropped, "total": head.total, "name": self.get_name(head.path)}
            yield _("%(count)d of %(total)d characters of %(name)s left out") % facts
        elif count := len(heads):
            yield ngettext(
                "%(count)d long text cut to its beginning",
                "%(count)d long texts cut to their beginnings",
                count,
            ) % {"count": count}
        if digests:
            yield ngettext(
                "%(count)d long text digested", "%(count)d long texts digested", digests
            ) % {"count": digests}

    def get_asides(self, reduction: Reduction) -> Iterator[str]:
        """Yield what was left out beside the answer, unless all room is needed."""
        if not reduction.empty:
            yield from (aside.loss for aside in self.asides)

    def get_next_call(self, reduction: Reduction) -> str:
        """Return the call that goes on where the answer ends."""
        if self.archive_id is None:
            return _("Ask again for less: filter, or fetch smaller pages.")
        arguments = f"archive_id={self.archive_id!r}"
        excerpts = reduction.excerpts
        count = len(reduction.tails) + len(reduction.paths) + len(self.asides)
        if excerpts and not reduction.tails:
            if count > 1:
                arguments += f", ids=[{self.get_name(excerpts[0].path)!r}]"
            if excerpts[0].shown is not None:
                arguments += f", offset={excerpts[0].shown}"
        facts = {"call": f"{RETRIEVAL_TOOL}({arguments})", "seconds": self.seconds}
        if self.seconds is None:
            return _("Next: %(call)s.") % facts
        return _("Next: %(call)s within %(seconds)d seconds.") % facts


def is_short_scalar(value: Any) -> bool:
    # A text that fills a slice by itself is fetched by itself, in slices of characters.
    if isinstance(value, str):
        return len(value) <= LONGEST_VALUE
    return not isinstance(value, (dict, list))
