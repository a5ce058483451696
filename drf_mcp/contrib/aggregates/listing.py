"""The endpoint of an aggregate: the route and view of a list, with another handler for `list`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.urls import ResolverMatch
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.contrib.aggregates.figures import COUNT, ORDERS, Columns, Figures, Terms
from drf_mcp.dispatch.list_probe import ListProbe, find_list_fault, find_obstacle
from drf_mcp.exposure import Endpoint, Route
from drf_mcp.features import mcp_settings
from drf_mcp.introspection.parsers import Renaming
from drf_mcp.outcomes import MISSING

MOST_GROUPS = 1000
DEFAULT_GROUPS = 100
# Schemas and examples of the list do not describe its figures.
DEFAULTS: dict[str, Any] = {"name": None, "input_schema": None, "examples": ()}
DEFAULTS["output_schema"] = MISSING


@dataclass(frozen=True)
class AggregateRoute(Route):
    """The route of a list; its callback runs the list's view with another handler."""

    listing: Route

    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        return self.listing.match(path, kwargs, request)


@dataclass(frozen=True)
class AggregateEndpoint(Endpoint):
    """The endpoint of an aggregate."""

    fields: tuple[str, ...] = ()
    listing: Endpoint | None = None

    has_http_request = False

    @classmethod
    def of_list(cls, listing: Endpoint, fields: tuple[str, ...]) -> AggregateEndpoint:
        if obstacle := find_obstacle(listing):
            raise ImproperlyConfigured(
                f"aggregate= cannot be used for {listing.place}: {obstacle}. Move what it does "
                f"into get_queryset() or a filter backend, or take aggregate= away."
            )
        route, view_class = listing.route, listing.view_class
        # The aggregate takes what @extend_schema says of the parameters of the list.
        own: Any = AggregateList.list
        handler = FunctionType(own.__code__, own.__globals__, own.__name__)
        marks = vars(listing.handler).items()
        vars(handler).update((n, v) for n, v in marks if n not in ("__wrapped__", "mcp_tool"))
        # The class keeps its name: errors and logs lead to the project's class.
        members: dict[str, Any] = {
            n: getattr(view_class, n) for n in ("__module__", "__qualname__", "__doc__")
        }
        members |= {"mcp_aggregate": fields, "list": handler}
        metaclass: Any = type(view_class)
        made = metaclass(view_class.__name__, (AggregateList, view_class), members)
        callback = made.as_view(
            *([dict(route.actions)] if route.actions else ()), **route.initkwargs
        )
        # Attributes such as transaction.non_atomic_requests() sets.
        marks = vars(route.callback).items()
        vars(callback).update((n, v) for n, v in marks if n not in vars(callback))
        aggregate_route = AggregateRoute(route.urlconf, route.chain, callback, route)
        known = (listing.method, listing.action, listing.noun)
        return cls(aggregate_route, *known, fields=fields, listing=listing)

    @functools.cached_property
    def standard_action(self) -> str | None:
        return "aggregate"


class AggregateList:
    """Gives a view class a ``list`` that answers with figures of the rows that it would list."""

    mcp_aggregate: tuple[str, ...] = ()

    def list(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.filter_queryset(self.get_queryset())
        if fault := find_list_fault(self, rows) or _find_middleware_fault(request):
            raise ValidationError(f"{fault} Page through the list instead.", "not_aggregated")
        # The declared columns that this caller's list shows.
        call = getattr(request._request, "mcp_call", None)
        fields = self.mcp_aggregate if call is None else call.tool.fields
        terms = Terms(Columns(self, rows.model).find_shown(fields))
        # By the names that the answer has.
        write = find_key_writer(self)
        known_groupings = {write(key): grouping for key, grouping in terms.groupings.items()}
        known_metrics = {write(key): metric for key, metric in terms.metrics.items()}
        asked = read_arguments(known_groupings, known_metrics, write, request.query_params)
        groupings = [known_groupings[key] for key in dict.fromkeys(asked["group_by"])]
        metrics = [known_metrics[key] for key in dict.fromkeys(asked["metrics"])]
        answer = Figures(rows, groupings, metrics).make_answer(asked["order"], asked["limit"])
        zones = {str(grouping.column.zone) for grouping in groupings if grouping.column.zone}
        return Response({**answer, "time_zone": ", ".join(sorted(zones))} if zones else answer)


def _find_middleware_fault(request: Request) -> str:
    """Return why figures could differ from the answer of the list, as far as its first page shows.

    No permission is asked again here, and no throttle counts.
    """
    call = getattr(request._request, "mcp_call", None)
    if call is None or not mcp_settings.CALL_MIDDLEWARE:
        return ""
    listing = call.tool.for_endpoint(call.tool.endpoint.listing)
    changed = ListProbe(call.caller, listing, call.bound).is_altered()
    return "CALL_MIDDLEWARE changes the answer of the list." if changed else ""


class ShownKey(serializers.ChoiceField):
    """A key that the caller may use; the tool's schema may have further keys."""

    default_error_messages = {
        "not_shown": (
            "'{input}' is made of a field that the list does not show to you as it is stored. "
            "Choose from: {names}."
        )
    }

    def to_internal_value(self, data: Any) -> Any:
        if data not in self.choices:
            self.fail("not_shown", input=data, names=", ".join(self.choices) or "none")
        return data


def find_key_writer(view: Any) -> Callable[[str], str]:
    """Return what writes a name as the view's renderer does, such as in camel case."""
    renaming = Renaming(view)
    return functools.cache(renaming.render_key) if renaming.only_renames else str


def read_arguments(
    groupings: Collection[str],
    metrics: Collection[str],
    write: Callable[[str], str],
    query_params: Any,
) -> dict[str, Any]:
    def keys(known: Any, default: Any) -> serializers.ListField:
        return serializers.ListField(child=ShownKey(list(known)), default=default)

    fields: dict[str, Any] = {
        "group_by": keys(groupings, []),
        "metrics": keys(metrics, [COUNT]),
        "order": serializers.ChoiceField(ORDERS, default=ORDERS[0]),
        "limit": serializers.IntegerField(
            min_value=1, max_value=MOST_GROUPS, default=DEFAULT_GROUPS
        ),
    }
    data = {name: query_params[name] for name in fields if name in query_params}
    for name in data.keys() & {"group_by", "metrics"}:
        data[name] = [write(key) for key in data[name].split(",") if key]
    serializer = type("AggregateArguments", (serializers.Serializer,), fields)(data=data)
    serializer.is_valid(raise_exception=True)
    found: dict[str, Any] = serializer.validated_data
    return {**found, "metrics": found["metrics"] or [COUNT]}
