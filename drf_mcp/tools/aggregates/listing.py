"""The handler of an aggregate: in the place of ``list``, with everything else of the view."""

from __future__ import annotations

from types import FunctionType
from typing import Any, NoReturn

from django.db.models import QuerySet
from django.db.models.query import ModelIterable
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.tools.aggregates.columns import Column, Columns, NotAColumn
from drf_mcp.tools.aggregates.figures import ORDERS, Figures
from drf_mcp.tools.aggregates.terms import COUNT, Terms

MOST_GROUPS = 1000
DEFAULT_GROUPS = 100
NOT_SHOWN = gettext_lazy(
    "'{input}' is made of a field that the list does not show to you as it is stored. "
    "Choose from: {names}."
)


class AggregateList:
    """Gives a view class a ``list`` that answers with figures of the rows that it would list."""

    mcp_aggregate: tuple[str, ...] = ()

    def list(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.filter_queryset(self.get_queryset())
        return Response(Aggregation(self, rows).get_answer())


class Aggregation:
    """One request for figures, with the fields that its caller is shown."""

    def __init__(self, view: Any, rows: Any) -> None:
        if fault := find_fault(rows):
            self.refuse(fault)
        self.view = view
        self.rows: QuerySet[Any] = rows
        self.columns = Columns.of_view(view, rows.model)
        try:
            self.columns.check_list()
        except NotAColumn as exc:
            self.refuse(f"{exc}.")

    def refuse(self, fault: str) -> NoReturn:
        advice = _("Page through the list instead.")
        raise ValidationError(f"{fault} {advice}", "not_aggregated")

    def get_answer(self) -> dict[str, Any]:
        terms = Terms(self.find_columns())
        question = Question(terms, self.view.request.query_params)
        asked = question.read()
        groupings = [terms.groupings[key] for key in dict.fromkeys(asked["group_by"])]
        metrics = [terms.metrics[key] for key in dict.fromkeys(asked["metrics"])]
        answer = Figures(self.rows, groupings, metrics).get_answer(asked["order"], asked["limit"])
        zones = {str(grouping.column.zone) for grouping in groupings if grouping.column.zone}
        return {**answer, "time_zone": ", ".join(sorted(zones))} if zones else answer

    def find_columns(self) -> list[Column]:
        found = []
        for name in self.view.mcp_aggregate:
            try:
                found.append(self.columns.find(name))
            except NotAColumn:
                continue
        return found


class ShownKey(serializers.ChoiceField):
    """One of the keys that a caller has; the tool's schema may have more."""

    default_error_messages = {"not_shown": NOT_SHOWN}

    def to_internal_value(self, data: Any) -> Any:
        if data not in self.choices:
            names = ", ".join(self.choices) or pgettext("accepted names", "none")
            self.fail("not_shown", input=data, names=names)
        return data


class Question:
    """Reads the arguments, with the choices that one caller has."""

    def __init__(self, terms: Terms, query_params: Any) -> None:
        fields: dict[str, Any] = {
            "group_by": self.get_list(terms.groupings, []),
            "metrics": self.get_list(terms.metrics, [COUNT]),
            "order": serializers.ChoiceField(ORDERS, default=ORDERS[0]),
            "limit": serializers.IntegerField(
                min_value=1, max_value=MOST_GROUPS, default=DEFAULT_GROUPS
            ),
        }
        data = {name: query_params[name] for name in fields if name in query_params}
        for name in data.keys() & {"group_by", "metrics"}:
            data[name] = [key for key in data[name].split(",") if key]
        self.serializer = type("Question", (serializers.Serializer,), fields)(data=data)

    def get_list(self, terms: Any, default: Any) -> serializers.ListField:
        return serializers.ListField(child=ShownKey(list(terms)), default=default)

    def read(self) -> dict[str, Any]:
        self.serializer.is_valid(raise_exception=True)
        data: dict[str, Any] = self.serializer.validated_data
        return {**data, "metrics": data["metrics"] or [COUNT]}


def find_fault(rows: Any) -> str:
    """Return why the rows of a list cannot be counted in groups, "" if they can."""
    if not isinstance(rows, QuerySet):
        return _("The list is no queryset but %(type)s.") % {"type": type(rows).__name__}
    if not issubclass(rows._iterable_class, ModelIterable):
        return _("The rows of the list are values, not objects.")
    if rows.query.combinator:
        # Translators: the combinator is "union", "intersection" or "difference".
        return _("The list is a %(combinator)s of querysets.") % vars(rows.query)
    if rows.query.extra:
        return _("The queryset of the list has extra(select=...).")
    return ""


def make_aggregate_class(view_class: type, handler: Any, names: tuple[str, ...]) -> type:
    # One of the same name, so that whatever is said of it leads to the project's class.
    members: dict[str, Any] = {
        "mcp_aggregate": names,
        "list": copy_handler(handler),
        **{name: getattr(view_class, name) for name in ("__module__", "__qualname__", "__doc__")},
    }
    return type(view_class)(view_class.__name__, (AggregateList, view_class), members)


def copy_handler(handler: Any) -> FunctionType:
    # What is said of the list's parameters, by @extend_schema, holds for the aggregate as well.
    own: Any = AggregateList.list
    copied = FunctionType(own.__code__, own.__globals__, own.__name__)
    said = {n: v for n, v in vars(handler).items() if n not in ("__wrapped__", "mcp_tool")}
    vars(copied).update(said)
    return copied
