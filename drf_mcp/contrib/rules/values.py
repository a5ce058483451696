"""What conditions of rules name: the arguments of a call, its object, its caller and the time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.utils.field_mapping import ClassLookupDict

from drf_mcp.access.scopes import get_granted_scopes
from drf_mcp.contrib.rules.expressions import (
    ANY,
    BOOLEAN,
    DATE,
    DATETIME,
    KINDS,
    LIST,
    NUMBER,
    TEXT,
    TIME,
    UNKNOWN,
    ExpressionError,
    Path,
    convert,
    read_as,
)
from drf_mcp.dispatch.request import get_named_object, needs_callback
from drf_mcp.features import CallState, Slot
from drf_mcp.introspection.findings import attempt
from drf_mcp.option_types.spelling import ask_nearest, find_nearest
from drf_mcp.outcomes import Outcome, Problem
from drf_mcp.tools.arguments.call import BODY

Found = TypeVar("Found")
# The first class of a field's MRO that is a key counts.
FIELD_TYPES: Mapping[type, str] = {
    serializers.BooleanField: BOOLEAN,
    serializers.IntegerField: NUMBER,
    serializers.FloatField: NUMBER,
    serializers.DecimalField: NUMBER,
    serializers.CharField: TEXT,
    serializers.UUIDField: TEXT,
    serializers.ChoiceField: TEXT,
    serializers.MultipleChoiceField: ANY,
    serializers.DateTimeField: DATETIME,
    serializers.DateField: DATE,
    serializers.TimeField: TIME,
    serializers.Field: ANY,
}
MODEL_FIELDS: Any = ClassLookupDict(
    {object: serializers.Field, **serializers.ModelSerializer.serializer_field_mapping}
)
JSON_TYPES = {"integer": NUMBER, "number": NUMBER, "boolean": BOOLEAN, "string": TEXT}
JSON_TYPES |= {"array": LIST}


def find_text_attribute(source: Any, name: str) -> Any:
    value = getattr(source, name, None)
    return value if isinstance(value, str) else None


def find_client_id(known: Any) -> Any:
    return find_text_attribute(getattr(known.auth, "application", None), "client_id")


def find_groups(known: Any) -> list[str]:
    groups = getattr(known.user, "groups", None)
    return [] if groups is None else list(groups.values_list("name", flat=True))


def find_project_time() -> datetime:
    # In the project's time zone: middleware may have activated that of the caller.
    now = timezone.now()
    zone = timezone.get_default_timezone()
    return timezone.localtime(now, zone) if timezone.is_aware(now) else now


class Member(NamedTuple):
    """A name that no argument changes, such as ``caller.username``.

    Attributes:
        kind: the type of the value.
        find: finds the value in the authenticated request.
    """

    kind: str
    find: Callable[[Any], Any]


MEMBERS: Mapping[str, Mapping[str, Member]] = {
    "caller": {
        "username": Member(TEXT, lambda known: (known.user and known.user.get_username()) or None),
        "groups": Member(LIST, find_groups),
        "is_staff": Member(BOOLEAN, lambda known: getattr(known.user, "is_staff", False)),
        "is_superuser": Member(BOOLEAN, lambda known: getattr(known.user, "is_superuser", False)),
        "is_anonymous": Member(
            BOOLEAN, lambda known: not getattr(known.user, "is_authenticated", False)
        ),
    },
    "token": {
        "name": Member(TEXT, lambda known: find_text_attribute(known.auth, "name")),
        "prefix": Member(TEXT, lambda known: find_text_attribute(known.auth, "prefix")),
        "client": Member(TEXT, find_client_id),
        "scopes": Member(LIST, lambda known: sorted(get_granted_scopes(known.auth) or ())),
        "kind": Member(
            TEXT,
            lambda known: (
                known.successful_authenticator and type(known.successful_authenticator).__name__
            ),
        ),
    },
    "now": {
        "date": Member(DATE, lambda known: find_project_time().date()),
        "time": Member(TIME, lambda known: find_project_time().time()),
        "hour": Member(NUMBER, lambda known: find_project_time().hour),
        "weekday": Member(NUMBER, lambda known: find_project_time().isoweekday()),
    },
}


class ViewRefused(Exception):
    """The view does not let the caller have the object, and says why.

    Args:
        outcome: what it answers.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def locate_item(outcome: Outcome, call: CallState, place: int) -> Outcome:
    """Return the outcome of one request of a call, with its item named where there are several."""
    failure, items = outcome.failure, call.tool.arguments.items
    if failure is None or not call.bound.items:
        return outcome
    whole = Problem(failure.code, failure.message, remediation=failure.remediation)
    problems = (items.locate(each, place, {}) for each in failure.problems or (whole,))
    return outcome.changed(failure=failure.with_problems(tuple(problems)))


