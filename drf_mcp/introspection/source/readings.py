"""What source shows of an endpoint: its handler, body and query, and what code chooses by."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.calls import CallReader
from drf_mcp.introspection.source.expressions import ExpressionReader
from drf_mcp.introspection.source.members import (
    FunctionSource,
    cached,
    find_member,
    find_own,
    is_framework_code,
    unwrap_member,
)
from drf_mcp.introspection.source.reader import Reader
from drf_mcp.introspection.source.request_members import (
    BodyReading,
    HandlerReading,
    QueryReading,
)
from drf_mcp.introspection.source.statements import StatementReader
from drf_mcp.introspection.source.values import (
    AS_HANDLER,
    AS_HOOK,
    INITIAL_DATA,
    NONE,
    PARENT,
    PATH,
    SIMPLE,
    THE_REQUEST,
    VARIABLE,
    Bindings,
    Flow,
    RequestPart,
    SourceListener,
    is_dull,
    read_parameters,
)

# The steps of a view around its handler.
STEPS = (
    "setup",
    "initial",
    "initialize_request",
    "check_permissions",
    "check_throttles",
    "determine_version",
    "get_authenticators",
    "get_permissions",
    "get_throttles",
    "get_object",
    "get_queryset",
    "filter_queryset",
    "get_serializer",
    "get_serializer_class",
    "get_serializer_context",
    "finalize_response",
)
SAVING = {
    "POST": ("perform_create",),
    "PUT": ("perform_update",),
    "PATCH": ("perform_update",),
    "DELETE": ("perform_destroy",),
}
# The methods that are given data, and where they have it from.
GIVEN_PLACES = {
    "to_internal_value": INITIAL_DATA,
    "run_validation": INITIAL_DATA,
    "get_value": PARENT,
}


class FunctionRun(StatementReader, ExpressionReader, CallReader):
    """Reads one function."""


class SourceReader(Reader):
    run_class = FunctionRun


@cached
def read_handler(owner: type, name: str) -> HandlerReading | None:
    """Return what a method, and the methods that it calls, do; None without readable source."""
    if not is_readable(owner, name):
        return None
    reading = HandlerReading()
    reading.answers = SourceReader(owner, reading).read(name, flow=AS_HANDLER)
    return reading


def is_readable(owner: type, name: str) -> bool:
    function = find_member(owner, name)
    return inspect.isfunction(function) and FunctionSource(function).tree is not None


# The attributes of an instance that are true or false.
Flags: TypeAlias = tuple[tuple[str, bool], ...]


class SharedReading:
    # Most classes add no code to their bases: one reading serves all of them.

    known: dict[Any, list[SharedReading]] = {}

    def __init__(self, owner: type, view_class: Any = None, **facts: Any) -> None:
        self.handler, self.query, self.body = HandlerReading(), QueryReading(), BodyReading()
        listeners = self.handler, self.query, self.body
        self.reader = SourceReader(owner, *listeners, view_class=view_class, **facts)

    @classmethod
    def of(cls, owner: type, key: Any, read: Callable[[], SharedReading]) -> Any:
        """Return a reading that serves a class, by default what ``read`` returns."""
        known = cls.known.setdefault((key, *filter(has_code, owner.__mro__)), [])
        for each in known:
            if each.reader.serves(owner):
                return each
        known.append(read())
        return known[-1]

    def read_endpoint(self, name: str) -> SharedReading:
        reader = self.reader
        reader.read("dispatch")
        given = find_handler_arguments(find_member(reader.owner, name))
        self.handler.answers = reader.read(name, flow=AS_HANDLER, given=given)
        self.query.followed = frozenset(reader.followed)
        # Steps that code of a framework may take besides are read for the body alone.
        reader.listeners = (self.body,)
        for step in (*STEPS, *SAVING.get(reader.facts["method"], ())):
            reader.read(step)
        return self

    def read_class(self, hook: str) -> SharedReading:
        reader, flow = self.reader, AS_HOOK._replace(hook=hook)
        # Twice, since one method reads what another one has kept.
        for _ in range(2):
            for name in dir(reader.owner):
                function = unwrap_member(find_member(reader.owner, name))
                if is_framework_code(function) or not inspect.isfunction(function):
                    continue
                if place := GIVEN_PLACES.get(name):
                    follow_conversion(reader, function, flow, place)
                else:
                    reader.read(name, flow=flow)
            if all(map(is_dull, reader.instance.attributes.values())):
                break
            reader.results.clear()
            reader.members.clear()
        return self


@cached
def has_code(owner: type) -> bool:
    members = map(unwrap_member, vars(owner).values())
    return is_framework_code(owner) or any(map(inspect.isfunction, members))


def find_handler_arguments(function: Any) -> Bindings:
    """Return what the parameters of a handler have: the request, and values of the path."""
    names = [each.name for each in read_parameters(function) if each.kind not in VARIABLE][1:]
    given = {each: (RequestPart(PATH, (each,)),) for each in names[1:] if each != "format"}
    return frozenset({**dict.fromkeys(names[:1], (THE_REQUEST,)), **given}.items())


def follow_conversion(reader: Reader, function: Any, flow: Flow, place: str) -> None:
    # The argument is the data of the whole serializer, or of the object around a field.
    names = getattr(getattr(function, "__code__", None), "co_varnames", ())[1:2]
    given = frozenset((name, (RequestPart(place),)) for name in names) or NONE
    reader.follow(function, reader.instance, given, flow)


def read_endpoint(
    view_class: Any, name: str, method: str
) -> tuple[HandlerReading | None, QueryReading, BodyReading]:
    """Return what the handler of a view does, and what all code of the view reads.

    Args:
        method: the HTTP method; branches for other methods and actions are not read.
    """

    def read() -> SharedReading:
        return SharedReading(view_class, action=name, method=method).read_endpoint(name)

    found = SharedReading.of(view_class, (name, method), read)
    is_known = is_readable(view_class, name)
    return found.handler if is_known else None, found.query, found.body


def read_class(
    owner: Any,
    hook: str = "shape",
    action: str = "",
    method: str = "",
    *,
    view_class: Any = None,
    flags: Flags = (),
) -> tuple[QueryReading, BodyReading]:
    """Return what the methods of a serializer, field, filter set or permission read.

    Args:
        view_class: the class of the view in the context.
        flags: attributes of the instance whose values are known; a branch for another value is not
            read.
    """
    found = follow_class(owner, hook, flags, None)
    asked, facts = found.reader, dict[str, Any](flags)
    if asked.view_asked and view_class is not None:
        found = follow_class(owner, hook, flags, view_class)
    if asked.facts_asked and (action or method):
        facts |= {"action": action, "method": method}
        found = SharedReading(owner, view_class, **facts).read_class(hook)
    return found.query, found.body


@cached
def follow_class(owner: type, hook: str, flags: Flags, view_class: Any) -> SharedReading:
    def read() -> SharedReading:
        return SharedReading(owner, view_class, **dict(flags)).read_class(hook)

    key = hook, flags, view_class
    found: SharedReading = SharedReading.of(owner, key, read)
    return found


class Unread:
    """Owns no function that is read."""


def read_function(function: Any) -> BodyReading:
    """Return what a function takes of the body, such as a validator."""
    shared = SharedReading(Unread)
    shared.reader.follow(function, None, NONE, AS_HOOK)
    return shared.body


@dataclass
class ChoiceReading(SourceListener):
    """What the functions behind a choice compare with, and name.

    Attributes:
        values: the values that something is compared with, the first first.
        classes: the serializers that are named.
        is_unreadable: whether some of the code has no readable source.
    """

    values: dict[Any, None] = field(default_factory=dict)
    classes: dict[type[BaseSerializer[Any]], None] = field(default_factory=dict)
    is_unreadable: bool = False

    def hears(self, run: Any) -> bool:
        return not run.is_dead

    def name(self, value: Any, run: Any) -> None:
        is_serializer = inspect.isclass(value) and issubclass(value, BaseSerializer)
        if is_serializer and not is_framework_code(value):
            self.classes[value] = None

    def weigh(self, values: Iterable[Any], run: Any, **how: Any) -> None:
        found = [value for each in values for value in flatten(each)]
        # Sizes are compared with what lies above and below.
        by_size = how.get("by_size")
        numbers = [value for value in found if by_size and type(value) in (int, float)]
        found += [value + step for value in numbers for step in (1, -1)]
        self.values.update((value, None) for value in found if value not in ("", None))

    def lose(self, function: Any, run: Any) -> None:
        self.is_unreadable = True


def flatten(value: Any) -> Iterator[Any]:
    """Yield the simple values in a constant."""
    if isinstance(value, Enum):
        yield value.value
    elif isinstance(value, SIMPLE):
        yield value
    elif isinstance(value, type) and issubclass(value, Enum):
        yield from (each.value for each in value)
    elif isinstance(value, (list, tuple, set, frozenset, Mapping)):
        for each in value:
            yield from flatten(each)


def read_choice(members: Iterable[tuple[type, str]], facts: Mapping[str, Any]) -> ChoiceReading:
    """Return what the project's code behind members of classes chooses by.

    Args:
        facts: the action and the method, by the names of their attributes.
    """
    reading, names = ChoiceReading(), dict[Any, list[str]]()
    for owner, name in members:
        names.setdefault(owner, []).append(name)
    for owner, several in names.items():
        own = follow_choice(owner, tuple(several), tuple(sorted(facts.items())))
        reading.values |= own.values
        reading.classes |= own.classes
        reading.is_unreadable |= own.is_unreadable
    return reading


@cached
def follow_choice(
    owner: type, names: tuple[str, ...], facts: tuple[tuple[str, Any], ...]
) -> ChoiceReading:
    reading = ChoiceReading()
    reader = SourceReader(owner, reading, follows_all=True, **dict(facts))
    for name in names:
        if has_own(owner, (name,)):
            reader.read(name)
    return reading


@cached
def has_own(owner: type, names: tuple[str, ...]) -> bool:
    """Return whether the project wrote code behind one of the members of a class."""
    return any(any(True for _ in find_own(owner, name)) for name in names)
