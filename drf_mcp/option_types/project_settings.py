"""The project's ``DRF_MCP`` as attributes, each read once and checked."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.spelling import find_nearest

# Packages of settings and URLs whose names say nothing of the project.
LAYOUT = frozenset({"config", "conf", "core", "project", "settings", "src", "app", "urls", ""})
FALLBACK_NAME = "drf-mcp-server"


class ProjectSettings:
    """The project's ``DRF_MCP`` dict over defaults, as attributes; a wrong value raises.

    Attributes:
        computed: what gives the value where it would be None, by name.
        moved: settings of earlier releases, with the sentence that names the present one.
    """

    computed: ClassVar[Mapping[str, Callable[[], Any]]] = {}
    moved: ClassVar[Mapping[str, str]] = {}

    @property
    def table(self) -> Mapping[str, Setting]:
        """The settings by name."""
        raise NotImplementedError

    def __init__(self) -> None:
        self._cached: set[str] = set()
        self._project: Mapping[str, Any] | None = None
        setting_changed.connect(self._reload_changed)

    @property
    def project(self) -> Mapping[str, Any]:
        if self._project is None:
            project = getattr(settings, "DRF_MCP", {})
            for fault in self.find_faults(project):
                raise ImproperlyConfigured(fault)
            self._project = project
        return self._project

    def __getattr__(self, name: str) -> Any:
        if name not in self.table:
            raise AttributeError(self.refuse_name(name))
        default, kind = self.table[name]
        value = kind.read(self.project.get(name, default), f"DRF_MCP[{name!r}]")
        if value is None and name in self.computed:
            value = self.computed[name]()
        self._cached.add(name)
        # The next read finds a plain attribute.
        setattr(self, name, value)
        return value

    def reload(self) -> None:
        for name in self._cached:
            delattr(self, name)
        self._cached.clear()
        self._project = None

    def _reload_changed(self, *, setting: str, **kwargs: Any) -> None:
        if setting in ("DRF_MCP", "ROOT_URLCONF", "BASE_DIR", "INSTALLED_APPS"):
            self.reload()

    def find_faults(self, project: Any) -> Iterator[str]:
        # Values aside: each is checked when it is read.
        if not isinstance(project, Mapping):
            yield f"DRF_MCP must be a dict, not {reprlib.repr(project)}."
            return
        for key in project:
            if key not in self.table:
                yield self.refuse_name(key)

    def refuse_name(self, name: Any) -> str:
        if name in self.moved:
            return f"DRF_MCP has no setting {name!r} any more: {self.moved[name]}"
        nearest = find_nearest(str(name), self.table)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        return f"DRF_MCP has no setting {name!r}.{hint}"


def find_project_name() -> str:
    """Return the name of the project's package, or of its folder, as clients take names."""
    urlconf = getattr(settings, "ROOT_URLCONF", None)
    package = urlconf.partition(".")[0] if isinstance(urlconf, str) else ""
    folder = str(getattr(settings, "BASE_DIR", "") or "")
    names = [] if package in LAYOUT else [package]
    for name in (*names, Path(folder).name, package):
        if portable := re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-"):
            return portable
    return FALLBACK_NAME
