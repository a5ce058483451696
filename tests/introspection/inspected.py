"""Views set up as the package sets them up, and the descriptions of their endpoints."""

from __future__ import annotations

from typing import Any

from drf_mcp.describers import Describer, EndpointSchema, Inspection, Parameter, PathKwarg
from drf_mcp.introspection.field_schema import PATTERNS
from drf_mcp.introspection.inspection import keep_schema, make_sample_request, negotiate
from drf_mcp.introspection.portable import write_portable
from tests.introspection.portability import assert_portable

METHODS = {
    "list": "GET",
    "retrieve": "GET",
    "create": "POST",
    "update": "PUT",
    "partial_update": "PATCH",
    "destroy": "DELETE",
}


def view_of(view_class: Any, method: str, action: str | None = None, **initkwargs: Any) -> Any:
    """Return an instance of a view as a route makes it for one method."""
    view = view_class(**initkwargs)
    view.request = make_sample_request(method, "/")
    view.args, view.kwargs, view.format_kwarg = (), {}, None
    view.swagger_fake_view = True
    negotiate(view)
    if action is not None:
        view.action = action
        view.action_map = {method.lower(): action}
        handler = getattr(view, action, None)
        view.detail = getattr(handler, "detail", action not in ("list", "create"))
    return view


def describe(
    view: Any, method: str, path_kwargs: dict[str, PathKwarg], *, portable: bool = True
) -> EndpointSchema:
    """Describe one method of a view instance."""
    inspection = Inspection(view, method, write_schema=write_portable if portable else keep_schema)
    return Describer(inspection, path_kwargs).describe()


def described(
    view_class: Any,
    method: str | None = None,
    action: str | None = None,
    path_kwargs: tuple[PathKwarg, ...] = (),
    **initkwargs: Any,
) -> EndpointSchema:
    """Describe one method of a view, and assert that the description is portable.

    An ``@action`` has its own initkwargs, as it has through a router.
    """
    method = method or METHODS.get(action or "list", "GET")
    own = getattr(getattr(view_class, action or "", None), "kwargs", {})
    initkwargs = {**own, **initkwargs}
    names = {kwarg.name: kwarg for kwarg in path_kwargs}
    schema = describe(view_of(view_class, method, action, **initkwargs), method, names)
    assert_portable_endpoint(schema)
    return schema


def assert_portable_endpoint(schema: EndpointSchema) -> None:
    """Assert that every argument of an endpoint is portable."""
    for parameter in (*schema.path, *schema.query, *schema.body.fields):
        assert_portable(parameter.schema)
    if schema.body.schema is not None:
        assert_portable(schema.body.schema)


def by_name(parameters: tuple[Parameter, ...]) -> dict[str, Parameter]:
    """Return parameters by name, and assert that all names differ."""
    named = {parameter.name: parameter for parameter in parameters}
    assert len(named) == len(parameters)
    return named


def schemas(parameters: tuple[Parameter, ...]) -> dict[str, dict[str, Any]]:
    """Return the schemas of parameters by name, without descriptions."""
    return {name: bare(parameter.schema) for name, parameter in by_name(parameters).items()}


def bare(schema: Any) -> Any:
    """Return a schema without its descriptions."""
    if isinstance(schema, list):
        return [bare(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: bare(member) for name, member in schema.items() if name != "description"}


def form(name: str) -> dict[str, Any]:
    """Return the schema of a text in a format, without its words."""
    pattern = {"pattern": f"^{PATTERNS[name]}$"} if name in PATTERNS else {}
    return {"type": "string", **pattern}
