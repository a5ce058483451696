"""One endpoint of an API, described: the way into this package."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from drf_mcp.introspection.annotations import CURRENT
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.outputs import ResponseSchema
from drf_mcp.introspection.path_parameters import PathParameters
from drf_mcp.introspection.per_user import CallerBody
from drf_mcp.introspection.query.parameters import QueryParameters
from drf_mcp.introspection.request_body.asked import AskedFields
from drf_mcp.introspection.request_body.describer import RequestBody
from drf_mcp.introspection.types import (
    Body,
    EndpointSchema,
    Parameter,
    Parameters,
    PathKwargs,
    Schema,
)
from drf_mcp.settings import override_language

Part = TypeVar("Part")


class Describer:
    """Describes the arguments and the answer of one method of an endpoint.

    A subclass overrides the ``get_*`` methods; the setting DESCRIBER_CLASS takes its dotted path.
    A method that raises leaves its part open and a finding that says where: ``tools/list`` never
    fails.

    Attributes:
        inspection: the view instance as a request would find it, with the method and findings.
        path_kwargs: the kwargs of the route, by name.
    """

    def __init__(self, inspection: Inspection, path_kwargs: PathKwargs) -> None:
        self.inspection = inspection
        self.path_kwargs = path_kwargs

    def describe(self) -> EndpointSchema:
        """Return the description of the endpoint, with texts in the project's own language."""
        # The first caller has a language too.
        with override_language():
            token = CURRENT.set(self.inspection.annotations)
            try:
                schema = self.guard("get_schema", EndpointSchema(self.any_path))
            finally:
                CURRENT.reset(token)
        return replace(schema, findings=tuple(dict.fromkeys(self.inspection.findings)))

    def get_schema(self) -> EndpointSchema:
        """Return the parts of the description, put together."""
        return EndpointSchema(
            path=self.add_examples(self.guard("get_path_parameters", self.any_path), "path"),
            query=self.add_examples(self.guard("get_query_parameters", self.query.pages), "query"),
            body=self.guard("get_request_body", Body("open", schema={})),
            output=self.guard("get_response_schema", {}),
            examples=self.guard("get_request_examples", ()),
            paginated=bool(self.query.pages),
            computed_query=tuple(self.query.undeclared.reading.computed),
        )

    def get_path_parameters(self) -> Parameters:
        """Return a required parameter for each kwarg of the route."""
        return PathParameters(self.inspection, self.path_kwargs).get_parameters()

    def get_query_parameters(self) -> Parameters:
        """Return the parameters of filters, pagination and versioning, and others that are read."""
        return self.query.get_parameters()

    def get_request_body(self) -> Body:
        """Return the body that the handler takes from one caller or another."""

        def describe(inspection: Inspection) -> Body:
            return AskedFields(inspection).add_to(RequestBody(inspection).get_body())

        return CallerBody(self.inspection, describe).get_body()

    def get_response_schema(self) -> Schema:
        """Return the schema of the success payload, ``{}`` where anything may be answered."""
        return ResponseSchema(self.inspection).get_schema()

    def get_request_examples(self) -> tuple[Any, ...]:
        """Return bodies that people wrote as examples of a request, the best first."""
        annotations = self.inspection.annotations
        return () if annotations is None else tuple(annotations.request_examples())

    def add_examples(self, parameters: Parameters, location: str) -> Parameters:
        annotations = self.inspection.annotations
        if annotations is None:
            return parameters
        written: dict[tuple[str, str], Any] = {}
        written = self.inspection.attempt(annotations.parameter_examples, GUARD, written)
        return tuple(
            replace(
                parameter,
                schema=self.inspection.shaped(
                    FieldSchema.of(parameter.schema).with_example(written[parameter.name, location])
                ),
            )
            if (parameter.name, location) in written
            else parameter
            for parameter in parameters
        )

    @cached_property
    def query(self) -> QueryParameters:
        return QueryParameters(self.inspection)

    @property
    def any_path(self) -> Parameters:
        return tuple(Parameter(name, {"type": "string"}, True) for name in self.path_kwargs)

    def guard(self, hook: str, default: Part) -> Part:
        # What fails in a hook of the project's is no fault of the view.
        own = type(self)
        remedy = GUARD
        if getattr(own, hook) is not getattr(Describer, hook):
            facts = {"hook": hook, "class": f"{own.__module__}.{own.__qualname__}"}
            remedy = _("Mend %(hook)s() of %(class)s.") % facts
        return self.inspection.attempt(getattr(self, hook), remedy, default)
