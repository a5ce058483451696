"""System checks of the settings, the endpoints and the tools.

The modules are imported when Django first runs the checks, not when a server starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from django.apps import apps as installed
from django.core.checks import CheckMessage, Error, register
from django.utils import translation


def register_checks() -> None:
    """Register the function that runs the checks of the installed apps.

    An app names the module of its checks: ``mcp_checks = "shop.mcp_checks"`` in its AppConfig.
    """
    register(run, "drf_mcp")
    register(run_for_deployment, "drf_mcp", deploy=True)


def run(app_configs: Any, *, deploy: bool = False, **kwargs: Any) -> Sequence[CheckMessage]:
    from drf_mcp.checks.project import CHECKS, Project

    # As Django's own checks, in English.
    with translation.override(None):
        project = Project()
        if errors := project.setting_errors:
            hint = "Correct DRF_MCP in the settings."
            found = [Error(message, hint=hint, id="drf_mcp.E001") for message in errors]
            return [] if deploy else found
        if not project.has_urls:
            return []
        modules = [f"drf_mcp.checks.{name}" for name in ("endpoints", "middleware", "settings")]
        modules += (getattr(config, "mcp_checks", "") for config in installed.get_app_configs())
        messages: list[CheckMessage] = []
        for module in filter(None, modules):
            import_module(module)
            for check in CHECKS[deploy].get(module, ()):
                messages += check(project)
        return messages


# One object, since Django registers an object once, however often the apps are loaded.
run_for_deployment = partial(run, deploy=True)
