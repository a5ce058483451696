"""Filter backends: the query parameters that narrow and order a list."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rest_framework.filters import OrderingFilter, SearchFilter

from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.merge import either_fields
from drf_mcp.introspection.openapi import declared_parameters, own_parameters
from drf_mcp.introspection.query.closed_sets import OrderingTerms
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.overrides import (
    find_class_attribute,
    find_package,
    is_drf_code,
    is_left_to_frameworks,
    is_same_for_every_request,
)
from drf_mcp.introspection.text import explain, listing
from drf_mcp.introspection.types import Finding, LostFilters, Parameter, Parameters, Schema

FILTER_PACKAGES = ("", "django_filters", "rest_framework")
"""Where nothing is declared of a backend for filter sets but by its filter set."""
CHOSEN = (
    "filter_backends",
    "filterset_class",
    "filterset_fields",
    "get_filterset_class",
    "ordering_fields",
    "search_fields",
    "get_serializer_class",
)
"""What a view overrides to give different callers different filters."""
HOOKS = (
    "get_filterset_class",
    "get_filterset",
    "get_filterset_kwargs",
    "get_search_fields",
    "get_valid_fields",
    "get_default_valid_fields",
    "get_schema_operation_parameters",
)
"""What a filter backend overrides to the same end."""
DEFAULT_TERMS = ("get_default_valid_fields", "get_default_ordering")


def filter_parameters(inspection: Inspection) -> Parameters:
    """Return the query parameters of the view's filter backends, as any caller may send them.

    Where they may depend on the caller, or cannot be described for an anonymous one, they
    are described for a superuser as well.
    """
    known = len(inspection.findings)
    own = backends_parameters(inspection)
    failed = len(inspection.findings) > known
    if not failed and is_for_everybody(inspection):
        return own
    privileged = inspection.asked_quietly(lambda: inspection.privileged)
    if privileged is None:
        return own
    before = len(privileged.findings)
    others = backends_parameters(privileged)
    if not failed:
        return either_fields(own, others)
    if len(privileged.findings) > before:
        return either_fields(others, own)
    del inspection.findings[known:]
    named = {parameter.name for parameter in others}
    return (*others, *(p for p in either_fields(own, ()) if p.name not in named))


def is_for_everybody(inspection: Inspection) -> bool:
    """Return True if no caller may filter in other ways than another."""
    return inspection.attempt(lambda: not depends_on_caller(inspection), GUARD, False)


def depends_on_caller(inspection: Inspection) -> bool:
    """Return True if code of the project's own decides how the view filters."""
    view: Any = inspection.view
    owners: list[tuple[type, tuple[str, ...]]] = [(type(view), CHOSEN)]
    owners += [(backend, HOOKS) for backend in view.filter_backends]
    filterset_class = getattr(view, "filterset_class", None)
    if isinstance(filterset_class, type):
        owners.append((filterset_class, ("__init__", "filters", "form", "get_form_class")))
    return not all(is_left_to_frameworks(owner, names) for owner, names in owners)


def backends_parameters(inspection: Inspection) -> Parameters:
    """Return the query parameters of the view's filter backends, one guarded by one."""
    found: list[Parameter] = []
    none: Parameters = ()
    view = inspection.view
    backends = guarded(inspection, "", lambda: tuple(view.filter_backends or ()), ())
    for backend_class in backends:
        step = partial(backend_parameters, inspection, backend_class)
        found += guarded(inspection, f"{backend_class.__name__}: ", step, none)
    return tuple(found)


def guarded(inspection: Inspection, name: str, step: Callable[[], Any], default: Any) -> Any:
    """Run one step of which filters are lost if it fails."""
    failures: list[Finding] = []
    found = attempt(inspection.place, step, GUARD, failures, default)
    inspection.findings += [
        LostFilters(failure.place, f"{name}{failure.message}", failure.remedy)
        for failure in failures
    ]
    return found


def backend_parameters(inspection: Inspection, backend_class: Any) -> Parameters:
    """Return the query parameters of one backend.

    A backend that declares its own parameters is believed, as is every backend of an
    unknown kind.
    """
    backend = backend_class()
    if hasattr(backend, "get_filterset_class"):
        if find_package(backend_class, "get_schema_operation_parameters") not in FILTER_PACKAGES:
            return own_parameters(backend, inspection.view)
        from drf_mcp.introspection.query.filtersets import filterset_parameters

        return filterset_parameters(inspection, backend)
    if is_drf_code(type(backend), "get_schema_operation_parameters"):
        if isinstance(backend, SearchFilter):
            return search_parameters(inspection, backend)
        if isinstance(backend, OrderingFilter):
            return ordering_parameters(inspection, backend)
    return declared_parameters(backend, inspection.view)


def search_parameters(inspection: Inspection, backend: SearchFilter) -> Parameters:
    """Describe the search term; without search fields a term changes nothing."""
    view: Any = inspection.view
    searched = backend.get_search_fields(view, getattr(view, "request", None))  # type: ignore[arg-type]
    if not searched:
        return ()
    fields = listing(str(name).lstrip("^=@$").replace("__", " ") for name in searched)
    schema = {"type": "string", "description": f"Search in: {fields}."}
    return (Parameter(backend.search_param, schema),)


def ordering_parameters(inspection: Inspection, backend: OrderingFilter) -> Parameters:
    """Describe the ordering: field names, each with a minus for descending."""
    terms: Schema = {"type": "string"}
    closed: OrderingTerms | None = None
    if is_drf_code(type(backend), "get_ordering", "remove_invalid_fields"):
        names = inspection.attempt(lambda: ordering_names(inspection, backend), GUARD, None)
        if names == []:
            return ()
        if names is not None:
            closed = OrderingTerms(tuple(names))
            terms["enum"] = list(closed.choices)
            closed = closed if has_fixed_terms(inspection, backend) else None
    default = backend.get_default_ordering(inspection.view)
    ordered = f"Default: {listing(default)}" if default else ""
    schema = explain(
        {"type": "array", "items": terms}, "Order of the rows; a minus sorts descending", ordered
    )
    return (Parameter(backend.ordering_param, schema, multiple="comma", closed=closed),)


def has_fixed_terms(inspection: Inspection, backend: OrderingFilter) -> bool:
    """Return True if the terms of an ordering filter are the same for every request."""
    view: Any = inspection.view
    if not is_drf_code(type(backend), "filter_queryset", "get_valid_fields", *DEFAULT_TERMS):
        return False
    declared = getattr(view, "ordering_fields", backend.ordering_fields)
    if isinstance(declared, (list, tuple)):
        return not isinstance(find_class_attribute(type(view), "ordering_fields"), property)
    if declared == "__all__":
        return is_fixed(type(view), "get_queryset")
    return is_fixed(type(view), "get_serializer_class") and is_fixed(
        view.get_serializer_class(), "__init__", "get_fields", "fields"
    )


def is_fixed(owner: type, *names: str) -> bool:
    """Return True if members of a class do the same for every request."""
    return all(is_drf_code(owner, name) or is_same_for_every_request(owner, name) for name in names)


def ordering_names(inspection: Inspection, backend: OrderingFilter) -> list[str]:
    """Return the names a list can be ordered by."""
    view: Any = inspection.view
    declared = getattr(view, "ordering_fields", backend.ordering_fields)
    if inspection.queryset is None and isinstance(declared, (list, tuple)):
        return [name if isinstance(name, str) else name[0] for name in declared]
    context = {"request": getattr(view, "request", None)}
    valid = backend.get_valid_fields(inspection.queryset, view, context)
    return list(dict.fromkeys(str(name) for name, _ in valid))
