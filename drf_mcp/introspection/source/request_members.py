"""Listeners that take members of the request: of a handler, of the query, and of the body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rest_framework.serializers import BaseSerializer, Serializer

from drf_mcp.introspection.source.values import (
    ANY,
    BODY,
    FILES,
    INITIAL_DATA,
    PARENT,
    QUERY,
    SENT,
    THE_REQUEST,
    KnownValue,
    NameOfMember,
    RequestPart,
    SourceListener,
    Values,
    find_constant,
    is_member,
    is_whole,
)


@dataclass
class MemberReading:
    """What code shows of one member of a request.

    Attributes:
        several: whether it is read as a list.
        hooks: where it is read, as in `Flow`; none where only other actions read it.
        is_needed: whether a request without it is refused.
        is_sure: whether each request reads it.
        default: the value without it, None for none.
        literals: the values with which it is compared.
        is_closed: whether all other values are refused.
        kind: ``integer``, ``number``, ``date`` or ``date-time`` where it is converted, else "".
        rows: the models and keys by which it looks up rows.
    """

    several: bool = False
    hooks: set[str] = field(default_factory=set)
    is_needed: bool = False
    is_sure: bool = False
    default: Any = None
    literals: dict[Any, None] = field(default_factory=dict)
    is_closed: bool = False
    kind: str = ""
    rows: dict[tuple[Any, str], None] = field(default_factory=dict)

    def join(self, other: MemberReading) -> MemberReading:
        return MemberReading(
            self.several or other.several,
            self.hooks | other.hooks,
            self.is_needed or other.is_needed,
            self.is_sure or other.is_sure,
            other.default if self.default is None else self.default,
            self.literals | other.literals,
            self.is_closed or other.is_closed,
            self.kind or other.kind,
            self.rows | other.rows,
        )


@dataclass
class MemberReadings(SourceListener):
    found: dict[RequestPart, MemberReading] = field(default_factory=dict)

    def get(self, place: str) -> dict[str, MemberReading]:
        """Return the members of one place by name."""
        return {m.steps[0]: reading for m, reading in self.found.items() if m.place == place}

    @property
    def files(self) -> dict[str, MemberReading]:
        return self.get(FILES)

    def learn(self, member: RequestPart, run: Any, **facts: Any) -> None:
        known = self.found.get(member, MemberReading())
        self.found[member] = known.join(MemberReading(**facts))

    def take(self, part: Any, name: str, run: Any, **how: Any) -> None:
        if not is_whole(part):
            return
        facts: dict[str, Any] = {"several": how["several"]}
        if not run.is_dead:
            defaults = [run.reader.use(v) for v in how["default"] if isinstance(v, KnownValue)]
            is_plain = len(defaults) == len(how["default"]) == 1
            facts |= {
                "hooks": {run.hook},
                "is_sure": run.is_sure,
                "is_needed": how["is_strict"] and run.is_sure,
                "default": defaults[0] if is_plain else None,
            }
        self.learn(part.step(name), run, **facts)


@dataclass(frozen=True)
class SerializerCall:
    """A serializer that a handler makes of the body.

    Attributes:
        serializer_class: None for the view's ``get_serializer()``.
        many: None where this depends on the request.
        attribute: the attribute of the view that holds the class, "" for none.
        partial: None where this depends on the request. A serializer of a body that the handler
            changed counts as partial, since the handler may add what is required.
    """

    serializer_class: type[BaseSerializer[Any]] | None
    many: bool | None = False
    attribute: str = ""
    partial: bool | None = False


@dataclass
class HandlerReading(MemberReadings):
    """What a handler, and the code that it calls, does with the request.

    Attributes:
        calls: the names of the view's methods that are called; an asynchronous twin of one of REST
            framework's methods has the name of this method.
        reads_body: whether the body is read.
        reads_whole: whether the body is read as a whole, not only by keys.
        reads_form: whether the body is read as Django's ``request.POST``.
        reads_parts: whether the view's serializer is given other data than the body.
        hands_on: whether the request is passed to code that could not be read.
        made: the serializers that are made of the body, each with whether this method does it.
        asked: the serializers of `call_context(request).ask()`.
        writes_before_asking: whether rows are saved before. The view runs once more with the
            answer, and would save them twice.
        answers: what the handler may return.
        opened_by: the line that passes the body or the request on, "" for none.
    """

    calls: set[str] = field(default_factory=set)
    reads_body: bool = False
    reads_whole: bool = False
    reads_form: bool = False
    reads_files: bool = False
    reads_parts: bool = False
    hands_on: bool = False
    made: dict[SerializerCall, bool] = field(default_factory=dict)
    asked: dict[type[Serializer[Any]], None] = field(default_factory=dict)
    writes_before_asking: bool = False
    answers: Values = ()
    opened_by: str = ""

    @property
    def ignores_body(self) -> bool:
        return not self.reads_body and not self.hands_on

    @property
    def is_known(self) -> bool:
        """Whether all that is read of the body is known by name."""
        return self.reads_keys_alone and bool(self.keys or self.files)

    @property
    def reads_object(self) -> bool:
        """Whether the body is read by keys, whatever the call."""
        return self.reads_keys_alone or any(each.is_sure for each in self.keys.values())

    @property
    def reads_keys_alone(self) -> bool:
        return self.reads_body and not self.reads_whole and not self.hands_on

    @property
    def serializer_calls(self) -> list[SerializerCall]:
        # Those in branches for other methods count where there is no other.
        live = [call for call, is_live in self.made.items() if is_live]
        return live or list(self.made)

    @property
    def keys(self) -> dict[str, MemberReading]:
        return self.get(BODY)

    def hears(self, run: Any) -> bool:
        return not run.hook

    def touch(self, place: str, run: Any) -> None:
        if place in (BODY, FILES, "form"):
            self.reads_body = True
            self.reads_form |= place == "form"
            self.reads_files |= place == FILES

    def compute(self, part: Any, source: str, run: Any) -> None:
        self.reads_whole |= is_whole_body(part)

    def escape(self, value: Any, run: Any) -> None:
        is_part = isinstance(value, (RequestPart, NameOfMember))
        if is_part and not is_whole_body(value):
            return
        self.opened_by = self.opened_by or run.describe_line(value)
        self.hands_on |= not is_part
        self.reads_whole |= is_part

    def look(self, part: Any, run: Any) -> None:
        self.escape(part, run)

    def call(self, name: str, run: Any) -> None:
        self.calls.add(name)

    def make(self, kind: Any, keywords: Any, run: Any, **how: Any) -> None:
        bodies = [v for v in how["data"] if is_whole(v) and v.place == BODY]
        if bodies:
            self.reads_whole = True
            if kind is None or issubclass(kind, BaseSerializer):
                partial = None if None in keywords else find_constant(keywords.get("partial"))
                partial = partial if any(each.is_same for each in bodies) else True
                many = find_constant(keywords.get("many"))
                call = SerializerCall(kind, many, how["attribute"], partial)
                self.made[call] = self.made.get(call, False) or not run.is_dead
        elif "data" in keywords and kind is None:
            self.reads_parts = True

    def ask(self, kind: type, run: Any) -> None:
        self.asked[kind] = None
        self.writes_before_asking |= run.has_written


def is_whole_body(value: Any) -> bool:
    return is_whole(value) and value.place in (BODY, FILES)


@dataclass
class QueryReading(MemberReadings):
    """What code reads of the query.

    Attributes:
        computed: the source of names that only running code knows.
        schemas: the serializers and forms that are given the query as data.
        serializers: the other serializers that are made.
        opened_by: the line that passes the query or the request to code that could not be read.
        followed: the names of the methods that were read.
    """

    computed: dict[str, None] = field(default_factory=dict)
    schemas: dict[type, None] = field(default_factory=dict)
    serializers: dict[type, None] = field(default_factory=dict)
    opened_by: str = ""
    followed: frozenset[str] = frozenset()

    @property
    def names(self) -> dict[str, MemberReading]:
        """The query parameters by name."""
        names = self.get(QUERY)
        # "a[]" is the other way to write the list "a".
        twice = {n for n in names if n.endswith("[]") and n.removesuffix("[]") in names}
        return {name: each for name, each in names.items() if name not in twice}

    def union(self, other: QueryReading) -> QueryReading:
        both = self.found.keys() & other.found.keys()
        joined = {member: self.found[member].join(other.found[member]) for member in both}
        return QueryReading(
            self.found | other.found | joined,
            self.computed | other.computed,
            self.schemas | other.schemas,
            self.serializers | other.serializers,
            self.opened_by or other.opened_by,
            self.followed | other.followed,
        )

    def compute(self, part: Any, source: str, run: Any) -> None:
        if is_whole(part) and part.place == QUERY:
            self.computed[source] = None

    def escape(self, value: Any, run: Any) -> None:
        if is_member(value) or isinstance(value, NameOfMember):
            return
        if not isinstance(value, RequestPart) or value.place == QUERY:
            self.opened_by = self.opened_by or run.describe_line(value)

    def look(self, part: Any, run: Any) -> None:
        self.escape(part, run)

    def make(self, kind: Any, keywords: Any, run: Any, **how: Any) -> None:
        if kind is None:
            return
        if any(is_whole(v) and v.place == QUERY for v in how["data"]):
            self.schemas[kind] = None
        elif issubclass(kind, BaseSerializer):
            self.serializers[kind] = None


# How code writes what has the members.
WORDS = {
    BODY: "request.data",
    FILES: "request.data",
    SENT: "request.data",
    INITIAL_DATA: "self.initial_data",
    PARENT: "the object around",
}


def find_part_of_body(part: RequestPart) -> RequestPart | None:
    """Return a part by the data that has it, None for a part of the query or the path."""
    if part.place not in WORDS:
        return None
    return RequestPart(BODY if part.place in (FILES, SENT) else part.place, part.steps)


def write_part(part: RequestPart) -> str:
    steps = "".join("[...]" if name == ANY else f"[{name!r}]" for name in part.steps)
    return f"{WORDS[part.place]}{steps}"


@dataclass
class BodyReading(SourceListener):
    """What code takes of the body.

    Parts are those of ``body``; of ``initial_data``, the data of the serializer that is read; and
    of ``parent``, the data of the object around a field.

    Attributes:
        names: the members that are named, by the part that has them.
        opened: the parts where any member may be read, each with the line that reads it, and
            whether what is inside goes the same way.
        made: the serializers and forms that are given a part.
    """

    names: dict[RequestPart, dict[str, None]] = field(default_factory=dict)
    opened: dict[RequestPart, tuple[str, bool]] = field(default_factory=dict)
    made: dict[tuple[RequestPart, type], None] = field(default_factory=dict)

    def hears(self, run: Any) -> bool:
        return not run.is_dead

    def take(self, part: Any, name: str, run: Any, **how: Any) -> None:
        place = find_part_of_body(part)
        if place is not None:
            self.names.setdefault(place, {})[name] = None

    def compute(self, part: Any, source: str, run: Any) -> None:
        self.go_through(part, run)

    def go_through(self, part: Any, run: Any) -> None:
        if not part.is_of_fields:
            self.open(find_part_of_body(part), run, is_deep=False)

    def keep(self, part: Any, run: Any) -> None:
        # What is kept of the whole body may be read anywhere.
        self.escape(part, run)

    def escape(self, value: Any, run: Any) -> None:
        if value is THE_REQUEST:
            self.open(RequestPart(BODY), run, "hands the request on")
        elif isinstance(value, NameOfMember):
            self.go_through(value.part, run)
        elif isinstance(value, RequestPart):
            # Copies of the fields have no other member, but what they hold is as it was sent.
            self.open(find_part_of_body(value.step(ANY) if value.is_of_fields else value), run)

    def make(self, kind: Any, keywords: Any, run: Any, **how: Any) -> None:
        for part in how["data"] if kind is not None else ():
            if isinstance(part, RequestPart):
                place = find_part_of_body(part)
                if place is not None:
                    self.made[place, kind] = None

    def open(
        self, part: RequestPart | None, run: Any, says: str = "", *, is_deep: bool = True
    ) -> None:
        # The text of an exception quotes the body, and takes nothing of it.
        if part is None or run.is_raising:
            return
        known = self.opened.get(part)
        if known is None or (is_deep and not known[1]):
            words = says or f"reads {write_part(part)}"
            self.opened[part] = f"{run.place} {words}", is_deep
