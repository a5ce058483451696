"""System checks: what is misconfigured, and what mends it.

Their modules are imported when Django first runs the checks, not when a server starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import apps as installed
from django.core.checks import CheckMessage, register

MODULES = ("archives", "endpoints", "middleware", "settings", "tools")


def register_checks() -> None:
    """Register what runs the checks of the installed apps.

    An app names the module of its checks: ``mcp_checks = "shop.mcp_checks"`` in its AppConfig.
    """
    register(run, "drf_mcp")
    register(run_for_deployment, "drf_mcp", deploy=True)


def run(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    return run_all(deploy=False)


def run_for_deployment(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    return run_all(deploy=True)


def run_all(*, deploy: bool) -> Sequence[CheckMessage]:
    from drf_mcp.checks.project import CHECKS

    own = [f"drf_mcp.checks.{module}" for module in MODULES]
    of_apps = (getattr(config, "mcp_checks", "") for config in installed.get_app_configs())
    modules = [*own, *filter(None, of_apps)]
    for module in modules:
        import_module(module)
    checks = (check for module in modules for check in CHECKS[deploy].get(module, ()))
    return [message for check in checks for message in check()]
