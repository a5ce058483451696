"""What is known of an endpoint: plain frozen values around plain dict schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from django.db import connections

from drf_mcp.introspection.closed_sets import ClosedSet, FilterPart
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.findings import Finding

if TYPE_CHECKING:
    from rest_framework.fields import Field

Schema: TypeAlias = dict[str, Any]
AnyField: TypeAlias = "Field[Any, Any, Any, Any]"
# The way to a value in an argument: names of members, `ANY` for any; () is the whole.
Place: TypeAlias = tuple[str, ...]
ANY = "*"


@dataclass(frozen=True, slots=True)
class Upload:
    """What a file has to be.

    Attributes:
        extensions: the file name extensions taken, lower-case; empty for any.
        image: True if only images are taken.
        sure: False if the value may be a text as well, so that only a data URI is a file.
        by_name: True if only the name of its key says that it is a file.
    """

    extensions: tuple[str, ...] = ()
    image: bool = False
    sure: bool = True
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """The model of the object that a value identifies, and the model field that holds it."""

    model: Any
    key: str


@dataclass(frozen=True, slots=True)
class MemberNames:
    """The members of an object that a serializer takes, and the read-only members.

    Attributes:
        opened_by: the line of the code that may read other members, such as
            ``shop/api.py:12 reads initial_data``; "" where all members are known.
    """

    writable: tuple[str, ...]
    read_only: frozenset[str]
    opened_by: str = ""


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """What the JSON Schema of a value does not say.

    Attributes:
        upload: what the file has to be; None for a value that is no file.
        form: how a form writes a value that is no text: ``parts`` (a name for each member),
            ``json``, or ``null`` (as an empty text).
        is_secret: True if no answer repeats the value.
        relation: the object that the value identifies.
        type_member: the member that names the type of this object, for a generic foreign key.
        members: the members of a nested serializer's object, where all of them are known.
    """

    upload: Upload | None = None
    form: str = ""
    is_secret: bool = False
    relation: Relation | None = None
    type_member: str = ""
    members: MemberNames | None = None

    def join(self, other: ValueInfo) -> ValueInfo:
        return ValueInfo(
            self.upload or other.upload,
            self.form or other.form,
            self.is_secret or other.is_secret,
            self.relation or other.relation,
            self.type_member or other.type_member,
            # One of two serializers may take a member that the other refuses.
            self.members if self.members == other.members else None,
        )


NO_INFO = ValueInfo()
# What is known of an argument and of the values in it, by their places.
ValueInfos: TypeAlias = Mapping[Place, ValueInfo]


def join_value_info(first: ValueInfos, second: ValueInfos) -> ValueInfos:
    """Return what two descriptions of an argument know of its values; the first one decides."""
    places = {**second, **first}
    return {place: first.get(place, NO_INFO).join(second.get(place, NO_INFO)) for place in places}


def find_uploads(infos: ValueInfos) -> dict[Place, Upload]:
    return {place: info.upload for place, info in infos.items() if info.upload is not None}


def keep_uploads(infos: ValueInfos, is_kept: Callable[[Place, Upload], bool]) -> ValueInfos:
    """Return what is known of values, without the files for which ``is_kept`` is false."""
    return {
        place: info
        if info.upload is None or is_kept(place, info.upload)
        else replace(info, upload=None)
        for place, info in infos.items()
    }


def read_value_info(schema: Any) -> ValueInfos:
    """Return what a schema that people wrote says of an argument's values."""
    infos, write_only = {}, set()
    for place, part in walk_schema(schema):
        if part.get("writeOnly") is True or place[:-1] in write_only:
            write_only.add(place)
        info = ValueInfo(
            upload=Upload() if part.get("format") == "binary" else None,
            form="parts" if part.get("type") in ("array", "object") else "",
            is_secret=part.get("format") == "password"
            or (place in write_only and _may_be_text(part)),
        )
        if info != NO_INFO:
            infos[place] = info
    return infos


def walk_schema(schema: Any, place: Place = ()) -> Iterator[tuple[Place, Schema]]:
    if not isinstance(schema, dict):
        return
    yield place, schema
    for name, member in (schema.get("properties") or {}).items():
        yield from walk_schema(member, (*place, name))
    yield from walk_schema(schema.get("items"), (*place, ANY))


