"""The endpoint of an aggregate: the list's own route and method, with another answer."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.urls import ResolverMatch

from drf_mcp.tools.aggregates.listing import make_aggregate_class
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.routes import Route
from drf_mcp.tools.stock_lists import find_obstacle


@dataclass(frozen=True)
class AggregateRoute(Route):
    """A route that leads to the list; its callback runs the list's view with another handler."""

    listing: Route

    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        return self.listing.match(path, kwargs, request)


@dataclass(frozen=True)
class AggregateEndpoint(Endpoint):
    """The endpoint of an aggregate.

    Attributes:
        fields: the serializer's names of the fields that the project declared.
    """

    fields: tuple[str, ...] = ()

    has_http_request = False

    @classmethod
    def beside(cls, listing: Endpoint, fields: tuple[str, ...]) -> AggregateEndpoint:
        """Return the aggregate of a list; raises ImproperlyConfigured where there can be none."""
        if obstacle := find_obstacle(listing):
            raise ImproperlyConfigured(
                f"aggregate= cannot be used for {listing.place}: {obstacle}. Move what it does "
                f"into get_queryset() or a filter backend, or take aggregate= away."
            )
        route = listing.route
        own: Any = make_aggregate_class(listing.view_class, listing.handler, fields)
        actions = (dict(route.actions),) if route.actions else ()
        callback = own.as_view(*actions, **route.initkwargs)
        # Such as that of transaction.non_atomic_requests().
        marks = {n: v for n, v in vars(route.callback).items() if n not in vars(callback)}
        vars(callback).update(marks)
        twin = AggregateRoute(route.urlconf, route.chain, callback, route)
        return cls(twin, listing.method, listing.action, listing.noun, fields=fields)

    @functools.cached_property
    def standard_action(self) -> str | None:
        return "aggregate"
