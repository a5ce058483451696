"""What a shortened result says: how much is missing, why, and the next call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from drf_mcp.codes import LESS, NOT_AGAIN
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Fidelity, Outcome, Severity, Warning
from drf_mcp.truncation.metadata import MAX_NAMES, OmittedMetadata, add_fidelity
from drf_mcp.truncation.rows import (
    OmittedEntries,
    Path,
    Reduction,
    find_identifier,
    find_value,
    format_path,
)

RETRIEVAL_TOOL = "content_retrieve"
# More rows than these have one name together, such as ``results[17:2000]``.
MAX_ROW_NAMES = 20
# A longer text among the values of a list is an item of its own.
MAX_VALUE_LENGTH = 200

UNAVAILABLE = "What is left out of this result could not be kept for later."
FULL = (
    "What is left out of this result was not kept: as much as one caller may have is kept "
    "already, until it expires."
)


def warn_not_kept(archive: Any) -> Warning:
    """Return the warning that an archive did not take what a result leaves out."""
    if archive.is_full:
        return Warning("ARCHIVE_FULL", FULL)
    return Warning("ARCHIVE_UNAVAILABLE", UNAVAILABLE)


@dataclass
class Reporter:
    """Reports on reductions of one answer."""

    # The whole answer as plain JSON, the tokens that it has to fit, and the `ToolBudget`.
    tree: Any
    limit: int
    budget: Any
    # Under what the rest is kept, and how long, None where that is not certain.
    archive_id: str | None
    seconds: int | None
    # Further warnings of the result, and what other members of the outcome have lost.
    warnings: tuple[Warning, ...]
    metadata: tuple[OmittedMetadata, ...] = ()
    # By the ids of lists of the tree, once for all reports.
    _keys: dict[int, list[str] | None] = field(default_factory=dict, init=False)

    def report(self, outcome: Outcome, reduction: Reduction, content_hash: str = "") -> Outcome:
        """Return an outcome with the reduced answer, its fidelity and warnings."""
        archives = {} if self.archive_id is None else {self.archive_id: content_hash}
        names = tuple(islice(self._find_names(reduction), MAX_NAMES))
        return replace(
            outcome,
            data=reduction.value,
            fidelity=add_fidelity(outcome.fidelity, Fidelity(reduction.level, names, archives)),
            warnings=(*outcome.warnings, self._warn(reduction), *self.warnings),
        )

    def find_items(self, reduction: Reduction) -> Iterator[dict[str, Any]]:
        """Yield the items to archive: each original value with its name and its pointer.

        The pointer of metadata is None.
        """
        for omitted in reduction.omitted:
            yield from self._find_entries(omitted, alone=len(reduction.omitted) == 1)
        for path in reduction.paths:
            yield self._make_item(path, self._name(path))
        for each in self._find_kept_metadata():
            value = json.loads(self.budget.encode(each.value))
            yield {"id": each.name, "pointer": None, "value": value}

    def _find_kept_metadata(self) -> list[OmittedMetadata]:
        return [each for each in self.metadata if each.value is not None]

    def _find_names(self, reduction: Reduction) -> Iterator[str]:
        alone = len(reduction.omitted) == 1
        for omitted in reduction.omitted:
            is_list = isinstance(find_value(self.tree, omitted.path), list)
            if is_list and omitted.count > MAX_ROW_NAMES:
                yield omitted.name
            else:
                items = islice(self._find_entries(omitted, alone=alone), MAX_ROW_NAMES)
                yield from (item["id"] for item in items)
        yield from map(self._name, reduction.paths)
        yield from (each.name for each in self._find_kept_metadata())

    def _name(self, path: Path) -> str:
        name = format_path(path)
        # The answer may have a member with the name of metadata.
        is_taken = any(each.name == name for each in self.metadata)
        return JSONPointer.from_path(path) if is_taken else name

    def _make_item(self, path: Path, name: str) -> dict[str, Any]:
        value = find_value(self.tree, path)
        return {"id": name, "pointer": JSONPointer.from_path(path), "value": value}

    def _find_entries(self, omitted: OmittedEntries, *, alone: bool) -> Iterator[dict[str, Any]]:
        # The scalars of a list are one item, which has their number as its length.
        path, start = omitted.path, omitted.start
        whole = find_value(self.tree, path)
        if isinstance(whole, dict):
            for key in islice(whole, start, None):
                yield self._make_item((*path, key), self._name((*path, key)))
        elif _are_short_scalars(rest := whole[start:]):
            item = self._make_item((*path, start), omitted.name)
            yield {**item, "length": omitted.count, "value": rest}
        else:
            if alone and id(whole) not in self._keys:
                self._keys[id(whole)] = self._find_keys(whole)
            keys = self._keys[id(whole)] if alone else None
            pointer = JSONPointer.from_path(path)
            for index in range(start, omitted.total):
                name = keys[index] if keys else format_path((*path, index))
                yield {"id": name, "pointer": f"{pointer}/{index}", "value": whole[index]}

    def _find_keys(self, rows: Sequence[Any]) -> list[str] | None:
        # None if not all rows have keys of their own.
        keys = [key for key in map(find_identifier, rows) if key is not None]
        members = self.tree if isinstance(self.tree, dict) else ()
        names = {*members, *(each.name for each in self.metadata)}
        is_distinct = len(set(keys)) == len(rows) and names.isdisjoint(keys)
        return keys if is_distinct else None

    def _warn(self, reduction: Reduction) -> Warning:
        cut = len(reduction.paths)
        counted: list[OmittedEntries | OmittedMetadata] = [*reduction.omitted, *self.metadata]
        losses = list(self._find_losses(reduction))
        if reduction.is_empty:
            more = ", nor all other members" if self.metadata else ""
            losses = [f"Nothing of the answer fits{more}"]
        summary = f"{', '.join(dict.fromkeys(losses))}, to fit {self.limit} tokens."
        context = {
            "dropped_count": cut + sum(each.count for each in counted),
            "total_count": cut + sum(each.total for each in counted),
            "reason": "token_limit_exceeded",
        }
        message = " ".join(filter(None, [summary, *self._advise(reduction)]))
        return Warning("CONTENT_TRUNCATED", message, Severity.INFO, context, summary=summary)

    def _find_losses(self, reduction: Reduction) -> Iterator[str]:
        if total := sum(each.total for each in reduction.omitted):
            count = sum(each.count for each in reduction.omitted)
            yield f"{count} of {total} items left out"
        if count := len(reduction.reduced):
            yield f"{count} item{'s' * (count > 1)} reduced to identifier and label"
        heads = [excerpt for excerpt in reduction.excerpts if excerpt.shown is not None]
        if len(heads) == 1:
            (head,) = heads
            count, name = head.total - (head.shown or 0), self._name(head.path)
            yield f"{count} of {head.total} characters of {name} left out"
        elif count := len(heads):
            yield f"{count} long texts cut to their beginnings"
        if count := len(reduction.excerpts) - len(heads):
            yield f"{count} long text{'s' * (count > 1)} digested"
        yield from (each.loss for each in self.metadata)

    def _advise(self, reduction: Reduction) -> Sequence[str]:
        hint = self.budget.fields_hint if self.budget.reads else ""
        return [self._describe_next_call(reduction), hint]

    def _describe_next_call(self, reduction: Reduction) -> str:
        if self.archive_id is None:
            return LESS if self.budget.reads else NOT_AGAIN
        more, excerpts = "", reduction.excerpts
        if excerpts and not reduction.omitted:
            if len(reduction.paths) + len(self.metadata) > 1:
                more += f", ids=[{self._name(excerpts[0].path)!r}]"
            if excerpts[0].shown is not None:
                more += f", offset={excerpts[0].shown}"
        return describe_retrieval(self.archive_id, self.seconds, more)


class FailureReporter(Reporter):
    """Reports on failures, which no call for less would show whole."""

    def _advise(self, reduction: Reduction) -> Sequence[str]:
        again = any(each.value is None for each in self.metadata)
        advice = "Correct these problems, then call again for the rest." if again else ""
        if self.archive_id is None:
            return [advice]
        return [advice, describe_retrieval(self.archive_id, self.seconds)]


def describe_retrieval(archive_id: str, seconds: int | None, more: str = "") -> str:
    """Return the sentence with the call that fetches what was kept under an archive id."""
    time = "" if seconds is None else f" within {seconds} seconds"
    return f"Next: {RETRIEVAL_TOOL}(archive_id={archive_id!r}{more}){time}."


def _are_short_scalars(values: list[Any]) -> bool:
    try:
        distinct = set(values)
    except TypeError:
        # No object and no array can be in a set.
        return False
    return all(len(each) <= MAX_VALUE_LENGTH for each in distinct if type(each) is str)
