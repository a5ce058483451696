"""The lock file: what agents rely on in the tools of a project, kept and compared."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drf_mcp.describers import FieldSchema
from drf_mcp.exposure import Tool, registry
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.management.tool_reports import MODULES, ToolReport, name_permissions

LOCK_FILE = "mcp-tools.lock.json"
FORMAT = 1
ANY = "any"
# The exit code for a breaking change.
BREAKING = 1

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
            changes += [Change(name, *each) for each in _compare_entries(old[name], new[name])]
    changes += [Change(name, "added", False) for name in new if name not in old]
    return sorted(changes, key=lambda change: not change.breaking)


def _compare_entries(old: Entry, new: Entry) -> Iterator[tuple[str, bool]]:
    """Yield what changed in a tool, and whether that breaks."""
    if old["permissions"] != new["permissions"]:
        was, is_now = (
            MODULES.sub("", ", ".join(entry["permissions"])) or "none" for entry in (old, new)
        )
        yield f"permissions {was} became {is_now}", True
    yield from _compare_members("argument {}", old["arguments"], new["arguments"], are_sent=True)
    yield from _compare_members(
        "field {} of the answer", old["answers"], new["answers"], are_sent=False
    )
    if old["request"] != new["request"]:
        yield f"request {old['request']} became {new['request']}", False


def _compare_members(
    text: str, old: Entry, new: Entry, *, are_sent: bool
) -> Iterator[tuple[str, bool]]:
    for name, was in old.items():
        what, is_now = text.format(name), new.get(name)
        if is_now is None:
            yield f"{what} removed", True
            continue
        if was["type"] != is_now["type"]:
            kinds = (is_now["type"], was["type"]) if are_sent else (was["type"], is_now["type"])
            yield f"{what} changed from {was['type']} to {is_now['type']}", not _accepts(*kinds)
        required = is_now.get("required", False)
        if are_sent:
            yield from _compare_choices(what, was.get("enum"), is_now.get("enum"))
        if are_sent and required != was.get("required", False):
            yield f"{what} became {'required' if required else 'optional'}", required
    for name in [each for each in new if each not in old]:
        # A required member of an object that is new and optional breaks no call.
        parent = name.rpartition(".")[0].removesuffix("[]")
        breaks = are_sent and new[name].get("required", False) and parent in {"", *old}
        yield f"{'required ' * breaks}{text.format(name)} added", breaks


def _compare_choices(
    what: str, old: list[Any] | None, new: list[Any] | None
) -> Iterator[tuple[str, bool]]:
    def write(values: Sequence[Any]) -> str:
        return ", ".join(json.dumps(value, ensure_ascii=False) for value in values)

    if new is None:
        return
    if old is None:
        yield f"{what} takes only {write(new)} now", True
        return
    if removed := [value for value in old if value not in new]:
        yield f"{what} no longer takes {write(removed)}", True
    if added := [value for value in new if value not in old]:
        yield f"{what} takes {write(added)} as well", False


def _accepts(new: str, old: str) -> bool:
    allowed, required = set(new.split(" | ")), set(old.split(" | "))
    if "number" in allowed:
        allowed.add("integer")
    return ANY in allowed or required <= allowed


# --- The file ------------------------------------------------------------------------------------


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


def _write_entry(tool: Tool) -> Entry:
    """Return what a lock file holds of a tool."""
    return {
        "request": f"{tool.endpoint.method} {tool.endpoint.route.path}",
        "permissions": name_permissions(tool),
        "arguments": list_members(tool.known_schema),
        "answers": list_members(tool.schema.output),
    }


class LockFile:
    def __init__(
        self, path: str | Path = LOCK_FILE, tools: Mapping[str, Tool] | None = None
    ) -> None:
        self.path = Path(path)
        self.tools = registry.tools() if tools is None else tools

    def make_entries(self) -> dict[str, Entry]:
        return {name: _write_entry(tool) for name, tool in sorted(self.tools.items())}

    def write(self) -> int:
        entries = self.make_entries()
        text = json.dumps({"format": FORMAT, "tools": entries}, indent=1, ensure_ascii=False)
        self.path.write_text(f"{text}\n", encoding="utf-8")
        return len(entries)

    def read(self) -> dict[str, Entry]:
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            known = document["format"] == FORMAT and isinstance(document["tools"], dict)
        except FileNotFoundError:
            message = f"There is no {self.path}. Write the file with mcp_tools lock."
            raise UsageError(message) from None
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise UsageError(f"{self.path} cannot be read: {exc!r}") from exc
        if not known:
            message = f"{self.path} has another format. Write the file again with mcp_tools lock."
            raise UsageError(message)
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
        lock = self._find_file(command, options)
        count = lock.write()
        if options["json"]:
            return [command.format_json({"file": str(lock.path), "tools": count})]
        return [f"{lock.path} holds {Screen.count_noun(count, 'tool')}."]

    def _find_file(self, command: Any, options: Mapping[str, Any]) -> LockFile:
        # Each endpoint has a file of its own: mcp-tools.mcp-readonly.lock.json.
        path, endpoint = options["file"], command.endpoint
        if path == LOCK_FILE and endpoint.found is not None:
            start, ending = LOCK_FILE.split(".", 1)
            path = f"{start}.{endpoint.path.strip('/').replace('/', '-')}.{ending}"
        return LockFile(path, endpoint.tools)


class CheckReport(LockReport):
    help = "compare the tools with that file; a breaking change exits with 1"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        changes = self._find_file(command, options).find_changes()
        found, lines = [asdict(change) for change in changes], self._list_changes(changes, screen)
        if not any(change.breaking for change in changes):
            return [command.format_json(found)] if options["json"] else lines
        command.write_data(found, lines, options)
        sys.exit(BREAKING)

    def _list_changes(self, changes: Sequence[Change], screen: Screen) -> Iterator[str]:
        if not changes:
            yield "The tools are the same as in the lock file."
            return
        for change in changes:
            line = f"{'BREAKING' if change.breaking else 'note':<10}{change}"
            yield screen.style.ERROR(line) if change.breaking else line
        count = sum(change.breaking for change in changes)
        notes = Screen.count_noun(len(changes) - count, "note")
        yield ""
        yield f"{Screen.count_noun(count, 'breaking change')}, {notes}."
