"""The format of ``server.json`` for the registry of MCP servers, as a JSON Schema.

Written from the reference of the format in its revision of 2025-12-11, and stricter: unknown
members are refused, since they are most likely misspelt.
"""

from __future__ import annotations

from typing import Any

FORMAT = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

TEXT = {"type": "string", "minLength": 1}
LINK = {"type": "string", "format": "uri", "pattern": "^https://"}
# One version, neither a range nor a word for the newest.
VERSION = {"type": "string", "maxLength": 255, "pattern": r"^\d+(\.\d+)*[.\w+-]*$"}


def members(required: list[str], **properties: Any) -> dict[str, Any]:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


INPUT = {
    "description": TEXT,
    "isRequired": {"type": "boolean"},
    "isSecret": {"type": "boolean"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "value": TEXT,
    "default": TEXT,
    "placeholder": TEXT,
    "choices": {"type": "array", "items": TEXT, "minItems": 1},
}
INPUT["variables"] = {"type": "object", "additionalProperties": members([], **INPUT)}

NAMED = members(
    ["type", "name"],
    type={"const": "named"},
    name={"type": "string", "pattern": "^-"},
    isRepeated={"type": "boolean"},
    **INPUT,
)
POSITIONAL = {
    **members(
        ["type"],
        type={"const": "positional"},
        valueHint={"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        isRepeated={"type": "boolean"},
        **INPUT,
    ),
    "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
}
ARGUMENTS = {
    "type": "array",
    "items": {
        "if": {"properties": {"type": {"const": "named"}}},
        "then": NAMED,
        "else": POSITIONAL,
    },
}
PACKAGE = {
    **members(
        ["registryType", "identifier", "version", "transport"],
        registryType={"const": "pypi"},
        registryBaseUrl={"const": "https://pypi.org"},
        identifier=TEXT,
        version=VERSION,
        runtimeHint={"enum": ["uvx", "python", "pipx"]},
        runtimeArguments=ARGUMENTS,
        packageArguments=ARGUMENTS,
        environmentVariables={"type": "array", "items": members(["name"], name=TEXT, **INPUT)},
        transport=members(["type"], type={"const": "stdio"}),
    ),
    "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
}
SERVER = members(
    ["$schema", "name", "description", "version", "packages"],
    name={
        "type": "string",
        "minLength": 3,
        "maxLength": 200,
        "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
    },
    title={"type": "string", "minLength": 1, "maxLength": 100},
    description={"type": "string", "minLength": 1, "maxLength": 100},
    version=VERSION,
    websiteUrl=LINK,
    repository=members(
        ["url", "source"], url=LINK, source={"enum": ["github", "gitlab"]}, id=TEXT, subfolder=TEXT
    ),
    packages={"type": "array", "items": PACKAGE, "minItems": 1},
)
SERVER["properties"]["$schema"] = {"const": FORMAT}
