"""Recorded figures, and those that moved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Tolerance:
    """How far a figure may be from the recorded one: a fraction of it plus a number.

    Attributes:
        part: the fraction, 0.01 for one per cent.
        much: the number.
    """

    part: float = 0
    much: float = 0

    def covers(self, recorded: float, found: float) -> bool:
        """Return whether a figure is within the tolerance."""
        return abs(found - recorded) <= abs(recorded) * self.part + self.much


@dataclass(frozen=True)
class Move:
    """A figure that differs from the recorded one.

    Attributes:
        name: its name.
        recorded: the recorded figure, None for none.
        found: today's figure, None for none.
    """

    name: str
    recorded: int | None
    found: int | None

    @property
    def verdict(self) -> str:
        """What happened to the figure."""
        if self.recorded is None:
            return "not recorded"
        if self.found is None:
            return "not found"
        return "worse" if self.found > self.recorded else "better"

    @property
    def fails(self) -> bool:
        """Whether the figure has to be improved or recorded again."""
        return self.verdict != "better"

    @property
    def sentence(self) -> str:
        return f"{self.name} is {self.found}, recorded is {self.recorded}."


def find_moves(
    recorded: Mapping[str, int],
    found: Mapping[str, int],
    tolerances: Mapping[str, Tolerance] | None = None,
) -> Iterator[Move]:
    """Yield the figures that moved; less is better.

    Args:
        recorded: the recorded figures.
        found: today's figures.
        tolerances: by the first word of a figure's name; other figures have no tolerance.
    """
    for name in dict.fromkeys((*recorded, *found)):
        move = Move(name, recorded.get(name), found.get(name))
        first = name.replace(",", " ").split()[0]
        tolerance = (tolerances or {}).get(first, Tolerance())
        if (
            move.recorded is None
            or move.found is None
            or not tolerance.covers(move.recorded, move.found)
        ):
            yield move


class Record:
    """A JSON file with recorded figures.

    Attributes:
        content: its content.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the given members."""
        self.content.update(content)
        self.path.write_text(json.dumps(self.content, indent=2, ensure_ascii=False) + "\n")
