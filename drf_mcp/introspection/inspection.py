"""One endpoint under inspection: the view, its handler, its request, and the findings about it."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError, connections
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.schemas import DefaultSchema
from rest_framework.settings import api_settings
from rest_framework.viewsets import ViewSetMixin

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.findings import Finding, make_finding
from drf_mcp.introspection.source.members import (
    find_member,
    find_synchronous_name,
    is_drf_code,
)
from drf_mcp.introspection.source.readings import read_endpoint
from drf_mcp.introspection.source.request_members import BodyReading, HandlerReading, QueryReading
from drf_mcp.introspection.text import clean_text, leave_out_commas
from drf_mcp.introspection.types import AskedRows, Parameter, Parameters, Schema

Value = TypeVar("Value")
RETURN_EARLY = (
    "Return early from what needs a caller or a URL when"
    " getattr(self, 'swagger_fake_view', False) is true."
)
CHECK_ANNOTATION = "Check what @extend_schema says of the handler."
WRITE_PLAINLY = "Write the handler as a plain method."
JSON = "application/json"
# The actions of REST framework's mixins; a partial update is an update as well.
STANDARD = ("list", "retrieve", "create", "partial_update", "update", "destroy")


def keep_schema(schema: Schema) -> Schema:
    return schema


class Inspection:
    """A view instance as a request would find it, and the findings about it.

    Attributes:
        view: the view instance.
        method: the HTTP method in upper case.
        write_schema: writes the schema of an argument in the portable subset, unless the tool takes
            all of JSON Schema.
        handler_name: the name of the method that answers: an action, or an HTTP method.
        findings: what could not be described, and how to mend it.
        row_queries: the queries whose rows are choices of arguments.
    """

    def __init__(
        self,
        view: Any,
        method: str,
        *,
        write_schema: Callable[[Schema], Schema] = keep_schema,
    ) -> None:
        self.view = view
        # A view may keep on itself what it chose for one caller: others start with this copy.
        self.new_view = copy.copy(view)
        own = inspect.getattr_static(type(view), "get_serializer_context", None)
        if inspect.isfunction(own) and not is_drf_code(type(view), "get_serializer_context"):
            view.get_serializer_context = SerializerContext.maker(view)
        self.method = method.upper()
        self.write_schema = write_schema
        self.findings: list[Finding] = []
        self.row_queries: list[AskedRows] = []
        self.handler_name = str(getattr(view, "action", None) or self.method.lower())
        self.place = f"{locate_view(type(view))}.{self.handler_name}"

    def start_over(self, user: Any = None) -> Inspection:
        """Return an inspection of the view before it was asked anything, without findings."""
        view = copy.copy(self.new_view)
        if user is not None:
            view.request = make_sample_request(self.method, view.request.path, user)
            negotiate(view)
        return Inspection(view, self.method, write_schema=self.write_schema)

    @cached_property
    def readings(self) -> tuple[HandlerReading | None, QueryReading, BodyReading]:
        unread: Any = None, QueryReading(opened_by=self.place), BodyReading()
        view_class: Any = type(self.view)
        read: Any = partial(read_endpoint, view_class, self.handler_name, self.method)
        return self.attempt(read, WRITE_PLAINLY, unread)  # type: ignore[no-any-return]

    @property
    def reading(self) -> HandlerReading | None:
        return self.readings[0]

    @property
    def query_reading(self) -> QueryReading:
        """What all code of the view reads of the query."""
        return self.readings[1]

    @property
    def calls(self) -> set[str]:
        """The methods of the view that the handler calls."""
        return self.reading.calls if self.reading is not None else set()

    @cached_property
    def annotations(self) -> Any:
        """The `SpectacularAnnotations` of the handler, None without drf-spectacular's schema."""
        return self.attempt(
            lambda: find_annotations(self.view, self.handler_name, self.method),
            CHECK_ANNOTATION,
            None,
        )

    def read_declared_parameters(self, location: str) -> dict[str, Parameter | None]:
        """Return the parameters of @extend_schema by name, None for one that it takes out."""
        if self.annotations is None:
            return {}
        none: dict[tuple[str, str], Any] = {}
        parameters = self.attempt(self.annotations.parameters, CHECK_ANNOTATION, none)
        return {
            name: declared and _read_openapi_parameter(declared)
            for (name, at), declared in parameters.items()
            if at == location
        }

    @property
    def is_extra_action(self) -> bool:
        return self.is_viewset and find_synchronous_name(self.handler_name) not in STANDARD

    @property
    def is_viewset(self) -> bool:
        return isinstance(self.view, ViewSetMixin)

    @cached_property
    def privileged(self) -> Inspection:
        """The inspection of the same view for a superuser."""
        privileged = self.start_over(make_superuser())
        vars(privileged)["privileged"] = privileged
        return privileged

    @cached_property
    def model(self) -> Any:
        declared = getattr(getattr(self.view, "queryset", None), "model", None)
        return declared or getattr(self.queryset, "model", None)

    @cached_property
    def queryset(self) -> Any:
        """The view's queryset, else all rows of its model, None without a model."""
        known = len(self.findings)
        found = self._find_queryset()
        if found is None:
            found = attempt(self._find_rows, None)
        if found is not None:
            # Why get_queryset() failed is of no interest then.
            del self.findings[known:]
        return found

    def _find_queryset(self) -> Any:
        view = self.view
        if not hasattr(view, "get_queryset"):
            return None
        if getattr(view, "queryset", None) is None and is_drf_code(type(view), "get_queryset"):
            return None
        # A get_queryset() that asks the database, such as for the parent that the URL names, would
        # find no row: the URL has placeholders.
        with wrapped_queries(refuse_query):
            found = self.attempt(view.get_queryset, RETURN_EARLY, None)
            # A view may refuse an anonymous caller.
            if not hasattr(found, "model"):
                found = attempt(lambda: self.privileged.view.get_queryset(), None)
        return found if hasattr(found, "model") else None

    def _find_rows(self) -> Any:
        declared = getattr(self.view, "queryset", None)
        if hasattr(declared, "model"):
            return declared
        model = find_declared_model(self.view) or _find_serializer_model(self.serializer_class)
        return None if model is None else model._default_manager.all()

    @cached_property
    def serializer_class(self) -> Any:
        # A view may give a serializer class to some callers only.
        found = self.chosen_class or self.privileged.chosen_class
        return getattr(self.view, "serializer_class", None) if found is None else found

    @property
    def chosen_class(self) -> Any:
        view: Any = self.view
        return attempt(lambda: view.get_serializer_class(), None)

    def attempt(self, step: Callable[[], Value], remedy: str, default: Value) -> Value:
        """Return what a step returns, the default and a finding if it raises an exception."""

        def report(exc: Exception) -> Value:
            self.findings.append(make_finding(self.place, exc, remedy))
            return default

        return attempt(step, otherwise=report)

    def add_finding(self, message: str, remedy: str) -> None:
        self.findings.append(Finding(self.place, message, remedy))


