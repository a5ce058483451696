"""What an expression may be, where code is read and not run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from django.utils import dateparse
from rest_framework.generics import GenericAPIView

QUERY, BODY, FILES, INITIAL_DATA, PATH = "query", "body", "files", "initial_data", "path"
# The data of another serializer, and of the object around a field.
SENT, PARENT = "sent", "parent"
# The step into the items of a list, or to a member whose name only running code knows.
ANY = "*"
MOST_TEXTS = 100
SIMPLE = (str, int, float, bool, type(None))
LITERALS = (tuple, list, dict)
# What a function makes of a value.
KINDS = {
    int: "integer",
    float: "number",
    Decimal: "number",
    dateparse.parse_date: "date",
    dateparse.parse_datetime: "date-time",
}


class Anything:
    """A value that only running code knows."""


class TheRequest:
    """The request of a call."""


class TheView:
    """The view, where another class reads it."""


class TheContext:
    """The context of a serializer."""


class TheFields:
    """The fields of the serializer that is read."""


class ViewsChoice:
    """The class that the view chooses for its serializer."""


class NameOfField:
    """The name of one of these fields."""


@dataclass(frozen=True, slots=True)
class RequestPart:
    """The query, the body or the files of a request, or a copy.

    Attributes:
        is_same: False for a variable or a changed copy: code may have added members.
        is_of_fields: whether it has the fields of the serializer alone, as ``get_initial()``.
    """

    place: str
    is_same: bool = True
    is_of_fields: bool = False

    @property
    def steps(self) -> tuple[str, ...]:
        return ()

    def step(self, name: str) -> RequestMember:
        return RequestMember(self.place, name)


@dataclass(frozen=True, slots=True)
class RequestMember:
    """What a request has under one name, or what is inside.

    Attributes:
        inside: the names of members further down, `ANY` for items.
    """

    place: str
    name: str
    inside: tuple[str, ...] = ()
    is_of_fields = False

    @property
    def steps(self) -> tuple[str, ...]:
        return self.name, *self.inside

    def step(self, name: str) -> RequestMember:
        return RequestMember(self.place, self.name, (*self.inside, name))

    @property
    def outer(self) -> RequestMember | None:
        """The member of the request itself, None for what lies deeper."""
        is_deeper = self.name == ANY or any(step != ANY for step in self.inside)
        return None if is_deeper else RequestMember(self.place, self.name)


@dataclass(frozen=True, slots=True)
class NameOfMember:
    """The name of one of the members of a part."""

    part: RequestPart | RequestMember


@dataclass(frozen=True, slots=True)
class GivenKeywords:
    """What ``**kwargs`` has, by name."""

    values: tuple[tuple[str, Values], ...]


@dataclass(frozen=True, slots=True, eq=False)
class KnownValue:
    """A constant, a global, or the value of a class attribute.

    Attributes:
        attribute: the name of the class attribute that it is, or that has it, "" for none.
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
        value: Any = self.value
        if isinstance(value, LITERALS) and all(isinstance(each, str) for each in value):
            value = tuple(value)
        elif not isinstance(value, SIMPLE):
            value = id(value)
        return type(self.value), value, self.is_fact


@dataclass(eq=False, slots=True)
class ReadObject:
    """An instance of a class whose methods are read, and the attributes that code gave it.

    Attributes:
        attribute: the class attribute that has the class, "" for none.
        has_request: whether it is the view or the serializer that is read, or the like.
    """

    kind: type
    attribute: str = ""
    has_request: bool = False
    attributes: dict[str, Values] = field(default_factory=dict)

    @property
    def is_useful(self) -> bool:
        values = (value for values in self.attributes.values() for value in values)
        return self.has_request or any(map(is_useful, values))


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


PARTS_OF_REQUEST = (RequestPart, RequestMember)
Values: TypeAlias = tuple[Any, ...]
Keywords: TypeAlias = dict[str | None, Values]
# What parameters are given.
Bindings: TypeAlias = frozenset[tuple[str, Values]]
NONE: Bindings = frozenset()
ANYTHING, THE_REQUEST, THE_VIEW, THE_CONTEXT = Anything(), TheRequest(), TheView(), TheContext()
THE_FIELDS, FIELD_NAME, VIEWS_CHOICE = TheFields(), NameOfField(), ViewsChoice()
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


