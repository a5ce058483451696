"""The lock file: what agents rely on in the tools of a project, kept and compared."""

from __future__ import annotations

import dataclasses
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy, pgettext

from drf_mcp.contrib.operators.tool_costs import ToolCost
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.management.tool_list import name_permissions
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.tools import Tool, registry

ANY = "any"
# A definition that grew by more than this share is reported.
GROWTH = 0.25

Entry = dict[str, Any]


@dataclass(frozen=True)
class Change:
    tool: str
    message: str
    # Whether an agent that worked may stop working, or other callers may call.
    breaking: bool

    def __str__(self) -> str:
        return f"{self.tool}: {self.message}"


def compare_tools(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[Change]:
    changes = [Change(name, _("removed"), True) for name in old if name not in new]
    for name in old:
        if name in new:
            comparison = EntryComparison(old[name], new[name])
            changes += [Change(name, *difference) for difference in comparison.find_differences()]
    changes += [Change(name, _("added"), False) for name in new if name not in old]
    return sorted(changes, key=lambda change: not change.breaking)


# What changed, and whether that breaks.
Difference = tuple[str, bool]


class EntryComparison:
    def __init__(self, old: Entry, new: Entry) -> None:
        self.old = old
        self.new = new

    def find_differences(self) -> Iterator[Difference]:
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
        # A name without a dot is the sentence of a view that chooses its permissions.
        names = (n.rpartition(".")[2] if "." in n else _(n) for n in dotted)
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


LOCK_FILE = "mcp-tools.lock.json"
FORMAT = 1
# The exit code for a breaking change.
BREAKING = 1
BREAKING_CHANGES = ngettext_lazy("%(count)d breaking change", "%(count)d breaking changes", "count")
NOTES = ngettext_lazy("%(count)d note", "%(count)d notes", "count")


class LockFileError(Exception):
    """A lock file is missing or cannot be read."""


def write_entry(tool: Tool) -> Entry:
    """Return what a lock file holds of a tool."""
    return {
        "request": f"{tool.endpoint.method} {tool.endpoint.route.path}",
        "permissions": name_permissions(tool),
        "arguments": SchemaMembers(tool.input_schema).by_path,
        "answers": SchemaMembers(tool.schema.output).by_path,
        "size": ToolCost(tool).bytes,
    }


class SchemaMembers:
    """The members of a JSON Schema by their paths, such as ``lines[].quantity``."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.by_path: Entry = {}
        self._add_members(schema, "")
        # The rows of a list without pages.
        self._add_nested({"items": schema.get("items")}, "")

    def _add_members(self, schema: Mapping[str, Any], path: str) -> None:
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            member_path = f"{path}.{name}" if path else name
            self.by_path[member_path] = self._write_member(member, name in required)
            self._add_nested(member, member_path)

    def _add_nested(self, schema: Any, path: str) -> None:
        if not isinstance(schema, Mapping):
            return
        if isinstance(schema.get("items"), Mapping):
            items_path = f"{path}[]"
            self._add_members(schema["items"], items_path)
        if path:
            self._add_members(schema, path)

    def _write_member(self, schema: Any, required: bool) -> Entry:
        schema = schema if isinstance(schema, Mapping) else {}
        kind = schema.get("type", ANY)
        entry: Entry = {"type": " | ".join(kind) if isinstance(kind, list) else kind}
        if required:
            entry["required"] = True
        for place in (schema, schema.get("items") or {}):
            # A schema describes many choices in words, which show no change.
            choices = (value for value, _ in FieldSchema.of(place).meaning.choices)
            if enum := list(place.get("enum", choices)):
                entry["enum"] = enum
        return entry


class LockFile:
    def __init__(
        self, path: str | Path = LOCK_FILE, tools: Mapping[str, Tool] | None = None
    ) -> None:
        self.path = Path(path)
        self.tools = registry.tools() if tools is None else tools

    def make_entries(self) -> dict[str, Entry]:
        return {name: write_entry(tool) for name, tool in sorted(self.tools.items())}

    def write(self) -> int:
        entries = self.make_entries()
        document = {"format": FORMAT, "tools": entries}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        self.path.write_text(f"{text}\n", encoding="utf-8")
        return len(entries)

    def read(self) -> dict[str, Entry]:
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            known = document["format"] == FORMAT and isinstance(document["tools"], dict)
        except FileNotFoundError:
            message = _("There is no %(path)s. Write the file with mcp_tools lock.")
            raise LockFileError(message % {"path": self.path}) from None
        except (OSError, ValueError, KeyError, TypeError) as exc:
            message = _("%(path)s cannot be read: %(error)r") % {"path": self.path, "error": exc}
            raise LockFileError(message) from exc
        if not known:
            message = _("%(path)s has another format. Write the file again with mcp_tools lock.")
            raise LockFileError(message % {"path": self.path})
        entries: dict[str, Entry] = document["tools"]
        return entries

    def find_changes(self) -> list[Change]:
        # Breaking changes first.
        return compare_tools(self.read(), self.make_entries())


class LockReport(ToolReport):
    help = f"write the tools' names, arguments and answers to a file ({LOCK_FILE})"
    is_about_tools = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", default=LOCK_FILE, help="the path of the file")

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        path = self._find_path(options["file"], command.endpoint)
        count = LockFile(path, command.endpoint.tools).write()
        locked = {"file": path, "tools": count}
        text = ngettext("%(file)s holds %(tools)d tool.", "%(file)s holds %(tools)d tools.", count)
        return [command.format_json(locked) if options["json"] else text % locked]

    def _find_path(self, path: str, endpoint: Any) -> str:
        # Each endpoint has a file of its own: mcp-tools.mcp-readonly.lock.json.
        if path != LOCK_FILE or endpoint.found is None:
            return path
        start, ending = LOCK_FILE.split(".", 1)
        return f"{start}.{endpoint.path.strip('/').replace('/', '-')}.{ending}"


class CheckReport(LockReport):
    help = "compare the tools with that file; a breaking change exits with 1"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        path = self._find_path(options["file"], command.endpoint)
        try:
            changes = LockFile(path, command.endpoint.tools).find_changes()
        except LockFileError as exc:
            raise UsageError(str(exc)) from exc
        found = [dataclasses.asdict(change) for change in changes]
        lines = self.list_changes(changes, screen)
        if not any(change.breaking for change in changes):
            return [command.format_json(found)] if options["json"] else lines
        command.write_data(found, lines, options)
        sys.exit(BREAKING)

    def list_changes(self, changes: Sequence[Change], screen: Screen) -> Iterator[str]:
        if not changes:
            yield _("The tools are the same as in the lock file.")
            return
        breaking, note = _("BREAKING"), _("note")
        width = max(len(breaking), len(note)) + 2
        for change in changes:
            line = f"{breaking if change.breaking else note:<{width}}{change}"
            yield screen.style.ERROR(line) if change.breaking else line
        count = sum(change.breaking for change in changes)
        yield ""
        notes = NOTES % {"count": len(changes) - count}
        yield f"{BREAKING_CHANGES % {'count': count}}, {notes}."
