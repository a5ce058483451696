"""The description of one endpoint: the entry point of this package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import BaseSerializer, ListSerializer

from drf_mcp.introspection.described_field import DescribedField
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.inspection import (
    CURRENT,
    RETURN_EARLY,
    STANDARD,
    Inspection,
    kept_transactions,
    noted_queries,
    refuse_writing,
    wrapped_queries,
)
from drf_mcp.introspection.parsers import Renaming
from drf_mcp.introspection.paths import PathParameters
from drf_mcp.introspection.query.pagination import find_pages
from drf_mcp.introspection.query.parameters import QueryParameters
from drf_mcp.introspection.request_body import DECLARED_OPEN, RequestBody
from drf_mcp.introspection.serializer_fields import describe_once
from drf_mcp.introspection.source.members import find_mentioned, find_own, is_drf_code
from drf_mcp.introspection.source.readings import read_handler
from drf_mcp.introspection.source.values import MadeResponse, MadeSerializer, SerializedData
from drf_mcp.introspection.types import (
    Body,
    EndpointSchema,
    OpenPlace,
    Parameter,
    Parameters,
    PathKwargs,
    Schema,
    walk_schema,
)

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
        """Return the description of the endpoint."""
        token = CURRENT.set(self.inspection.annotations)
        try:
            # A project's code that chooses serializers or querysets must not write.
            with kept_transactions(), wrapped_queries(refuse_writing):
                schema = self._call_hook("get_schema", EndpointSchema(self._any_path))
        finally:
            CURRENT.reset(token)
        findings = (*self.inspection.findings, *self.find_open_places(schema))
        return replace(schema, findings=tuple(dict.fromkeys(findings)))

    def find_open_places(self, schema: EndpointSchema) -> Iterator[OpenPlace]:
        opened = {"query": schema.query_opened_by, "body": schema.body.opened_by}
        for place, line in opened.items():
            # What people declare as open is open on purpose, and of a serializer that the call
            # chooses all choices are described.
            if line and line != DECLARED_OPEN and " serializer" not in line:
                says = f"Code that is not read may take any member of the {place}: {line}."
                remedy = f"Name what it takes with @mcp_tool({place}={{...}})."
                yield OpenPlace(self.inspection.place, says, remedy)

    def get_schema(self) -> EndpointSchema:
        """Return the description, made of what the other methods return."""
        return EndpointSchema(
            path=self._add_examples(self._call_hook("get_path_parameters", self._any_path), "path"),
            query=self._add_examples(
                self._call_hook("get_query_parameters", self.query.pages), "query"
            ),
            body=self._describe_body(),
            output=self._call_hook("get_response_schema", {}),
            examples=self._call_hook("get_request_examples", ()),
            paginated=bool(self.query.pages),
            computed_query=tuple(self.query.reading.computed),
            query_opened_by=self.query.reading.opened_by,
            row_queries=tuple(self.inspection.row_queries),
        )

    def _describe_body(self) -> Body:
        with noted_queries() as queries:
            body: Body = self._call_hook("get_request_body", Body("open", schema={}))
        parts = (part for field in body.fields for _, part in walk_schema(field.schema))
        if queries and any(
            "enum" in part or FieldSchema.of(part).meaning.choices for part in parts
        ):
            self.inspection.row_queries += queries
        return body

    def get_path_parameters(self) -> Parameters:
        """Return a required parameter for each kwarg of the route."""
        return PathParameters(self.inspection, self.path_kwargs).get_parameters()

    def get_query_parameters(self) -> Parameters:
        """Return the parameters of filters, paging and versions, and others that code reads."""
        return self.query.get_parameters()

    def get_request_body(self) -> Body:
        """Return the body that the handler takes."""
        return RequestBody(self.inspection).get_body()

    def get_response_schema(self) -> Schema:
        """Return the schema of the data of a success, ``{}`` where it is not known."""
        return self.inspection.attempt(ResponseSchema(self.inspection).get_schema, RETURN_EARLY, {})

    def get_request_examples(self) -> tuple[Any, ...]:
        """Return bodies that people wrote as examples of a request, the best first."""
        annotations = self.inspection.annotations
        return () if annotations is None else tuple(annotations.request_examples())

    def _add_examples(self, parameters: Parameters, location: str) -> Parameters:
        annotations = self.inspection.annotations
        if annotations is None:
            return parameters
        written: dict[tuple[str, str], Any] = {}
        written = self.inspection.attempt(annotations.parameter_examples, RETURN_EARLY, written)

        def add(parameter: Parameter) -> Parameter:
            key = parameter.name, location
            if key not in written:
                return parameter
            schema = FieldSchema.of(parameter.schema).with_example(written[key])
            return replace(parameter, schema=self.inspection.write_schema(schema))

        return tuple(map(add, parameters))

    @cached_property
    def query(self) -> QueryParameters:
        return QueryParameters(self.inspection)

    @property
    def _any_path(self) -> Parameters:
        return tuple(Parameter(name, {"type": "string"}, True) for name in self.path_kwargs)

    def _call_hook(self, hook: str, default: Part) -> Part:
        # A hook that a project overrides is to be mended, not the view.
        own = type(self)
        remedy = RETURN_EARLY
        if getattr(own, hook) is not getattr(Describer, hook):
            remedy = f"Mend {hook}() of {own.__module__}.{own.__qualname__}."
        return self.inspection.attempt(getattr(self, hook), remedy, default)


# Members with which a serializer chooses its fields.
CHOOSING_FIELDS = ("__init__", "__new__", "get_fields", "fields", "get_field_names")
# Names in methods whose result may depend on the caller.
CALLER = frozenset({"request", "user", "query_params", "context"})


class ResponseSchema:
    # The schema of an answer that REST framework's own code makes of a serializer; the open schema
    # for the answer of any other code.

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.view: Any = inspection.view

    def get_schema(self) -> Schema:
        """Return the schema of the one serializer whose data all answers of the handler are."""
        view_class, renaming = type(self.view), Renaming(self.view)
        if not is_drf_code(view_class, "dispatch", "finalize_response"):
            return {}
        made, others = self._find_answers()
        if any(answer.is_page for answer in made):
            if not is_drf_code(view_class, "paginate_queryset", "get_paginated_response"):
                return {}
            # REST framework answers with a page, or with a list where there is no paginator.
            has_pages = getattr(self.view, "paginator", None) is not None
            made = [answer for answer in made if answer.is_page is has_pages]
        shapes = {answer.data for answer in made}
        data = shapes.pop() if len(shapes) == 1 and not others else ()
        if len(data) != 1 or not isinstance(data[0], SerializedData):
            return {}
        if not renaming.only_renames and not self._renders_data():
            return {}
        serializer = self._make_serializer(data[0].serializer)
        if serializer is None:
            return {}
        schema = self.describe(serializer)
        if made[0].is_page:
            schema = find_pages(self.view.paginator).get_schema(schema)
        return renaming.render_schema(schema)

    def _find_answers(self) -> tuple[list[MadeResponse], list[Any]]:
        """Return the answers of the handler that are known, and others that are no errors."""
        view_class, inspection = type(self.view), self.inspection
        used = [name for name in STANDARD if name in (*inspection.calls, inspection.handler_name)]
        if used and is_drf_code(view_class, inspection.handler_name, *used):
            # Of the mixins' own code, which a decorator may hide from the reader.
            data = SerializedData(MadeSerializer(None, many=used[0] == "list", is_plain=True))
            shown = () if used[0] == "destroy" else (data,)
            pages = (True, False) if used[0] == "list" else (False,)
            return [MadeResponse(shown, is_error=False, is_page=page) for page in pages], []
        answers = inspection.reading.answers if inspection.reading is not None else ()
        made = [a for a in answers if isinstance(a, MadeResponse) and a.is_error is False]
        others = [a for a in answers if a not in made and getattr(a, "is_error", None) is not True]
        return made, others

    def _make_serializer(self, made: MadeSerializer) -> Any:
        """Return such a serializer, None where the call may change what it shows."""
        if not made.is_plain or made.many is None:
            return None
        options = {"many": True} if made.many else {}
        if made.kind is None:
            is_stock = is_drf_code(type(self.view), "get_serializer") and self._has_one_serializer()
            return self.view.get_serializer(**options) if is_stock else None
        kind: Any = made.kind
        if not is_drf_code(kind, *(name for name in CHOOSING_FIELDS if hasattr(kind, name))):
            return None
        return kind(context={"request": self.view.request, "view": self.view}, **options)

    def _has_one_serializer(self) -> bool:
        # A get_serializer_class() that reads the request, or calls further methods of the view, may
        # return another class for the next caller.
        view_class, name = type(self.view), "get_serializer_class"
        if is_drf_code(view_class, name):
            return True
        reading = read_handler(view_class, name)
        is_alone = reading is not None and reading.calls <= {name}
        own = map(find_mentioned, find_own(view_class, name))
        return is_alone and all(map(CALLER.isdisjoint, own))

    def _renders_data(self) -> bool:
        # Another renderer may rename or wrap the data.
        for renderer_class in self.view.renderer_classes:
            if renderer_class.media_type == "application/json":
                return (
                    issubclass(renderer_class, JSONRenderer)
                    and is_drf_code(renderer_class, "render")
                    and renderer_class.encoder_class is JSONRenderer.encoder_class
                )
        return False

    def describe(self, serializer: BaseSerializer[Any]) -> Schema:
        if not is_drf_code(type(serializer), "data"):
            return {}
        if type(serializer) is ListSerializer:
            return {"type": "array", "items": self._describe_row(serializer.child)}
        return self._describe_row(serializer)

    def _describe_row(self, serializer: Any) -> Schema:
        def describe() -> Schema:
            return DescribedField(serializer).represented_schema

        return describe_once(serializer, "rows", describe)
