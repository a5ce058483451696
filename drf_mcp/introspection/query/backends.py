"""The query parameters of filter backends."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import Any

from django.core.exceptions import FieldError
from django.utils.module_loading import import_string
from rest_framework.filters import OrderingFilter, SearchFilter

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.closed_sets import OrderingTerms
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.findings import make_finding
from drf_mcp.introspection.inspection import (
    RETURN_EARLY,
    Inspection,
    find_declared_parameters,
    noted_queries,
)
from drf_mcp.introspection.source.members import (
    find_member,
    find_package,
    is_drf_code,
)
from drf_mcp.introspection.source.readings import has_own, read_choice
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import LostFilters, Parameter, Parameters, Schema
from drf_mcp.introspection.unknown import (
    ANY_VALUE,
    EMPTY,
    MOST_ASKED,
    Notes,
    start_asking,
    without_database,
)

DECLARE = "get_schema_operation_parameters"
# The backends of these packages declare less than their filter set shows.
FILTER_PACKAGES = ("", "django_filters", "rest_framework")
# django-filter is optional: the module that imports it is loaded for a filter set only.
FILTER = "drf_mcp.introspection.query.filtersets.FilterParameters"
OTHERS = "Name the parameters of other callers with @mcp_tool(query={...})."
NO_MODEL = "filterset_fields are fields of a model that neither queryset nor serializer names."
# What a view overrides to give callers different filters.
CHOOSING_HOOKS = (
    "filter_backends",
    "filterset_class",
    "filterset_fields",
    "get_filterset_class",
    "ordering_fields",
    "search_fields",
    "get_filter_backends",
    "get_filterset_kwargs",
)
TERM_HOOKS = (
    "filter_queryset",
    "get_valid_fields",
    "get_default_valid_fields",
    "get_default_ordering",
)


class FilterBackends:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view

    def get_parameters(self) -> Parameters:
        view_class: Any = type(self.view)
        found = list(self._find_parameters())
        if has_own(view_class, CHOOSING_HOOKS):
            found = self._add_alternatives(found)
        return tuple(found)

    def _find_parameters(self) -> Parameters:
        found: list[Parameter] = []
        for backend_class in self.attempt("", lambda: tuple(self.view.filter_backends or ()), ()):
            step = functools.partial(self._find_backend_parameters, backend_class)
            found += self.attempt(f"{backend_class.__name__}: ", step, ())
        return tuple(found)

    def _add_alternatives(self, usual: list[Parameter]) -> list[Parameter]:
        """Return the parameters of all filters that the view may choose by the call."""
        found: dict[str, Parameter] = {}
        answers, places = list[Any]([EMPTY]), set[str]()
        members = [(type(self.view), name) for name in CHOOSING_HOOKS]
        facts = {"action": getattr(self.view, "action", None), "method": self.inspection.method}
        while answers:
            notes = Notes(answers.pop(0))
            asked = FilterBackends(start_asking(self.inspection, notes))
            with contextlib.nullcontext() if notes.answer is EMPTY else without_database(notes):
                # Of what another call has fails nothing that this one lacks.
                for parameter in asked._find_parameters():
                    found.setdefault(parameter.name, parameter)
            if notes.answer is EMPTY and notes.places - {"caller"}:
                values = [*read_choice(members, facts).values, ANY_VALUE]
                answers = values[: MOST_ASKED - 1]
            places |= notes.places
        if "caller" in places:
            self.inspection.add_finding("The filters are those of an anonymous caller.", OTHERS)
        if not places - {"caller"}:
            return usual
        first = {parameter.name for parameter in usual}
        further = [p for p in found.values() if p.name not in first]
        every = [*usual, *further]
        # What one filter ignores another one may use.
        return [replace(p, closed=None, required=False) for p in every] if further else usual

    def _find_backend_parameters(self, backend_class: Any) -> Parameters:
        backend = backend_class()
        kind: type[BackendParameters] = BackendParameters
        if hasattr(backend, "get_filterset_class"):
            if find_package(backend_class, DECLARE) in FILTER_PACKAGES:
                kind = FilterSetParameters
        elif is_drf_code(backend_class, DECLARE):
            if isinstance(backend, SearchFilter):
                kind = SearchParameters
            elif isinstance(backend, OrderingFilter):
                kind = OrderingParameters
        return kind(self.inspection, backend).get_parameters()

    def attempt(self, prefix: str, step: Any, default: Any) -> Any:
        def report(exc: Exception) -> Any:
            found = make_finding(self.inspection.place, exc, RETURN_EARLY)
            lost = LostFilters(found.place, f"{prefix}{found.message}", found.remedy, found.source)
            self.inspection.findings.append(lost)
            return default

        return attempt(step, otherwise=report)


class BackendParameters:
    def __init__(self, inspection: Inspection, backend: Any) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view
        self.backend = backend

    def get_parameters(self) -> Parameters:
        return find_declared_parameters(self.backend, self.view)


class SearchParameters(BackendParameters):
    def get_parameters(self) -> Parameters:
        searched = self.backend.get_search_fields(self.view, self.view.request)
        if not searched:
            return ()
        terms = tuple(str(name).lstrip("^=@$").replace("__", " ") for name in searched)
        words = f"Search in: {join_values(terms)}."
        schema = {"type": "string", "description": words}
        return (Parameter(self.backend.search_param, schema, role="search", terms=terms),)


class OrderingParameters(BackendParameters):
    @property
    def _declared(self) -> Any:
        return getattr(self.view, "ordering_fields", self.backend.ordering_fields)

    def get_parameters(self) -> Parameters:
        items: Schema = {"type": "string"}
        closed: OrderingTerms | None = None
        names: list[str] | None = None
        if is_drf_code(type(self.backend), "get_ordering", "remove_invalid_fields"):
            names = self.inspection.attempt(self.get_names, RETURN_EARLY, None)
            if names == []:
                return ()
            if names is not None:
                terms = OrderingTerms(tuple(names))
                items["pattern"] = terms.pattern
                closed = terms if self._has_fixed_terms() else None
        default = self.backend.get_default_ordering(self.view)
        schema = explain(
            {"type": "array", "items": items},
            f"Default: {join_values(default)}" if default else "",
        )
        name = self.backend.ordering_param
        found = Parameter(name, schema, multiple="comma", closed=closed)
        return (replace(found, role="sort", terms=tuple(names or ())),)

    def get_names(self) -> list[str]:
        context = {"request": self.view.request}
        valid = self.backend.get_valid_fields(self.inspection.queryset, self.view, context)
        return [name for name in dict.fromkeys(str(name) for name, _ in valid) if self._takes(name)]

    def _takes(self, name: str) -> bool:
        # REST framework offers sources of fields that are methods and properties of the model too.
        queryset, name = self.inspection.queryset, name.removeprefix("-")
        if queryset is None or not hasattr(queryset.model, name.partition("__")[0]):
            return True
        failures: list[Exception] = []
        attempt(lambda: queryset.order_by(name), otherwise=failures.append)
        return not any(isinstance(exc, FieldError) for exc in failures)

    def _has_fixed_terms(self) -> bool:
        # A term is refused only if it is valid for no request.
        owner = type(self.view)
        if not is_drf_code(type(self.backend), *TERM_HOOKS):
            return False
        if isinstance(self._declared, (list, tuple)):
            return not isinstance(find_member(owner, "ordering_fields"), property)
        if self._declared == "__all__":
            return is_drf_code(owner, "get_queryset")
        return is_drf_code(owner, "get_serializer_class") and is_drf_code(
            self.view.get_serializer_class(), "__init__", "get_fields", "fields"
        )


class FilterSetParameters(BackendParameters):
    def get_parameters(self) -> Parameters:
        inspection, queryset = self.inspection, self.inspection.queryset
        filterset_class = self.backend.get_filterset_class(self.view, queryset)
        if filterset_class is None:
            if queryset is None and getattr(self.view, "filterset_fields", None):
                lost = LostFilters(inspection.place, NO_MODEL, RETURN_EARLY)
                inspection.findings.append(lost)
            return ()
        declared = filterset_class.base_filters
        found: list[Parameter] = []
        self.names_rows = False
        with noted_queries() as queries:
            items = inspection.attempt(self._find_filters, RETURN_EARLY, declared)
            for name, item in items.items():
                remedy = f"Check the filter '{name}' of {filterset_class.__qualname__}."
                found += self._describe_filter(name, item, remedy, declared.get(name))
        if queries and self.names_rows:
            inspection.row_queries += queries
            # Tomorrow other values may be taken.
            found = [replace(each, closed=None) for each in found]
        return tuple(found)

    def _describe_filter(self, name: str, item: Any, remedy: str, declared: Any) -> Parameters:
        is_lenient = not getattr(self.backend, "raise_exception", True)
        described = import_string(FILTER)(name, item, is_lenient=is_lenient)
        failures: list[Exception] = []
        found: Any = attempt(described.get_parameters, otherwise=failures.append)
        found = found or described.find_related_rows()
        self.names_rows |= attempt(lambda: described.has_other_choices(declared), False)
        if not found and failures:
            self.inspection.findings.append(
                make_finding(self.inspection.place, failures[0], remedy)
            )
        return found or (Parameter(name, {"type": "string"}),)

    def _find_filters(self) -> dict[str, Any]:
        # From an instance, since a filter set may add filters or change form fields while it is
        # made.
        request, queryset = self.view.request, self.inspection.queryset
        filterset = self.backend.get_filterset(request, queryset, self.view)
        prefix = f"{filterset.form_prefix}-" if filterset.form_prefix else ""
        return {f"{prefix}{name}": item for name, item in filterset.filters.items()}
