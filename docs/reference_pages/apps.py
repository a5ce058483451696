"""The file that says which app brings a setting, an option of tools or a report."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator

from django.apps import AppConfig
from django.utils.module_loading import import_string

from drf_mcp import contrib
from drf_mcp.features import Feature


def known_names() -> str:
    """Return the text of ``drf_mcp/contrib/settings.json``."""
    kinds = ("settings", "tool_options", "tool_reports", "view_attributes")
    found: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for app, feature in features_of_apps():
        for kind, names in found.items():
            names.update(dict.fromkeys(getattr(feature, kind), f"{contrib.__name__}.{app}"))
    return json.dumps(found, indent=2, sort_keys=True) + "\n"


def features_of_apps() -> Iterator[tuple[str, type[Feature]]]:
    """Yield each app of this package, installed or not, with each of its features."""
    for app in pkgutil.iter_modules(contrib.__path__):
        config = AppConfig.create(f"{contrib.__name__}.{app.name}")
        for path in getattr(config, "mcp_features", ()):
            yield app.name, import_string(path)
