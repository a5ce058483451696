"""How a shortened result says so: what is left out, and the way to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Fidelity, Outcome, Severity, Warning
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation.identifiers import Names, reference
from drf_mcp.truncation.json_paths import Path, value_at
from drf_mcp.truncation.metadata import Aside
from drf_mcp.truncation.rows import Lost

RETRIEVAL_TOOL = "content_retrieve"
TRUNCATED = "CONTENT_TRUNCATED"
# The share of the room that the names of what is left out may take.
NAMES_SHARE = 16

UNAVAILABLE = Warning(
    "ARCHIVE_UNAVAILABLE",
    "What is left out of this result could not be kept for later.",
    Severity.WARNING,
)


@dataclass(frozen=True)
class Reduction:
    """A shortened answer.

    Attributes:
        value: what is left.
        dropped: the rows, or members of objects, that are gone.
        reduced: the rows of which identifiers and label are left.
        digested: where digests stand instead of texts.
        empty: True if nothing of the answer is left.
    """

    value: Any
    dropped: tuple[Lost, ...] = ()
    reduced: tuple[Lost, ...] = ()
    digested: tuple[Path, ...] = ()
    empty: bool = False

    @property
    def level(self) -> str:
        """The ``content_fidelity``: the last step that was taken."""
        if self.reduced or self.empty:
            return "reference_only"
        return "summary" if self.digested and not self.dropped else "partial"

    @property
    def paths(self) -> Iterator[Path]:
        """Where something is not as it was."""
        for lost in (*self.dropped, *self.reduced):
            yield from lost.paths
        yield from self.digested
        if self.empty:
            yield ()

    @property
    def lists(self) -> set[Path]:
        """The collections that lost entries."""
        return {lost.path for lost in (*self.dropped, *self.reduced)}


class Reporter:
    """Reports on reductions of one answer.

    Args:
        tree: the whole answer as plain JSON.
        limit: the size that it has to fit, in characters.
        archive_id: where the rest will be kept, None if nowhere.
        warnings: what else there is to say.
        less: how to ask for less, "" where there is no way.
        asides: what was left out beside the answer.
    """

    def __init__(
        self,
        tree: Any,
        limit: int,
        archive_id: str | None,
        warnings: tuple[Warning, ...] = (),
        less: str = "",
        asides: tuple[Aside, ...] = (),
    ) -> None:
        self.tree = tree
        self.limit = limit
        self.archive_id = archive_id
        self.warnings = warnings
        self.less = less
        self.asides = asides
        self.names = Names(tree, [aside.name for aside in asides])

    def outcome(self, outcome: Outcome, reduction: Reduction, content_hash: str) -> Outcome:
        """Return an outcome with the reduced answer, and what is to be said of it."""
        listed = tuple(first(self.named(reduction), self.limit // NAMES_SHARE))
        archives = {} if self.archive_id is None else {self.archive_id: content_hash}
        return replace(
            outcome,
            data=reduction.value,
            fidelity=Fidelity(reduction.level, listed, archives),
            warnings=(*outcome.warnings, self.warning(reduction, len(listed)), *self.warnings),
        )

    def named(self, reduction: Reduction) -> Iterator[str]:
        """Yield the names of what is not as it was."""
        alone = (
            sum(not isinstance(value_at(self.tree, path), dict) for path in reduction.lists) == 1
        )
        for path in reduction.paths:
            yield self.names.name(path, alone=alone)
        for aside in self.asides:
            yield aside.name

    def warning(self, reduction: Reduction, listed: int) -> Warning:
        """Return the warning that names counts, reason and remedy."""
        missing, total = self.counts(reduction)
        done = [*steps(reduction, total), *self.told_beside(reduction)]
        told = [f"Shortened to fit {self.limit} characters: {', '.join(done)}."]
        if listed < missing + len(self.asides):
            told.append(f"The first {listed} are listed in dropped_content_ids.")
        context: dict[str, Any] = {
            "dropped_count": missing + sum(aside.count for aside in self.asides),
            "total_count": total + sum(aside.total for aside in self.asides),
            "reason": "size_limit",
        }
        if self.archive_id is None:
            told.append("Ask again for less: filter, or fetch smaller pages.")
        else:
            seconds = context["expires_in_seconds"] = mcp_settings.ARCHIVE_TTL
            told.append(
                f"For the rest call {RETRIEVAL_TOOL} with archive_id {self.archive_id!r} "
                f"within {seconds} seconds."
            )
        if self.less:
            told.append(self.less)
        return Warning(TRUNCATED, " ".join(told), Severity.INFO, context)

    def told_beside(self, reduction: Reduction) -> Iterator[str]:
        """Yield what was left out beside the answer; in a few words where all room is needed."""
        if not reduction.empty:
            yield from (aside.told for aside in self.asides)
        elif self.asides:
            yield "nor all that stood beside it"

    def counts(self, reduction: Reduction) -> tuple[int, int]:
        """Return how many rows and texts are not as they were, and of how many."""
        lost = sum(len(lost.keys) for lost in (*reduction.dropped, *reduction.reduced))
        rows = sum(len(value_at(self.tree, path)) for path in reduction.lists)
        others = len(reduction.digested) + reduction.empty
        return lost + others, rows + others

    def items(self, reduction: Reduction) -> list[dict[str, Any]]:
        """Return what is to be archived: the originals, each with its name and place.

        What stood beside the answer has no place in it, so its pointer is None.
        """
        names = self.named(reduction)
        inside = [self.item(path, name) for path, name in zip(reduction.paths, names, strict=False)]
        beside = [
            {"id": aside.name, "pointer": None, "value": aside.left_out} for aside in self.asides
        ]
        return inside + beside

    def item(self, path: Path, name: str) -> dict[str, Any]:
        """Return what stands at a path, with what identifies the row that it is a part of."""
        item = {
            "id": name,
            "pointer": JSONPointer.from_path(path),
            "value": value_at(self.tree, path),
        }
        depth = next((depth for depth, key in enumerate(path, 1) if isinstance(key, int)), None)
        if depth is not None and depth < len(path):
            item["row"] = reference(value_at(self.tree, path[:depth]))
        return item


def steps(reduction: Reduction, total: int) -> Iterator[str]:
    """Yield what was done to how many."""
    rows = total - len(reduction.digested)
    dropped = sum(len(lost.keys) for lost in reduction.dropped)
    reduced = sum(len(lost.keys) for lost in reduction.reduced)
    digested = len(reduction.digested)
    if reduction.empty:
        yield "nothing of the answer fits"
        return
    if dropped:
        yield f"{dropped} of {rows} items left out"
    if reduced:
        yield f"{reduced} of {rows} items reduced to identifier and label"
    if digested:
        yield f"{digested} long text{'s' if digested > 1 else ''} digested"


def first(names: Iterable[str], room: int) -> Iterator[str]:
    """Yield the first names, as many as fit into the room, one at least."""
    used = 0
    for name in names:
        used += len(name) + 3
        if used > room and used > len(name) + 3:
            return
        yield name
