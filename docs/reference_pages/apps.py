"""The file that says which app brings a setting, an option of tools or a report."""

from __future__ import annotations

import json
import pkgutil

from django.apps import AppConfig
from django.utils.module_loading import import_string

from drf_mcp import contrib
from drf_mcp.features import Feature


def known_names() -> str:
    """Return the text of ``drf_mcp/contrib/settings.json``."""
    kinds = ("settings", "tool_options", "tool_reports", "view_attributes")
    found: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for app in pkgutil.iter_modules(contrib.__path__):
        name = f"{contrib.__name__}.{app.name}"
        for feature in find_features(name):
            for kind, names in found.items():
                names.update(dict.fromkeys(getattr(feature, kind), name))
    return json.dumps(found, indent=2, sort_keys=True) + "\n"


def find_features(app: str) -> list[type[Feature]]:
    """Return the features of an app of this package, installed or not."""
    paths = getattr(AppConfig.create(app), "mcp_features", ())
    return [import_string(path) for path in paths]
