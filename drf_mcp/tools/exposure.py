"""What makes an endpoint a tool, and what was said of it on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.renderers import BrowsableAPIRenderer, TemplateHTMLRenderer
from rest_framework.routers import APIRootView, BaseRouter
from rest_framework.views import APIView

from drf_mcp.introspection import annotations_of, attempt
from drf_mcp.introspection.describer import Finding
from drf_mcp.introspection.source.stock import classes_of, vars_through
from drf_mcp.option_types.patterns import read_pattern
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.options import ToolOptions, ViewOptions

# Where drf-spectacular has the views that serve OpenAPI documents.
DOCUMENTS = "drf_spectacular.views"


@dataclass(frozen=True)
class Choice:
    """An endpoint that is a tool.

    Attributes:
        endpoint: the endpoint.
        options: what was said of the tool.
    """

    endpoint: Endpoint
    options: ToolOptions


class Registration:
    """One target of ``registry.register``.

    Raises:
        ImproperlyConfigured: if the target is no router, API view class or function.
    """

    def __init__(self, target: Any, options: ViewOptions) -> None:
        if isinstance(target, BaseRouter):
            self.router: BaseRouter | None = target
        elif view_class_of(target) is None:
            raise ImproperlyConfigured(
                f"registry.register takes routers, viewsets, API views and @api_view "
                f"functions, not {target!r}."
            )
        else:
            self.router = None
        self.view_class = view_class_of(target)
        self.options = options

    def selects(self, endpoint: Endpoint) -> bool:
        """Return whether the registration exposes an endpoint."""
        return self.is_for(endpoint) and selects(self.options, endpoint)

    def is_for(self, endpoint: Endpoint) -> bool:
        """Return whether an endpoint is one of the target's, chosen or not."""
        if self.router is None:
            return endpoint.view_class is self.view_class
        # Its root view only lists its other routes.
        if issubclass(endpoint.view_class, APIRootView):
            return False
        return endpoint.route.callback in {p.callback for p in self.router.urls}


def view_class_of(target: Any) -> type[APIView] | None:
    """Return the API view class that a target is or wraps, None if it is neither."""
    view_class = target if isinstance(target, type) else getattr(target, "cls", None)
    if isinstance(view_class, type) and issubclass(view_class, APIView):
        return view_class
    return None


def selects(options: ViewOptions, endpoint: Endpoint) -> bool:
    """Return whether a view's options expose the endpoint's action or method."""
    return options.selects(action_or_method(endpoint))


def action_or_method(endpoint: Endpoint) -> str:
    """Return the name by which options choose an endpoint of a view."""
    action = endpoint.standard_action
    return endpoint.method.lower() if action is None else action


def chosen(found: Iterable[Endpoint], registrations: Collection[Registration]) -> list[Choice]:
    """Return the endpoints that are tools, in the order found, this package's own last.

    Of routes that differ in the trailing slash alone, the first counts.
    """
    choices = (choice(endpoint, registrations) for endpoint in found)
    tools: dict[Any, Choice] = {}
    for tool in choices:
        if tool is not None and not is_excluded(tool):
            tools.setdefault(twins_of(tool.endpoint), tool)
    return sorted(
        tools.values(), key=lambda c: c.endpoint.view_class.__module__.startswith("drf_mcp.")
    )


def twins_of(endpoint: Endpoint) -> tuple[Any, ...]:
    """Return what an endpoint shares with one whose path differs in the trailing slash alone."""
    return endpoint.method, endpoint.route.path.rstrip("/"), endpoint.route.callback


def choice(endpoint: Endpoint, registrations: Collection[Registration]) -> Choice | None:
    """Return an endpoint as a tool, None if nobody chose it or it cannot be one."""
    if renders_only_html(endpoint) or not endpoint.route.templates[0][0]:
        return None
    said = [options_of(endpoint.handler), view_level_options(endpoint)]
    views = [vars(endpoint.view_class).get("mcp_viewset")]
    views += [r.options for r in registrations if r.selects(endpoint)]
    views = [options for options in views if options and selects(options, endpoint)]
    exposed = any(said) or bool(views) or in_urlconf_mode(endpoint)
    if not exposed:
        return None
    options, noun = ToolOptions(), None
    for view_options in reversed(views):
        options, noun = view_options.tool.over(options), view_options.name or noun
    for tool_options in reversed(said):
        options = tool_options.over(options) if tool_options else options
    if options.condition is not None and not options.condition():
        return None
    return Choice(replace(endpoint, noun=noun), options)


def options_of(target: Any) -> ToolOptions | None:
    """Return what ``@mcp_tool`` said on a target, None if it was not used."""
    return getattr(target, "mcp_tool", None)


def view_level_options(endpoint: Endpoint) -> ToolOptions | None:
    """Return what ``@mcp_tool`` said on the view class itself or on the function view."""
    own: ToolOptions | None = vars(endpoint.view_class).get("mcp_tool")
    return own or options_of(endpoint.route.callback)


def in_urlconf_mode(endpoint: Endpoint) -> bool:
    """Return whether ``EXPOSE = "urlconf"`` takes an endpoint.

    A view that REST framework's own schemas leave out (``schema = None``), such as a
    router's root, is left out here too, and so is what ``@extend_schema(exclude=True)``
    leaves out, and the views that serve an OpenAPI document.
    """
    if mcp_settings.EXPOSE == "explicit" or not is_described(endpoint.view_class):
        return False
    include = mcp_settings.INCLUDE
    included = not include or matches(include, Choice(endpoint, ToolOptions()))
    return included and not left_out(endpoint)


def is_described(view_class: type) -> bool:
    """Return whether a view belongs into descriptions of the API, and is none itself."""
    if any(base.__module__ == DOCUMENTS for base in view_class.__mro__):
        return False
    return vars_through(view_class, "schema") is not None


def left_out(endpoint: Endpoint) -> str:
    """Return why drf-spectacular's annotations leave an endpoint out, "" if they do not."""
    handler = endpoint.action or endpoint.method.lower()
    place, findings, unknown = endpoint.place, list[Finding](), None
    annotations = attempt(
        place,
        lambda: annotations_of(endpoint.introspected_view(), handler, endpoint.method),
        "",
        [],
        unknown,
    )
    if annotations is None:
        return ""
    # Whoever left it out, perhaps, is not overruled because that cannot be asked.
    if attempt(place, annotations.schema.is_excluded, "", findings, True):
        told = "".join(f", as far as can be told: {finding.message}" for finding in findings)
        return f"@extend_schema(exclude=True) leaves it out{told}"
    return ""


def is_excluded(tool: Choice) -> bool:
    """Return whether EXCLUDE takes a tool away, however it was chosen."""
    return matches(mcp_settings.EXCLUDE, tool)


def matches(patterns: Iterable[str], tool: Choice) -> bool:
    """Return whether a pattern fits the tool's method and its path, name or one of its tags."""
    endpoint = tool.endpoint
    name = tool.options.name or mcp_settings.NAMING_CLASS().get_name(endpoint)
    method, action = endpoint.method, endpoint.standard_action
    return any(
        pattern.matches(method, endpoint.route.path, tool.options.tags)
        or pattern.matches_name(method, name, action)
        for pattern in map(read_pattern, patterns)
    )


def renders_only_html(endpoint: Endpoint) -> bool:
    """Return whether a view has nothing but pages for people."""
    renderers = classes_of(endpoint.route.callback, "renderer_classes") or ()
    pages = (TemplateHTMLRenderer, BrowsableAPIRenderer)
    return bool(renderers) and all(
        issubclass(renderer, pages) or renderer.media_type == "text/html" for renderer in renderers
    )
