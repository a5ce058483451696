"""The features of the installed apps, with the settings and options that they bring."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

# Which app of this package brings a setting or an option: python -m docs.reference_pages --write.
KNOWN = Path(__file__).parents[1] / "contrib" / "settings.json"


class Setting(NamedTuple):
    """A key of ``DRF_MCP``, or an option of tools.

    Attributes:
        default: its value where the project gives none.
        kind: a `drf_mcp.option_types.kinds.Kind`, which says what values it takes.
    """

    default: Any
    kind: Any


class Hooks(dict[str, Sequence[Any]]):
    """The features that override a method of `Feature`, by the name of the method."""

    def __init__(self, features: Sequence[Any]) -> None:
        super().__init__()
        self.features = features

    def __missing__(self, name: str) -> Sequence[Any]:
        found = self[name] = [each for each in self.features if each.overrides(name)]
        return found


class Features:
    """The features of the installed apps; none before Django has loaded the apps.

    Attributes:
        hooks: the features that have a hook, by its name.
    """

    hooks: Hooks

    @property
    def installed(self) -> Sequence[Any]:
        """The features, in the order of INSTALLED_APPS."""
        return self._installed if apps.apps_ready else ()

    @property
    def settings(self) -> Mapping[str, Setting]:
        return self._settings if apps.apps_ready else {}

    @property
    def tool_options(self) -> Mapping[str, Setting]:
        return self._tool_options if apps.apps_ready else {}

    @property
    def view_attributes(self) -> Mapping[str, Setting]:
        return self._view_attributes if apps.apps_ready else {}

    @functools.cached_property
    def capability_classes(self) -> Sequence[type]:
        paths = (path for feature in self._installed for path in feature.capability_classes)
        return [import_string(path) for path in paths]

    @functools.cached_property
    def tool_reports(self) -> Mapping[str, str]:
        return {option: path for f in self._installed for option, path in f.tool_reports.items()}

    def __getattr__(self, name: str) -> Any:
        # An attribute from then on: each call reads it several times.
        if name != "hooks":
            raise AttributeError(name)
        hooks = Hooks(self.installed)
        if apps.apps_ready:
            vars(self)["hooks"] = hooks
        return hooks

    @functools.cached_property
    def _installed(self) -> Sequence[Any]:
        configs = apps.get_app_configs()
        paths = (path for config in configs for path in getattr(config, "mcp_features", ()))
        return [import_string(path)() for path in paths]

    @functools.cached_property
    def _settings(self) -> Mapping[str, Setting]:
        return join(feature.settings for feature in self._installed)

    @functools.cached_property
    def _tool_options(self) -> Mapping[str, Setting]:
        return join(feature.tool_options for feature in self._installed)

    @functools.cached_property
    def _view_attributes(self) -> Mapping[str, Setting]:
        return join(feature.view_attributes for feature in self._installed)

    def forget(self, *, setting: str = "INSTALLED_APPS", **kwargs: Any) -> None:
        """Find the features anew, as when the apps of a test are others."""
        if setting == "INSTALLED_APPS":
            vars(self).clear()


def join(groups: Iterable[Mapping[str, Setting]]) -> Mapping[str, Setting]:
    return {name: setting for group in groups for name, setting in group.items()}


def find_apps(kind: str) -> Mapping[str, str]:
    """Return the app of this package that brings each setting, option or report, by its name.

    Args:
        kind: ``"settings"``, ``"tool_options"``, ``"tool_reports"`` or ``"view_attributes"``.
    """
    known: Mapping[str, Mapping[str, str]] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return known.get(kind, {})


def find_app(kind: str, name: str) -> str:
    """Return the app that brings a setting, option or report, "" for none: see `find_apps`."""
    return find_apps(kind).get(name, "")


features = Features()
setting_changed.connect(features.forget)
