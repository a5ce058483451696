"""System checks: what is misconfigured, and what mends it.

Their modules are imported when Django first runs the checks, not when a server starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from django.apps import apps as installed
from django.core.checks import CheckMessage, register

MODULES = ("endpoints", "settings", "tools")


def register_checks() -> None:
    """Register what runs the checks of the installed apps.

    An app names the module of its checks: ``mcp_checks = "shop.mcp_checks"`` in its AppConfig.
    """
    register(run, "drf_mcp")
    register(run_for_deployment, "drf_mcp", deploy=True)


def run(app_configs: Any, *, deploy: bool = False, **kwargs: Any) -> Sequence[CheckMessage]:
    from drf_mcp.checks.project import CHECKS

    own = [f"drf_mcp.checks.{module}" for module in MODULES]
    of_apps = (getattr(config, "mcp_checks", "") for config in installed.get_app_configs())
    modules = [*own, *filter(None, of_apps)]
    for module in modules:
        import_module(module)
    checks = (check for module in modules for check in CHECKS[deploy].get(module, ()))
    return [message for check in checks for message in check()]


# Django registers an object once, however often the apps are loaded.
run_for_deployment = partial(run, deploy=True)
