"""What a rule in the table compares: an argument of a call, as the view's serializer reads it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from rest_framework import serializers
from rest_framework.fields import SkipField

from drf_mcp.errors import MASK, ask_nearest, find_nearest, join_names, mask_member
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import BODY, PATH, QUERY
from drf_mcp.outcomes import MISSING

# The value of an argument that the view would read otherwise than anybody can foresee.
UNREADABLE: Any = object()
NUMBER, BOOLEAN, MOMENT, TEXT, LIST = "number", "boolean", "moment", "text", "list"
# A subclass before its base.
KINDS: Mapping[str, tuple[type, ...]] = {
    BOOLEAN: (serializers.BooleanField,),
    NUMBER: (serializers.IntegerField, serializers.FloatField, serializers.DecimalField),
    MOMENT: (serializers.DateTimeField, serializers.DateField, serializers.TimeField),
    LIST: (serializers.MultipleChoiceField, serializers.ListField),
    TEXT: (
        serializers.CharField,
        serializers.ChoiceField,
        serializers.UUIDField,
        serializers.IPAddressField,
    ),
}
IS, IS_NOT, IN, NOT_IN, CONTAINS = "is", "is_not", "in", "not_in", "contains"
GREATER, AT_LEAST, LESS, AT_MOST = "greater", "at_least", "less", "at_most"
PRESENT, ABSENT = "present", "missing"
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    GREATER: operator.gt,
    AT_LEAST: operator.ge,
    LESS: operator.lt,
    AT_MOST: operator.le,
}
SINGLE = (IS, IS_NOT, IN, NOT_IN, PRESENT, ABSENT)
# The operators that fit an argument, by its kind; "" is an argument of an unknown kind.
FITTING: Mapping[str, tuple[str, ...]] = {
    NUMBER: (*SINGLE, *COMPARISONS),
    MOMENT: (*SINGLE, *COMPARISONS),
    BOOLEAN: SINGLE,
    TEXT: (*SINGLE, CONTAINS),
    LIST: (CONTAINS, PRESENT, ABSENT),
    "": (PRESENT, ABSENT),
}


def _find_kind(field: Any) -> str:
    if isinstance(field, serializers.ChoiceField):
        choices = getattr(field, "choices", {})
        if not isinstance(field, serializers.MultipleChoiceField) and choices:
            return NUMBER if {type(each) for each in choices} == {int} else TEXT
    if isinstance(field, serializers.ListField) and not _find_kind(field.child):
        # Such as keys, which the field looks up in the database.
        return ""
    return next((kind for kind, classes in KINDS.items() if isinstance(field, classes)), "")


def _make_field(schema: Mapping[str, Any]) -> Any:
    """Return a field that reads a value as a JSON Schema describes it, None for any value."""
    names = schema.get("type") or ()
    names = [names] if isinstance(names, str) else names
    name = next((each for each in names if each != "null"), "")
    bounds: dict[str, Any] = {
        "max_value": schema.get("maximum"),
        "min_value": schema.get("minimum"),
    }
    if "enum" in schema:
        return serializers.ChoiceField([each for each in schema["enum"] if each is not None])
    if name in ("integer", "number"):
        return serializers.DecimalField(None, None, **bounds)
    if name == "boolean":
        return serializers.BooleanField()
    if name == "array":
        child = _make_field(schema.get("items") or {})
        return None if child is None else serializers.ListField(child=child)
    by_format: Mapping[Any, type] = {
        "date": serializers.DateField,
        "date-time": serializers.DateTimeField,
        "time": serializers.TimeField,
        "uuid": serializers.UUIDField,
    }
    if name == "string" and schema.get("format") in by_format:
        return by_format[schema["format"]]()
    if name == "string":
        longest, shortest = schema.get("maxLength"), schema.get("minLength")
        return serializers.CharField(
            max_length=longest, min_length=shortest, allow_blank=True, trim_whitespace=False
        )
    return None


def _convert(value: Any) -> Any:
    """Return a value as values are compared: numbers are decimals, and texts are plain."""
    if isinstance(value, bool) or value is None or isinstance(value, (datetime, date, time)):
        return value
    if isinstance(value, (int, float, Decimal)):
        number = Decimal(str(value))
        return number if number.is_finite() else UNREADABLE
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_convert(each) for each in value]
    return value if isinstance(value, Mapping) else str(value)


def _validate(field: Any, value: Any) -> str:
    """Return what a field and Django's own validators say of a value, "" for nothing."""
    if value is serializers.empty and not field.required:
        # The default of a field may be code of the project.
        return ""
    try:
        is_empty, value = field.validate_empty_values(value)
        # A list runs the validators of its items.
        if not is_empty and _find_kind(field) and not hasattr(field, "child"):
            _validate_further(field, field.to_internal_value(value))
    except SkipField:
        return ""
    except serializers.ValidationError as exc:
        return str(next(iter(exc.detail)))
    except ValidationError as exc:
        return exc.messages[0]
    return ""


