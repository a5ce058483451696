"""Whether only REST framework's own code runs between a list's queryset and its answer.

`initial`, `get_queryset`, `filter_queryset` and the filter backends may be anybody's: who asks for
the rows runs them. Whatever comes after them may leave rows out or change what they show, so the
rows of the queryset are the rows of the answer only where all of it is REST framework's.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection
from types import GetSetDescriptorType
from typing import Any

from django.db.models import QuerySet
from django.db.models.query import ModelIterable
from rest_framework.generics import GenericAPIView, ListAPIView, ListCreateAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.serializers import ListSerializer, Serializer

from drf_mcp.access.authentication import find_view_classes, is_undecorated
from drf_mcp.introspection.source.members import find_member, unwrap_function, unwrap_member

# drf-spectacular wraps handlers without changing their answers.
PACKAGES = frozenset({"rest_framework", "drf_spectacular"})
PAGINATING = frozenset({"rest_framework", "django"})
# Renderers that write all rows; djangorestframework-camel-case changes the keys alone.
RENDERING = frozenset({"rest_framework", "drf_mcp", "django", "djangorestframework_camel_case"})
HANDLERS = frozenset(
    each.__code__ for each in (ListModelMixin.list, ListAPIView.get, ListCreateAPIView.get)
)
# The members of a view that run around its filtered queryset.
STEPS = (
    "dispatch",
    "initialize_request",
    "list",
    "paginator",
    "paginate_queryset",
    "get_serializer",
    "get_paginated_response",
    "finalize_response",
)
# Members of a paginator that only describe it.
DESCRIBING = frozenset(
    {"get_paginated_response_schema", "get_schema_operation_parameters", "get_schema_fields"}
)
SPECIAL = frozenset({"__init__", "__new__", "__call__", "__getattr__", "__getattribute__"})


@functools.lru_cache(maxsize=4096)
def is_stock_list(endpoint: Any) -> bool:
    """Return whether only REST framework's own code runs between a queryset and its answer.

    What only an instance has, `_find_view_fault` sees.
    """
    return not find_obstacle(endpoint)


def find_obstacle(endpoint: Any) -> str:
    """Return which code of a project's own may change the answer of a list, "" for none."""
    callback, view_class = endpoint.route.callback, endpoint.view_class
    if not issubclass(view_class, GenericAPIView):
        return "it is no generic list"
    if not is_undecorated(callback):
        return "its callback has a decorator, which would not be run"
    own = "is code of its own, which would not be run as for the list"
    if not _is_list_handler(find_member(view_class, endpoint.handler_name)[0]):
        return f"{endpoint.handler_name}() {own}"
    for name in STEPS:
        if not is_stock_member(view_class, name):
            return f"{name}() {own}"
    chosen = endpoint.route.initkwargs.get("pagination_class")
    pagination_class = chosen or getattr(view_class, "pagination_class", None)
    if isinstance(pagination_class, type) and not _is_stock_paginator(pagination_class):
        return f"{pagination_class.__name__} {own}"
    renderers = find_view_classes(callback, "renderer_classes") or ()
    # The request accepts JSON before anything else.
    found = [each for each in renderers if each.media_type == "application/json"] or renderers
    if found and not _is_stock_class(found[0], RENDERING):
        return f"{found[0].__name__} {own}"
    return ""


def find_list_fault(view: Any, rows: Any, handler: Any = None) -> str:
    """Return why the rows of a list cannot be known without its answer, "" if they can.

    Args:
        rows: the filtered queryset of the view.
        handler: as of `_find_view_fault`.
    """
    return _find_queryset_fault(rows) or _find_view_fault(view, handler)


