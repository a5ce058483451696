"""What an expression may be, where code is read and not run."""

from __future__ import annotations

import ast
import functools
import inspect
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
CONTAINERS = (*LITERALS, set, frozenset)
# What a function makes of a value.
KINDS = {
    int: "integer",
    float: "number",
    Decimal: "number",
    dateparse.parse_date: "date",
    dateparse.parse_datetime: "date-time",
}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value that only running code has."""

    what: str


ANYTHING = Known("nothing")
THE_REQUEST = Known("the request of a call")
THE_VIEW = Known("the view, where another class reads it")
THE_CONTEXT = Known("the context of a serializer")
THE_FIELDS = Known("the fields of the serializer that is read")
FIELD_NAME = Known("the name of one of these fields")
VIEWS_CHOICE = Known("the class that the view chooses for its serializer")


@dataclass(frozen=True, slots=True)
class RequestPart:
    """The query, the body or the files of a request, a copy, or what is inside.

    Attributes:
        steps: the names of members down to the part, `ANY` for items.
        is_same: False for a variable or a changed copy: code may have added members.
        is_of_fields: whether it has the fields of the serializer alone, as ``get_initial()``.
    """

    place: str
    steps: tuple[str, ...] = ()
    is_same: bool = True
    is_of_fields: bool = False

    def step(self, name: str) -> RequestPart:
        return RequestPart(self.place, (*self.steps, name))

    @property
    def member(self) -> RequestPart | None:
        """The member of the request itself, None for what lies around or deeper."""
        is_deeper = ANY in self.steps[:1] or any(step != ANY for step in self.steps[1:])
        return RequestPart(self.place, self.steps[:1]) if self.steps and not is_deeper else None


@dataclass(frozen=True, slots=True)
class NameOfMember:
    """The name of one of the members of a part."""

    part: RequestPart


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


class GivenArguments(NamedTuple):
    """What a call gives."""

    node: ast.Call
    positional: list[Values]
    keywords: Keywords

    @property
    def every(self) -> list[Values]:
        return [*self.positional, *self.keywords.values()]

    @property
    def first(self) -> Values:
        return self.positional[0] if self.positional else ()

    def find(self, index: int, name: str) -> Values:
        is_positional = index < len(self.positional)
        return self.positional[index] if is_positional else self.keywords.get(name, ())


# What parameters are given.
Bindings: TypeAlias = frozenset[tuple[str, Values]]
NONE: Bindings = frozenset()
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

    def enter(self, name: str) -> Flow:
        """Return the flow behind a hook."""
        if self.hook == "rows" or name in ROW_HOOKS:
            return self._replace(hook="rows")
        is_shape = self.hook == "shape" or name in SHAPE_HOOKS
        return self._replace(hook="shape" if is_shape else "hook")


AS_HANDLER, AS_HOOK = Flow(hook=""), Flow()


def change(values: Values) -> Values:
    """Return values behind a variable: code may have added members to a part of the request."""
    return tuple(replace(value, is_same=False) if is_whole(value) else value for value in values)


def is_whole(value: Any) -> bool:
    return isinstance(value, RequestPart) and not value.steps


def is_member(value: Any) -> bool:
    return isinstance(value, RequestPart) and bool(value.steps)


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

    def take(self, part: Any, name: str, run: Any, **how: Any) -> None:
        """A member of a part is read; ``how``: ``several``, ``default`` and ``is_strict``."""

    def learn(self, member: RequestPart, run: Any, **facts: Any) -> None:
        """Something is known of a member: attributes of `MemberReading`."""

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

    def ask(self, kind: type, run: Any) -> None:
        """The caller is asked for the fields of a serializer."""


class RunParts:
    """What the parts of `FunctionRun` have of each other."""

    names: dict[str, Values]
    returned: dict[Any, None]
    is_sure: bool
    is_dead: bool
    has_written: bool
    is_raising: bool
    returned_inside: bool
    ended: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def bind_arguments(
    function: Any, given: GivenArguments, *, skip: bool, is_method: bool = False
) -> tuple[Bindings, list[Values]]:
    """Return what parameters are given, `NONE` where nothing of a request is, and the rest."""
    _, positional, keywords = given
    parameters = read_parameters(function)
    plain = {each.name: each for each in parameters if each.kind not in VARIABLE}
    further, rest = (
        next((each.name for each in parameters if each.kind is kind), "") for kind in VARIABLE
    )
    ordered = [n for n, each in plain.items() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    ordered = ordered[1:] if skip else ordered
    bound: dict[str, Values] = dict(zip(ordered, positional, strict=False))
    bound |= {name: values for name, values in keywords.items() if name in plain}
    others = {n: v for n, v in keywords.items() if n and n not in plain and not is_dull(v)}
    lost = [v for n, v in keywords.items() if not n]
    surplus = join_values_of(*positional[len(ordered) :])
    if further and others:
        bound[further] = (GivenKeywords(tuple(others.items())),)
    else:
        lost += others.values()
    if rest and not is_dull(surplus):
        bound[rest] = surplus
    else:
        lost.append(surplus)
    useful = {name: values for name, values in bound.items() if not is_dull(values)}
    if not useful and not is_method:
        return NONE, lost
    known = useful | {name: values for name, values in bound.items() if is_literal(values)}
    texts = {n: each.default for n, each in plain.items() if isinstance(each.default, str)}
    defaults = {name: (KnownValue(v),) for name, v in texts.items() if name not in bound}
    return frozenset({**defaults, **known}.items()), lost


VARIABLE = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
USEFUL = (RequestPart, NameOfMember, GivenKeywords)


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
def read_parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    is_readable = inspect.isfunction(function)
    return tuple(inspect.signature(function).parameters.values()) if is_readable else ()


def find_constant(values: Values | None) -> bool | None:
    """Return the truth of a keyword, None where only the running code knows it."""
    if values is None:
        return False
    one = values[0] if len(values) == 1 else None
    return bool(one.value) if isinstance(one, KnownValue) and not one.is_fact else None
