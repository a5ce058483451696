"""What a view class names: its place in the code, as people look for it, and its model."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

PACKAGE = str(Path(__file__).parents[1])
# The folders of what is installed. A project may stand beside or above its environment.
INSTALLED = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})


def is_project_file(path: str) -> bool:
    """Return whether a file of Python is the project's own, and of no installed package."""
    if not path.endswith(".py") or path.startswith((*INSTALLED, f"{PACKAGE}/")):
        return False
    return INSTALLED_FOLDERS.isdisjoint(Path(path).parts)


def write_line(path: str, line: int) -> str:
    """Return a place as people click on it: relative to the working directory, if below it."""
    relative = os.path.relpath(path)
    return f"{path if relative.startswith(os.pardir) else relative}:{line}"


def locate_view(view_class: type) -> str:
    # The class that @api_view makes has the name of its function, but not its qualified name.
    made = view_class.__qualname__ == "WrappedAPIView"
    name = view_class.__name__ if made else view_class.__qualname__
    return f"{view_class.__module__}.{name}"


def find_declared_model(view: Any) -> Any:
    declared = getattr(getattr(view, "queryset", None), "model", None)
    return declared or find_serializer_model(getattr(view, "serializer_class", None))


def find_serializer_model(serializer_class: Any) -> Any:
    return getattr(getattr(serializer_class, "Meta", None), "model", None)
