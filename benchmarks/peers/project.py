"""The project of all packages: the example's API, or one of many viewsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver, include, path
from rest_framework import mixins
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.routers import APIRootView, SimpleRouter
from rest_framework.viewsets import GenericViewSet

from example_project.shop.models import Customer, Order
from example_project.shop.serializers import CustomerSerializer, OrderSerializer

MODELS = ((Order, OrderSerializer), (Customer, CustomerSerializer))
# The methods that each package can make a tool of.
MIXINS = (mixins.ListModelMixin, mixins.CreateModelMixin, mixins.DestroyModelMixin)


@api_view(["GET"])
def nothing(request: Any) -> Response:
    """Answer with an empty object."""
    return Response({})


def make_urlpatterns() -> list[Any]:
    """Return the URLs of the API, without those of a package."""
    if not settings.TOOLS:
        return [
            path("nothing/", nothing),
            path("api/", include("example_project.shop.urls")),
            path("api/library/", include("example_project.library.urls")),
        ]
    router = SimpleRouter()
    for number in range(settings.TOOLS // len(MIXINS)):
        model, serializer_class = MODELS[number % 2]
        members = {
            "__doc__": f"Things of kind {number}.",
            "queryset": model._default_manager.all(),
            "serializer_class": serializer_class,
        }
        viewset = type(f"Things{number}", (*MIXINS, GenericViewSet), members)
        router.register(f"things-{number}", viewset, basename=f"things-{number}")
    return [path("nothing/", nothing), path("api/", include(router.urls))]


@dataclass(frozen=True)
class Endpoint:
    """One method of one URL.

    Attributes:
        view: the class of the view.
        action: the viewset's name of the handler.
        action: what a viewset calls the method that answers.
        keys: the names of the keyword arguments in the path.
        name: a name that no other endpoint has.
    """

    view: type[Any]
    method: str
    action: str
    keys: tuple[str, ...]
    name: str


def find_endpoints() -> Iterator[Endpoint]:
    """Yield the endpoints of the API under ``/api/``."""
    for prefix, pattern, keys in walk(get_resolver().url_patterns):
        view = getattr(pattern.callback, "cls", None)
        if view in (None, APIRootView) or not prefix.startswith("api/") or "format" in keys:
            continue
        stem = (pattern.name or view.__name__).rpartition("-")[0] or pattern.name or view.__name__
        actions = getattr(pattern.callback, "actions", None) or find_actions(view, keys)
        for method, action in actions.items():
            name = f"{stem}s_{action}".replace("-", "_").lower()
            yield Endpoint(view, method, action, keys, name)


def walk(
    patterns: Sequence[Any], prefix: str = "", keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, URLPattern, tuple[str, ...]]]:
    for each in patterns:
        route = prefix + str(each.pattern).lstrip("^")
        known = (*keys, *each.pattern.regex.groupindex)
        if isinstance(each, URLResolver):
            yield from walk(each.url_patterns, route, known)
        else:
            yield route, each, known


def find_actions(view: type[Any], keys: Sequence[str]) -> dict[str, str]:
    """Return the methods of a view that is no viewset, each with a viewset's name of the action."""
    actions = {"get": "retrieve" if keys else "list", "post": "create"}
    actions |= {"put": "update", "patch": "partial_update", "delete": "destroy"}
    return {method: action for method, action in actions.items() if hasattr(view, method)}