class SourceListener:
    """Takes what it needs of what the reader comes across.

    ``run`` is the function that is being read: behind which hook (``run.hook``), and whether a
    branch surrounds the place (``is_sure``, ``is_dead``).
    """

    def hears(self, run: Any) -> bool:
        return True

    def touch(self, place: str, run: Any) -> None:
        """A part of the request is named."""

    def look_up(self, member: RequestMember, run: Any, **how: Any) -> None:
        """A member is read; ``how``: ``several``, ``default`` and ``is_strict``."""

    def take(self, part: Any, name: str, run: Any) -> None:
        """A member is read of a part of the request, or of what is inside."""

    def compute(self, part: Any, source: str, run: Any) -> None:
        """A member is read whose name only running code knows."""

    def go_through(self, part: Any, run: Any) -> None:
        """Code goes through the names of all members."""

    def look(self, part: Any, run: Any) -> None:
        """Code looks at a part, and takes none of its members yet."""

    def keep(self, part: Any, run: Any) -> None:
        """An attribute is given a part."""

    def escape(self, value: Any, run: Any) -> None:
        """A part is used as a whole, or the request or the view goes to code that is not read."""

    def call(self, name: str, run: Any) -> None:
        """A method of the view is called."""

    def make(self, kind: Any, keywords: dict[str | None, Any], run: Any, **how: Any) -> None:
        """A serializer or a form is made; ``kind`` is None for the view's own."""

    def name(self, value: Any, run: Any) -> None:
        """An expression is a known value."""

    def weigh(self, values: Any, run: Any, **how: Any) -> None:
        """Something is compared with values, ``by_size`` or not."""

    def lose(self, function: Any, run: Any) -> None:
        """A function cannot be read."""

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


class RunParts:
    """What the parts of `FunctionRun` have of each other."""

    names: dict[str, Values]
    present: frozenset[RequestMember]
    returned: dict[Any, None]
    is_sure: bool
    is_dead: bool
    has_written: bool
    is_raising: bool
    returned_inside: bool
    ended: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Parameters(NamedTuple):
    """The parameters of a function: their names, and the defaults that are texts.

    Attributes:
        further: the name of ``**kwargs``, "" for none.
        rest: the name of ``*args``, "" for none.
    """

    names: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    texts: Mapping[str, str] = {}
    further: str = ""
    rest: str = ""


def bind_arguments(
    function: Any,
    positional: list[Values],
    keywords: Keywords,
    *,
    skip: bool,
    is_method: bool = False,
) -> tuple[Bindings, list[Values]]:
    """Return what parameters are given, `NONE` where nothing of a request is, and the rest."""
    names, ordered, texts, further, rest = read_parameters(function)
    ordered = ordered[1:] if skip else ordered
    given: dict[str, Values] = dict(zip(ordered, positional, strict=False))
    given |= {name: values for name, values in keywords.items() if name in names and name}
    others = {n: v for n, v in keywords.items() if n and n not in names and not is_dull(v)}
    lost = [v for n, v in keywords.items() if not n]
    surplus = join_values_of(*positional[len(ordered) :])
    if further and others:
        given[further] = (GivenKeywords(tuple(others.items())),)
    else:
        lost += others.values()
    if rest and not is_dull(surplus):
        given[rest] = surplus
    else:
        lost.append(surplus)
    useful = {name: values for name, values in given.items() if not is_dull(values)}
    if not useful and not is_method:
        return NONE, lost
    known = useful | {name: values for name, values in given.items() if is_literal(values)}
    defaults = {name: (KnownValue(v),) for name, v in texts.items() if name not in given}
    return frozenset({**defaults, **known}.items()), lost


VARIABLE = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
USEFUL = (*PARTS_OF_REQUEST, NameOfMember, GivenKeywords)


def is_useful(value: Any) -> bool:
    """Return whether a value leads to a request, other than as an attribute."""
    is_owner = isinstance(value, ReadObject) and value.has_request
    return is_owner or isinstance(value, USEFUL) or value in (THE_REQUEST, THE_CONTEXT)


def is_dull(values: Values) -> bool:
    objects = (value for value in values if isinstance(value, ReadObject))
    return not any(map(is_useful, values)) and not any(each.is_useful for each in objects)


def is_literal(values: Values) -> bool:
    value = getattr(values[0], "value", None) if len(values) == 1 else None
    return isinstance(value, (str, *LITERALS))


@functools.lru_cache(maxsize=4096)
def read_parameters(function: Any) -> Parameters:
    if not inspect.isfunction(function):
        return Parameters()
    every = inspect.signature(function).parameters
    kinds = {each.kind: name for name, each in every.items() if each.kind in VARIABLE}
    plain = {name: each for name, each in every.items() if each.kind not in VARIABLE}
    ordered = (n for n, each in plain.items() if each.kind is not inspect.Parameter.KEYWORD_ONLY)
    texts = {n: each.default for n, each in plain.items() if isinstance(each.default, str)}
    further, rest = (kinds.get(kind, "") for kind in VARIABLE)
    return Parameters(tuple(plain), tuple(ordered), texts, further, rest)


def find_constant(values: Values | None) -> bool | None:
    """Return the truth of a keyword, None where only the running code knows it."""
    if values is None:
        return False
    one = values[0] if len(values) == 1 else None
    return bool(one.value) if isinstance(one, KnownValue) and not one.is_fact else None
