"""The pages of the documentation, and the code blocks on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S
)
NAMED = re.compile(r"# (?P<file>(?:\w+/)*\w+\.py)$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced code block.

    Attributes:
        line: the line of the opening fence.
        follows: the block directly before it, if no text is between the two.
    """

    line: int
    language: str
    text: str
    follows: Block | None = None

    @property
    def file(self) -> str | None:
        named = NAMED.match(self.text) if self.language == "python" else None
        return named["file"] if named else None

    @property
    def is_test(self) -> bool:
        return self.language == "python" and bool(
            re.search(r"^(?:def test_|class \w*Test\w*\(|class \w+\(ToolParity\))", self.text, re.M)
        )


@dataclass(frozen=True)
class Command:
    """A line after a prompt; ``shown`` is its output on the page, "" for none."""

    line: int
    text: str
    shown: str


def pages() -> list[Path]:
    found = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
    others = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md")
    others += ("benchmarks/README.md", "example_project/library/README.md")
    return [*(ROOT / name for name in others), *found]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def find_faults(judge: Callable[[Path], Any], judged: Iterable[Path]) -> dict[str, Any]:
    """Return the faults that a function finds in each page, by the page's name."""
    return {name_of(page): faults for page in judged if (faults := judge(page))}


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        near = found[-1] if found and not text[end : match.start()].strip() else None
        found.append(Block(line, match["info"].strip(), dedent(match["text"]), near))
        end = match.end()
    return found


def commands(page: Path) -> list[Command]:
    said = blocks(page)
    after = {block.follows: block.text for block in said if block.language in ("json", "text")}
    return [
        command
        for block in said
        if block.language == "console"
        for command in commands_of(block, after.get(block, ""))
    ]


def commands_of(block: Block, printed: str) -> list[Command]:
    # A block directly after it is the output of its last command, if the command shows none.
    found: list[Command] = []
    text = block.text.replace("\\\n", "  ")
    for part in re.finditer(r"^\$ (?P<text>.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", text, re.M):
        line = block.line + 1 + text.count("\n", 0, part.start())
        found.append(Command(line, part["text"], part["shown"]))
    if found and printed and not found[-1].shown.strip():
        found[-1] = Command(found[-1].line, found[-1].text, printed)
    return found
