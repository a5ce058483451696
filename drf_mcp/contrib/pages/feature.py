from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.features import Feature
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import Either, Flag, JSONObject, Kind, MappingOf, Text, Words


class PageDetails(Kind):
    words = (
        "a dict with template, and if need be csp ({'resourceDomains': ['https://...']}), "
        "permissions, domain and prefersBorder"
    )
    members: Mapping[str, Kind] = {
        "template": Text(),
        "csp": MappingOf(Words(), "a dict of lists of origins"),
        "permissions": JSONObject(),
        "domain": Text(),
        "prefersBorder": Flag(),
    }

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or "template" not in value:
            return False
        known = self.members
        return value.keys() <= known.keys() and not any(known[k].fault(v) for k, v in value.items())


class PagesFeature(Feature):
    tool_options = {
        # The page that hosts show with results: "table", "form" or the name of a Django template;
        # or a dict of template and of csp, permissions, domain and prefersBorder as SEP-1865 has
        # them.
        "ui": Setting(None, Either(Text(), PageDetails(), none=True)),
    }
    capability_classes = ("drf_mcp.contrib.pages.capability.UICapability",)

    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        if not tool.options.ui:
            return {}
        return {"_meta": {"ui": {"resourceUri": f"ui://tools/{tool.name}"}}}
