from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def collect_wrong_values(name: str) -> list[Any]:
    """Return the values of one name from the module ``wrong_values`` of each app."""
    paths = sorted(Path(__file__).parent.glob("*/wrong_values.py"))
    modules = [import_module(f"{__name__}.{path.parent.name}.wrong_values") for path in paths]
    return [each for module in modules for each in getattr(module, name, ())]
