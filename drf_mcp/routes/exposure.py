from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.renderers import BrowsableAPIRenderer, TemplateHTMLRenderer
from rest_framework.routers import APIRootView, BaseRouter
from rest_framework.views import APIView

from drf_mcp.access.authentication import find_view_classes
from drf_mcp.exceptions import attempt
from drf_mcp.option_types.installed import features
from drf_mcp.routes.endpoint import Endpoint, find_endpoints
from drf_mcp.routes.options import ToolOptions, ViewOptions
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings


@dataclass(frozen=True)
class ToolChoice:
    """An endpoint that becomes a tool, and the tool's options.

    Attributes:
        named: whether the project exposed this very endpoint, and not only its view.
        tool_class: the class of the tool.
    """

    endpoint: Endpoint
    options: ToolOptions
    named: bool = False
    tool_class: type[Tool] = Tool

    def matches(self, patterns: Collection[str]) -> bool:
        if not patterns:
            return False
        name = self.options.name or mcp_settings.NAMING_CLASS().get_name(self.endpoint)
        return self.endpoint.matches(patterns, name, self.options.tags)


class Registration:
    def __init__(self, target: Any, options: ViewOptions) -> None:
        self.router: BaseRouter | None = target if isinstance(target, BaseRouter) else None
        # A function view has its class as `cls`.
        view_class = target if isinstance(target, type) else getattr(target, "cls", None)
        is_view = isinstance(view_class, type) and issubclass(view_class, APIView)
        if self.router is None and not is_view:
            raise ImproperlyConfigured(
                f"registry.register takes routers, viewsets, API views and @api_view "
                f"functions, not {target!r}."
            )
        self.view_class: type[APIView] | None = view_class if is_view else None
        self.options = options

    def is_for(self, endpoint: Endpoint) -> bool:
        if self.router is None:
            return endpoint.view_class is self.view_class
        # The root view of a router only lists the other routes.
        if issubclass(endpoint.view_class, APIRootView):
            return False
        return any(pattern.callback is endpoint.route.callback for pattern in self.router.urls)