def _find_view_fault(view: Any, handler: Any = None) -> str:
    """Return what of a view instance may change the answer of its list, "" for nothing.

    Args:
        view: a view that has made its queryset: code that ran before may have set attributes.
        handler: the method that answers the request, None for REST framework's.
    """
    own = "is code of its own."
    changed = [name for name in STEPS if name in vars(view)]
    if handler is not None and not _is_list_handler(handler):
        changed.append("list")
    if changed:
        return f"{changed[0]}() {own}"
    paginator, renderer = view.paginator, view.request.accepted_renderer
    if paginator is not None and not _is_stock_paginator(paginator):
        return f"{type(paginator).__name__} {own}"
    if not _is_stock_class(renderer, RENDERING):
        return f"{type(renderer).__name__} {own}"
    made_by = view.get_serializer_class()
    makes = isinstance(made_by, type) and all(
        is_stock_member(made_by, name) for name in ("__new__", "many_init")
    )
    serializer = view.get_serializer([], many=True)
    if not makes or not is_stock(
        serializer, ListSerializer, "__init__", "to_representation", "data"
    ):
        return f"{type(serializer).__name__} writes the list in a way of its own."
    return ""


def _find_queryset_fault(rows: Any) -> str:
    """Return why the rows of a list cannot be found by primary key, "" if they can."""
    if not isinstance(rows, QuerySet):
        return f"The list is no queryset but {type(rows).__name__}."
    if rows._iterable_class is not ModelIterable:
        return "The rows of the list are values, not objects."
    if rows.query.combinator:
        return f"The list is a {rows.query.combinator} of querysets."
    if rows.query.extra:
        return "The queryset of the list has extra(select=...)."
    reads = ("__iter__", "__getitem__", "__len__", "_fetch_all", "count")
    if not all(is_stock_member(type(rows), name, {"django"}) for name in reads):
        return f"{type(rows).__name__} is code of its own."
    return ""


def is_stock_row(serializer: Any) -> bool:
    """Return whether a serializer writes the values of its fields, and nothing else."""
    return is_stock(serializer, Serializer, "to_representation", "_readable_fields")


# --- Whose code it is ---------------------------------------------------------------------------


def _is_list_handler(handler: Any) -> bool:
    layers = _find_layers(handler)
    return _is_of(layers, PACKAGES) and layers[-1][0].__code__ in HANDLERS


def is_stock_member(owner: type, name: str, packages: Collection[str] = PACKAGES) -> bool:
    """Return whether a member of a class is a function of these packages."""
    return _is_of(_find_layers(find_member(owner, name)[0]), packages)


def is_stock(instance: Any, base: type | tuple[type, ...], *names: str) -> bool:
    """Return whether an instance of a class of REST framework has that package's own members."""
    return isinstance(instance, base) and all(
        name not in vars(instance) and is_stock_member(type(instance), name) for name in names
    )


def _is_stock_paginator(paginator: Any) -> bool:
    return _is_stock_class(paginator, PAGINATING, DESCRIBING)


def _is_stock_class(given: Any, packages: Collection[str], ignored: Collection[str] = ()) -> bool:
    """Return whether a class, or the class of an instance, has only code of these packages.

    A project's subclass may set values.
    """
    is_class = isinstance(given, type)
    bases = [base for base in (given if is_class else type(given)).__mro__ if base is not object]
    members = [
        item for each in (bases if is_class else [given, *bases]) for item in vars(each).items()
    ]
    return not any(
        _is_code_of_others(member, packages)
        for name, member in members
        if name not in ignored and (name in SPECIAL or not name.startswith("__"))
    )


def _is_code_of_others(member: Any, packages: Collection[str]) -> bool:
    inner = unwrap_member(member)
    if isinstance(inner, type):
        return inner.__module__.partition(".")[0] not in packages
    if inspect.isfunction(inner):
        return not _is_of(_find_layers(inner), packages)
    is_data = not callable(inner) and not hasattr(type(inner), "__get__")
    return not is_data and not isinstance(inner, GetSetDescriptorType)


def _find_layers(member: Any) -> list[tuple[Any, bool]]:
    return list(unwrap_function(unwrap_member(member)))


def _is_of(layers: list[tuple[Any, bool]], packages: Collection[str]) -> bool:
    # By the globals, not by __module__: a decorator copies the __module__ of what it wraps, and a
    # class that is made at run time has the __module__ of its metaclass.
    found = {layer.__globals__["__name__"].partition(".")[0] for layer, _ in layers}
    # A last layer that still wraps something wraps an object that is no function.
    return bool(layers) and not layers[-1][1] and all(each in packages for each in found)
