from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def of_apps(name: str) -> list[Any]:
    """Return what the apps' modules of wrong values list by a name."""
    paths = sorted(Path(__file__).parent.glob("*/wrong_values.py"))
    modules = [import_module(f"{__name__}.{path.parent.name}.wrong_values") for path in paths]
    return [each for module in modules for each in getattr(module, name, ())]