class Exposure:
    """Decides which endpoints of a URLconf are tools; EXPOSURE_CLASS names a subclass.

    A subclass overrides the methods `get_endpoints`, `is_exposed`, `is_named` and `get_variant`.
    """

    def __init__(self, registrations: Collection[Registration] = ()) -> None:
        self.registrations = registrations
        self._known: dict[int, Sequence[Registration]] = {}

    def get_endpoints(self, urlconf: Any) -> Iterable[Endpoint]:
        """Return the endpoints of a URLconf, whether or not they are exposed, in its order."""
        return find_endpoints(urlconf)

    def is_exposed(self, endpoint: Endpoint) -> bool:
        """Return whether a decorator, a registration or EXPOSE makes an endpoint a tool.

        EXCLUDE and ``condition=`` may still take the tool away.
        """
        return (
            any(endpoint.decorations)
            or any(self._find_view_options(endpoint))
            or self._is_taken_from_urlconf(endpoint)
        )

    def is_named(self, endpoint: Endpoint) -> bool:
        """Return whether the project names this endpoint, by ``actions=`` or `mcp_tool`.

        A PUT that is not named is no tool where PATCH at the same route is one.
        """
        names = {endpoint.action_or_method, endpoint.method.lower()}
        by_options = any(names & (o.actions or set()) for o in self._find_view_options(endpoint))
        return by_options or hasattr(endpoint.handler, "mcp_tool")

    def get_variant(self) -> Hashable:
        """Return what `is_exposed` depends on other than the endpoint, as the current tenant.

        The tools of each variant are read off the URLconf once, and kept. The method is called
        in every request that lists or calls tools.
        """
        return None

    def get_choices(self, urlconf: Any) -> list[ToolChoice]:
        # Of two routes that differ only in the trailing slash, the first is a tool.
        tools: dict[Any, ToolChoice] = {}
        for endpoint in self.get_endpoints(urlconf):
            route, own = endpoint.route, self.find_choice(endpoint)
            choices = [] if own is None else [own]
            for get_choices in features.hooks["get_choices"] if own is not None else ():
                choices += get_choices(self, own)
            for choice in choices:
                if not choice.matches(mcp_settings.EXCLUDE):
                    action = choice.endpoint.standard_action
                    key = (endpoint.method, route.path.rstrip("/"), route.callback, action)
                    tools.setdefault(key, choice)
        return sorted(tools.values(), key=lambda choice: choice.endpoint.is_built_in)

    def merge_view_options(self, endpoint: Endpoint, action: str | None) -> ToolOptions:
        options = ToolOptions()
        for view_options in reversed(list(self._find_view_options(endpoint))):
            own = view_options.tool
            # In the options of a view, ``many`` is about `retrieve`.
            if own.many and action != "retrieve":
                own = replace(own, many=None)
            options = own.over(options)
        return options

    def find_choice(self, endpoint: Endpoint) -> ToolChoice | None:
        if self._renders_only_html(endpoint) or not endpoint.route.templates[0][0]:
            return None
        if not self.is_exposed(endpoint):
            return None
        options = self.merge_view_options(endpoint, endpoint.standard_action)
        noun = next((own.name for own in self._find_view_options(endpoint) if own.name), None)
        for tool_options in reversed(endpoint.decorations):
            options = tool_options.over(options)
        if options.condition is not None and not options.condition():
            return None
        many = endpoint.object_kwarg if options.many else None
        chosen = replace(endpoint, noun=noun, many=many)
        return ToolChoice(chosen, options, self.is_named(endpoint))

    def without_repeated_updates(
        self, choices: Sequence[ToolChoice], patterns: Iterable[str] = ()
    ) -> list[ToolChoice]:
        # Without a PUT whose route has a PATCH too: the PATCH does the same, and a tool costs
        # tokens.
        def get_route(choice: ToolChoice) -> tuple[str, Any]:
            return choice.endpoint.route.path, choice.endpoint.route.callback

        changes = {
            get_route(choice): choice
            for choice in choices
            if choice.endpoint.standard_action == "partial_update"
        }
        every = [*patterns, *mcp_settings.INCLUDE]

        def is_repeated(choice: ToolChoice) -> bool:
            change = changes.get(get_route(choice))
            if change is None or choice.endpoint.standard_action != "update" or choice.named:
                return False
            # A pattern that matches the PATCH too does not name the PUT.
            return not any(choice.matches([p]) and not change.matches([p]) for p in every)

        return [choice for choice in choices if not is_repeated(choice)]

    def _renders_only_html(self, endpoint: Endpoint) -> bool:
        renderers = find_view_classes(endpoint.route.callback, "renderer_classes") or ()
        pages = (TemplateHTMLRenderer, BrowsableAPIRenderer)
        return bool(renderers) and all(
            issubclass(renderer, pages) or renderer.media_type == "text/html"
            for renderer in renderers
        )

    def _find_view_options(self, endpoint: Endpoint) -> Iterator[ViewOptions]:
        options: ViewOptions | None = vars(endpoint.view_class).get("mcp_viewset")
        if options is not None and options.selects(endpoint.action_or_method):
            yield options
        for registration in self._find_registrations(endpoint):
            if registration.options.selects(endpoint.action_or_method):
                yield registration.options

    def _find_registrations(self, endpoint: Endpoint) -> Sequence[Registration]:
        # All endpoints of a route have the same: a thousand viewsets are looked up five times else.
        key = id(endpoint.route.callback)
        if key not in self._known:
            self._known[key] = [each for each in self.registrations if each.is_for(endpoint)]
        return self._known[key]

    def _is_taken_from_urlconf(self, endpoint: Endpoint) -> bool:
        # A view with ``schema = None``, such as the root view of a router, is not taken.
        if mcp_settings.EXPOSE == "explicit" or not endpoint.is_described:
            return False
        include = mcp_settings.INCLUDE
        included = not include or ToolChoice(endpoint, ToolOptions()).matches(include)
        return included and not self._is_excluded_by_annotation(endpoint)

    def _is_excluded_by_annotation(self, endpoint: Endpoint) -> bool:
        annotations = endpoint.find_annotations()
        # Where the annotation cannot be read, the endpoint is not exposed.
        return annotations is not None and bool(attempt(annotations.schema.is_excluded, True))
