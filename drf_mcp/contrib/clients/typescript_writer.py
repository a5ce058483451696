from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from drf_mcp.contrib.clients.schema_types import (
    ClientTool,
    Record,
    UniqueNames,
    ValueType,
    clean,
    write_pascal_case,
)

RUNTIME = Path(__file__).with_name("runtime.ts-tpl").read_text(encoding="utf-8")
SCALARS = {
    "any": "unknown",
    "boolean": "boolean",
    "integer": "number",
    "null": "null",
    "number": "number",
    "string": "string",
}
WORDS = """
arguments await break case catch class const continue debugger default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new
null package private protected public return static super switch this throw true try typeof
undefined var void while with yield
"""
# What the code of the client, and the functions that it is made of, mean by these names.
RESERVED_FUNCTIONS = frozenset({*WORDS.split(), "args", "call", "client", "makeError"}) | {
    "makeProblem",
    "parse",
}


class TypeScriptWriter:
    """Writes a client over the official TypeScript SDK: a function for each tool."""

    reserved = frozenset(re.findall(r"\b[A-Z]\w*", RUNTIME))

    def write(self, server: str, tools: Sequence[ClientTool], records: Iterable[Record]) -> str:
        taken = {each for tool in tools for each in (tool.arguments.name, tool.data_name)}
        functions = UniqueNames({*RESERVED_FUNCTIONS, *taken})
        title = f"The tools of {server}. Written by manage.py mcp_client."
        parts = [
            f"{self._comment(title)}\n{RUNTIME.rstrip()}",
            *(self._write_record(each) for each in records if each.members or each.is_open),
            *filter(None, map(self._write_alias, tools)),
            *(self._write_function(tool, functions) for tool in tools),
        ]
        return "\n\n".join(parts) + "\n"

    def write_type(self, value: ValueType) -> str:
        if value.record is not None:
            return value.record.name
        if value.literals:
            return " | ".join(value.literals)
        inner = [self.write_type(part) for part in value.parts]
        if value.kind == "union":
            return " | ".join(dict.fromkeys(inner))
        if value.kind == "list":
            return f"Array<{inner[0]}>"
        return f"Record<string, {inner[0]}>" if value.kind == "map" else SCALARS[value.kind]

    def _write_record(self, record: Record) -> str:
        lines = []
        for member in record.members:
            if member.description:
                lines.append(self._comment(member.description))
            name = member.name if re.fullmatch(r"[A-Za-z_]\w*", member.name, re.ASCII) else ""
            optional = "" if member.required else "?"
            kind = self.write_type(member.type)
            lines.append(f"{name or json.dumps(member.name)}{optional}: {kind};")
        if record.is_open:
            lines.append("[name: string]: unknown;")
        body = "".join(f"  {line}\n" for line in lines)
        return f"export interface {record.name} {{\n{body}}}"

    def _write_alias(self, tool: ClientTool) -> str:
        kind = self.write_type(tool.data)
        return (
            "" if kind in ("unknown", tool.data_name) else f"export type {tool.data_name} = {kind};"
        )

    def _write_function(self, tool: ClientTool, functions: UniqueNames) -> str:
        pascal = write_pascal_case(tool.name)
        name = pascal[:1].lower() + pascal[1:]
        name = functions.take(f"{name}_" if name in RESERVED_FUNCTIONS else name)
        record = tool.arguments
        optional = "" if any(member.required for member in record.members) else " = {}"
        takes_none = not record.members and not record.is_open
        arguments = "client: Client" + ("" if takes_none else f", args: {record.name}{optional}")
        data = "unknown" if tool.data.kind == "any" else tool.data_name
        sent = "{}" if takes_none else "args"
        values = f"client, {json.dumps(tool.name)}, {sent}, {json.dumps(tool.envelope)}"
        return (
            f"{self._comment(tool.description or tool.name)}\n"
            f"export function {name}({arguments}): Promise<Answer<{data}>> {{\n"
            f"  return call({values});\n}}"
        )

    def _comment(self, text: str) -> str:
        line = " ".join(clean(text).split()).replace("*/", "* /")
        return f"/** {line} */"
