"""One endpoint of an API, described: the way into this package."""

from __future__ import annotations

from django.conf import settings
from django.utils import translation
from rest_framework.views import APIView

from drf_mcp.introspection.declarations import CURRENT
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.outputs import response_schema
from drf_mcp.introspection.path_parameters import path_parameters
from drf_mcp.introspection.per_user import body_for_anybody
from drf_mcp.introspection.query.parameters import paging_parameters, query_parameters
from drf_mcp.introspection.request_body.fields import OPEN
from drf_mcp.introspection.types import (
    Body,
    EndpointSchema,
    Finding,
    Parameter,
    PathKwarg,
    PathKwargs,
)

__all__ = ["Body", "EndpointSchema", "Finding", "Parameter", "PathKwarg", "describe"]


def describe(
    view: APIView, method: str, path_kwargs: PathKwargs, *, portable: bool = True
) -> EndpointSchema:
    """Describe one method of an endpoint. Never raises: what fails becomes a finding.

    Texts are those of the project's own language, whoever happens to ask first.

    Args:
        view: an instance of the view as a request would find it: ``request``,
            ``kwargs``, ``action`` and ``action_map`` set, ``swagger_fake_view`` true.
        method: the HTTP method.
        path_kwargs: the kwargs of the route, by name.
        portable: False for arguments in all of JSON Schema instead of the subset that
            every client accepts.

    Returns:
        The schemas of its arguments and of its answer.
    """
    inspection = Inspection(view, method, portable=portable)
    with translation.override(settings.LANGUAGE_CODE):
        token = CURRENT.set(inspection.annotations)
        try:
            return described(inspection, path_kwargs)
        finally:
            CURRENT.reset(token)


def described(inspection: Inspection, path_kwargs: PathKwargs) -> EndpointSchema:
    """Return the description of the endpoint under inspection."""
    attempt = inspection.attempt
    pages = paging_parameters(inspection)
    return EndpointSchema(
        path=path_parameters(inspection, path_kwargs),
        query=attempt(lambda: query_parameters(inspection, pages), GUARD, pages),
        body=attempt(lambda: body_for_anybody(inspection), GUARD, OPEN),
        output=attempt(lambda: response_schema(inspection), GUARD, {}),
        paginated=bool(pages),
        findings=tuple(dict.fromkeys(inspection.findings)),
        computed_query=inspection.query_reading.computed,
    )
