"""The surface of a project's tools: what agents rely on, kept in a lock file and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drf_mcp.access.authentication import find_view_classes
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.json_text import to_bytes
from drf_mcp.tools import Tool, registry
from drf_mcp.tools.capability import choose_envelope_class, get_output_schema, make_envelope

LOCK_FILE = "mcp-tools.lock.json"
FORMAT = 1
ANY = "any"
# A definition that grew by more than this share is told of.
GROWTH = 0.25

Surface = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """One difference between two surfaces.

    Attributes:
        tool: the tool's name.
        message: what changed.
        breaking: whether an agent that worked may stop working, or somebody else may call.
    """

    tool: str
    message: str
    breaking: bool

    def __str__(self) -> str:
        return f"{self.tool}: {self.message}"


class LockFileError(Exception):
    """A lock file is missing or is none."""


def surface_of(tools: Mapping[str, Tool]) -> Surface:
    """Return the surface of tools, a JSON value."""
    return {"format": FORMAT, "tools": {name: entry_of(tools[name]) for name in sorted(tools)}}


def entry_of(tool: Tool) -> dict[str, Any]:
    """Return what agents rely on of one tool."""
    return {
        "request": f"{tool.endpoint.method} {tool.endpoint.route.path}",
        "permissions": permissions_of(tool),
        "arguments": dict(members(tool.input_schema)),
        "answers": dict(members(tool.schema.output)),
        "size": size_of(tool),
    }


def permissions_of(tool: Tool) -> list[str]:
    """Return the permission classes of a tool's view, as they were written."""
    classes = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return ["chosen by the view"] if classes is None else [written(c) for c in classes]


def written(permission: Any) -> str:
    """Return the dotted name of a permission class; a composition as it was composed."""
    if hasattr(permission, "op1_class"):
        operator = permission.operator_class.__name__
        parts = [written(permission.op1_class)]
        if hasattr(permission, "op2_class"):
            parts.append(written(permission.op2_class))
        return f"{operator}({', '.join(parts)})"
    return f"{permission.__module__}.{permission.__qualname__}"


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return a tool's definition as clients of the current revision see it."""
    definition: dict[str, Any] = json.loads(encoded_definition(tool))
    return definition


def size_of(tool: Tool) -> int:
    """Return the bytes of a tool's definition in the current revision."""
    return len(to_bytes(encoded_definition(tool)))


def encoded_definition(tool: Tool) -> str:
    """Return a tool's definition in the current revision as JSON."""
    envelope = make_envelope(choose_envelope_class(tool))
    return encode_data(tool.definition(get_output_schema(tool, envelope)))