class SerializerContext(ChainMap[str, Any]):
    # The view is asked for what it adds to REST framework's own context when a serializer reads it,
    # which few serializers do while they are described: it may need a caller, or ask the database.
    failures: Sequence[Exception] = ()

    @classmethod
    def maker(cls, view: Any) -> Callable[[], SerializerContext]:
        stock = {"request": view.request, "format": getattr(view, "format_kwarg", None)}
        make, failures = view.get_serializer_context, list[Exception]()
        added: Any = SimpleLazyObject(lambda: attempt(make, otherwise=failures.append) or {})

        def get_serializer_context() -> SerializerContext:
            context = cls({**stock, "view": view}, added)
            context.failures = failures
            return context

        return get_serializer_context

    def __missing__(self, key: str) -> Any:
        # Code that does without the key catches a KeyError.
        raise KeyError(key) from next(iter(self.failures), None)


class RefusedQuery(DatabaseError):
    """A query that was not sent to the database."""


def refuse_query(*args: Any) -> Any:
    raise RefusedQuery("Nothing is asked of a database while querysets are described.")


WRITING = frozenset(
    {"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "CREATE", "ALTER", "DROP", "TRUNCATE"}
)


def refuse_writing(execute: Any, sql: str, *args: Any) -> Any:
    if sql.lstrip(" (")[:8].upper().split(" ")[0] in WRITING:
        raise RefusedQuery("Nothing is written to a database while endpoints are described.")
    return execute(sql, *args)


@contextlib.contextmanager
def kept_transactions() -> Iterator[None]:
    """Leave open transactions as they were, though statements are refused meanwhile."""
    # A refused statement never reaches the database: only Django takes the transaction for broken.
    every = connections.all(initialized_only=True)
    before = [(c.needs_rollback, list(c.run_on_commit)) for c in every]
    try:
        yield
    finally:
        for connection, (needs_rollback, run_on_commit) in zip(every, before, strict=True):
            connection.needs_rollback = needs_rollback
            connection.run_on_commit = run_on_commit


@contextlib.contextmanager
def noted_queries() -> Iterator[list[AskedRows]]:
    queries: list[AskedRows] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append(AskedRows(context["connection"].alias, sql, params))
        return execute(sql, params, many, context)

    with wrapped_queries(note):
        yield queries


def read_rows(queries: Iterable[AskedRows]) -> list[Any]:
    """Return the rows that queries have today."""
    return [attempt(query.read, None) for query in queries]


@contextlib.contextmanager
def wrapped_queries(wrapper: Callable[..., Any]) -> Iterator[None]:
    """Call a wrapper, as of Django's ``execute_wrapper``, around each statement of any database."""
    with contextlib.ExitStack() as stack:
        for connection in connections.all():
            stack.enter_context(connection.execute_wrapper(wrapper))
        yield


def make_superuser() -> Any:
    user: Any = get_user_model()()
    for name in ("is_active", "is_staff", "is_superuser"):
        # A project's user class may compute one in a property.
        with contextlib.suppress(AttributeError):
            setattr(user, name, True)
    return user


def make_sample_request(method: str, path: str, user: Any = None) -> Request:
    names = (name or "" for name in settings.ALLOWED_HOSTS)
    hosts = (name.lstrip(".") for name in names if name.strip(".*"))
    http_request = HttpRequest()
    http_request.method = method
    http_request.path = http_request.path_info = path
    http_request.META = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "SERVER_NAME": next(hosts, "localhost"),
        "SERVER_PORT": "80",
        "HTTP_ACCEPT": JSON,
    }
    http_request.user = AnonymousUser()
    request = Request(http_request)
    if user is not None:
        request.user, request.auth = user, None
    return request