def _validate_further(field: Any, value: Any) -> None:
    for validator in field.validators:
        # REST framework's validators ask the database.
        if type(validator).__module__ == "django.core.validators":
            validator(value)


class Place:
    """An argument of a tool, or a member of an object among its arguments.

    Attributes:
        field: the field of REST framework that reads the value, None where no field is known.
        kind: of the values: a key of `FITTING`.

    Args:
        field: the field of the view's serializer, None for an argument that it does not read.
        schema: the JSON Schema of the value.
    """

    def __init__(self, field: Any, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.field = field if _find_kind(field) else _make_field(schema)
        self.kind = _find_kind(self.field)

    def read(self, value: Any) -> Any:
        """Return a value that was sent as the view reads it, else `UNREADABLE`."""
        if value is None or value is UNREADABLE or self.field is None:
            return UNREADABLE
        if self.kind == LIST and not isinstance(value, (list, Mapping)):
            # A query has one of several values as it has a single one.
            value = [value]
        try:
            return _convert(self.field.to_internal_value(value))
        except (serializers.ValidationError, AssertionError, TypeError, ValueError):
            return UNREADABLE

    def require_operator(self, operator: str) -> None:
        """Raise ValueError with the operators that fit, unless the operator fits the argument."""
        if operator not in (fitting := FITTING[self.kind]):
            words = join_names((each.replace("_", " ") for each in fitting), len(fitting))
            raise ValueError(f"The argument takes the operators {words}.")

    def read_rule(self, operator: str, text: str) -> Any:
        """Return the value that a rule compares with.

        Raises:
            ValueError: if the operator does not fit the argument, or the argument can never have
                the value; the message says what fits.
        """
        self.require_operator(operator)
        if operator in (PRESENT, ABSENT):
            return None
        if operator in (IN, NOT_IN):
            return [self._read_one(operator, line) for line in text.splitlines() if line.strip()]
        return self._read_one(operator, text)

    def _read_one(self, operator: str, text: str) -> Any:
        field = getattr(self.field, "child", self.field)
        if operator == CONTAINS and self.kind == TEXT:
            return text
        is_many = isinstance(field, serializers.MultipleChoiceField)
        try:
            # Rules have the project's times, not the caller's.
            with timezone.override(timezone.get_default_timezone()):
                value = field.to_internal_value([text] if is_many else text)
            if not is_many and operator not in COMPARISONS:
                _validate_further(field, value)
        except ValidationError as exc:
            raise ValueError(" ".join(exc.messages)) from exc
        except (serializers.ValidationError, ValueError, TypeError, AssertionError) as exc:
            raise ValueError(self.explain(field, text, exc)) from exc
        value = _convert(next(iter(value)) if is_many else value)
        bound = getattr(field, "min_value" if operator in (LESS, AT_MOST) else "max_value", None)
        is_bound = operator in COMPARISONS and bound is not None
        if is_bound and not COMPARISONS[operator](_convert(bound), value):
            raise ValueError(f"No value of the argument is that: its bound is {bound}.")
        return value

    def explain(self, field: Any, text: str, exc: Exception) -> str:
        detail = getattr(exc, "detail", None)
        said = str(detail[0]) if isinstance(detail, list) and detail else str(detail or exc)
        choices = [str(each) for each in getattr(field, "choices", ())]
        nearest = ask_nearest(find_nearest(text, choices))
        return f"{said} {nearest or (choices and join_names(choices)) or ''}".strip()


def _compare(operator: str, found: Any, expected: Any) -> bool | None:
    """Return whether an argument compares with the value of a rule; None: it cannot be said."""
    if found is MISSING or found is UNREADABLE or found is None:
        return None
    if operator in (IN, NOT_IN):
        return (found in expected) is (operator == IN)
    if operator in (IS, IS_NOT):
        return (found == expected) is (operator == IS)
    try:
        return expected in found if operator == CONTAINS else COMPARISONS[operator](found, expected)
    except TypeError:
        # One of two moments has no time zone.
        return None


class ToolPlaces:
    """The arguments of a tool that rules may name.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.arguments = {each.name: each for each in tool.arguments.arguments}

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the serializer that reads the body, by their names."""
        fields: Mapping[str, Any] = attempt(
            lambda: dict(self.tool.view.get_serializer().fields), {}
        )
        return fields

    def find(self, path: str) -> Place:
        """Return the place of an argument such as ``amount`` or ``address.city``.

        Raises:
            ValueError: if the tool has no such argument; the message has the nearest one.
        """
        name, *members = path.split(".")
        self.require(name, self.arguments, self.tool.name)
        argument = self.arguments[name]
        schema, field, place = argument.parameter.schema, None, [argument.parameter.name]
        if argument.location == BODY and not argument.whole:
            field = self._find_field(self.fields, place)
        for number, member in enumerate(members, start=1):
            properties = schema.get("properties") or {}
            self.require(member, properties, ".".join([name, *members[: number - 1]]))
            schema, place = properties[member], [*place, member]
            field = self._find_field(getattr(field, "fields", {}), place)
        return Place(field, schema)

    def _find_field(self, fields: Mapping[str, Any], place: list[str]) -> Any:
        # A parser, such as for camel case, may call the fields otherwise.
        keys = self.tool.arguments.keys
        own = next((own for own, other in keys.items() if [*other] == place), place)
        field = fields.get(own[-1])
        return None if field is None or field.read_only else field

    def require(self, name: str, known: Iterable[str], place: str) -> None:
        if name not in known:
            said = "{place} has no argument {name}.".format(place=place, name=name or "''")
            nearest = ask_nearest(find_nearest(name, known))
            names = f"It has: {join_names(known)}." if known else ""
            raise ValueError(f"{said} {nearest or names}".strip())


class RequestArguments(ToolPlaces):
    """The arguments of one request of a call, as its view reads them.

    Args:
        arguments: what the caller sent for the request.
    """

    def __init__(self, tool: Any, arguments: Mapping[str, Any]) -> None:
        super().__init__(tool)
        self.received = arguments
        self.sent = self.collect(arguments)

    def collect(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        # By their names, in whichever group, or inside of a whole body or query, they were sent.
        sent: dict[str, Any] = {}
        named: dict[Any, str] = {
            (a.location, a.parameter.name): a.name for a in self.arguments.values()
        }

        def add(name: str, value: Any) -> None:
            # A parameter that is sent twice is read in a way of the view's own.
            sent[name] = UNREADABLE if name in sent else value

        for argument, raw in self.tool.arguments.find_values(arguments):
            if argument.location not in (PATH, QUERY, BODY):
                continue
            value = argument.read(raw)
            if argument.whole and isinstance(value, Mapping):
                for member, each in value.items():
                    add(named.get((argument.location, member)) or member, each)
            else:
                add(argument.name, value)
        groups = self.tool.arguments.by_group
        for name in arguments.keys() - sent.keys():
            if name not in groups and name not in groups[""]:
                add(name, arguments[name])
        return sent

    def read_all(self) -> dict[str, Any]:
        """Return the arguments as the view's serializer reads them, else `UNREADABLE`."""
        read: dict[str, Any] = dict(self.sent)
        for name, raw in self.sent.items():
            place = self.find(name) if name in self.arguments and raw is not None else None
            if place is not None and place.field is not None:
                read[name] = place.read(raw)
        return read

    def find_refused(self) -> Iterator[tuple[str, str]]:
        """Yield the arguments that stock fields of the serializer refuse, with what they say.

        No code of the project runs, and nothing is asked of the database. Where a call decides
        which serializer reads the body, none are known.
        """
        is_open = BODY in self.tool.arguments.unread
        # Some fields repeat what they refuse.
        shown = self.collect(self.tool.sanitize_arguments(self.received))
        for name, argument in self.arguments.items():
            if argument.location != BODY or argument.whole or is_open:
                continue
            field = self._find_field(self.fields, [argument.parameter.name])
            sent = self.sent.get(name, serializers.empty)
            is_left_out = sent is serializers.empty and not argument.parameter.required
            is_stock = type(field).__module__ == serializers.Field.__module__
            if is_stock and not is_left_out and (said := _validate(field, sent)):
                yield name, MASK if shown.get(name) == MASK else mask_member("", said)

    def _find_sent(self, path: str) -> Any:
        """Return what the caller sent for an argument, `MISSING` for nothing."""
        name, *members = path.split(".")
        value: Any = self.sent.get(name, MISSING)
        for member in members:
            if value is not MISSING:
                value = value.get(member, MISSING) if isinstance(value, Mapping) else UNREADABLE
        return value

    def holds(self, path: str, operator: str, text: str) -> bool | None:
        """Return whether an argument compares with a value; None: it cannot be said.

        Raises:
            ValueError: if the tool has no such argument, or the argument never has the value.
        """
        place, value = self.find(path), self._find_sent(path)
        expected = place.read_rule(operator, text)
        if operator in (PRESENT, ABSENT):
            # What a view makes of null is not known.
            return None if value is None else (value is MISSING) is (operator == ABSENT)
        if value is not MISSING:
            return _compare(operator, place.read(value), expected)
        default = getattr(place.field, "default", serializers.empty)
        is_unknown = default is serializers.empty or default is None or callable(default)
        # A PATCH leaves out what it does not change.
        if "." in path or is_unknown or self.tool.endpoint.method == "PATCH":
            return None
        return _compare(operator, _convert(default), expected)


def describe_refused(tool: Any, requests: Iterable[Any]) -> str:
    """Return what a view will probably refuse of the requests of a call, "" for nothing known."""
    sent = (RequestArguments(tool, each.arguments) for each in requests)
    found = dict.fromkeys(f"{name}: {said}" for each in sent for name, said in each.find_refused())
    return f"The view will probably refuse the call. {' '.join(found)}"[:300] if found else ""
