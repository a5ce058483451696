"""The features of the installed apps, and the settings and options that these declare."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

# The app of each setting and option, written by `python -m docs.reference_pages --write`.
KNOWN = Path(__file__).parents[1] / "contrib" / "settings.json"


DECLARED = frozenset({"settings", "tool_options", "view_attributes"})


class Setting(NamedTuple):
    """A key of ``DRF_MCP``, or an option of tools.

    Attributes:
        default: its value if the project sets none.
        kind: the `drf_mcp.option_types.kinds.Kind` of its values.
        chooses_tools: whether it decides what is a tool. An endpoint cannot set such an option.
    """

    default: Any
    kind: Any
    chooses_tools: bool = False


class Hooks(dict[str, Sequence[Any]]):
    """The methods that features and their tool sources override, by name."""

    def __init__(self, objects: Sequence[Any]) -> None:
        super().__init__()
        self.objects = objects

    def __missing__(self, name: str) -> Sequence[Any]:
        # The last base before `object` has the hook that does nothing.
        bases = ((each, type(each).__mro__[-2]) for each in self.objects)
        found = self[name] = [
            getattr(each, name)
            for each, base in bases
            if getattr(type(each), name, None) is not getattr(base, name, None)
        ]
        return found


class Features:
    """The features of the installed apps; none before Django has loaded the apps.

    Attributes:
        installed: the features, in the order of INSTALLED_APPS.
        hooks: the methods of features and their tool sources, by the name of the hook.
        reviews: what features say of tools in reports: see `Feature.tool_review`.
        settings, tool_options, view_attributes: what they declare, by name.
    """

    installed: Sequence[Any]
    hooks: Hooks
    settings: Mapping[str, Setting]
    tool_options: Mapping[str, Setting]
    view_attributes: Mapping[str, Setting]

    def __getattr__(self, name: str) -> Any:
        found: Any
        if name == "installed":
            configs = apps.get_app_configs() if apps.apps_ready else ()
            paths = (path for config in configs for path in getattr(config, "mcp_features", ()))
            found = [import_string(path)() for path in paths]
        elif name == "hooks":
            found = Hooks([*self.installed, *self._make("tool_source")])
        elif name in DECLARED:
            declared = (getattr(feature, name).items() for feature in self.installed)
            found = {key: setting for group in declared for key, setting in group}
        else:
            raise AttributeError(name)
        if apps.apps_ready:
            # Kept as an attribute: each call reads some of them several times.
            vars(self)[name] = found
        return found

    def _make(self, member: str) -> Sequence[Any]:
        paths = (getattr(feature, member) for feature in self.installed)
        return [import_string(path)() for path in paths if path]

    @functools.cached_property
    def reviews(self) -> Hooks:
        return Hooks(self._make("tool_review"))

    @functools.cached_property
    def capability_classes(self) -> Sequence[type]:
        paths = (path for feature in self.installed for path in feature.capability_classes)
        return [import_string(path) for path in paths]

    @functools.cached_property
    def tool_reports(self) -> Mapping[str, str]:
        return {option: path for f in self.installed for option, path in f.tool_reports.items()}

    def forget(self, *, setting: str = "INSTALLED_APPS", **kwargs: Any) -> None:
        """Find the features anew, such as for a test with other INSTALLED_APPS."""
        if setting == "INSTALLED_APPS":
            vars(self).clear()


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
