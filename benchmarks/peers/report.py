"""The tables of the results, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.agents.tokens import Tokens

ROWS = {
    "read": "read one row",
    "page": "a page of 20",
    "create": "a create",
    "refused": "a create, refused",
    "denied": "a caller without permission",
}


@dataclass
class Cost:
    """The SQL statements and processor seconds of an operation and of its plain request."""

    statements: Mapping[str, int]
    plain: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)

    @property
    def cell(self) -> str:
        """The median processor time as a multiple of the plain request's, and the statements."""
        time = statistics.median(self.measured) / statistics.median(self.plain)
        measured, plain = self.statements["measured"], self.statements["plain"]
        return f"{time:.2f}; {measured}" + (f" of {plain}" if measured != plain else "")


class Results:
    """All results, by number of tools (0 for the example) and package."""

    def __init__(self, peers: Sequence[str]) -> None:
        self.peers = peers
        self.tokens = Tokens()
        self.checks: dict[tuple[int, str], dict[str, Any]] = {}
        self.costs: dict[tuple[int, str, str], Cost] = {}
        self.starts: dict[tuple[int, str], float] = {}

    def write(self) -> Iterator[str]:
        heads = ["", *(f"{peer} {self.checks[0, peer]['version']}" for peer in self.peers)]
        yield "CPU time as a multiple of the plain request's; SQL statements:\n"
        yield from write_table(heads, self.find_call_rows())
        yield "\nThe list of tools, and processes:\n"
        yield from write_table(heads, self.find_list_rows())
        yield "\nWhat came back:\n"
        yield from write_table(heads, self.find_check_rows())

    def find_call_rows(self) -> Iterator[list[str]]:
        for name, title in ROWS.items():
            yield [
                title,
                *(
                    "cannot"
                    if name in self.checks[0, peer]["lacks"]
                    else self.costs[0, name, peer].cell
                    for peer in self.peers
                ),
            ]

    def find_list_rows(self) -> Iterator[list[str]]:
        for tools in sorted({tools for tools, _ in self.checks}):
            named = f"{tools} tools" if tools else "the example"
            checks = [self.checks[tools, peer] for peer in self.peers]
            counts = self.tokens.count_all([check["list"] for check in checks])
            rows = {
                "tools": [check["tools"] for check in checks],
                f"tokens of the list ({self.tokens.encoder})": counts,
                "`tools/list`, of a view that answers `{}`": [
                    self.costs[tools, "tools/list", peer].cell for peer in self.peers
                ],
                "a process until its first list, CPU time, of one without a package": [
                    f"{self.starts[tools, peer]:.2f}" for peer in self.peers
                ],
            }
            for title, cells in rows.items():
                by_hand = [check["by_hand"] for check in checks]
                shown = zip(cells, by_hand, strict=True)
                yield [f"{named}: {title}", *("" if hand else str(cell) for cell, hand in shown)]

    def find_check_rows(self) -> Iterator[list[str]]:
        checks = [self.checks[0, peer] for peer in self.peers]
        for key, title in (
            ("strangers", "strangers are refused with 401"),
            ("denied_holds", "the permission of the object holds"),
            ("keeps_api", "the project's API goes on for published classes"),
            ("unknown", "an unknown argument is refused"),
        ):
            yield [title, *("yes" if check[key] else "**no**" for check in checks)]
        yield ["rows of the page", *(str(check["page"]) for check in checks)]
        matching = checks[0]["matching"]
        yield [f"rows by a filter that {matching} match", *(str(c["filtered"]) for c in checks)]
        pages = self.tokens.count_all([check["page_text"] for check in checks])
        yield ["tokens of the page", *map(str, pages)]
        for key in ("refused", "denied"):
            sizes = self.tokens.count_all([check[f"{key}_text"] for check in checks])
            cells = []
            for check, size in zip(checks, sizes, strict=True):
                kind = "an error" if check[f"{key}_is_error"] else "**no error**"
                text = " ".join(check[f"{key}_text"].replace("|", "\\|").split())[:160]
                cells.append("cannot" if key in check["lacks"] else f"{kind}, {size}: `{text}`")
            yield [f"the answer to {ROWS[key]}, with its tokens", *cells]


def write_table(heads: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(row)} |"
