"""Lists of which REST framework's own code makes the answer from the filtered queryset."""

from __future__ import annotations

from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin

from drf_mcp.access.likeness import is_bare
from drf_mcp.introspection.source.members import find_member, unwrap_function

# Everything between the filtered queryset and the answer: what a project does there, the figures
# would be without.
STEPS = ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
# Packages whose code there is known. drf-spectacular wraps handlers to say something of them.
PACKAGES = frozenset({"rest_framework", "drf_spectacular"})


def find_obstacle(listing: Any) -> str:
    """Return what else stands between queryset and answer of an endpoint, "" for nothing."""
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
