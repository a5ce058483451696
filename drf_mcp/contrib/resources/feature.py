from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.features import Feature
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import Either, Flag, Kind, Text

# ISO 8601, as far as it names a moment.
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?")


class Annotations(Kind):
    words = (
        "a dict with any of audience (['user', 'assistant'] or one of them), priority (0 to 1) and "
        "lastModified ('2026-07-28T12:00:00Z')"
    )

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        known = {"audience": [], "priority": 0, "lastModified": "2026-07-28"}
        given = {**known, **value}
        roles, priority, time = (given[name] for name in known)
        return (
            value.keys() <= known.keys()
            and (isinstance(roles, list) and {*roles} <= {"user", "assistant"})
            and (type(priority) in (int, float) and 0 <= priority <= 1)
            and (isinstance(time, str) and bool(TIME.fullmatch(time)))
        )


class ResourceDetails(Kind):
    words = "a dict with any of title, description, mimeType and annotations"
    members: Mapping[str, Kind] = {
        "title": Text(lazy=True),
        "description": Text(lazy=True),
        "mimeType": Text(),
        "annotations": Annotations(),
    }

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or value.keys() - self.members.keys():
            return False
        return not any(self.members[name].fault(member) for name, member in value.items())


class ResourcesFeature(Feature):
    tool_options = {
        # True for what the tool reads as a resource, False for none. By default tools that retrieve
        # one object are. A dict of title, description, mimeType and annotations says more than
        # True.
        "resource": Setting(None, Either(Flag(), ResourceDetails(), none=True)),
    }
    capability_classes = ("drf_mcp.contrib.resources.capability.ResourcesCapability",)