class RefusedItem(NamedTuple):
    """An item of a call about several objects whose object the view refuses the caller.

    Attributes:
        kwargs: the path kwargs of the item.
        outcome: what the view answers.
    """

    kwargs: Any
    outcome: Outcome


REFUSED_ITEMS: Slot[list[RefusedItem]] = Slot()


@contextmanager
def noting_refused_item(call: CallState, place: int) -> Iterator[None]:
    """Refuse a call, or one of its items, where the view refuses the caller the object.

    A call that reads several objects, or keeps the items that work, goes on with the others:
    `RefusedItemGuard` refuses the item. Any other call is refused, with the item named.

    Args:
        place: the place of the item among the requests of the call.
    """
    try:
        yield
    except ViewRefused as exc:
        goes_on = call.bound.items and call.tool.options.bulk == "partial"
        if not (call.bound.many or goes_on):
            raise ViewRefused(locate_item(exc.outcome, call, place)) from exc
        item = RefusedItem(call.bound.requests[place].kwargs, exc.outcome)
        REFUSED_ITEMS.set(call, [*(REFUSED_ITEMS.get(call) or ()), item])


def find_type(field_class: type) -> str:
    return next(FIELD_TYPES[each] for each in field_class.__mro__ if each in FIELD_TYPES)


def find_known(name: str, known: Mapping[str, Found], place: str) -> Found:
    """Return what is known by a name.

    Args:
        place: what has the names, for the message.

    Raises:
        ExpressionError: if nothing has the name; the message has the nearest name.
    """
    if name in known:
        return known[name]
    message = _("%(place)s has no %(name)s.") % {"place": place, "name": name or place}
    raise ExpressionError(f"{message} {ask_nearest(find_nearest(name, known))}".strip())


class ToolNames:
    """The names that conditions about a tool may read, with their types.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.arguments = tool.arguments_by_name

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the serializer that reads the body, by their names."""
        fields: Mapping[str, Any] = attempt(
            lambda: dict(self.tool.view.get_serializer().fields), {}
        )
        return fields

    @cached_property
    def names_of_fields(self) -> Mapping[str, str]:
        """The names of fields by what a parser, such as that of camel case, calls them."""
        keys = self.tool.arguments.keys
        return {other[0]: place[0] for place, other in keys.items() if len(place) == 1}

    def locate(self, path: Path) -> tuple[str, Path]:
        """Return where a name leads, "arguments", "object" or a key of `MEMBERS`, and its rest."""
        # The caller chooses the arguments: one named ``caller`` is never read as the caller.
        is_reserved = path[0] in (*MEMBERS, "object", "arguments") and len(path) > 1
        return (path[0], path[1:]) if is_reserved else ("arguments", path)

    def get_field(self, name: str) -> Any:
        """Return the serializer's field of an argument, None where no serializer reads it."""
        argument = self.arguments.get(name)
        if argument is None or argument.location != BODY or argument.whole:
            return None
        name = argument.parameter.name
        field = self.fields.get(self.names_of_fields.get(name, name))
        is_read = field is not None and not field.read_only
        return field if is_read and find_type(type(field)) != ANY else None

    def get_type(self, path: Path) -> str:
        """Return the type of a name.

        Raises:
            ExpressionError: if calls of the tool have nothing of that name.
        """
        place, names = self.locate(path)
        if place == "object":
            return self.get_object_type(names)
        if place in MEMBERS:
            return find_known(".".join(names), MEMBERS[place], place).kind
        argument = find_known(names[0], self.arguments, self.tool.name)
        if (field := self.get_field(names[0])) is not None and len(names) == 1:
            numbers = isinstance(field, serializers.ChoiceField) and set(map(type, field.choices))
            return NUMBER if numbers == {int} else find_type(type(field))
        schema = argument.parameter.schema
        for name in names[1:]:
            members = schema.get("properties")
            if members is None:
                return ANY
            schema = find_known(name, members, ".".join(names))
        return JSON_TYPES.get(str(schema.get("type")), ANY)

    def get_object_type(self, names: Path) -> str:
        model, kind = self.tool.endpoint.model, ANY
        if model is None or self.tool.endpoint.key_kwarg is None:
            raise ExpressionError(_("%s is not about one object.") % self.tool.name)
        for number, name in enumerate(names, start=1):
            if model is None or name.startswith("_"):
                raise ExpressionError(_("object has no %s.") % ".".join(names[:number]))
            kind, model = get_attribute_type(model, name)
        if model is not None:
            raise ExpressionError(_("%s is an object: name a field of it.") % ".".join(names))
        return kind


