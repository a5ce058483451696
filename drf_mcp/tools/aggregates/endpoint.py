"""The endpoint of an aggregate: the list's own route and method, with another answer."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.urls import ResolverMatch
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin

from drf_mcp.access.likeness import is_bare
from drf_mcp.introspection.source.members import find_member, unwrap_function
from drf_mcp.tools.aggregates.listing import make_aggregate_class
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.routes import Route

# Everything between the filtered queryset and the answer: what a project does there, the figures
# would be without.
STEPS = ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
# Packages whose code there is known. drf-spectacular wraps handlers to say something of them.
PACKAGES = frozenset({"rest_framework", "drf_spectacular"})


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


def find_obstacle(listing: Endpoint) -> str:
    view_class = listing.view_class
    if not issubclass(view_class, ListModelMixin) or not issubclass(view_class, GenericAPIView):
        return "it is no generic list"
    if not is_bare(listing.route.callback):
        return "a decorator stands around its callback, which would not be run"
    for name in dict.fromkeys((listing.handler_name, *STEPS)):
        if not is_known(view_class, name):
            return f"{name}() is code of its own, which would not be run as for the list"
    return ""


def is_known(view_class: type, name: str) -> bool:
    # By the globals of each layer: a decorator copies the __module__ of what it wraps.
    member, _ = find_member(view_class, name)
    layers = list(unwrap_function(member))
    packages = {layer.__globals__["__name__"].partition(".")[0] for layer, _ in layers}
    # A last layer that wraps something else hides code that is no function.
    return bool(layers) and not layers[-1][1] and packages <= PACKAGES