def negotiate(view: Any) -> None:
    # A version that only a real request would name is None.
    request = view.request
    request.accepted_renderer, request.accepted_media_type = attempt(
        lambda: view.perform_content_negotiation(request, force=True), (JSONRenderer(), JSON)
    )
    request.version, request.versioning_scheme = attempt(
        lambda: view.determine_version(request, *view.args, **view.kwargs), (None, None)
    )


# drf-spectacular is optional: its classes are imported once a view carries one of them.
ANNOTATIONS = "drf_mcp.introspection.spectacular.SpectacularAnnotations"
# The SpectacularAnnotations of the endpoint that is being described, for the describers of fields,
# which know no endpoint.
CURRENT: ContextVar[Any] = ContextVar("drf_mcp_annotations", default=None)


def find_declared_schema(field: Any) -> dict[str, Any] | None:
    annotations = CURRENT.get()
    schema: dict[str, Any] | None = None if annotations is None else annotations.field_schema(field)
    return schema


def find_hidden_fields(serializer: Any) -> frozenset[str]:
    # @extend_schema_serializer(exclude_fields=...) counts where drf-spectacular is in use.
    if CURRENT.get() is None:
        return frozenset()
    return frozenset(getattr(serializer, "_spectacular_annotation", {}).get("exclude_fields", ()))


