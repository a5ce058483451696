from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rest_framework import mixins
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from drf_mcp.access.authentication import find_view_classes
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.inspection import (
    STANDARD,
    Inspection,
    find_annotations,
    find_carried,
    find_declared_model,
    locate_view,
    make_sample_request,
    negotiate,
)
from drf_mcp.introspection.paths import make_placeholders
from drf_mcp.introspection.source.members import find_member, find_synchronous_name
from drf_mcp.option_types.kinds import read_pattern
from drf_mcp.routes.options import ToolOptions
from drf_mcp.routes.route import Route, find_routes

# The module of drf-spectacular's views, which serve OpenAPI documents.
DOCUMENTS = "drf_spectacular.views"
UNSERVED_METHODS = frozenset({"head", "options", "trace", "connect"})
GENERIC_ACTIONS: dict[str, tuple[tuple[type, str], ...]] = {
    "GET": ((mixins.ListModelMixin, "list"), (mixins.RetrieveModelMixin, "retrieve")),
    "POST": ((mixins.CreateModelMixin, "create"),),
    "PUT": ((mixins.UpdateModelMixin, "update"),),
    "PATCH": ((mixins.UpdateModelMixin, "partial_update"),),
    "DELETE": ((mixins.DestroyModelMixin, "destroy"),),
}
COLLECTION = frozenset({"list", "create"})
# The standard actions whose path ends with the key of an object.
ONE_OBJECT = frozenset(STANDARD) - COLLECTION


