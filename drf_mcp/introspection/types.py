"""What is known of an endpoint: plain frozen values around plain dict schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

if TYPE_CHECKING:
    from rest_framework.fields import Field

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema (2020-12) as the dict that becomes JSON."""


AnyField: TypeAlias = "Field[Any, Any, Any, Any]"
"""A serializer field of whatever values."""


Place: TypeAlias = tuple[str, ...]
"""Where a value stands in an argument: names of members, ``*`` for any; () is the whole."""

ANY = "*"

Known = TypeVar("Known")


@dataclass(frozen=True)
class Upload:
    """What a file has to be.

    Attributes:
        extensions: the file name extensions taken, lower-case; empty for any.
        image: True if only images are taken.
        sure: False if the value may be a text as well, so that only a data URI is a file.
        by_name: True if nothing but the name of its key tells that it is a file.
    """

    extensions: tuple[str, ...] = ()
    image: bool = False
    sure: bool = True
    by_name: bool = False


@dataclass(frozen=True)
class Relation:
    """What a value identifies.

    Attributes:
        model: the model of the object.
        key: the model field that holds the value.
    """

    model: Any
    key: str


@dataclass(frozen=True)
class Handling:
    """What has to be known of an argument's values beside their schema, by place.

    Attributes:
        uploads: the values that are files.
        forms: how forms write what is no text: ``parts`` (a name for each member),
            ``json``, or ``null`` (as an empty text).
        secrets: the values that no answer repeats.
        relations: the values that identify other objects.
    """

    uploads: Mapping[Place, Upload] = field(default_factory=dict)
    forms: Mapping[Place, str] = field(default_factory=dict)
    secrets: frozenset[Place] = frozenset()
    relations: Mapping[Place, Relation] = field(default_factory=dict)

    def under(self, name: str) -> Handling:
        """Return what has to be known of an object whose member this is of."""

        def below(places: Mapping[Place, Known]) -> dict[Place, Known]:
            return {(name, *place): places[place] for place in places}

        secrets = frozenset(below(dict.fromkeys(self.secrets)))
        return Handling(below(self.uploads), below(self.forms), secrets, below(self.relations))


PLAIN = Handling()

UNSAID: Any = object()
"""Stands for what nobody wrote."""


class ClosedSet:
    """The values of a query parameter of which a view makes use, where it ignores any other.

    Attributes:
        separator: what stands between several in one text, "" for a single one.
    """

    separator: ClassVar[str] = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts to name, () where the schema says it."""
        return ()

    def get_schema(self) -> Schema:
        """Return the schema of one text that is accepted."""
        return {"enum": list(self.choices)} if self.choices else {}

    def takes(self, text: str) -> bool:
        """Return whether the view makes use of one text."""
        raise NotImplementedError

    def ignored(self, text: str) -> list[str]:
        """Return the parts of a text that the view would ignore; an empty one asks for nothing."""
        parts = text.split(self.separator) if self.separator else [text]
        return [part.strip() for part in parts if part.strip() and not self.takes(part.strip())]


@dataclass(frozen=True)
class Parameter:
    """One thing a caller may send.

    Attributes:
        name: the view's own name: path kwarg, query key or body field.
        schema: its JSON Schema, ``description`` included.
        required: True if the view refuses to go on without it.
        multiple: how a query array is written: ``repeat`` (``a=1&a=2``) or
            ``comma`` (``a=1,2``); None for a single value.
        handling: what has to be known of its values beside their schema.
        listed: False for one that is taken although the tool's schema leaves it out.
        closed: the values of which the view makes use, where it ignores any other.
    """

    name: str
    schema: Schema
    required: bool = False
    multiple: str | None = None
    handling: Handling = PLAIN
    listed: bool = True
    closed: ClosedSet | None = None

    @property
    def write_only(self) -> bool:
        """True if no answer repeats the value."""
        return () in self.handling.secrets


@dataclass(frozen=True)
class Body:
    """What the view takes as its request body.

    Attributes:
        kind: ``none``, ``object``, ``list``, ``either`` (one object, or a list of them) or
            ``open`` (any JSON).
        fields: the members, for an object.
        schema: the schema of the whole array for a list, ``{}`` for open. A body described as
            none has one where the view reads any all the same.
        handling: what has to be known of a whole body's values beside their schema.
        keys: the places whose keys the view's parser renames, by the view's own names.
    """

    kind: str
    fields: tuple[Parameter, ...] = ()
    schema: Schema | None = None
    handling: Handling = PLAIN
    keys: Mapping[Place, Place] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """Something of an endpoint that could not be described.

    Attributes:
        place: where, such as ``shop.api.OrderViewSet.create``.
        message: what went wrong.
        remedy: what the project can do about it.
    """

    place: str
    message: str
    remedy: str


class LostFilters(Finding):
    """Filters that HTTP takes and that no argument stands for."""


@dataclass(frozen=True)
class EndpointSchema:
    """Everything known of one endpoint and method.

    Attributes:
        path: the path kwargs, in the order given.
        query: the query parameters.
        body: the request body.
        output: the schema of the success payload; ``{}`` when it is not known.
        paginated: True if answers may come in pages.
        findings: what could not be described, and how to mend it.
        computed_query: the source of names of query parameters that only the running code knows.
    """

    path: tuple[Parameter, ...]
    query: tuple[Parameter, ...] = ()
    body: Body = field(default_factory=lambda: Body("open", schema={}))
    output: Schema = field(default_factory=dict)
    paginated: bool = False
    findings: tuple[Finding, ...] = ()
    computed_query: tuple[str, ...] = ()


@dataclass(frozen=True)
class PathKwarg:
    """One named part of a route.

    Attributes:
        name: the kwarg the view receives.
        converter: Django's path converter, None for a regular expression route.
        pattern: the regular expression of the kwarg, None when not known.
    """

    name: str
    converter: Any = None
    pattern: str | None = None


Parameters: TypeAlias = tuple[Parameter, ...]
PathKwargs: TypeAlias = Mapping[str, PathKwarg]