def find_annotations(view: Any, handler_name: str, method: str) -> Any:
    carried = find_carried(type(view), handler_name)
    return import_string(ANNOTATIONS)(carried, view, method) if carried else None


def find_carried(view_class: type, handler_name: str) -> list[type]:
    """Return drf-spectacular's schema classes of a handler and of its view, in this order."""
    handler = getattr(view_class, handler_name, None)
    own = find_member(view_class, "schema")
    if isinstance(own, DefaultSchema):  # the class that the settings name replaces it
        own = api_settings.DEFAULT_SCHEMA_CLASS
    schemas = (getattr(handler, "kwargs", {}).get("schema"), own)
    classes = [s if inspect.isclass(s) else type(s) for s in schemas if s is not None]
    # Decorators of drf-spectacular make classes that mix its own with others.
    return [
        schema_class
        for schema_class in classes
        if any(base.__module__.startswith("drf_spectacular.") for base in schema_class.__mro__)
    ]


def locate_view(view_class: type) -> str:
    # The class that @api_view makes has the name of its function, but not its qualified name.
    made = view_class.__qualname__ == "WrappedAPIView"
    name = view_class.__name__ if made else view_class.__qualname__
    return f"{view_class.__module__}.{name}"


def find_declared_model(view: Any) -> Any:
    declared = getattr(getattr(view, "queryset", None), "model", None)
    # An action may have a serializer of its own, which has no model.
    own = (getattr(each, "serializer_class", None) for each in (view, type(view)))
    return declared or next(filter(None, map(_find_serializer_model, own)), None)


def _find_serializer_model(serializer_class: Any) -> Any:
    return getattr(getattr(serializer_class, "Meta", None), "model", None)


# --- Parameters that paginators, filter backends and people declare as OpenAPI has them -----------

# Older declarations have these next to the name and not in a schema.
INLINE = ("type", "enum", "items", "format", "default", "minimum", "maximum", "pattern")


def find_declared_parameters(source: Any, view: Any) -> Parameters:
    # An extension of drf-spectacular that speaks for the source is asked instead.
    annotations = CURRENT.get()
    declared = annotations.filter_parameters(source) if annotations is not None else None
    if declared is None:
        declare = getattr(source, "get_schema_operation_parameters", None)
        declared = () if declare is None else declare(view)
    in_query = (each for each in declared if each.get("in", "query") == "query")
    return tuple(map(_read_openapi_parameter, in_query))


def _read_openapi_parameter(declared: Mapping[str, Any]) -> Parameter:
    inline = {name: declared[name] for name in INLINE if name in declared}
    schema: Schema = declared.get("schema") or inline
    description = clean_text(declared.get("description")) or clean_text(schema.get("description"))
    if schema.get("type") == "array":
        description = leave_out_commas(description)
    bare = {name: value for name, value in schema.items() if name != "description"}
    # Example Objects and the value itself, as OpenAPI has them next to a schema.
    named = declared.get("examples") or {}
    objects = named.values() if isinstance(named, Mapping) else ()
    examples = [e["value"] for e in objects if isinstance(e, Mapping) and "value" in e]
    if "example" in declared:
        examples.append(declared["example"])
    return Parameter(
        name=str(declared["name"]),
        schema=explain(
            FieldSchema(bare).with_example(examples[0]) if examples else bare, description
        ),
        required=bool(declared.get("required")),
        multiple=_find_style(declared, schema.get("type")),
    )


# How OpenAPI writes the items of an array, and an object, without repeating the key.
JOINED = {"spaceDelimited": "space", "pipeDelimited": "pipe"}


def _find_style(declared: Mapping[str, Any], kind: Any) -> str | None:
    """Return the `Parameter.multiple` of a parameter that is declared as OpenAPI has it."""
    style = declared.get("style") or "form"
    # The key of an array is repeated by default.
    is_joined = declared.get("explode", style == "form") is False
    if kind == "array":
        return JOINED.get(style, "comma") if is_joined else "repeat"
    if kind != "object" or not declared.get("style"):
        return None
    if style == "deepObject":
        return "deep"
    return JOINED.get(style, "comma") if is_joined else "members"