@dataclass(frozen=True)
class Endpoint:
    """One HTTP method of a route, which may be a tool.

    Attributes:
        method: the HTTP method in upper case.
        action: the viewset's action; None for other views.
        noun: the noun with which the tool's name begins; None for the words of the path.
        many: the path kwarg for which the tool takes several values; None for a single value.
    """

    route: Route
    method: str
    action: str | None
    noun: str | None = None
    many: str | None = None

    # False for tools of the server's own, to which no URL leads.
    has_http_request: ClassVar[bool] = True

    @property
    def view_class(self) -> type[APIView]:
        return self.route.view_class

    @property
    def handler(self) -> Callable[..., Any]:
        handler: Callable[..., Any] = getattr(self.view_class, self.handler_name)
        return handler

    @property
    def handler_name(self) -> str:
        return self.action or self.method.lower()

    def find_docstring(self, target: Any) -> str:
        # REST framework's own docstrings describe no project.
        if target.__module__.partition(".")[0] == "rest_framework" or not target.__doc__:
            return ""
        return inspect.cleandoc(target.__doc__)

    @functools.cached_property
    def standard_action(self) -> str | None:
        """The viewset's action, or the standard action of a generic view."""
        if self.action is not None:
            is_twin = inspect.iscoroutinefunction(getattr(self.view_class, self.action, None))
            return find_synchronous_name(self.action) if is_twin else self.action
        for mixin, action in GENERIC_ACTIONS.get(self.method, ()):
            if issubclass(self.view_class, mixin):
                return action
        return None

    @property
    def is_standard(self) -> bool:
        """Whether the action is one of REST framework's own."""
        return self.standard_action in STANDARD

    @property
    def is_of_many(self) -> bool:
        """Whether a router made the route for all objects, as for ``@action(detail=False)``."""
        return self.route.initkwargs.get("detail") is False

    @property
    def object_kwarg(self) -> str | None:
        """The path kwarg that identifies the object of a read; None for other endpoints."""
        return self.key_kwarg if self.method == "GET" else None

    @property
    def key_kwarg(self) -> str | None:
        """The path kwarg that identifies the one object of a request; None for none."""
        kwargs = list(self.route.kwargs)
        if self.standard_action in COLLECTION or self.is_of_many or not kwargs:
            return None
        return self.lookup_kwarg if self.lookup_kwarg in kwargs else kwargs[-1]

    @property
    def lookup_kwarg(self) -> str | None:
        """The path kwarg by which a generic view finds its object; None for other views."""
        own = self.route.initkwargs
        names = ("lookup_url_kwarg", "lookup_field")
        lookups = (own.get(name) or getattr(self.view_class, name, None) for name in names)
        return next(filter(None, lookups), None)

    @property
    def part(self) -> str:
        """The words after the key in the path of a standard action on one object, such as "next".

        The view then gets, changes or deletes a part of the object, or another one.
        """
        before, _, after = self.route.path.rpartition("}")
        words = "_".join(after.strip("/").split("/"))
        return words if before and self.standard_action in ONE_OBJECT else ""

    @property
    def action_or_method(self) -> str:
        return self.standard_action or self.method.lower()

    @property
    def collection(self) -> str:
        """The path of the list to which the objects of the endpoint belong."""
        path = self.route.path
        if self.standard_action in ONE_OBJECT and "{" in path:
            path = path[: path.rindex("{")]
        return path.rstrip("/")

    @property
    def object_path(self) -> str:
        """The path up to the key of an object, without an action's part; "" without a key."""
        before, key, _ = self.route.path.rpartition(f"{{{self.key_kwarg}}}")
        return before + key

    @property
    def decorations(self) -> tuple[ToolOptions, ...]:
        # Those on the handler, then those on the view class or function.
        own = vars(self.view_class).get("mcp_tool")
        view_options = own or getattr(self.route.callback, "mcp_tool", None)
        return tuple(filter(None, (getattr(self.handler, "mcp_tool", None), view_options)))

    @property
    def is_built_in(self) -> bool:
        return self.view_class.__module__.startswith("drf_mcp.")

    @property
    def is_described(self) -> bool:
        # API documents leave out views with ``schema = None``, and the views that serve documents.
        if any(base.__module__ == DOCUMENTS for base in self.view_class.__mro__):
            return False
        return find_member(self.view_class, "schema") is not None

    @property
    def extra_path(self) -> str:
        # The url_path of @action is the same for every method of the route.
        handlers = (getattr(self.view_class, name) for name in self.route.actions.values())
        return next((handler.url_path for handler in handlers if hasattr(handler, "url_path")), "")

    @property
    def action_has_other_methods(self) -> bool:
        actions = self.route.actions
        served = [m for m in actions if actions[m] == self.action and m not in UNSERVED_METHODS]
        return len(served) > 1

    @property
    def view_has_other_methods(self) -> bool:
        # The docstring of such a view is about all of its methods.
        methods = {*self.view_class.http_method_names} - UNSERVED_METHODS
        return len([method for method in methods if hasattr(self.view_class, method)]) > 1

    def matches(self, patterns: Iterable[str], name: str, tags: Iterable[str]) -> bool:
        """Return whether one of some patterns is about the endpoint as a tool of that name."""
        return any(read_pattern(each).matches(self, name, tags) for each in patterns)

    @property
    def place(self) -> str:
        return f"{locate_view(self.view_class)}.{self.handler_name}"

    def view(self, request: Any = None) -> APIView:
        """Return an instance of the view as DRF would make it for this method."""
        view: Any = attempt(lambda: self.view_class(**self.route.initkwargs), None)
        if view is None:
            # The view's __init__ fails without a real request.
            view = object.__new__(self.view_class)
            vars(view).update(self.route.initkwargs)
        view.args, view.kwargs, view.format_kwarg = (), {}, None
        view.request = request
        if self.action is not None:
            view.action_map = dict(self.route.actions)
            view.action = self.action
        return view  # type: ignore[no-any-return]

    def find_classes(self, name: str) -> Sequence[Any] | None:
        """Return the classes in an attribute of the view, None where only an instance has them."""
        return find_view_classes(self.route.callback, name)

    @property
    def declared_model(self) -> Any:
        """The model of the view's queryset or serializer, as its class names it; None for none."""
        return find_declared_model(self.view_class)

    @functools.cached_property
    def model(self) -> Any:
        """The model of the view's queryset, None for none."""
        declared = self.route.initkwargs.get("queryset", getattr(self.view_class, "queryset", None))
        if (model := getattr(declared, "model", None)) is not None:
            return model
        return attempt(lambda: Inspection(self.introspected_view(), self.method).model, None)

    def find_annotations(self, view: APIView | None = None) -> Any:
        def find() -> Any:
            # Most views have no annotations, and a view instance is costly to make.
            if view is None and not find_carried(self.view_class, self.handler_name):
                return None
            return find_annotations(
                view or self.introspected_view(), self.handler_name, self.method
            )

        return attempt(find, None)

    def introspected_view(self) -> APIView:
        view = self.view(make_sample_request(self.method, self.route.path))
        view.swagger_fake_view = True  # type: ignore[attr-defined]
        negotiate(view)
        view.kwargs = make_placeholders(view, self.route.kwargs)
        return view


def find_endpoints(urlconf: Any) -> Iterator[Endpoint]:
    # A route with a format suffix repeats one without.
    for route in find_routes(urlconf):
        if api_settings.FORMAT_SUFFIX_KWARG in route.kwargs:
            continue
        for method in route.methods:
            if method not in UNSERVED_METHODS:
                yield Endpoint(route, method.upper(), route.actions.get(method))
