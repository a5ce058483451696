"""One endpoint of an API, described: the way into this package."""

from __future__ import annotations

from django.conf import settings
from django.utils import translation
from rest_framework.views import APIView

from drf_mcp.schemas.bodies import OPEN, request_body
from drf_mcp.schemas.inspection import GUARD, Inspection
from drf_mcp.schemas.outputs import response_schema
from drf_mcp.schemas.parameters import paging_parameters, query_parameters
from drf_mcp.schemas.paths import path_parameters
from drf_mcp.schemas.values import (
    Body,
    EndpointSchema,
    Finding,
    Parameter,
    PathKwarg,
    PathKwargs,
)

__all__ = ["Body", "EndpointSchema", "Finding", "Parameter", "PathKwarg", "describe"]


def describe(view: APIView, method: str, path_kwargs: PathKwargs) -> EndpointSchema:
    """Describe one method of an endpoint. Never raises: what fails becomes a finding.

    Texts are those of the project's own language, whoever happens to ask first.

    Args:
        view: an instance of the view as a request would find it: ``request``,
            ``kwargs``, ``action`` and ``action_map`` set, ``swagger_fake_view`` true.
        method: the HTTP method.
        path_kwargs: the kwargs of the route, by name.

    Returns:
        The schemas of its arguments, in the portable subset, and of its answer.
    """
    inspection = Inspection(view, method)
    attempt = inspection.attempt
    with translation.override(settings.LANGUAGE_CODE):
        pages = paging_parameters(inspection)
        return EndpointSchema(
            path=path_parameters(inspection, path_kwargs),
            query=attempt(lambda: query_parameters(inspection, pages), GUARD, pages),
            body=attempt(lambda: request_body(inspection), GUARD, OPEN),
            output=attempt(lambda: response_schema(inspection), GUARD, {}),
            paginated=bool(pages),
            findings=tuple(dict.fromkeys(inspection.findings)),
        )
