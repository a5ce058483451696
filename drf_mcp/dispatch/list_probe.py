"""Asks the view of a list which rows it shows a caller, and finds stock lists."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import GetSetDescriptorType
from typing import Any, TypeVar
from urllib.parse import unquote

from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable
from django.http.response import HttpResponseBase
from rest_framework.fields import Field
from rest_framework.generics import GenericAPIView, ListAPIView, ListCreateAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.relations import HyperlinkedIdentityField
from rest_framework.serializers import ListSerializer, Serializer
from rest_framework.utils.serializer_helpers import ReturnList

from drf_mcp.access.authentication import Caller, find_view_classes, is_undecorated
from drf_mcp.access.throttles import refuse_throttled
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.probe import REFUSALS, Probe, is_taken_away
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.exceptions import catch
from drf_mcp.introspection.source.members import find_member, unwrap_function, unwrap_member
from drf_mcp.settings import mcp_settings

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

    What only an instance has, `find_list_fault` sees.
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
    if not _is_list_handler(find_member(view_class, endpoint.handler_name)):
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
        view: a view that has made its queryset: code that ran before may have set attributes.
        rows: the filtered queryset of the view.
        handler: the method that answers the request, None for REST framework's.
    """
    if fault := _find_queryset_fault(rows):
        return fault
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
    return _is_of(_find_layers(find_member(owner, name)), packages)


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


logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")
# How many mappings inside one another are searched for the rows of an answer.
DEEPEST = 3
# The most pages of a list that are read for one question.
MOST_PAGES = 10


class ListProbe(Probe):
    """Asks the view of a list about the rows that it shows the caller.

    Of a stock list these are the rows of its filtered queryset. Any other list is run as the
    caller, page by page, and a row counts that its answer shows.
    """

    def take_rows(self, take: Callable[[QuerySet[Any]], Found], column: str) -> Found | None:
        """Return what is taken of the rows that the list shows the caller, None where it cannot be.

        Of a list that is not stock, these are rows of its first pages.

        Args:
            column: the column that chooses a row. Only rows count whose column the list shows.
        """
        found = self._ask_listed_rows(take, column)
        if found is not None:
            return found
        shown = self._read_rows(column)
        if not shown or len({type(row) for row in shown}) > 1:
            return None
        rows = type(shown[0])._base_manager.filter(pk__in=[row.pk for row in shown])
        return self.ask_middleware(lambda: take(rows))

    def _ask_listed_rows(self, take: Callable[[QuerySet[Any]], Found], column: str) -> Found | None:
        # None where the list may show other rows than its filtered queryset.
        if not is_stock_list(self.endpoint) or self.is_altered():
            return None

        def look(view: Any, *args: Any, **kwargs: Any) -> Found | None:
            rows = view.filter_queryset(view.get_queryset())
            if find_list_fault(view, rows, self.handler):
                return None
            row = view.get_serializer([], many=True).child
            self._drop_omitted(row)
            if not _shows_column(row, rows.model, column):
                return None
            return take(_make_filterable(rows))

        return self.ask(look)

    def _drop_omitted(self, serializer: Any) -> None:
        for name in list(getattr(serializer, "fields", ())):
            if self.omission.covers((name,)):
                del serializer.fields[name]

    def is_altered(self) -> bool:
        """Return whether CALL_MIDDLEWARE changes the answer of a safe method, here its first page.

        Raises:
            APIException, PermissionDenied, Http404: if the view refuses the caller.
        """
        if not mcp_settings.CALL_MIDDLEWARE:
            return False
        with self.rolling_back():
            response = self._run_list()
        return bool(self.request.middleware_call.is_altered(response))

    def _run_list(self) -> HttpResponseBase:
        response = self.run()
        if response.status_code >= 300:
            raise self.describe_refusal(response)
        return response

    def _read_rows(self, column: str) -> list[Model]:
        """Return the rows whose column the first pages show."""
        rows: list[Model] = []
        for _ in range(MOST_PAGES):
            with self.rolling_back():
                data = ViewResponse.read(self._run_list(), self.request).content.data
            for shown in _find_return_lists(data):
                self._drop_omitted(shown.serializer.child)
            rows += _find_shown_rows(data, column)
            following = data.get("next") if isinstance(data, Mapping) else None
            if not following or not isinstance(following, str):
                break
            self.call = replace(self.call, query_string=following.partition("?")[2])
        return rows


