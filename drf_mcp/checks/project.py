from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.urls import get_resolver
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import AllowAny

from drf_mcp.access.authentication import resolve_authentication_classes
from drf_mcp.access.resources import find_endpoint_patterns
from drf_mcp.exceptions import catch
from drf_mcp.option_types.installed import features
from drf_mcp.routes.endpoint import Endpoint, find_endpoints
from drf_mcp.routes.registry import Registry, registry
from drf_mcp.routes.route import Route
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings


@dataclass(frozen=True)
class MountedEndpoint:
    """An MCP endpoint of the URLconf, with the view as it is made for each request."""

    path: str
    view: Any

    @property
    def is_open(self) -> bool:
        classes = self.view.choose("permission_classes")
        return all(permission is AllowAny for permission in classes)

    @property
    def authentication_classes(self) -> Sequence[Any]:
        return resolve_authentication_classes(self.view.authentication_classes)

    @property
    def takes_sessions_alone(self) -> bool:
        return takes_sessions_alone(self.authentication_classes)

    @property
    def is_shortened(self) -> bool:
        """Whether ``tools/list`` only has tools that find the others."""
        return any(shortens(self.view) for shortens in features.hooks["shortens_list"])


def takes_sessions_alone(classes: Iterable[Any]) -> bool:
    # Another class may read a header, even if its challenge does not say so.
    return all(issubclass(one, SessionAuthentication) for one in classes)


class Project:
    """The project that is checked."""

    registry: Registry = registry

    @cached_property
    def setting_errors(self) -> list[str]:
        values = getattr(settings, "DRF_MCP", {})
        errors = [*mcp_settings.find_wrong_names(values)]
        values = values if isinstance(values, Mapping) else {}
        for name, (default, kind, _chooses) in mcp_settings.table.items():
            place = f"DRF_MCP[{name!r}]"
            # A dotted path imports a module, which may raise anything.
            with catch() as caught:
                kind.read(values.get(name, default), place)
                continue
            exc = caught.exception
            text = f"{place} cannot be read: {type(exc).__name__}: {exc}"
            errors.append(str(exc) if isinstance(exc, ImproperlyConfigured) else text)
        return errors

    @property
    def has_urls(self) -> bool:
        return bool(getattr(settings, "ROOT_URLCONF", None))

    @property
    def tools(self) -> Mapping[str, Tool]:
        try:
            return self.registry.tools()
        except ImproperlyConfigured:  # E002 says why.
            return {}

    @cached_property
    def rest_endpoints(self) -> list[Endpoint]:
        return list(find_endpoints(settings.ROOT_URLCONF))

    @cached_property
    def endpoints(self) -> list[MountedEndpoint]:
        return [
            MountedEndpoint(
                Route(None, chain, entry.callback).path,
                entry.callback.view_class(**entry.callback.view_initkwargs),  # type: ignore[attr-defined]
            )
            for chain, entry in find_endpoint_patterns(get_resolver())
        ]


Check = Callable[[Project], Iterable[CheckMessage]]
# The checks by module; under True the checks that only run with --deploy.
CHECKS: dict[bool, dict[str, list[Check]]] = {False: {}, True: {}}


def register_check(*, deploy: bool = False) -> Callable[[Check], Check]:
    """Register a check, which runs if the settings have no errors.

    Args:
        deploy: whether it runs only with ``--deploy``.
    """

    def decorate(check: Check) -> Check:
        CHECKS[deploy].setdefault(check.__module__, []).append(check)
        return check

    return decorate
