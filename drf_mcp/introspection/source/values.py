"""What an expression may be, where code is read and not run."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from rest_framework.generics import GenericAPIView

QUERY, BODY, FILES, INITIAL_DATA, PATH = "query", "body", "files", "initial_data", "path"
SIMPLE = (str, int, float, bool, type(None))


class Anything:
    """A value that only running code knows."""


class TheRequest:
    """The request of a call."""


class TheView:
    """The view, where another class reads it."""


@dataclass(frozen=True, slots=True)
class RequestPart:
    """The query, the body or the files of a request, or a copy.

    Attributes:
        is_same: False for a variable or a changed copy: code may have added members.
    """

    place: str
    is_same: bool = True


@dataclass(frozen=True, slots=True)
class RequestMember:
    """What a request has under one name."""

    place: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class KnownValue:
    """A constant, a global, or the value of a class attribute.

    Attributes:
        attribute: the name of the class attribute, "" for none.
        is_fact: whether the value follows from the action or the method of the request.
    """

    value: Any
    attribute: str = ""
    is_fact: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownValue) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[Any, ...]:
        is_simple = isinstance(self.value, SIMPLE)
        return type(self.value), self.value if is_simple else id(self.value), self.is_fact


@dataclass(eq=False, slots=True)
class ReadObject:
    """An instance of a class whose methods are read, and the attributes that code gave it."""

    kind: type
    attributes: dict[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InheritedMembers:
    """What ``super()`` returns."""

    instance: ReadObject
    home: type | None


@dataclass(frozen=True, slots=True)
class ReadMethod:
    instance: ReadObject
    name: str
    home: type | None = None


@dataclass(frozen=True, slots=True)
class MadeSerializer:
    """A serializer of rows or of data.

    Attributes:
        kind: None for the view's ``get_serializer()``.
        many: None where this depends on the request.
        is_plain: False where it was made with arguments of its own.
    """

    kind: type | None
    many: bool | None = False
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class SerializedData:
    serializer: MadeSerializer


@dataclass(frozen=True, slots=True)
class MadeResponse:
    """A response.

    Attributes:
        data: what is known of its data.
        is_error: None where the status is not known.
        is_page: whether the paginator makes it of its data.
    """

    data: Values
    is_error: bool | None = False
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class ModelRows:
    """A manager or a queryset of a model.

    Attributes:
        attribute: the name of the class attribute, "" for none.
    """

    model: Any
    attribute: str = ""


Values: TypeAlias = tuple[Any, ...]
Keywords: TypeAlias = dict[str | None, Values]
# What parameters are given.
Bindings: TypeAlias = frozenset[tuple[str, Values]]
NONE: Bindings = frozenset()
ANYTHING, THE_REQUEST, THE_VIEW = Anything(), TheRequest(), TheView()
UNKNOWN: Values = (ANYTHING,)


def join_values_of(*several: Values) -> Values:
    """Return what an expression may be that is one of several."""
    return tuple(dict.fromkeys(value for values in several for value in values))


# REST framework's hooks: what a project's override of one is for is known.
HOOKS = frozenset(dir(GenericAPIView))
ROW_HOOKS = frozenset({"get_object", "get_queryset", "filter_queryset"})
ROW_HOOKS |= {f"a{name}" for name in ROW_HOOKS}
SHAPE_HOOKS = frozenset({"get_serializer", "get_serializer_class", "get_serializer_context"})
SHAPE_HOOKS |= {"paginate_queryset", "get_paginated_response", "apaginate_queryset"}


class Flow(NamedTuple):
    # hook: "" in the handler, "rows" behind a hook that chooses rows, "shape" behind one that
    # chooses what rows show, "hook" behind any other.
    # is_sure: no branch around it. is_dead: a branch for other actions.
    hook: str = "hook"
    is_sure: bool = True
    is_dead: bool = False
    depth: int = 0

    def enter(self, name: str) -> Flow:
        """Return the flow behind a hook."""
        if self.hook == "rows" or name in ROW_HOOKS:
            return self._replace(hook="rows")
        is_shape = self.hook == "shape" or name in SHAPE_HOOKS
        return self._replace(hook="shape" if is_shape else "hook")


AS_HANDLER, AS_HOOK = Flow(hook=""), Flow()


class Comparison(NamedTuple):
    """The members that a test compares, with what; ``is_positive`` where they have to be equal."""

    members: tuple[RequestMember, ...]
    literals: tuple[Any, ...]
    is_positive: bool


def change(values: Values) -> Values:
    """Return values behind a variable: code may have added members to a part of the request."""
    return tuple(
        replace(value, is_same=False) if isinstance(value, RequestPart) else value
        for value in values
    )


def invert(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def join_scopes(*several: dict[str, Values]) -> dict[str, Values]:
    """Return what variables may be after one of several branches."""
    if len(several) == 1:
        return several[0]
    names = dict.fromkeys(name for each in several for name in each)
    return {n: join_values_of(*(each.get(n, UNKNOWN) for each in several)) for n in names}


class RunParts:
    """What the parts of `FunctionRun` have of each other."""

    reader: Any
    source: Any
    function: Any
    tree: Any
    home: Any
    instance: Any
    names: dict[str, Values]
    evaluated: dict[int, Values]
    comparisons: dict[int, Comparison]
    presences: dict[int, Values]
    present: frozenset[RequestMember]
    returned: dict[Any, None]
    inner: list[Any]
    hook: str
    is_sure: bool
    is_dead: bool
    is_wrapper: bool
    has_written: bool
    returned_inside: bool
    ended: str
    flow: Any
    tell: Any
    tell_literals: Any
    tell_comparison: Any
    need: Any
    escape: Any
    evaluate: Any
    assign: Any
    assign_items: Any
    find_truth: Any
    get_attribute: Any
    look_up: Any


def bind_arguments(
    function: Any,
    positional: list[Values],
    keywords: Keywords,
    *,
    skip: bool,
    is_method: bool = False,
) -> Bindings:
    """Return what parameters are given, () for a function to which nothing of a request goes."""
    names, defaults = read_parameters(function)
    names = names[1:] if skip else names
    given: dict[str, Values] = dict(zip(names, positional, strict=False))
    given |= {name: values for name, values in keywords.items() if name in names and name}
    useful = {name: values for name, values in given.items() if not is_dull(values)}
    if not useful and not is_method:
        return NONE
    known = useful | {name: values for name, values in given.items() if is_text(values)}
    texts = {name: (KnownValue(v),) for name, v in defaults.items() if name not in given}
    return frozenset({**texts, **known}.items())


def is_dull(values: Values) -> bool:
    kinds = (RequestPart, RequestMember, ReadObject)
    return not any(isinstance(v, kinds) or v is THE_REQUEST for v in values)


def is_text(values: Values) -> bool:
    return len(values) == 1 and isinstance(getattr(values[0], "value", None), str)


@functools.lru_cache(maxsize=4096)
def read_parameters(function: Any) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of parameters, and the defaults that are texts."""
    if not inspect.isfunction(function):
        return (), {}
    parameters = {
        n: p
        for n, p in inspect.signature(function).parameters.items()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    texts = {n: each.default for n, each in parameters.items() if isinstance(each.default, str)}
    return tuple(parameters), texts
