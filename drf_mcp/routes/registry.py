from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.urls import Resolver404, ResolverMatch, resolve

from drf_mcp.exceptions import UnknownTool
from drf_mcp.option_types.installed import features
from drf_mcp.option_types.kinds import PATTERNS
from drf_mcp.outcomes import MISSING
from drf_mcp.routes.exposure import Exposure, Registration, ToolChoice
from drf_mcp.routes.options import ToolOptions, ViewOptions, check_options
from drf_mcp.routes.related import RelatedTools
from drf_mcp.routes.tool import MAX_NAME_LENGTH, NAME, Tool
from drf_mcp.settings import mcp_settings

Kind = TypeVar("Kind")
# Headers and credentials can narrow in any number of ways.
MOST_KEPT = 512
RELOADING_SETTINGS = frozenset({"DRF_MCP", "LANGUAGE_CODE", "REST_FRAMEWORK", "ROOT_URLCONF"})


class Registry:
    """The tools of a project, read off the URLconf when they are first needed.

    Args:
        include: the tools it may hold, as patterns over their paths, names and tags
            (``"tag:billing"``), or of one method, ``"GET /api/*"``; all by default.
    """

    def __init__(self, include: Sequence[str] = ()) -> None:
        self._include = tuple(PATTERNS.read(include, "Registry(include=...)"))
        self._registrations: list[Registration] = []
        self._added: list[Any] = []
        self._indexes: dict[Any, Mapping[str, Tool]] = {}
        # What `keep` made of tools, by its key and the tools.
        self._kept: dict[Any, Any] = {}
        self._lock = threading.RLock()
        setting_changed.connect(self._settings_changed)

    @property
    def registrations(self) -> tuple[Registration, ...]:
        return tuple(self._registrations)

    @property
    def exposure(self) -> Exposure:
        exposure: Exposure = mcp_settings.EXPOSURE_CLASS(self._registrations)
        return exposure

    def register(
        self,
        *targets: Any,
        actions: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        name: str | None = None,
        **options: Any,
    ) -> None:
        """Expose routers, viewsets, API views or ``@api_view`` functions.

        Args:
            targets: a router exposes the routes it made; a class or a function
                exposes every route that leads to it.
            options: as of `mcp_viewset`, the others as well.
        """
        view_options = ViewOptions.of(actions, exclude, name, **options)
        with self._lock:
            self._registrations += [Registration(target, view_options) for target in targets]
            self.reload()

    def add(self, *items: Any) -> None:
        """Add what is served besides the tools: documents and prompts."""
        self._added += items

    def find_added(self, kind: type[Kind]) -> list[Kind]:
        """Return what was added, of one class and its subclasses."""
        return [item for item in self._added if isinstance(item, kind)]

    def tools(
        self, urlconf: Any = None, defaults: Mapping[str, Any] | None = None
    ) -> Mapping[str, Tool]:
        """Return the tools of a URLconf by name and in its order.

        Args:
            urlconf: ROOT_URLCONF by default.
            defaults: the options of tools that have none of their own by that name.
        """
        if defaults:
            tools = self.tools(urlconf)
            variant = (id(tools), repr(sorted(defaults.items())))
            if variant not in self._indexes:
                options = ToolOptions.of(**defaults)
                self._indexes[variant] = {
                    name: replace(tool, options=tool.options.over(options), origin=tool)
                    for name, tool in tools.items()
                }
            return self._indexes[variant]
        urlconf = urlconf or settings.ROOT_URLCONF
        key = (urlconf, self.exposure.get_variant())
        index = self._indexes.get(key)
        if index is None:
            with self._lock:
                index = self._indexes.get(key)
                if index is None:
                    index = self._indexes[key] = self._build(urlconf)
        return index

    def narrow(self, tools: Mapping[str, Tool], narrowings: tuple[Any, ...]) -> Mapping[str, Tool]:
        """Return the tools that each `Narrowing` allows; their descriptions name no other tools."""
        if not narrowings:
            return tools

        def leave(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
            left = {n: t for n, t in tools.items() if all(each.allows(t) for each in narrowings)}
            # Two narrowings that leave the same tools share them, and their descriptions.
            return self.keep("narrowed", left, _relate)

        return self.keep(narrowings, tools, leave)

    def keep(
        self, key: Any, tools: Mapping[str, Tool], make: Callable[[Mapping[str, Tool]], Kind]
    ) -> Kind:
        """Return what ``make`` returns for some tools, made once until the tools change."""
        key = (key, frozenset(tools.values()))
        # Another thread may empty the cache at any moment.
        kept = self._kept.get(key, MISSING)
        if kept is MISSING:
            with self._lock:
                kept = self._kept.get(key, MISSING)
                if kept is MISSING:
                    if len(self._kept) >= MOST_KEPT:
                        # The oldest, such as the tools of a token that is gone.
                        self._kept.pop(next(iter(self._kept), None), None)
                    kept = self._kept[key] = make(tools)
        return kept  # type: ignore[no-any-return]

    def tool(
        self, name: str, urlconf: Any = None, defaults: Mapping[str, Any] | None = None
    ) -> Tool:
        """Return the tool of that name, as in `tools`; `UnknownTool` names the nearest ones."""
        tools = self.tools(urlconf, defaults)
        tool = tools.get(name)
        if tool is None:
            raise UnknownTool.named(name, tools)
        return tool

    def tool_at(
        self, match: ResolverMatch | None, method: str | None, urlconf: Any = None
    ) -> Tool | None:
        for tool in self.tools(urlconf).values():
            route = tool.endpoint.route
            here = match and match.func is route.callback and match.route == route.match_route
            if here and tool.endpoint.method == method:
                return tool
        return None

    def get_tool(self, method: str, path: str, urlconf: Any = None) -> Tool | None:
        """Return the tool of an HTTP request, None if it has none.

        Args:
            method: the HTTP method, in capital letters.
            path: the path of the request, with the script prefix.
            urlconf: ROOT_URLCONF by default.
        """
        try:
            match = resolve(path, urlconf or settings.ROOT_URLCONF)
        except Resolver404:
            return None
        return self.tool_at(match, method, urlconf)

    def reload(self) -> None:
        """Forget the tools and what was described, to read them off the URLconf again."""
        self._indexes.clear()
        self._kept.clear()

    def _build(self, urlconf: Any) -> Mapping[str, Tool]:
        exposure = self.exposure
        choices = exposure.without_repeated_updates(
            [
                choice
                for choice in exposure.get_choices(urlconf)
                if not self._include or choice.matches(self._include)
            ],
            self._include,
        )
        self._refuse_wrong_options(choices)
        own_names = {choice.options.name for choice in choices if choice.options.name}
        unnamed = [choice.endpoint for choice in choices if not choice.options.name]
        names = iter(mcp_settings.NAMING_CLASS().choose_names(unnamed, own_names))
        named = {choice.options.name or next(names): choice for choice in choices}
        related = RelatedTools(named)
        tools = {
            name: choice.tool_class(name, choice.endpoint, choice.options, related)
            for name, choice in named.items()
        }
        for get_tools in features.hooks["get_tools"]:
            for tool in [*get_tools(MappingProxyType(tools))]:
                if tool.name in tools:
                    place = tools[tool.name].endpoint.place
                    raise ImproperlyConfigured(
                        f"A tool of {type(get_tools.__self__).__name__} and {place} share the name "
                        f"{tool.name!r}."
                    )
                tools[tool.name] = tool
        for name, tool in tools.items():
            if not NAME.match(name) or len(name) > MAX_NAME_LENGTH:
                raise ImproperlyConfigured(
                    f"The tool name {name!r} of {tool.endpoint.place} is not portable: use "
                    "lower-case letters, digits and underscores, at most "
                    f"{MAX_NAME_LENGTH}, a letter first."
                )
        return tools

    def _refuse_wrong_options(self, choices: Sequence[ToolChoice]) -> None:
        # Two names in options may be equal; other names are chosen so that they differ.
        places: dict[str, list[str]] = {}
        for choice in choices:
            if choice.options.name:
                place = f"{choice.endpoint.place} ({choice.endpoint.route.path})"
                places.setdefault(choice.options.name, []).append(place)
        for name, at in places.items():
            if len(at) > 1:
                raise ImproperlyConfigured(f"Tools at {' and '.join(at)} share the name {name!r}.")
        for choice in choices:
            check_options(choice.options.features)
            endpoint, route = choice.endpoint, choice.endpoint.route
            # In the options of a whole view, ``many`` is about its GET.
            is_own = hasattr(endpoint.handler, "mcp_tool") or "get" not in route.methods
            is_about = choice.options.many and (is_own or endpoint.method == "GET")
            if is_about and endpoint.many is None:
                raise ImproperlyConfigured(
                    f"many=True of {endpoint.place}: only a GET whose path identifies one object "
                    f"can read several, and this is {endpoint.method} {route.path}."
                )

    def _settings_changed(self, *, setting: str, **kwargs: Any) -> None:
        if setting in RELOADING_SETTINGS:
            self.reload()


def _relate(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """Return tools whose descriptions name these alone."""
    related = RelatedTools(tools)
    return {name: replace(tool, related=related, origin=tool) for name, tool in tools.items()}


registry = Registry()
