"""One reader of source: it follows methods and what they call, and informs listeners."""

from __future__ import annotations

import ast
import functools
import inspect
from types import CodeType
from typing import Any

from drf_mcp.introspection.source.members import (
    find_member,
    find_members_used,
    is_framework_code,
    read_code_names,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import REQUEST
from drf_mcp.introspection.source.values import (
    AS_HOOK,
    INITIAL_DATA,
    NONE,
    PATH,
    QUERY,
    THE_REQUEST,
    UNKNOWN,
    Bindings,
    Flow,
    Keywords,
    KnownValue,
    ReadMethod,
    ReadObject,
    RequestMember,
    RequestPart,
    Values,
)

MOST, DEEPEST = 300, 20
# A function without these names, and without such arguments, reads nothing of a request.
TELLING = REQUEST | {
    "query_params",
    "GET",
    "initial_data",
    "get_initial",
    "base_filters",
    "context",
}


class SourceListener:
    """Takes what it needs of what the reader comes across.

    ``run`` is the function that is being read: behind which hook (``run.hook``), and whether a
    branch surrounds the place (``is_sure``, ``is_dead``).
    """

    def touch(self, place: str, run: Any) -> None:
        """A part of the request is named."""

    def look_up(self, member: RequestMember, run: Any, **how: Any) -> None:
        """A member is read; ``how``: ``several``, ``default`` and ``is_strict``."""

    def compute(self, place: str, source: str, run: Any) -> None:
        """A member is read whose name only running code knows."""

    def escape(self, value: Any, run: Any) -> None:
        """A part is used as a whole, or the request or the view goes to code that is not read."""

    def call(self, name: str, run: Any) -> None:
        """A method of the view is called."""

    def make(self, kind: Any, keywords: dict[str | None, Any], run: Any, **how: Any) -> None:
        """A serializer or a form is made; ``kind`` is None for the view's own."""

    def make_any(self, function: ast.AST, keywords: Keywords, run: Any) -> None:
        """Something is made of data by a function or class that only running code knows."""

    def compare(self, member: RequestMember, literals: tuple[Any, ...], run: Any) -> None:
        """A member is compared with values."""

    def close(self, member: RequestMember, literals: tuple[Any, ...], run: Any) -> None:
        """All other values of a member are refused."""

    def need(self, member: RequestMember, run: Any) -> None:
        """A request without the member is refused."""

    def convert(self, member: RequestMember, kind: str, run: Any) -> None:
        """A member is made a number or a date."""

    def fall_back(self, member: RequestMember, default: KnownValue, run: Any) -> None:
        """Another value is taken where a member is not sent, or is empty."""

    def find_row(self, member: RequestMember, model: Any, key: str, run: Any) -> None:
        """A row is looked up by a member."""

    def ask(self, kind: type, run: Any) -> None:
        """The caller is asked for the fields of a serializer."""


class Reader:
    """Reads methods of a class, and the methods and functions that these call.

    Attributes:
        facts: what is known of attributes: ``action``, and ``method`` of the request.
        followed: the names of the methods and properties that were read.
        asked: the names of the attributes whose values were used.
        facts_asked: whether a fact would be used.
        run_class: reads one function.
    """

    run_class: Any = None

    def __init__(self, owner: type, *listeners: SourceListener, **facts: Any) -> None:
        self.owner = owner
        self.instance = ReadObject(owner)
        self.listeners = listeners
        self.facts = facts
        self.results: dict[tuple[Any, ...], Values] = {}
        self.members: set[tuple[str, type | None, Flow]] = set()
        self.followed: set[str] = set()
        self.asked: set[str] = {"base_filters"}
        self.facts_asked = False

    def read(
        self,
        name: str,
        after: type | None = None,
        flow: Flow = AS_HOOK,
        given: Bindings = NONE,
    ) -> Values:
        """Read a member of the class that code of a framework calls."""
        self.followed.add(name)
        member, home = find_member(self.owner, name, after)
        return self.follow(unwrap_member(member), home, self.instance, given, flow)

    def tell(self, event: str, *values: Any, **how: Any) -> None:
        for listener in self.listeners:
            getattr(listener, event)(*values, **how)

    def follow(
        self,
        function: Any,
        home: type | None,
        instance: ReadObject | None,
        given: Bindings,
        flow: Flow,
    ) -> Values:
        """Return what a function may return."""
        found: Values | None = None
        # A class may take over a method of another class: super() in it starts from the other.
        for layer, is_wrapper in unwrap_function(function):
            home = self.find_home(layer) or home
            result = self.follow_layer(layer, home, instance, given, flow, is_wrapper)
            found = result if found is None else found
        return UNKNOWN if found is None else found

    def find_home(self, function: Any) -> type | None:
        mro, name = self.owner.__mro__, function.__name__
        return next((base for base in mro if vars(base).get(name) is function), None)

    def follow_layer(
        self,
        function: Any,
        home: type | None,
        instance: ReadObject | None,
        given: Bindings,
        flow: Flow,
        is_wrapper: bool,
    ) -> Values:
        run = function.__code__, given, flow._replace(depth=0), instance
        if run in self.results:
            return self.results[run]
        self.results[run] = UNKNOWN
        is_own = instance is self.instance
        if is_framework_code(function):
            by_names = bool(flow.hook) or not is_own or is_wrapper
        else:
            by_names = bool(flow.hook) and not given and is_own and not self.reads_request(function)
        if by_names:
            self.follow_names(function, home, flow)
        else:
            made = self.run_class(self, function, home, instance, given, flow, is_wrapper)
            if made.tree is not None and len(self.results) <= MOST and flow.depth <= DEEPEST:
                self.results[run] = made.run()
            else:
                passed = (value for _name, values in given for value in values)
                made.escape((THE_REQUEST,) if is_own else tuple(passed))
        return self.results[run]

    def reads_request(self, function: Any) -> bool:
        names, keys = read_code_names(function.__code__)
        telling = TELLING | self.instance.attributes.keys()
        is_heard = not telling.isdisjoint(names) or "request" in keys
        return is_heard or passes_self(function.__code__)

    def follow_names(self, function: Any, home: type | None, flow: Flow) -> None:
        # Frameworks call hooks that the project overrides.
        for name, is_super in find_members_used(function.__code__):
            after = home if is_super else None
            hook = flow.enter(name)
            met = name, after, hook._replace(depth=0)
            if met not in self.members:
                self.members.add(met)
                self.followed.add(name)
                if hasattr(self.owner, name):
                    self.read(name, after, hook)

    def get_attribute(self, instance: ReadObject, name: str, flow: Flow) -> Values:
        """Return what an attribute of an instance may be."""
        if name in instance.attributes:
            return instance.attributes[name]
        if name in REQUEST:
            return (THE_REQUEST,)
        if name == "paginator" and instance is self.instance:
            return self.get_paginator()
        if name == "kwargs" and instance is self.instance:
            return (RequestPart(PATH),)
        if name == INITIAL_DATA:
            return (RequestPart(INITIAL_DATA),)
        # A filter set of django-filter holds the query in self.data.
        if name == "data" and hasattr(instance.kind, "base_filters"):
            return (RequestPart(QUERY),)
        if instance is self.instance and self.facts.get(name):
            return (KnownValue(self.facts[name], is_fact=True),)
        if instance is self.instance:
            self.followed.add(name)
        member, home = find_member(instance.kind, name)
        function = unwrap_member(member)
        if isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member):
            return (ReadMethod(instance, name),)
        if function is not member:
            if is_framework_code(function):
                return UNKNOWN
            return self.follow(function, home, instance, NONE, flow)
        return UNKNOWN if home is None else (KnownValue(member, name),)

    def get_paginator(self) -> Values:
        self.asked.add("pagination_class")
        kind = getattr(self.owner, "pagination_class", None)
        return (ReadObject(kind),) if isinstance(kind, type) else UNKNOWN

    def use(self, value: KnownValue) -> Any:
        # A subclass with another value of this attribute is read anew.
        if value.attribute:
            self.asked.add(value.attribute)
        return value.value


@functools.lru_cache(maxsize=4096)
def passes_self(code: CodeType) -> bool:
    return ("", False) in find_members_used(code)


def inherits_all(owner: type, reader: Reader) -> bool:
    """Return whether a class has nothing of its own that the reader came across."""
    return reader.followed.isdisjoint(find_changed(owner)) and reader.asked.isdisjoint(vars(owner))


@functools.lru_cache(maxsize=1024)
def find_changed(owner: type) -> frozenset[str]:
    # The members that are new in a class, and its methods. A value in place of another value is no
    # change: only `asked` says whether it was used.
    members = (
        (name, value, *find_member(owner, name, owner)) for name, value in vars(owner).items()
    )
    return frozenset(
        name
        for name, value, hidden, home in members
        if home is None or any(inspect.isfunction(unwrap_member(each)) for each in (value, hidden))
    )
