"""Lists whose answer REST framework's own code makes of the view's filtered queryset."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.db.models.query import ModelIterable
from django.utils.translation import gettext as _
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.serializers import ListSerializer

from drf_mcp.access.authentication_reuse import is_bare
from drf_mcp.introspection.source.members import find_member, unwrap_function, unwrap_member

# Every method that runs between the filtered queryset and the answer.
STEPS = ("list", "paginate_queryset", "get_paginated_response", "finalize_response")
# drf-spectacular wraps handlers, and changes nothing of their answers.
PACKAGES = frozenset({"rest_framework", "drf_spectacular"})


def find_obstacle(endpoint: Any) -> str:
    """Return which code of a project's own may change the answer of a list, "" for none."""
    view_class = endpoint.view_class
    if not issubclass(view_class, ListModelMixin) or not issubclass(view_class, GenericAPIView):
        return "it is no generic list"
    if not is_bare(endpoint.route.callback):
        return "its callback has a decorator, which would not be run"
    for name in dict.fromkeys((endpoint.handler_name, *STEPS)):
        if not _is_known(view_class, name):
            return f"{name}() is code of its own, which would not be run as for the list"
    return ""


def _is_known(view_class: type, name: str) -> bool:
    # The globals of each decorator count: a decorator copies the __module__ of what it wraps.
    layers = list(unwrap_function(find_member(view_class, name)[0]))
    packages = {layer.__globals__["__name__"].partition(".")[0] for layer, _ in layers}
    # A last layer that wraps something else hides code that is no function.
    return bool(layers) and not layers[-1][1] and packages <= PACKAGES


def find_queryset_fault(rows: Any) -> str:
    """Return why the objects of a list cannot be counted by their keys, "" if they can."""
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


def shows_every_row(serializer: Any) -> bool:
    """Return whether a serializer for a list writes each of its rows."""
    return is_stock(serializer, ListSerializer, "to_representation", "data")


def is_stock(instance: Any, base: type | tuple[type, ...], *names: str) -> bool:
    """Return whether an instance of a class of REST framework has that package's own members."""

    def has(name: str) -> bool:
        # A class that is made at run time has the __module__ of its metaclass, so the code's
        # globals say where the member was written.
        member = unwrap_member(find_member(type(instance), name)[0])
        module = getattr(member, "__globals__", {}).get("__name__", "")
        return name not in vars(instance) and module.partition(".")[0] == "rest_framework"

    return isinstance(instance, base) and all(map(has, names))
