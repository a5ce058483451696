"""What code takes of the body besides the fields of serializers, place by place.

Code that names a member by a literal reads this member. Code that takes an object whole, or by a
name that is no literal, or gives it or the request to code that cannot be read, may read any.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from drf_mcp.introspection.findings import write_line
from drf_mcp.introspection.source.values import (
    ANY,
    BODY,
    FILES,
    INITIAL_DATA,
    PARENT,
    SENT,
    THE_REQUEST,
    NameOfMember,
    RequestMember,
    RequestPart,
    SourceListener,
)

# How code writes what has the members.
WORDS = {
    BODY: "request.data",
    FILES: "request.data",
    SENT: "request.data",
    INITIAL_DATA: "self.initial_data",
    PARENT: "the object around",
}


class PartOfBody(NamedTuple):
    """A part of the body.

    Attributes:
        root: ``body``; ``initial_data``, the data of the serializer that is read; ``parent``, the
            data of the object around a field.
        steps: the names of members down to the part, `ANY` for items.
    """

    root: str
    steps: tuple[str, ...] = ()

    @classmethod
    def of(cls, part: RequestPart | RequestMember) -> PartOfBody | None:
        """Return a part of the body, None for a part of the query or the path."""
        if part.place not in WORDS:
            return None
        return cls(BODY if part.place in (FILES, SENT) else part.place, part.steps)

    def write(self) -> str:
        steps = "".join("[...]" if name == ANY else f"[{name!r}]" for name in self.steps)
        return f"{WORDS[self.root]}{steps}"


@dataclass
class BodyReading:
    """What code takes of the body.

    Attributes:
        names: the members that are named, by the part that has them.
        opened: the parts where any member may be read, each with the line that reads it, and
            whether what is inside goes the same way.
        made: the serializers and forms that are given a part.
    """

    names: dict[PartOfBody, dict[str, None]] = field(default_factory=dict)
    opened: dict[PartOfBody, tuple[str, bool]] = field(default_factory=dict)
    made: dict[tuple[PartOfBody, type], None] = field(default_factory=dict)


class BodyListener(SourceListener):
    def __init__(self) -> None:
        self.reading = BodyReading()

    def hears(self, run: Any) -> bool:
        return not run.is_dead

    def take(self, part: Any, name: str, run: Any) -> None:
        place = PartOfBody.of(part)
        if place is not None:
            self.reading.names.setdefault(place, {})[name] = None

    def compute(self, part: Any, source: str, run: Any) -> None:
        self.go_through(part, run)

    def go_through(self, part: Any, run: Any) -> None:
        if not part.is_of_fields:
            self.open(PartOfBody.of(part), run, is_deep=False)

    def keep(self, part: Any, run: Any) -> None:
        # What is kept of the whole body may be read anywhere.
        self.escape(part, run)

    def escape(self, value: Any, run: Any) -> None:
        if value is THE_REQUEST:
            self.open(PartOfBody(BODY), run, "hands the request on")
        elif isinstance(value, NameOfMember):
            self.go_through(value.part, run)
        elif isinstance(value, (RequestPart, RequestMember)):
            # Copies of the fields have no other member, but what they hold is as it was sent.
            self.open(PartOfBody.of(value.step(ANY) if value.is_of_fields else value), run)

    def make(self, kind: Any, keywords: Any, run: Any, **how: Any) -> None:
        for part in how["data"] if kind is not None else ():
            if isinstance(part, (RequestPart, RequestMember)):
                place = PartOfBody.of(part)
                if place is not None:
                    self.reading.made[place, kind] = None

    def open(
        self, part: PartOfBody | None, run: Any, says: str = "", *, is_deep: bool = True
    ) -> None:
        # The text of an exception quotes the body, and takes nothing of it.
        if part is None or run.is_raising:
            return
        known = self.reading.opened.get(part)
        if known is None or (is_deep and not known[1]):
            code = run.function.__code__
            line = write_line(code.co_filename, code.co_firstlineno + run.line - 1)
            self.reading.opened[part] = f"{line} {says or f'reads {part.write()}'}", is_deep