def get_attribute_type(model: Any, name: str) -> tuple[str, Any]:
    """Return the type of an attribute, and the model of one that leads to another object."""
    own = inspect.getattr_static(model, name, None)
    if getter := getattr(own, "fget", None) or getattr(own, "func", None):
        said = inspect.get_annotations(getter).get("return", "")
        name = getattr(said, "__name__", str(said))
        return next((kind for each, kind in KINDS.items() if each.__name__ == name), ANY), None
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        known = {each.name: (ANY, None) for each in model._meta.fields}
        return find_known(name, known, str(model._meta.verbose_name))
    if (field.many_to_one or field.one_to_one) and name != getattr(field, "attname", ""):
        return ANY, field.related_model
    if field.is_relation and not field.concrete:
        raise ExpressionError(_("%s is several objects.") % name)
    return find_type(MODEL_FIELDS[field.target_field if field.is_relation else field]), None


class CallValues(ToolNames):
    """The values that conditions read of one call.

    Args:
        call: the call.
        find_object: finds the object of a request whose view is there already.
    """

    def __init__(self, call: CallState, find_object: Callable[[], Any] | None = None) -> None:
        super().__init__(call.tool)
        self.call = call
        self.find_object = find_object

    def get_value(self, path: Path) -> Any:
        """Return the value of a name of the tool, None for one that was not sent.

        Raises:
            ViewRefused: if the caller may not have the object.
        """
        place, names = self.locate(path)
        if place == "arguments":
            return self.get_argument(names)
        if place in MEMBERS:
            return convert(MEMBERS[place][names[0]].find(self.call.caller.authenticate()))
        value = self.object
        for name in names:
            try:
                value = None if value is None else getattr(value, name)
            except ObjectDoesNotExist:
                return None
        return convert(value)

    @cached_property
    def sent(self) -> Mapping[str, Any]:
        """The arguments that were sent, by their names, in whichever group they were sent."""
        found = self.tool.arguments.get_values(self.call.bound.arguments)
        known = self.arguments.values()
        return {argument.name: value for argument, value in found if argument in known}

    def get_argument(self, path: Path) -> Any:
        """Return an argument as the view's serializer reads it, else as its schema says."""
        name, sent = path[0], self.sent
        if len(path) == 1 and (field := self.get_field(name)) is not None:
            if name in sent:
                raw = sent[name]
                try:
                    return None if raw is None else convert(field.to_internal_value(raw))
                except serializers.ValidationError:
                    # The view refuses it as well.
                    return UNKNOWN
            has_default = field.default is not serializers.empty and not callable(field.default)
            is_partial = self.tool.endpoint.method == "PATCH"
            return convert(field.default) if has_default and not is_partial else None
        value: Any = sent
        for name in path:
            if value is not None and not isinstance(value, Mapping):
                return UNKNOWN
            value = None if value is None else value.get(name)
        kind = self.get_type(("arguments", *path))
        is_read = value is not None and kind in (NUMBER, BOOLEAN)
        return read_as(kind, value) if is_read else convert(value)

    @cached_property
    def object(self) -> Any:
        """The object of the call, as the view finds it for the caller.

        Raises:
            ViewRefused: if the view refuses the caller.
        """
        if self.find_object is not None:
            return self.find_object()
        if needs_callback(self.tool.endpoint.route.callback):
            text = _("What is around the view of %s hides the object.")
            raise ExpressionError(text % self.tool.name)
        found = self.call.dispatcher.ask_view(
            self.call, lambda view, *args, **kwargs: get_named_object(view)
        )
        if isinstance(found, Outcome):
            raise ViewRefused(found)
        return found
