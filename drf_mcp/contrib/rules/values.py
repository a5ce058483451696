"""What conditions of rules name: the arguments of a call, its object, its caller and the time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from drf_mcp.access.scopes import get_granted_scopes
from drf_mcp.contrib.rules.expressions import (
    ANY,
    BOOLEAN,
    DATE,
    DATETIME,
    LIST,
    NUMBER,
    TEXT,
    TIME,
    UNKNOWN,
    ExpressionError,
    Path,
    read_number,
)
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.option_types.spelling import ask_nearest, find_nearest
from drf_mcp.outcomes import Outcome
from drf_mcp.tools.arguments.call import BODY

# A subclass before its base.
SERIALIZER_TYPES: Mapping[type, str] = {
    serializers.BooleanField: BOOLEAN,
    serializers.IntegerField: NUMBER,
    serializers.FloatField: NUMBER,
    serializers.DecimalField: NUMBER,
    serializers.MultipleChoiceField: ANY,
    serializers.ChoiceField: TEXT,
    serializers.CharField: TEXT,
    serializers.UUIDField: TEXT,
    serializers.DateTimeField: DATETIME,
    serializers.DateField: DATE,
    serializers.TimeField: TIME,
}
MODEL_TYPES: Mapping[type, str] = {
    models.BooleanField: BOOLEAN,
    models.IntegerField: NUMBER,
    models.FloatField: NUMBER,
    models.DecimalField: NUMBER,
    models.CharField: TEXT,
    models.TextField: TEXT,
    models.UUIDField: TEXT,
    models.DateTimeField: DATETIME,
    models.DateField: DATE,
    models.TimeField: TIME,
}
PYTHON_TYPES = {"Decimal": NUMBER, "int": NUMBER, "float": NUMBER, "str": TEXT, "bool": BOOLEAN}
PYTHON_TYPES |= {"datetime": DATETIME, "date": DATE, "time": TIME, "list": LIST}
JSON_TYPES = {"integer": NUMBER, "number": NUMBER, "boolean": BOOLEAN, "string": TEXT}
JSON_TYPES |= {"array": LIST}
CALLER = {"username": TEXT, "groups": LIST, "is_staff": BOOLEAN, "is_superuser": BOOLEAN}
CALLER |= {"is_anonymous": BOOLEAN}
TOKEN = {"name": TEXT, "prefix": TEXT, "client": TEXT, "scopes": LIST, "kind": TEXT}
NOW = {"date": DATE, "time": TIME, "hour": NUMBER, "weekday": NUMBER}
MEMBERS: Mapping[str, Mapping[str, str]] = {"caller": CALLER, "token": TOKEN, "now": NOW}


class ViewRefused(Exception):
    """The view does not let the caller have the object, and says why.

    Args:
        outcome: what it answers.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def find_type(kinds: Mapping[type, str], field: Any) -> str:
    return next((kind for each, kind in kinds.items() if isinstance(field, each)), ANY)


