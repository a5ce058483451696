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
# The tool of a package for an operation.
DOES = {"create": "create", "refused": "create"}


class Cost:
    """The cost of an operation and of its plain request.

    Args:
        counted: function calls, statements and bytes, of both requests.
    """

    def __init__(self, counted: Mapping[str, Mapping[str, int]]) -> None:
        self.counted = counted
        self.seconds: dict[str, list[float]] = {"plain": [], "measured": []}

    def add(self, seconds: Mapping[str, Sequence[float]]) -> None:
        for way, each in seconds.items():
            self.seconds[way] += each

    @property
    def calls(self) -> float:
        """The function calls, as a multiple of the plain request's."""
        return self.counted["measured"]["calls"] / self.counted["plain"]["calls"]

    @property
    def time(self) -> float:
        """The median processor time as a multiple of the plain request's."""
        return statistics.median(self.seconds["measured"]) / statistics.median(
            self.seconds["plain"]
        )

    @property
    def statements(self) -> str:
        measured, plain = (self.counted[way]["sql"] for way in ("measured", "plain"))
        return str(measured) if measured == plain else f"{measured} of {plain}"


@dataclass
class Start:
    """The seconds of processes until their first answer, with a package and without one."""

    plain: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(self.measured) / statistics.median(self.plain)


class Results:
    """All results, by number of tools (0 for the example) and package."""

    def __init__(self, peers: Sequence[str]) -> None:
        self.peers = peers
        self.checks: dict[tuple[int, str], dict[str, Any]] = {}
        self.costs: dict[tuple[int, str, str], Cost] = {}
        self.starts: dict[tuple[int, str], Start] = {}

    def write(self) -> Iterator[str]:
        heads = [f"{peer} {self.checks[0, peer]['version']}" for peer in self.peers]
        yield "Function calls / CPU time, as multiples of the plain request's; SQL statements:\n"
        yield from write_table(["", *heads], self.find_call_rows())
        yield "\nThe list of tools, and processes:\n"
        yield from write_table(["", *heads], self.find_list_rows())
        yield "\nWhat came back:\n"
        yield from write_table(["", *heads], self.find_check_rows())

    def find_call_rows(self) -> Iterator[list[str]]:
        for name, title in ROWS.items():
            cells = []
            for peer in self.peers:
                cost = self.costs[0, name, peer]
                lacks = DOES.get(name) in self.checks[0, peer]["lacks"]
                cells.append(
                    "cannot" if lacks else f"{cost.calls:.2f} / {cost.time:.2f}; {cost.statements}"
                )
            yield [title, *cells]

    def find_list_rows(self) -> Iterator[list[str]]:
        for tools in sorted({tools for tools, _ in self.checks}):
            named = f"{tools} tools" if tools else "the example"
            checks = [self.checks[tools, peer] for peer in self.peers]
            tokens = Tokens()
            counts = tokens.count_all([check["list"] for check in checks])
            costs = [self.costs[tools, "tools/list", peer] for peer in self.peers]
            yield [f"{named}: tools", *(str(check["tools"]) for check in checks)]
            yield [f"{named}: tokens of the list ({tokens.encoder})", *map(str, counts)]
            yield [
                f"{named}: `tools/list`, of a view that answers `{{}}`",
                *(f"{cost.calls:.2f} / {cost.time:.2f}; {cost.statements}" for cost in costs),
            ]
            yield [
                f"{named}: a process until its first list, CPU time, of one without a package",
                *(f"{self.starts[tools, peer].ratio:.2f}" for peer in self.peers),
            ]

    def find_check_rows(self) -> Iterator[list[str]]:
        checks = [self.checks[0, peer] for peer in self.peers]
        count = Tokens().count_all

        def yes_or_no(key: str) -> list[str]:
            return ["yes" if check[key] else "**no**" for check in checks]

        yield ["strangers are refused with 401", *yes_or_no("strangers")]
        yield ["the permission of the object holds", *yes_or_no("denied_holds")]
        yield ["the project's API goes on for published classes", *yes_or_no("keeps_api")]
        yield ["rows of the page", *(str(check["page"]) for check in checks)]
        yield [
            "rows where the filter matches " + str(checks[0]["matching"]),
            *(str(check["filtered"]) for check in checks),
        ]
        yield ["an unknown argument is refused", *yes_or_no("unknown")]
        pages = count([check["page_text"] for check in checks])
        yield ["tokens of the page", *map(str, pages)]
        for key in ("refused", "denied"):
            title = {"refused": "a refused create", "denied": "a caller without permission"}[key]
            texts = [check[f"{key}_text"] for check in checks]
            sizes = count(texts)
            cells = []
            for check, text, size in zip(checks, texts, sizes, strict=True):
                if key == "refused" and "create" in check["lacks"]:
                    cells.append("cannot: " + check["lacks"]["create"])
                else:
                    kind = "an error" if check[f"{key}_is_error"] else "**no error**"
                    cells.append(f"{kind}, {size} tokens: `{shorten(text)}`")
            yield [f"the answer to {title}", *cells]


def shorten(text: str) -> str:
    """Return the beginning of a text, short enough for a cell."""
    flat = " ".join(text.replace("|", "\\|").replace("`", "'").split())
    return flat if len(flat) <= 160 else flat[:157] + "..."


def write_table(heads: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(row)} |"