def ask_about_rows(
    caller: Caller,
    tool: Any,
    kwargs: Mapping[str, Any],
    take: Callable[[QuerySet[Any]], Found],
    column: str,
    *,
    is_counted: bool,
) -> Found | None:
    """Call `ListProbe.take_rows`; return None where the list is taken away, refuses or fails.

    Args:
        is_counted: whether the list's throttles count the question.

    Raises:
        Refused: if a throttle refuses the question.
    """
    if is_taken_away(caller, tool):
        return None
    probe = ListProbe(caller, tool, Call({}, kwargs))
    probe.is_counted = is_counted
    with catch() as caught:
        return probe.take_rows(take, column)
    exc = caught.exception
    if is_counted and getattr(exc, "status_code", 0) == 429:
        raise refuse_throttled(exc) from exc
    if not isinstance(exc, REFUSALS):
        logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)
    return None


def _make_filterable(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return a queryset of the same rows that can be filtered and ordered."""
    if rows.query.is_sliced or rows.query.distinct_fields:
        every: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
        return every.filter(pk__in=rows.values("pk"))
    return rows


def _find_shown_rows(data: Any, column: str) -> list[Model]:
    """Return the objects of a list's answer whose items show the value of their column.

    No rows where code other than REST framework's serializers may have written items.
    """
    found = list(_find_return_lists(data))
    pairs = [
        (row, item, shown.serializer.child)
        for shown in (found if all(map(_is_complete, found)) else ())
        for row, item in zip(shown.serializer.instance, shown, strict=True)
    ]
    if not all(isinstance(row, Model) for row, _, _ in pairs):
        return []
    return [row for row, item, serializer in pairs if _shows(item, serializer, row, column)]


def _find_showing(serializer: Any, model: type[Model], column: str) -> dict[str, Any]:
    """Return the fields of a serializer that show a column of a model, by name.

    A link to an object shows the column that it is looked up by.
    """
    key = model._meta.pk
    sources = {column, *(("pk", key.name, key.attname) if column in ("pk", key.name) else ())}
    return {
        name: field
        for name, field in getattr(serializer, "fields", {}).items()
        if not field.write_only
        and (
            field.lookup_field in sources
            if isinstance(field, HyperlinkedIdentityField)
            else field.source in sources
        )
    }


def _shows(item: Any, serializer: Any, row: Model, column: str) -> bool:
    """Return whether what a serializer wrote for a row has the row's value of a column."""
    value = getattr(row, column, None)
    if value is None or not isinstance(item, Mapping):
        return False
    for name, field in _find_showing(serializer, type(row), column).items():
        shown = str(item.get(name))
        if isinstance(field, HyperlinkedIdentityField):
            shown = unquote(shown.partition("?")[0].rstrip("/").rpartition("/")[2])
        if shown == str(value):
            return True
    return False


def _shows_column(serializer: Any, model: type[Model], column: str) -> bool:
    """Return whether a serializer shows a column in every row, by REST framework's own code."""
    members = ("to_representation", "get_attribute")
    return is_stock_row(serializer) and any(
        is_stock(field, Field, *members, *(["get_url"] if hasattr(field, "get_url") else ()))
        for field in _find_showing(serializer, model, column).values()
    )


def _find_return_lists(data: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(data, ReturnList):
        yield data
    elif isinstance(data, Mapping) and depth < DEEPEST:
        for value in data.values():
            yield from _find_return_lists(value, depth + 1)


def _is_complete(shown: Any) -> bool:
    # A serializer may write fewer rows than it was given.
    instance = getattr(shown.serializer, "instance", None)
    return isinstance(instance, Iterable) and len(list(instance)) == len(shown)