class ToolNames:
    """The names that conditions about a tool may read, with their types.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the serializer that reads the body, by their names."""
        fields: Mapping[str, Any] = self.tool.endpoint.attempt(
            lambda: dict(self.tool.view.get_serializer().fields), {}
        )
        return fields

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        return {each.name: each for each in self.tool.arguments.arguments}

    def is_of_caller(self, path: Path) -> bool:
        """Return whether a name is known before a call: of its caller, credential or time."""
        return path[0] in MEMBERS and path[0] not in self.arguments

    def get_field(self, name: str) -> Any:
        """Return the serializer's field of an argument, None where no serializer reads it."""
        argument = self.arguments.get(name)
        if argument is None or argument.location != BODY or argument.whole:
            return None
        field = self.fields.get(argument.parameter.name)
        is_read = field is not None and not field.read_only
        return field if is_read and find_type(SERIALIZER_TYPES, field) != ANY else None

    def get_type(self, path: Path) -> str:
        """Return the type of a name.

        Raises:
            ExpressionError: if calls of the tool have nothing of that name.
        """
        first, *rest = path
        if first in self.arguments:
            return self.get_argument_type(path)
        if first == "arguments" and rest:
            return self.get_argument_type(tuple(rest))
        if first in MEMBERS:
            return str(self.choose(".".join(rest), MEMBERS[first], first))
        if first == "object":
            return self.get_object_type(rest)
        return str(self.choose(first, self.arguments, self.tool.name))

    def get_argument_type(self, path: Path) -> str:
        self.choose(path[0], self.arguments, self.tool.name)
        if (field := self.get_field(path[0])) is not None and len(path) == 1:
            numbers = isinstance(field, serializers.ChoiceField) and set(map(type, field.choices))
            return NUMBER if numbers == {int} else find_type(SERIALIZER_TYPES, field)
        schema = self.arguments[path[0]].parameter.schema
        for name in path[1:]:
            members = schema.get("properties")
            if members is None:
                return ANY
            schema = self.choose(name, members, ".".join(path))
        return JSON_TYPES.get(str(schema.get("type")), ANY)

    def get_object_type(self, rest: list[str]) -> str:
        model = self.tool.endpoint.model
        if model is None or self.tool.endpoint.key_kwarg is None:
            raise ExpressionError(_("%s is not about one object.") % self.tool.name)
        kind = ANY
        for number, name in enumerate(rest):
            if model is None or name.startswith("_"):
                raise ExpressionError(_("object has no %s.") % ".".join(rest[: number + 1]))
            kind, model = self.get_attribute_type(model, name)
        if model is not None:
            raise ExpressionError(_("%s is an object: name a field of it.") % ".".join(rest))
        return kind

    def get_attribute_type(self, model: Any, name: str) -> tuple[str, Any]:
        # The type of an attribute, and the model of one that leads to another object.
        own = inspect.getattr_static(model, name, None)
        if getter := getattr(own, "fget", None) or getattr(own, "func", None):
            said = inspect.get_annotations(getter).get("return", "")
            return PYTHON_TYPES.get(getattr(said, "__name__", str(said)), ANY), None
        try:
            field = model._meta.get_field(name)
        except FieldDoesNotExist:
            known = {each.name: ANY for each in model._meta.fields}
            return self.choose(name, known, str(model._meta.verbose_name)), None
        if field.is_relation and field.concrete and name == field.attname:
            return find_type(MODEL_TYPES, field.target_field), None
        if field.many_to_one or field.one_to_one:
            return ANY, field.related_model
        if field.is_relation:
            raise ExpressionError(_("%s is several objects.") % name)
        return find_type(MODEL_TYPES, field), None

    def choose(self, name: str, known: Mapping[str, Any], place: str) -> Any:
        if name in known:
            return known[name]
        facts = {"place": place, "name": name or place}
        asked = ask_nearest(find_nearest(name, known))
        message = _("%(place)s has no %(name)s.") % facts
        raise ExpressionError(f"{message} {asked}".strip())


