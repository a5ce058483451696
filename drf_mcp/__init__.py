"""Expose Django REST framework endpoints as Model Context Protocol tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = [
    "Toolbox",
    "__version__",
    "call_context",
    "mcp_tool",
    "mcp_viewset",
    "preload",
    "registry",
]


def import_on_use(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that imports its modules on first use.

    INSTALLED_APPS imports the package before models can be imported.

    Args:
        modules: the module of each name.
    """

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(f"{package}.{modules[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get


# `__init__.pyi` has the types of these names.
__getattr__ = import_on_use(
    __name__,
    {
        "Toolbox": "transports.toolbox",
        "call_context": "interaction.call_context",
        "mcp_tool": "routes.options",
        "mcp_viewset": "routes.options",
        "preload": "transports.in_process",
        "registry": "routes.registry",
    },
)