def _may_be_text(schema: Schema) -> bool:
    if "enum" in schema or str(schema.get("format", "")).startswith(("date", "time")):
        return False
    if schema.get("type") in ("array", "object"):
        return not (schema.get("items") or schema.get("properties"))
    return schema.get("type") not in ("integer", "number", "boolean")


# The value for "nothing was declared", where None declares something.
UNDECLARED: Any = object()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing a caller may send.

    Attributes:
        name: the view's own name: path kwarg, query key or body field.
        schema: its JSON Schema, ``description`` included.
        required: True if the view refuses to go on without it.
        multiple: how a query array is written: ``repeat`` (``a=1&a=2``), ``comma`` (``a=1,2``),
            ``space`` or ``pipe``; an object: ``deep`` (``a[b]=1``), ``members`` (``b=1``), or
            ``comma`` (``a=b,1``); None for a single value.
        value_info: what is known of its values besides their schema, by place.
        listed: False for one that is taken although the tool's schema leaves it out.
        is_unread: True for one that only other actions of the view read, taken with a warning.
        closed: the values that the view uses, where it ignores any other value.
        part: how a filter reads it, where it is one of several of the filter, or a bound.
        shown_as: the name under which rows show the value of a path kwarg, "" for none.
        role: what a query parameter does: ``filter``, ``search``, ``sort``, or ``page``, which
            chooses no rows; ``note`` for an argument of a guard that changes nothing of the call.
        terms: the fields that are searched, or those to sort by.
    """

    name: str
    schema: Schema
    required: bool = False
    multiple: str | None = None
    value_info: ValueInfos = field(default_factory=dict)
    listed: bool = True
    is_unread: bool = False
    closed: ClosedSet | None = None
    part: FilterPart | None = None
    shown_as: str = ""
    role: str = "filter"
    terms: tuple[str, ...] = ()

    @property
    def write_only(self) -> bool:
        return self.value_info.get((), NO_INFO).is_secret

    def join(self, other: Parameter | None) -> Parameter:
        """Return what either of two callers may send; the other may have no such parameter."""
        if other is None:
            return replace(self, required=False)
        # A keyword has to hold for both callers. Every array has items.
        open_items: Schema = {"items": {}} if "items" in self.schema else {}
        same = {name: v for name, v in self.schema.items() if other.schema.get(name) == v}
        common = {**open_items, **same}
        return replace(
            self,
            schema=self.schema if self.schema == other.schema else common,
            required=self.required and other.required,
            value_info=join_value_info(self.value_info, other.value_info),
            listed=self.listed or other.listed,
            closed=self.closed if self.closed == other.closed else None,
        )

    def known_as(self, other: Parameter | None) -> Parameter:
        """Return the parameter with what the code shows of another of the same name."""
        if other is None:
            return self
        return replace(
            self, closed=other.closed, part=other.part, role=other.role, terms=other.terms
        )


@dataclass(frozen=True, slots=True)
class Body:
    """What the view takes as its request body.

    Attributes:
        kind: ``none``, ``object``, ``list``, ``either`` (one object, or a list of them) or
            ``open`` (any JSON).
        fields: the members, for an object.
        schema: the schema of the whole array for a list, ``{}`` for open. A body described as
            none has one where the view reads any all the same.
        value_info: what is known of the values of a whole body besides their schema, by place.
        keys: the places whose keys the view's parser renames, by the view's own names.
        opened_by: the line of the code that may read members of an object that are not described,
            such as ``shop/api.py:12 reads request.data``; "" where all members are known.
        is_form: whether the body is sent as a form, since the view reads ``request.POST``.
    """

    kind: str
    fields: tuple[Parameter, ...] = ()
    schema: Schema | None = None
    value_info: ValueInfos = field(default_factory=dict)
    keys: Mapping[Place, Place] = field(default_factory=dict)
    opened_by: str = ""
    is_form: bool = False

    @property
    def all_value_info(self) -> ValueInfos:
        inside = {
            (parameter.name, *place): info
            for parameter in self.fields
            for place, info in parameter.value_info.items()
        }
        return join_value_info(self.value_info, inside)

    @property
    def is_file(self) -> bool:
        return self.value_info.get((), NO_INFO).upload is not None

    def join(self, other: Body) -> Body:
        """Return the object that either of two callers may send."""
        own, others = ({each.name: each for each in body.fields} for body in (self, other))
        fields = [own[name].join(others.get(name)) for name in own]
        fields += [each.join(None) for name, each in others.items() if name not in own]
        return replace(
            self,
            fields=tuple(fields),
            value_info=join_value_info(self.value_info, other.value_info),
            opened_by=self.opened_by or other.opened_by,
        )

    def open(self, opened_by: str) -> Body:
        """Return the body that code reads other members of, too; unchanged for no such code."""
        is_object = self.kind in ("object", "either")
        return replace(self, opened_by=self.opened_by or opened_by) if is_object else self

    def with_rows(self, rows: Body) -> Body:
        # One object, or a list of them: what one object needs is required by words alone.
        fields = []
        for each in self.fields:
            words = "Required for one object" if each.required else ""
            fields.append(replace(each, schema=explain(each.schema, words), required=False))
        infos, keys = join_value_info(self.value_info, rows.value_info), {**rows.keys, **self.keys}
        opened_by = self.opened_by or rows.opened_by
        return Body("either", tuple(fields), rows.schema, infos, keys, opened_by)


def join_bodies(bodies: Sequence[Body]) -> Body | None:
    """Return the body that any of several readers takes, None without a reader."""
    objects = [body for body in bodies if body.kind in ("object", "either")]
    rows = [body for body in bodies if body.kind in ("list", "either")]
    if not objects:
        joined = next(iter(rows or bodies), None)
        # Another list may have other rows.
        is_one = len(rows) < 2
        return joined if is_one else replace(rows[0], schema={"type": "array", "items": {}})
    joined = reduce(Body.join, objects)
    if joined.kind == "object" and rows:
        joined = joined.with_rows(rows[0])
    if len(objects) + len(rows) < len(bodies):
        # One of the readers may take any object.
        joined = joined.join(Body("object"))
    return joined


@dataclass(frozen=True, slots=True)
class AskedRows:
    """A query that was asked while an endpoint was described."""

    database: str
    sql: str
    params: Any

    def read(self) -> list[Any]:
        with connections[self.database].cursor() as cursor:
            cursor.execute(self.sql, self.params)
            return list(cursor.fetchall())


class LostFilters(Finding):
    """Filters that HTTP takes, and the tool does not."""


class OpenPlace(Finding):
    """A part of the request in which unknown code may read arguments that nothing describes."""


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
        examples: bodies that people wrote as examples of a request.
        computed_query: the source of names of query parameters that only the running code knows.
        query_opened_by: the line of the code that may read query parameters that are not described,
            such as ``shop/api.py:12 passes request.GET to search()``; "" where all are known.
        row_queries: the queries whose rows are choices of arguments.
    """

    path: tuple[Parameter, ...]
    query: tuple[Parameter, ...] = ()
    body: Body = field(default_factory=lambda: Body("open", schema={}))
    output: Schema = field(default_factory=dict)
    paginated: bool = False
    findings: tuple[Finding, ...] = ()
    computed_query: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()
    query_opened_by: str = ""
    row_queries: tuple[AskedRows, ...] = ()

    def with_many_answers(self) -> EndpointSchema:
        one = FieldSchema.of(self.output).allow_null() if self.output else {}
        return replace(self, output={"type": "array", "items": one})


@dataclass(frozen=True, slots=True)
class PathKwarg:
    """One kwarg of a route.

    Attributes:
        converter: Django's path converter, None for a regular expression route.
        pattern: the regular expression of the kwarg, None when not known.
        required: False for an optional group of a regular expression.
    """

    name: str
    converter: Any = None
    pattern: str | None = None
    required: bool = True


Parameters: TypeAlias = tuple[Parameter, ...]
PathKwargs: TypeAlias = Mapping[str, PathKwarg]
