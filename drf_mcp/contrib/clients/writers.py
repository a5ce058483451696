"""Writes the tools of a caller as code over the official SDK of a language."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from drf_mcp.contrib.clients.schema_types import (
    ClientTool,
    Record,
    UniqueNames,
    ValueType,
    clean,
    write_pascal_case,
)

WIDTH = 92
# Titles and annotations of Python: a member of a class with such a name would take its place.
ANNOTATIONS = frozenset({"Any", "Literal", "None", "Required", "bool", "dict", "float", "int"})
ANNOTATIONS |= {"list", "str"}
RESERVED_METHODS = frozenset({"Any", "Answer", "Unpack", "_call", "_client"})
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
CLASS = '''\
class Tools:
    """Calls tools by a connected client of the SDK."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def _call(self, name: str, arguments: Mapping[str, Any], envelope: str) -> Answer[Any]:
        return _read_result(await self._client.call_tool(name, dict(arguments)), envelope)
'''


def read_runtime(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip()


class ClientWriter:
    """Writes a client in one language.

    Attributes:
        runtime: the code that every client begins with.
        reserved: names that this code has.
        types: how the types of `ValueType` are written; ``{}`` is that of the values inside.
    """

    runtime: ClassVar[str]
    reserved: ClassVar[frozenset[str]]
    types: ClassVar[Mapping[str, str]]

    def write(self, server: str, tools: Sequence[ClientTool], records: Iterable[Record]) -> str:
        raise NotImplementedError

    def write_record_type(self, record: Record) -> str:
        return record.name

    def write_literals(self, literals: Sequence[str]) -> str:
        return " | ".join(literals)

    def write_type(self, value: ValueType) -> str:
        if value.record is not None:
            return self.write_record_type(value.record)
        if value.literals:
            return self.write_literals(value.literals)
        inner = [self.write_type(part) for part in value.parts]
        if value.kind == "union":
            return " | ".join(dict.fromkeys(inner))
        return self.types[value.kind].format(*inner)

    def find_aliases(self, tools: Iterable[ClientTool]) -> list[tuple[str, str]]:
        """Return the names of data, each with its type, which no record has already."""
        named = ((tool.data_name, self.write_type(tool.data)) for tool in tools)
        return [(name, kind) for name, kind in named if kind not in (self.types["any"], name)]

    def reserve(self, tools: Iterable[ClientTool], reserved: Iterable[str]) -> UniqueNames:
        taken = {each for tool in tools for each in (tool.arguments.name, tool.data_name)}
        return UniqueNames({*reserved, *taken})


class PythonWriter(ClientWriter):
    """Writes a client over the official Python SDK: a class with a method for each tool."""

    runtime = read_runtime("runtime.py-tpl")
    reserved = frozenset({"Tools", *re.findall(r"\b[A-Z]\w*", runtime)})
    types = {
        "any": "Any",
        "boolean": "bool",
        "integer": "int",
        "list": "list[{}]",
        "map": "dict[str, {}]",
        "null": "None",
        "number": "float",
        "string": "str",
    }

    def write(self, server: str, tools: Sequence[ClientTool], records: Iterable[Record]) -> str:
        title = f"The tools of {server}. Written by manage.py mcp_client."
        aliases = "\n".join(f"{n}: TypeAlias = {kind}" for n, kind in self.find_aliases(tools))
        methods = self.reserve(tools, RESERVED_METHODS)
        parts = [
            f'"""{self._quote(title)}"""\n\n{self.runtime}',
            *(self._write_record(record) for record in records if record.members),
            *([aliases] if aliases else []),
            "\n\n".join([CLASS.rstrip(), *(self._write_method(t, methods) for t in tools)]),
        ]
        return "\n\n\n".join(parts) + "\n"

    def write_record_type(self, record: Record) -> str:
        return f"{record.name} | dict[str, Any]" if record.is_open else record.name

    def write_literals(self, literals: Sequence[str]) -> str:
        return f"Literal[{', '.join(self._write_value(json.loads(each)) for each in literals)}]"

    def _write_value(self, value: Any) -> str:
        # JSON would escape characters that are not ASCII.
        is_plain = isinstance(value, str) and value.isascii() and value.isprintable()
        return json.dumps(value) if is_plain else repr(value)

    def _write_record(self, record: Record) -> str:
        is_plain = all(self._is_plain(member.name) for member in record.members)
        lines: list[str] = []
        for member in record.members:
            lines += (f"# {line}" for line in textwrap.wrap(member.description, WIDTH))
            kind = self.write_type(member.type)
            kind = f"Required[{kind}]" if member.required else kind
            name = member.name if is_plain else self._write_value(member.name)
            lines.append(f"{name}: {kind}{'' if is_plain else ','}")
        body, name = "\n".join(f"    {line}" for line in lines), record.name
        if is_plain:
            return f"class {name}(TypedDict, total=False):\n{body}"
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{body}\n    }},\n    total=False,\n)'

    def _is_plain(self, name: str) -> bool:
        # Python writes __name in a class otherwise, and int would be the member's type.
        if keyword.iskeyword(name) or name in ANNOTATIONS or name.startswith("__"):
            return False
        return name.isascii() and name.isidentifier()

    def _write_method(self, tool: ClientTool, methods: UniqueNames) -> str:
        name = re.sub(r"[^A-Za-z0-9_]", "_", tool.name)
        name = f"_{name}" if not name or name[0].isdigit() else name
        name = methods.take(f"{name}_" if keyword.iskeyword(name) else name)
        record, data = tool.arguments, "Any" if tool.data.kind == "any" else tool.data_name
        kind = "Any" if record.is_open else f"Unpack[{record.name}]"
        parameters, arguments = f"self, /, **arguments: {kind}", "arguments"
        if not record.members and not record.is_open:
            parameters, arguments = "self", "{}"
        head = f"async def {name}({parameters}) -> Answer[{data}]:"
        if len(head) > WIDTH:
            head = head.replace(parameters, f"\n    {parameters}\n")
        values = f"{self._write_value(tool.name)}, {arguments}, {self._write_value(tool.envelope)}"
        text = self._quote(tool.description or tool.name).replace("\n", "\n    ")
        lines = f'{head}\n    """{text}"""\n    return await self._call({values})'
        return textwrap.indent(lines, "    ")

    def _quote(self, text: str) -> str:
        escaped = clean(text).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        return escaped[:-1] + '\\"' if escaped.endswith('"') else escaped


class TypeScriptWriter(ClientWriter):
    """Writes a client over the official TypeScript SDK: a function for each tool."""

    runtime = read_runtime("runtime.ts-tpl")
    reserved = frozenset(re.findall(r"\b[A-Z]\w*", runtime))
    types = {
        "any": "unknown",
        "boolean": "boolean",
        "integer": "number",
        "list": "Array<{}>",
        "map": "Record<string, {}>",
        "null": "null",
        "number": "number",
        "string": "string",
    }

    def write(self, server: str, tools: Sequence[ClientTool], records: Iterable[Record]) -> str:
        functions = self.reserve(tools, RESERVED_FUNCTIONS)
        title = f"The tools of {server}. Written by manage.py mcp_client."
        parts = [
            f"{self._comment(title)}\n{self.runtime}",
            *(self._write_record(each) for each in records if each.members or each.is_open),
            *(f"export type {name} = {kind};" for name, kind in self.find_aliases(tools)),
            *(self._write_function(tool, functions) for tool in tools),
        ]
        return "\n\n".join(parts) + "\n"

    def _write_record(self, record: Record) -> str:
        lines = []
        for member in record.members:
            if member.description:
                lines.append(self._comment(member.description))
            is_plain = re.fullmatch(r"[A-Za-z_]\w*", member.name, re.ASCII)
            name = member.name if is_plain else json.dumps(member.name)
            lines.append(f"{name}{'' if member.required else '?'}: {self.write_type(member.type)};")
        if record.is_open:
            lines.append("[name: string]: unknown;")
        body = "".join(f"  {line}\n" for line in lines)
        return f"export interface {record.name} {{\n{body}}}"

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
