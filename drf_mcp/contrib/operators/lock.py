"""The surface of a project's tools: what agents rely on, kept in a lock file and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.contrib.operators.costs import ToolCost
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.tools import Tool, registry

LOCK_FILE = "mcp-tools.lock.json"
FORMAT = 1
ANY = "any"
# The file has the English words.
CHOSEN_BY_VIEW = gettext_noop("chosen by the view")
# A definition that grew by more than this share is reported.
GROWTH = 0.25

Entry = dict[str, Any]


class LockFileError(Exception):
    """A lock file is missing or cannot be read."""


@dataclass(frozen=True)
class Change:
    tool: str
    message: str
    # An agent that worked may stop working, or somebody else may call.
    breaking: bool

    def __str__(self) -> str:
        return f"{self.tool}: {self.message}"


class ToolSurface:
    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def get_entry(self) -> Entry:
        return {
            "request": f"{self.tool.endpoint.method} {self.tool.endpoint.route.path}",
            "permissions": self.get_permissions(),
            "arguments": SchemaMembers(self.tool.input_schema).by_path,
            "answers": SchemaMembers(self.tool.schema.output).by_path,
            "size": ToolCost(self.tool).bytes,
        }

    def get_permissions(self) -> list[str]:
        classes = find_view_classes(self.tool.endpoint.route.callback, "permission_classes")
        if classes is None:
            return [CHOSEN_BY_VIEW]
        return [self.name_permission(permission_class) for permission_class in classes]

    def name_permission(self, permission: Any) -> str:
        if hasattr(permission, "op1_class"):
            operands = [permission.op1_class, getattr(permission, "op2_class", None)]
            names = ", ".join(self.name_permission(op) for op in operands if op is not None)
            return f"{permission.operator_class.__name__}({names})"
        return f"{permission.__module__}.{permission.__qualname__}"


class SchemaMembers:
    """The members of a JSON Schema by their paths, such as ``lines[].quantity``."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.by_path: Entry = {}
        self.add_members(schema, "")
        # The rows of a list without pages.
        self.add_nested({"items": schema.get("items")}, "")

    def add_members(self, schema: Mapping[str, Any], path: str) -> None:
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            member_path = f"{path}.{name}" if path else name
            self.by_path[member_path] = self.get_member(member, name in required)
            self.add_nested(member, member_path)

    def add_nested(self, schema: Any, path: str) -> None:
        if not isinstance(schema, Mapping):
            return
        if isinstance(schema.get("items"), Mapping):
            items_path = f"{path}[]"
            self.add_members(schema["items"], items_path)
        if path:
            self.add_members(schema, path)

    def get_member(self, schema: Any, required: bool) -> Entry:
        schema = schema if isinstance(schema, Mapping) else {}
        kind = schema.get("type", ANY)
        entry: Entry = {"type": " | ".join(kind) if isinstance(kind, list) else kind}
        if required:
            entry["required"] = True
        for place in (schema, schema.get("items") or {}):
            # Of many choices the schema has words, which tell of no change.
            choices = (value for value, _ in FieldSchema.of(place).meaning.choices)
            if enum := list(place.get("enum", choices)):
                entry["enum"] = enum
        return entry


class SurfaceLock:
    def __init__(
        self, path: str | Path = LOCK_FILE, tools: Mapping[str, Tool] | None = None
    ) -> None:
        self.path = Path(path)
        self.tools = registry.tools() if tools is None else tools

    def get_surface(self) -> dict[str, Entry]:
        return {name: ToolSurface(tool).get_entry() for name, tool in sorted(self.tools.items())}

    def write(self) -> int:
        surface = self.get_surface()
        document = {"format": FORMAT, "tools": surface}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        self.path.write_text(f"{text}\n", encoding="utf-8")
        return len(surface)

    def read(self) -> dict[str, Entry]:
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            known = document["format"] == FORMAT and isinstance(document["tools"], dict)
        except FileNotFoundError:
            message = _("There is no %(path)s. Write the file with mcp_tools --lock.")
            raise LockFileError(message % {"path": self.path}) from None
        except (OSError, ValueError, KeyError, TypeError) as exc:
            message = _("%(path)s cannot be read: %(error)r") % {"path": self.path, "error": exc}
            raise LockFileError(message) from exc
        if not known:
            message = _("%(path)s has another format. Write the file again with mcp_tools --lock.")
            raise LockFileError(message % {"path": self.path})
        surface: dict[str, Entry] = document["tools"]
        return surface

    def get_changes(self) -> list[Change]:
        # Breaking changes first.
        return compare_surfaces(self.read(), self.get_surface())


