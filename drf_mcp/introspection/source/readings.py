"""What source shows of an endpoint: its handler, its body, and all that reads the query."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.serializers import BaseSerializer, Serializer

from drf_mcp.introspection.source.calls import CallReader, find_constant
from drf_mcp.introspection.source.choices import name_serializers
from drf_mcp.introspection.source.expressions import ExpressionReader
from drf_mcp.introspection.source.members import (
    find_member,
    find_synchronous_name,
    is_framework_code,
    unwrap_member,
)
from drf_mcp.introspection.source.overrides import CONVERSIONS
from drf_mcp.introspection.source.reader import Reader, SourceListener, inherits_all
from drf_mcp.introspection.source.statements import StatementReader
from drf_mcp.introspection.source.trees import FunctionSource
from drf_mcp.introspection.source.values import (
    AS_HANDLER,
    AS_HOOK,
    BODY,
    FILES,
    INITIAL_DATA,
    NONE,
    PATH,
    QUERY,
    Bindings,
    Flow,
    KnownValue,
    RequestMember,
    RequestPart,
    Values,
    read_parameters,
)


class FunctionRun(StatementReader, ExpressionReader, CallReader):
    """Reads one function."""


class SourceReader(Reader):
    run_class = FunctionRun


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

    def join(self, other: MemberReading | None) -> MemberReading:
        if other is None:
            return self
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


class MemberReadings(SourceListener):
    def __init__(self) -> None:
        self.found: dict[RequestMember, MemberReading] = {}

    def get(self, place: str) -> dict[str, MemberReading]:
        """Return the members of one place by name."""
        return {m.name: reading for m, reading in self.found.items() if m.place == place}

    def __getitem__(self, member: RequestMember) -> MemberReading:
        return self.found.setdefault(member, MemberReading())

    def look_up(self, member: RequestMember, run: FunctionRun, **how: Any) -> None:
        reading = self[member]
        reading.several |= how["several"]
        if run.is_dead:
            return
        reading.hooks.add(run.hook)
        reading.is_sure |= run.is_sure
        defaults = [run.reader.use(v) for v in how["default"] if isinstance(v, KnownValue)]
        if len(defaults) == len(how["default"]) == 1 and reading.default is None:
            reading.default = defaults[0]
        reading.is_needed |= how["is_strict"] and run.is_sure

    def fall_back(self, member: RequestMember, default: KnownValue, run: FunctionRun) -> None:
        reading = self[member]
        reading.default = run.reader.use(default) if reading.default is None else reading.default

    def compare(self, member: RequestMember, literals: tuple[Any, ...], run: FunctionRun) -> None:
        self[member].literals |= dict.fromkeys(literals)

    def close(self, member: RequestMember, literals: tuple[Any, ...], run: FunctionRun) -> None:
        self[member].is_closed = True

    def need(self, member: RequestMember, run: FunctionRun) -> None:
        self[member].is_needed = True

    def convert(self, member: RequestMember, kind: str, run: FunctionRun) -> None:
        self[member].kind = kind

    def find_row(self, member: RequestMember, model: Any, key: str, run: FunctionRun) -> None:
        self[member].rows[model, key] = None


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


class HandlerReading(SourceListener):
    """What a handler, and the code that it calls, does with the request.

    Attributes:
        calls: the names of the view's methods that are called; an asynchronous twin of one of REST
            framework's methods has the name of this method.
        reads_body: whether the body is read.
        reads_whole: whether the body is read as a whole, not only by keys.
        reads_form: whether the body is read as Django's ``request.POST``.
        reads_parts: whether the view's serializer is given other data than the body.
        hands_on: whether the request is passed to code that could not be read.
        serializer_calls: the serializers that are made of the body.
        keys: the keys that are read of the body.
        files: the keys that are read of the files.
        asked: the serializers of `call_context(request).ask()`.
        writes_before_asking: whether rows are saved before. The view runs once more with the
            answer, and would save them twice.
        answers: what the handler may return.
        opened_by: the line that passes the body or the request on, "" for none.
    """

    answers: Values = ()
    opened_by = ""

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.reads_body = self.reads_whole = self.reads_form = self.reads_parts = False
        self.reads_files = self.hands_on = self.writes_before_asking = False
        self.made: dict[SerializerCall, bool] = {}
        self.members = MemberReadings()
        self.asked: dict[type[Serializer[Any]], None] = {}

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
        return self.members.get(BODY)

    @property
    def files(self) -> dict[str, MemberReading]:
        return self.members.get(FILES)

    def touch(self, place: str, run: FunctionRun) -> None:
        if is_read(run) and place in (BODY, FILES, "form"):
            self.reads_body = True
            self.reads_form |= place == "form"
            self.reads_files |= place == FILES

    def look_up(self, member: RequestMember, run: FunctionRun, **how: Any) -> None:
        if is_read(run):
            self.members.look_up(member, run, **how)

    def compute(self, place: str, source: str, run: FunctionRun) -> None:
        if is_read(run) and place in (BODY, FILES):
            self.reads_whole = True

    def escape(self, value: Any, run: FunctionRun) -> None:
        if not is_read(run) or (isinstance(value, RequestPart) and value.place in (QUERY, PATH)):
            return
        self.opened_by = self.opened_by or run.describe_line(value)
        if not isinstance(value, RequestPart):
            self.hands_on = True
        elif value.place in (BODY, FILES):
            self.reads_whole = True

    def call(self, name: str, run: FunctionRun) -> None:
        if is_read(run):
            self.calls.add(name)

    def make(self, kind: Any, keywords: Any, run: FunctionRun, **how: Any) -> None:
        if not is_read(run):
            return
        bodies = [v for v in how["data"] if isinstance(v, RequestPart) and v.place == BODY]
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

    def make_any(self, function: Any, keywords: Any, run: Any) -> None:
        if is_read(run):
            for kind in name_serializers(run.reader.owner, run.source, function):
                self.make(kind, keywords, run, attribute="", data=keywords["data"])

    def note(self, event: str, *values: Any) -> None:
        if is_read(values[-1]):
            getattr(self.members, event)(*values)

    def compare(self, *values: Any) -> None:
        self.note("compare", *values)

    def fall_back(self, *values: Any) -> None:
        self.note("fall_back", *values)

    def close(self, *values: Any) -> None:
        self.note("close", *values)

    def need(self, *values: Any) -> None:
        self.note("need", *values)

    def convert(self, *values: Any) -> None:
        self.note("convert", *values)

    def find_row(self, *values: Any) -> None:
        self.note("find_row", *values)

    def ask(self, kind: type, run: FunctionRun) -> None:
        if is_read(run):
            self.asked[kind] = None
            self.writes_before_asking |= run.has_written


def is_read(run: FunctionRun) -> bool:
    return not run.hook


def read_handler(owner: type, name: str) -> HandlerReading | None:
    """Return what a method, and the methods that it calls, do; None without readable source."""
    return follow_handler(owner, name)


# A cached function cannot be called with classes: mypy does not take them for hashable.
@functools.lru_cache(maxsize=4096)
def follow_handler(owner: type, name: str) -> HandlerReading | None:
    if not is_readable(owner, name):
        return None
    reading = HandlerReading()
    reading.answers = SourceReader(owner, reading).read(name, flow=AS_HANDLER)
    return reading


def is_readable(owner: type, name: str) -> bool:
    function, _home = find_member(owner, name)
    return inspect.isfunction(function) and FunctionSource(function).tree is not None


@dataclass
class QueryReading:
    """What code reads of the query.

    Attributes:
        names: the query parameters by name.
        computed: the source of names that only running code knows.
        schemas: the serializers and forms that are given the query as data.
        serializers: the other serializers that are made.
        hooks: the names of the methods that were read.
        opened_by: the line that passes the query or the request to code that could not be read.
        keys: the members of the body that are read.
        files: the files that are read.
    """

    names: dict[str, MemberReading] = field(default_factory=dict)
    computed: dict[str, None] = field(default_factory=dict)
    schemas: dict[type, None] = field(default_factory=dict)
    serializers: dict[type, None] = field(default_factory=dict)
    hooks: set[str] = field(default_factory=set)
    opened_by: str = ""
    keys: dict[str, MemberReading] = field(default_factory=dict)
    files: dict[str, MemberReading] = field(default_factory=dict)

    def union(self, other: QueryReading) -> QueryReading:
        names = {n: reading.join(other.names.get(n)) for n, reading in self.names.items()}
        return QueryReading(
            names | {n: reading for n, reading in other.names.items() if n not in names},
            self.computed | other.computed,
            self.schemas | other.schemas,
            self.serializers | other.serializers,
            self.hooks | other.hooks,
            self.opened_by or other.opened_by,
            self.keys | other.keys,
            self.files | other.files,
        )


class QueryListener(MemberReadings):
    def __init__(self) -> None:
        super().__init__()
        self.reading = QueryReading()

    def compute(self, place: str, source: str, run: FunctionRun) -> None:
        if place == QUERY:
            self.reading.computed[source] = None

    def escape(self, value: Any, run: FunctionRun) -> None:
        if not isinstance(value, RequestPart) or value.place == QUERY:
            self.reading.opened_by = self.reading.opened_by or run.describe_line(value)

    def make(self, kind: Any, keywords: Any, run: FunctionRun, **how: Any) -> None:
        if kind is None:
            return
        if any(isinstance(v, RequestPart) and v.place == QUERY for v in how["data"]):
            self.reading.schemas[kind] = None
        elif issubclass(kind, BaseSerializer):
            self.reading.serializers[kind] = None

    def finish(self, reader: Reader) -> QueryReading:
        reading, names = self.reading, self.get(QUERY)
        # "a[]" is the other way to write the list "a".
        twice = {n for n in names if n.endswith("[]") and n.removesuffix("[]") in names}
        reading.names = {name: each for name, each in names.items() if name not in twice}
        reading.keys = {**self.get(INITIAL_DATA), **self.get(BODY)}
        reading.files = self.get(FILES)
        reading.hooks = {find_synchronous_name(name) for name in reader.followed}
        return reading


NO_FACTS: Mapping[str, str] = {}


class SharedReading:
    # Most views change nothing that is read of their bases: one reading serves all of them.

    def __init__(
        self, owner: type, name: str, method: str = "", facts: Mapping[str, str] = NO_FACTS
    ) -> None:
        self.handler, self.query = HandlerReading(), QueryListener()
        is_view = bool(method)
        listeners = (self.handler, self.query) if is_view else (self.query,)
        facts = {"action": name, "method": method} if is_view else facts
        self.reader = SourceReader(owner, *listeners, **facts)
        if is_view:
            self.reader.read("dispatch")
        flow = AS_HANDLER if is_view else AS_HOOK.enter(name)
        given = find_path_arguments(owner, name) if is_view else NONE
        self.handler.answers = self.reader.read(name, flow=flow, given=given)
        self.reading = self.query.finish(self.reader)

    @classmethod
    def of(cls, owner: type, name: str, method: str = "") -> SharedReading:
        shared = find_shared_readings(owner.__mro__[1:], name, method)
        for each in shared:
            if inherits_all(owner, each.reader):
                return each
        own = cls(owner, name, method)
        if not shared and inherits_all(owner, own.reader):
            shared.append(own)
        return own


def find_path_arguments(owner: type, name: str) -> Bindings:
    """Return the parameters of a handler that have values of the path."""
    names, _defaults = read_parameters(find_member(owner, name)[0])
    return frozenset((each, (RequestMember(PATH, each),)) for each in names[2:] if each != "format")


@functools.lru_cache(maxsize=1024)
def find_shared_readings(bases: tuple[type, ...], name: str, method: str) -> list[SharedReading]:
    return []  # filled by the caller, and kept by the cache


def read_query_of_member(owner: Any, name: str, action: str, method: str) -> QueryReading:
    """Return what a method of a filter backend or a paginator reads."""
    return follow_member(owner, name, action, method)


@functools.lru_cache(maxsize=1024)
def follow_member(owner: type, name: str, action: str, method: str) -> QueryReading:
    found = SharedReading.of(owner, name)
    if found.reader.facts_asked:
        found = SharedReading(owner, name, facts={"action": action, "method": method})
    return found.reading


def read_endpoint(
    view_class: Any, name: str, method: str
) -> tuple[HandlerReading | None, QueryReading]:
    """Return what the handler of a view does, and what all code of the view reads of the query.

    Args:
        method: the HTTP method; branches for other methods and actions are not read.
    """
    return follow_endpoint(view_class, name, method)


@functools.lru_cache(maxsize=4096)
def follow_endpoint(
    view_class: type, name: str, method: str
) -> tuple[HandlerReading | None, QueryReading]:
    found = SharedReading.of(view_class, name, method)
    return found.handler if is_readable(view_class, name) else None, found.reading


def read_query_of_class(
    owner: Any, hook: str = "shape", action: str = "", method: str = ""
) -> QueryReading:
    """Return what the methods of a serializer, field or filter set read."""
    reading, facts_asked = follow_class(owner, hook, "", "")
    return follow_class(owner, hook, action, method)[0] if facts_asked else reading


@functools.lru_cache(maxsize=2048)
def follow_class(owner: type, hook: str, action: str, method: str) -> tuple[QueryReading, bool]:
    flow = AS_HOOK._replace(hook=hook)
    listener = QueryListener()
    reader = SourceReader(owner, listener, action=action, method=method)
    for name in dir(owner):
        member, home = find_member(owner, name)
        if home is None or is_framework_code(home):
            continue
        if name in CONVERSIONS:
            follow_conversion(reader, unwrap_member(member), home, flow)
        else:
            reader.read(name, flow=flow)
    return listener.finish(reader), reader.facts_asked


def follow_conversion(reader: Reader, function: Any, home: type, flow: Flow) -> None:
    # The argument is the data of the whole serializer.
    names = getattr(getattr(function, "__code__", None), "co_varnames", ())[1:2]
    given = frozenset((name, (RequestPart(INITIAL_DATA),)) for name in names) or NONE
    reader.follow(function, home, reader.instance, given, flow)
