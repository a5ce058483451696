"""One reader of source: it follows methods and what they call, and informs listeners."""

from __future__ import annotations

import inspect
from typing import Any

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.members import (
    REQUEST,
    FunctionSource,
    find_member,
    find_members_used,
    is_framework_code,
    read_code_names,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.values import (
    AS_HOOK,
    INITIAL_DATA,
    NONE,
    PATH,
    QUERY,
    SENT,
    THE_CONTEXT,
    THE_FIELDS,
    THE_REQUEST,
    UNKNOWN,
    Bindings,
    Flow,
    KnownValue,
    ReadMethod,
    ReadObject,
    RequestPart,
    SourceListener,
    Values,
    is_dull,
)

MOST, DEEPEST = 300, 20
FIELD_NAMES = frozenset({"fields", "_writable_fields", "_declared_fields"})
# A function without these names, and without such arguments, reads nothing of a request.
TELLING = REQUEST | {
    "query_params",
    "GET",
    "initial_data",
    "get_initial",
    "base_filters",
    "context",
}


class Reader:
    """Reads methods of a class, and the methods and functions that these call.

    Args:
        view_class: the class of the view in the context of a serializer, None where it is not
            known.
        follows_all: whether functions that are given nothing of the request are read as well, and
            no code of a framework.

    Attributes:
        facts: what is known of attributes: ``action``, ``method`` of the request, and flags.
        followed: the names of the methods and properties that were read.
        asked: the names of the attributes whose values were used, or that are missing.
        facts_asked: whether a fact would be used.
        view_asked: whether the view would be used.
        run_class: reads one function.
    """

    run_class: Any = None

    def __init__(
        self,
        owner: type,
        *listeners: SourceListener,
        view_class: Any = None,
        follows_all: bool = False,
        **facts: Any,
    ) -> None:
        self.owner = owner
        self.view_class = view_class
        self.follows_all = follows_all
        self.instance = ReadObject(owner, has_request=True)
        self.listeners = listeners
        self.facts = facts
        self.results: dict[tuple[Any, ...], Values] = {}
        self.members: set[tuple[str, type | None, Flow]] = set()
        self.followed: set[str] = set()
        self.asked = {"base_filters"}
        self.facts_asked = self.view_asked = False
        self.depth = 0

    def read(
        self,
        name: str,
        after: type | None = None,
        flow: Flow = AS_HOOK,
        given: Bindings = NONE,
    ) -> Values:
        """Read a member of the class that code of a framework calls."""
        self.followed.add(name)
        function = unwrap_member(find_member(self.owner, name, after))
        return self.follow(function, self.instance, given, flow)

    def tell(self, event: str, *values: Any, **how: Any) -> None:
        for listener in self.listeners:
            if listener.hears(values[-1]):
                getattr(listener, event)(*values, **how)

    def follow(
        self, function: Any, instance: ReadObject | None, given: Bindings, flow: Flow
    ) -> Values:
        """Return what a function may return."""
        layers = unwrap_function(function)
        found = [self.follow_layer(each, instance, given, flow, is_w) for each, is_w in layers]
        return found[0] if found else UNKNOWN

    def follow_layer(
        self,
        function: Any,
        instance: ReadObject | None,
        given: Bindings,
        flow: Flow,
        is_wrapper: bool,
    ) -> Values:
        if self.follows_all and is_framework_code(function):
            return UNKNOWN
        run = function.__code__, given, flow, instance
        if run in self.results:
            return self.results[run]
        self.results[run] = UNKNOWN
        is_own = instance is self.instance
        others = () if instance is None else (instance,)
        if is_framework_code(function) and (flow.hook or not is_own or is_wrapper):
            self.follow_names(function, flow)
        elif not self.reads_nothing(function, *(values for _, values in given), others):
            made = self.run_class(self, function, instance, given, flow, is_wrapper)
            if made.tree is not None and len(self.results) <= MOST and self.depth <= DEEPEST:
                self.depth += 1
                self.results[run] = made.run()
                self.depth -= 1
            else:
                self.tell("lose", function, made)
                passed = (value for _name, values in given for value in values)
                made.escape((THE_REQUEST,) if is_own else tuple(passed))
        return self.results[run]

    def reads_nothing(self, function: Any, *given: Values) -> bool:
        is_given = self.follows_all or not all(map(is_dull, given))
        return not is_given and not names_any(function, TELLING)

    def follow_names(self, function: Any, flow: Flow) -> None:
        # Frameworks call hooks that the project overrides.
        home = FunctionSource(function).find_outer("__class__")
        for name in find_members_used(function.__code__):
            after = home if name == function.__name__ else None
            hook = flow.enter(name)
            met = name, after, hook
            if met not in self.members:
                self.members.add(met)
                self.followed.add(name)
                if hasattr(self.owner, name):
                    self.read(name, after, hook)

    def get_attribute(self, instance: ReadObject, name: str, flow: Flow) -> Values:
        """Return what an attribute of an instance may be."""
        is_own = instance is self.instance
        if is_own and self.facts.get(name) not in (None, ""):
            return (KnownValue(self.facts[name], is_fact=True),)
        if name in instance.attributes:
            return instance.attributes[name]
        if found := self.find_stock_attribute(instance, name, is_own):
            return found
        if is_own:
            self.followed.add(name)
        member = find_member(instance.kind, name)
        function = unwrap_member(member)
        if isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member):
            return (ReadMethod(instance, name),)
        if function is not member:
            if is_framework_code(function):
                return UNKNOWN
            return self.follow(function, instance, NONE, flow)
        if member is None:
            self.asked.add(name)
            return UNKNOWN
        return (KnownValue(member, name),)

    def find_stock_attribute(self, instance: ReadObject, name: str, is_own: bool) -> Values:
        if name in REQUEST:
            return (THE_REQUEST,)
        if name == "context":
            return (THE_CONTEXT,)
        if name == INITIAL_DATA:
            return (RequestPart(INITIAL_DATA if is_own else SENT),)
        # A filter set of django-filter holds the query in self.data.
        if name == "data" and hasattr(instance.kind, "base_filters"):
            return (RequestPart(QUERY),)
        if not is_own:
            return ()
        if name in FIELD_NAMES and issubclass(instance.kind, BaseSerializer):
            return (THE_FIELDS,)
        if name == "kwargs":
            return (RequestPart(PATH),)
        return self.get_paginator() if name == "paginator" else ()

    def get_paginator(self) -> Values:
        self.asked.add("pagination_class")
        kind = getattr(self.owner, "pagination_class", None)
        return (ReadObject(kind),) if isinstance(kind, type) else UNKNOWN

    def get_view(self) -> ReadObject | None:
        self.view_asked = True
        return None if self.view_class is None else ReadObject(self.view_class, has_request=True)

    def use(self, value: KnownValue) -> Any:
        # A subclass with another value of this attribute is read anew.
        if value.attribute:
            self.asked.add(value.attribute)
        return value.value

    def serves(self, owner: type) -> bool:
        """Return whether a class with the same code has the values that were used."""
        return all(find_member(owner, n) is find_member(self.owner, n) for n in self.asked)


def names_any(function: Any, telling: frozenset[str]) -> bool:
    names, keys = read_code_names(function.__code__)
    return not telling.isdisjoint(names) or "request" in keys