def members(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each member of a schema by its path, ``lines[].quantity``, with its type."""
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        yield at, member_of(member, name in required)
        yield from below(member, at)
    if not path:
        yield from below({"items": schema.get("items")}, "")


def below(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the members of an object, or of the items of an array, at a path."""
    if not isinstance(schema, Mapping):
        return
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from members(items, f"{path}[]")
    if path and "properties" in schema:
        yield from members(schema, path)


def member_of(schema: Any, required: bool) -> dict[str, Any]:
    """Return the type of a value, whether it must be given, and its choices."""
    schema = schema if isinstance(schema, Mapping) else {}
    said = schema.get("type", ANY)
    entry: dict[str, Any] = {"type": " | ".join(said) if isinstance(said, list) else said}
    if required:
        entry["required"] = True
    enum = schema.get("enum", (schema.get("items") or {}).get("enum"))
    if enum is not None:
        entry["enum"] = list(enum)
    return entry


def write_lock(path: str | Path, tools: Mapping[str, Tool]) -> None:
    """Write the lock file."""
    text = json.dumps(surface_of(tools), indent=1, ensure_ascii=False)
    Path(path).write_text(f"{text}\n", encoding="utf-8")


def read_lock(path: str | Path) -> Surface:
    """Return the surface in a lock file.

    Raises:
        LockFileError: if there is none, or it is not of this format.
    """
    try:
        surface: Surface = json.loads(Path(path).read_text(encoding="utf-8"))
        known = surface["format"] == FORMAT and isinstance(surface["tools"], dict)
    except FileNotFoundError:
        raise LockFileError(f"There is no {path}. Write it with mcp_tools --lock.") from None
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise LockFileError(f"{path} cannot be read: {exc!r}") from exc
    if not known:
        raise LockFileError(f"{path} is of another format. Write it anew with mcp_tools --lock.")
    return surface


def changes_since(path: str | Path) -> list[Change]:
    """Return how the project's tools differ from a lock file, breaking changes first.

    Raises:
        LockFileError: if the file cannot be read.
    """
    return compared(read_lock(path), surface_of(registry.tools()))


def compared(old: Surface, new: Surface) -> list[Change]:
    """Return how a surface differs from an older one, breaking changes first."""
    before, after = old["tools"], new["tools"]
    changes = [Change(name, "removed", True) for name in before if name not in after]
    for name in before:
        if name in after:
            changes += tool_changes(name, before[name], after[name])
    changes += [Change(name, "added", False) for name in after if name not in before]
    return sorted(changes, key=lambda change: not change.breaking)


def tool_changes(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """Yield how one tool changed."""
    if old["permissions"] != new["permissions"]:
        told = f"permissions {listed(old['permissions'])} became {listed(new['permissions'])}"
        yield Change(name, told, True)
    for message, breaking in argument_changes(old["arguments"], new["arguments"]):
        yield Change(name, message, breaking)
    for message, breaking in answer_changes(old["answers"], new["answers"]):
        yield Change(name, message, breaking)
    if old["request"] != new["request"]:
        yield Change(name, f"request {old['request']} became {new['request']}", False)
    if new["size"] > old["size"] * (1 + GROWTH):
        yield Change(name, f"grew from {old['size']} to {new['size']} bytes", False)


def listed(names: list[str]) -> str:
    """Return class names for reading, without their modules."""
    return ", ".join(name.rpartition(".")[2] for name in names) or "none"


def argument_changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield (what changed, whether that breaks calls) of the arguments."""
    for name in old:
        if name not in new:
            yield f"argument {name} removed", True
            continue
        yield from narrowed(name, old[name], new[name])
        was, is_now = old[name].get("required", False), new[name].get("required", False)
        if was != is_now:
            yield f"argument {name} became {'required' if is_now else 'optional'}", is_now
    for name in new:
        if name not in old:
            required = new[name].get("required", False) and parent_of(name) in {"", *old}
            yield f"{'required ' if required else ''}argument {name} added", required


def parent_of(name: str) -> str:
    """Return the path that a member stands in: ``lines`` for ``lines[].quantity``."""
    return name.rpartition(".")[0].removesuffix("[]")


def narrowed(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield how type and choices of an argument changed; fewer of them break calls."""
    if old["type"] != new["type"]:
        fewer = not accepts(new["type"], old["type"])
        yield f"argument {name} changed from {old['type']} to {new['type']}", fewer
    before, after = old.get("enum"), new.get("enum")
    if before is None and after is not None:
        yield f"argument {name} takes only {values(after)} now", True
    elif before is not None and after is not None:
        if gone := [value for value in before if value not in after]:
            yield f"argument {name} no longer takes {values(gone)}", True
        if more := [value for value in after if value not in before]:
            yield f"argument {name} takes {values(more)} as well", False


def accepts(new: str, old: str) -> bool:
    """Return whether whatever was of the old type is of the new one."""
    allowed, given = set(new.split(" | ")), set(old.split(" | "))
    if "number" in allowed:
        allowed.add("integer")
    return ANY in allowed or given <= allowed


def answer_changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield (what changed, whether that breaks readers) of the answers' fields."""
    for name in old:
        if name not in new:
            yield f"field {name} of the answer removed", True
        elif old[name]["type"] != new[name]["type"]:
            more = not accepts(old[name]["type"], new[name]["type"])
            told = f"changed from {old[name]['type']} to {new[name]['type']}"
            yield f"field {name} of the answer {told}", more
    yield from ((f"field {name} of the answer added", False) for name in new if name not in old)


def values(items: list[Any]) -> str:
    """Return values for reading."""
    return ", ".join(json.dumps(item, ensure_ascii=False) for item in items)
