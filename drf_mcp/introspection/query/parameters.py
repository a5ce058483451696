"""Query parameters: of filters, of the paginator, of the versioning class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin

from drf_mcp.introspection.inspection import ANNOTATE, GUARD, PLAINLY, Inspection
from drf_mcp.introspection.openapi import parameter as openapi_parameter
from drf_mcp.introspection.query.closed_sets import only_where_alone
from drf_mcp.introspection.query.filters import filter_parameters
from drf_mcp.introspection.query.pagination import page_parameters
from drf_mcp.introspection.query.undeclared import ReadQuery
from drf_mcp.introspection.query.versions import version_parameters
from drf_mcp.introspection.source.trees import get_synchronous_name
from drf_mcp.introspection.types import LostFilters, Parameter, Parameters


def query_parameters(inspection: Inspection, pages: Parameters) -> Parameters:
    """Return every query parameter the handler makes use of, each in the portable subset.

    The first of several under one name counts; what nothing declares and code reads is last.

    Args:
        inspection: the endpoint.
        pages: the parameters of its paginator.
    """
    filtered = filters(inspection)
    none: Parameters = ()
    read = ReadQuery(inspection, filters=filtered, pages=bool(pages))
    undeclared = inspection.attempt(read.parameters, PLAINLY, none)
    filtering = filter_parameters(inspection) if filtered else ()
    versions = inspection.attempt(lambda: version_parameters(inspection.view), GUARD, none)
    found: dict[str, Parameter] = {}
    known = only_where_alone((*filtering, *pages, *versions), inspection.query_reading)
    for parameter in (*known, *undeclared):
        found.setdefault(parameter.name, parameter)
    for name, declared in declared_in(inspection, "query").items():
        described = found.pop(name, None)
        if declared is not None:
            closed = described.closed if described is not None else None
            found[name] = replace(openapi_parameter(declared), closed=closed)
    return tuple(replace(p, schema=inspection.shaped(p.schema)) for p in found.values())


def lost_filters(view: Any, method: str) -> list[LostFilters]:
    """Return the filters of a view that no argument stands for, without describing the rest.

    With each stands what else failed on the way to it.
    """
    inspection = Inspection(view, method)
    if inspection.attempt(lambda: filters(inspection), GUARD, False):
        filter_parameters(inspection)
    others = [f.message for f in inspection.findings if not isinstance(f, LostFilters)]
    return [
        replace(finding, message=" ".join([finding.message, *others]))
        for finding in dict.fromkeys(inspection.findings)
        if isinstance(finding, LostFilters)
    ]


def declared_in(inspection: Inspection, location: str) -> dict[str, Any]:
    """Return the OpenAPI parameters that people wrote, by name; None for one taken out."""
    if inspection.annotations is None:
        return {}
    written: dict[tuple[str, str], Any] = {}
    written = inspection.attempt(inspection.annotations.parameters, ANNOTATE, written)
    return {name: declared for (name, at), declared in written.items() if at == location}


def paging_parameters(inspection: Inspection) -> Parameters:
    """Return the parameters of the view's paginator, none where it makes no pages."""
    if not uses(inspection, "paginate_queryset"):
        return ()
    none: Parameters = ()
    return inspection.attempt(lambda: paginator_parameters(inspection.view), GUARD, none)


def paginator_parameters(view: Any) -> Parameters:
    """Return the parameters of the paginator, none without one."""
    return page_parameters(view.paginator, view) if view.paginator is not None else ()


def filters(inspection: Inspection) -> bool:
    """Return True if the view's filters take part: as people wrote, or as the handler shows."""
    written: bool | None = None
    if inspection.annotations is not None:
        written = inspection.attempt(inspection.annotations.filters, ANNOTATE, None)
    return uses(inspection, "filter_queryset") if written is None else written


def uses(inspection: Inspection, hook: str) -> bool:
    """Return True if the handler filters, or pages, a list.

    An extra action inherits the viewset's filters and paginator whether it uses them or
    not, and so does a standard one that a project wrote anew. Only its source tells;
    looking up a single object, which filters as well, does not count.
    """
    if not isinstance(inspection.view, GenericAPIView):
        return False
    if inspection.reading is not None:
        return hook in inspection.calls
    lists = get_synchronous_name(inspection.handler_name) == "list" or not inspection.is_viewset
    return inspection.method == "GET" and lists and isinstance(inspection.view, ListModelMixin)