class CallValues:
    """The values that conditions read of one call.

    Args:
        call: the call.
    """

    def __init__(self, call: CallState) -> None:
        self.call = call
        self.names = ToolNames(call.tool)

    def get_value(self, path: Path) -> Any:
        """Return the value of a name, None for one that was not sent.

        Raises:
            ViewRefused: if the caller may not have the object.
            ExpressionError: if the tool has nothing of that name.
        """
        self.names.get_type(path)
        first, *rest = path
        if first in self.names.arguments or first == "arguments":
            return self.get_argument(path if first in self.names.arguments else tuple(rest))
        if first == "object":
            return self.follow(self.object, rest)
        values: Mapping[str, Callable[[str], Any]] = {
            "caller": self.get_of_caller,
            "token": self.get_of_token,
            "now": self.get_of_now,
        }
        return values[first](rest[0])

    def get_argument(self, path: Path) -> Any:
        """Return an argument as the view's serializer reads it, else as its schema says."""
        field = self.names.get_field(path[0])
        if field is not None and len(path) == 1:
            return self.read_by(field, path[0])
        value: Any = self.call.bound.arguments
        for name in path:
            if value is not None and not isinstance(value, Mapping):
                return UNKNOWN
            value = None if value is None else value.get(name)
        kind = self.names.get_type(("arguments", *path))
        return convert(value, kind)

    def read_by(self, field: Any, name: str) -> Any:
        sent = self.call.bound.arguments
        if name not in sent:
            has_default = field.default is not serializers.empty and not callable(field.default)
            is_partial = self.call.tool.endpoint.method == "PATCH"
            return convert(field.default) if has_default and not is_partial else None
        if (value := sent[name]) is None:
            return None
        try:
            return convert(field.to_internal_value(value))
        except ValidationError:
            # The view refuses it as well.
            return UNKNOWN

    @cached_property
    def object(self) -> Any:
        """The object of the call, as the view finds it for the caller.

        Raises:
            ViewRefused: if the view refuses the caller.
        """
        call = self.call
        probe = Probe.of(call.caller, call.tool, call.bound)
        if probe.is_decorated:
            raise ExpressionError(
                _("What is around the view of %s hides the object.") % call.tool.name
            )
        found: list[Any] = []

        def look(view: Any, *args: Any, **kwargs: Any) -> Response:
            found.append(get_named_object(view))
            return Response(status=204)

        outcome = call.dispatcher.perform_call(call, probe.answer_by(look))
        if not found:
            raise ViewRefused(outcome)
        return found[0]

    def follow(self, value: Any, names: list[str]) -> Any:
        for name in names:
            try:
                value = None if value is None else getattr(value, name)
            except ObjectDoesNotExist:
                return None
        return convert(value)

    def get_of_caller(self, name: str) -> Any:
        user = self.call.caller.authenticate().user
        is_known = bool(user and user.is_authenticated)
        if name == "is_anonymous":
            return not is_known
        if name == "groups":
            groups = getattr(user, "groups", None) if is_known else None
            return [] if groups is None else list(groups.values_list("name", flat=True))
        if name == "username":
            return str(user.get_username()) if is_known else None
        return bool(getattr(user, name, False))

    def get_of_token(self, name: str) -> Any:
        known = self.call.caller.authenticate()
        auth, authenticator = known.auth, known.successful_authenticator
        if name == "kind":
            return type(authenticator).__name__ if authenticator else None
        if name == "scopes":
            return sorted(get_granted_scopes(auth) or ())
        if name == "client":
            return getattr(getattr(auth, "application", None), "client_id", None)
        value = getattr(auth, name, None)
        return value if isinstance(value, str) else None

    def get_of_now(self, name: str) -> Any:
        now = timezone.localtime() if timezone.is_aware(timezone.now()) else timezone.now()
        members = {"date": now.date, "time": now.time, "weekday": now.isoweekday}
        return convert(members[name]() if name in members else now.hour)


def convert(value: Any, kind: str = ANY) -> Any:
    """Return a value as conditions compare it: numbers as decimals, other values as they are."""
    if value is None or isinstance(value, bool):
        return value if kind in (ANY, BOOLEAN) or value is None else UNKNOWN
    if kind == BOOLEAN:
        return contain(
            lambda: serializers.BooleanField().to_internal_value(value), lambda exc: UNKNOWN
        )
    if kind == NUMBER or isinstance(value, (int, float, Decimal)):
        return read_number(value)
    if isinstance(value, str):
        # Members of enumerations are texts as well.
        return str(value)
    if isinstance(value, (list, tuple, set)):
        return [convert(each) for each in value]
    if isinstance(value, (datetime, date, time, Mapping)):
        return value
    return str(value) if isinstance(value, UUID) else UNKNOWN