def compare_surfaces(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[Change]:
    changes = [Change(name, _("removed"), True) for name in old if name not in new]
    for name in old:
        if name in new:
            comparison = EntryComparison(old[name], new[name])
            changes += [Change(name, *difference) for difference in comparison.get_differences()]
    changes += [Change(name, _("added"), False) for name in new if name not in old]
    return sorted(changes, key=lambda change: not change.breaking)


# What changed, and whether that breaks.
Difference = tuple[str, bool]


class EntryComparison:
    def __init__(self, old: Entry, new: Entry) -> None:
        self.old = old
        self.new = new

    def get_differences(self) -> Iterator[Difference]:
        old, new = self.old, self.new
        both = {"old": old, "new": new}
        if old["permissions"] != new["permissions"]:
            facts = {name: self.list_names(entry["permissions"]) for name, entry in both.items()}
            yield _("permissions %(old)s became %(new)s") % facts, True
        yield from self.compare_arguments()
        yield from self.compare_answers()
        if old["request"] != new["request"]:
            facts = {name: entry["request"] for name, entry in both.items()}
            yield _("request %(old)s became %(new)s") % facts, False
        if new["size"] > old["size"] * (1 + GROWTH):
            facts = {name: entry["size"] for name, entry in both.items()}
            yield _("grew from %(old)d to %(new)d bytes") % facts, False

    def list_names(self, dotted: Sequence[str]) -> str:
        names = (_(n) if n == CHOSEN_BY_VIEW else n.rpartition(".")[2] for n in dotted)
        return ", ".join(names) or pgettext("permissions", "none")

    def compare_arguments(self) -> Iterator[Difference]:
        old, new = self.old["arguments"], self.new["arguments"]
        for name in old:
            if name not in new:
                yield _("argument %(name)s removed") % {"name": name}, True
            else:
                yield from self.compare_argument(name, old[name], new[name])
        for name in new:
            if name not in old:
                # A required member of an object that is new and optional breaks no call.
                parent = name.rpartition(".")[0].removesuffix("[]")
                required = new[name].get("required", False) and parent in {"", *old}
                added = _("argument %(name)s added")
                if required:
                    added = _("required argument %(name)s added")
                yield added % {"name": name}, required

    def compare_argument(self, name: str, old: Entry, new: Entry) -> Iterator[Difference]:
        if old["type"] != new["type"]:
            fewer = not self.accepts(new["type"], old["type"])
            facts = {"name": name, "old": old["type"], "new": new["type"]}
            yield _("argument %(name)s changed from %(old)s to %(new)s") % facts, fewer
        yield from self.compare_choices(name, old.get("enum"), new.get("enum"))
        required = new.get("required", False)
        if required != old.get("required", False):
            became = _("argument %(name)s became optional")
            if required:
                became = _("argument %(name)s became required")
            yield became % {"name": name}, required

    def compare_choices(
        self, name: str, old: list[Any] | None, new: list[Any] | None
    ) -> Iterator[Difference]:
        if new is None:
            return
        if old is None:
            facts = {"name": name, "values": self.list_values(new)}
            yield _("argument %(name)s takes only %(values)s now") % facts, True
            return
        if removed := [value for value in old if value not in new]:
            facts = {"name": name, "values": self.list_values(removed)}
            yield _("argument %(name)s no longer takes %(values)s") % facts, True
        if added := [value for value in new if value not in old]:
            facts = {"name": name, "values": self.list_values(added)}
            yield _("argument %(name)s takes %(values)s as well") % facts, False

    def list_values(self, values: Sequence[Any]) -> str:
        return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)

    def compare_answers(self) -> Iterator[Difference]:
        old, new = self.old["answers"], self.new["answers"]
        for name in old:
            if name not in new:
                yield _("field %(name)s of the answer removed") % {"name": name}, True
            elif old[name]["type"] != new[name]["type"]:
                was, is_now = old[name]["type"], new[name]["type"]
                facts = {"name": name, "old": was, "new": is_now}
                changed = _("field %(name)s of the answer changed from %(old)s to %(new)s") % facts
                yield changed, not self.accepts(was, is_now)
        for name in new:
            if name not in old:
                yield _("field %(name)s of the answer added") % {"name": name}, False

    def accepts(self, new: str, old: str) -> bool:
        allowed, required = set(new.split(" | ")), set(old.split(" | "))
        if "number" in allowed:
            allowed.add("integer")
        return ANY in allowed or required <= allowed
