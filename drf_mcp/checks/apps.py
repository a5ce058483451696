from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.core.checks import CheckMessage, Error, Warning

from drf_mcp.checks.project import Project, register_check

CONTRIB = "drf_mcp.contrib."


@register_check()
def check_required_apps(project: Project) -> Iterator[CheckMessage]:
    for config in apps.get_app_configs():
        for name in getattr(config, "mcp_requires", ()):
            if not apps.is_installed(name):
                yield Error(
                    f"{config.name} needs {name}, which is not installed.",
                    hint=f"Add {name!r} to INSTALLED_APPS.",
                    id="drf_mcp.E018",
                )


@register_check()
def check_added_items(project: Project) -> Iterator[CheckMessage]:
    kinds = {type(item) for item in project.registry.find_added(object)}
    modules = {base.__module__ for kind in kinds for base in kind.__mro__}
    needed = {".".join(name.split(".")[:3]) for name in modules if name.startswith(CONTRIB)}
    for name in sorted(needed):
        if not apps.is_installed(name):
            yield Warning(
                f"What was added to the registry of {name} is served to no client.",
                hint=f"Add {name!r} to INSTALLED_APPS.",
                id="drf_mcp.W029",
            )
