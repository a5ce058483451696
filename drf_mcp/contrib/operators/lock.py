"""The lock file: what agents rely on in the tools of a project, kept and compared."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import ngettext, ngettext_lazy

from drf_mcp.contrib.operators.tool_costs import ToolCost
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.management.tool_reports import ToolReport, name_permissions
from drf_mcp.tools import Tool, registry

LOCK_FILE = "mcp-tools.lock.json"
FORMAT = 1
ANY = "any"
# A definition that grew by more than this share is reported.
GROWTH = 0.25
# The exit code for a breaking change.
BREAKING = 1
BREAKING_CHANGES = ngettext_lazy("%(count)s breaking change", "%(count)s breaking changes", "count")
NOTES = ngettext_lazy("%(count)s note", "%(count)s notes", "count")

Entry = dict[str, Any]


# --- Comparing -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    tool: str
    message: str
    # Whether an agent that worked may stop working, or other callers may call.
    breaking: bool

    def __str__(self) -> str:
        return f"{self.tool}: {self.message}"


def compare_tools(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[Change]:
    """Return the changes of tools, the breaking ones first."""
    changes = [Change(name, "removed", True) for name in old if name not in new]
    for name in old:
        if name in new:
            changes += [Change(name, *each) for each in compare_entries(old[name], new[name])]
    changes += [Change(name, "added", False) for name in new if name not in old]
    return sorted(changes, key=lambda change: not change.breaking)


def compare_entries(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    """Yield what changed in a tool, and whether that breaks."""
    if old["permissions"] != new["permissions"]:
        # A name without a dot is the sentence of a view that chooses its permissions.
        facts = {
            place: ", ".join(n.rpartition(".")[2] if "." in n else n for n in names) or "none"
            for place, names in {"old": old["permissions"], "new": new["permissions"]}.items()
        }
        yield "permissions {old} became {new}".format(**facts), True
    yield from compare_arguments(old["arguments"], new["arguments"])
    yield from compare_answers(old["answers"], new["answers"])
    if old["request"] != new["request"]:
        facts = {"old": old["request"], "new": new["request"]}
        yield "request {old} became {new}".format(**facts), False
    if new["size"] > old["size"] * (1 + GROWTH):
        sizes = {"old": old["size"], "new": new["size"]}
        yield "grew from {old} to {new} bytes".format(**sizes), False


def compare_arguments(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    for name in old:
        if name not in new:
            yield f"argument {name} removed", True
            continue
        was, is_now = old[name], new[name]
        if was["type"] != is_now["type"]:
            facts = {"name": name, "old": was["type"], "new": is_now["type"]}
            changed = "argument {name} changed from {old} to {new}".format(**facts)
            yield changed, not accepts(is_now["type"], was["type"])
        yield from compare_choices(name, was.get("enum"), is_now.get("enum"))
        required = is_now.get("required", False)
        if required != was.get("required", False):
            became = "argument %(name)s became optional"
            if required:
                became = "argument %(name)s became required"
            yield became % {"name": name}, required
    for name in new:
        if name not in old:
            # A required member of an object that is new and optional breaks no call.
            parent = name.rpartition(".")[0].removesuffix("[]")
            required = new[name].get("required", False) and parent in {"", *old}
            added = "argument %(name)s added"
            if required:
                added = "required argument %(name)s added"
            yield added % {"name": name}, required


def compare_choices(
    name: str, old: list[Any] | None, new: list[Any] | None
) -> Iterator[tuple[str, bool]]:
    def write(text: str, values: Sequence[Any]) -> str:
        written = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return text % {"name": name, "values": written}

    if new is None:
        return
    if old is None:
        yield write("argument %(name)s takes only %(values)s now", new), True
        return
    if removed := [value for value in old if value not in new]:
        yield write("argument %(name)s no longer takes %(values)s", removed), True
    if added := [value for value in new if value not in old]:
        yield write("argument %(name)s takes %(values)s as well", added), False


def compare_answers(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    for name in old:
        if name not in new:
            yield f"field {name} of the answer removed", True
        elif old[name]["type"] != new[name]["type"]:
            was, is_now = old[name]["type"], new[name]["type"]
            facts = {"name": name, "old": was, "new": is_now}
            changed = "field {name} of the answer changed from {old} to {new}".format(**facts)
            yield changed, not accepts(was, is_now)
    for name in new:
        if name not in old:
            yield f"field {name} of the answer added", False


def accepts(new: str, old: str) -> bool:
    allowed, required = set(new.split(" | ")), set(old.split(" | "))
    if "number" in allowed:
        allowed.add("integer")
    return ANY in allowed or required <= allowed


# --- The file ------------------------------------------------------------------------------------


class LockFileError(Exception):
    """A lock file is missing or cannot be read."""


def list_members(schema: Any, path: str = "") -> Entry:
    """Return the members of a JSON Schema by their paths, such as ``lines[].quantity``."""
    found: Entry = {}
    schema = schema if isinstance(schema, Mapping) else {}
    for name, member in schema.get("properties", {}).items():
        member = member if isinstance(member, Mapping) else {}
        kind = member.get("type", ANY)
        entry: Entry = {"type": " | ".join(kind) if isinstance(kind, list) else kind}
        if name in schema.get("required", ()):
            entry["required"] = True
        for place in (member, member.get("items") or {}):
            # A schema describes many choices in words, which show no change.
            choices = (value for value, _ in FieldSchema.of(place).meaning.choices)
            if enum := list(place.get("enum", choices)):
                entry["enum"] = enum
        own = f"{path}.{name}" if path else name
        found |= {own: entry, **list_members(member, own)}
    # The rows of a list without pages are members too.
    if isinstance(schema.get("items"), Mapping):
        found |= list_members(schema["items"], f"{path}[]")
    return found


def write_entry(tool: Tool) -> Entry:
    """Return what a lock file holds of a tool."""
    return {
        "request": f"{tool.endpoint.method} {tool.endpoint.route.path}",
        "permissions": name_permissions(tool),
        "arguments": list_members(tool.input_schema),
        "answers": list_members(tool.schema.output),
        "size": ToolCost(tool).bytes,
    }


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
            message = "There is no %(path)s. Write the file with mcp_tools lock."
            raise LockFileError(message % {"path": self.path}) from None
        except (OSError, ValueError, KeyError, TypeError) as exc:
            message = f"{self.path} cannot be read: {exc!r}"
            raise LockFileError(message) from exc
        if not known:
            message = "%(path)s has another format. Write the file again with mcp_tools lock."
            raise LockFileError(message % {"path": self.path})
        entries: dict[str, Entry] = document["tools"]
        return entries

    def find_changes(self) -> list[Change]:
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
        text = ngettext("%(file)s holds %(tools)s tool.", "%(file)s holds %(tools)s tools.", count)
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
        found = [asdict(change) for change in changes]
        lines = self.list_changes(changes, screen)
        if not any(change.breaking for change in changes):
            return [command.format_json(found)] if options["json"] else lines
        command.write_data(found, lines, options)
        sys.exit(BREAKING)

    def list_changes(self, changes: Sequence[Change], screen: Screen) -> Iterator[str]:
        if not changes:
            yield "The tools are the same as in the lock file."
            return
        breaking, note = "BREAKING", "note"
        width = max(len(breaking), len(note)) + 2
        for change in changes:
            line = f"{breaking if change.breaking else note:<{width}}{change}"
            yield screen.style.ERROR(line) if change.breaking else line
        count = sum(change.breaking for change in changes)
        yield ""
        notes = NOTES % {"count": len(changes) - count}
        yield f"{BREAKING_CHANGES % {'count': count}}, {notes}."
