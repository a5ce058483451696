from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from drf_mcp.contrib.clients.schema_types import (
    ClientTool,
    Record,
    RecordMember,
    UniqueNames,
    ValueType,
    clean,
)

RUNTIME = Path(__file__).with_name("runtime.py-tpl").read_text(encoding="utf-8")
SCALARS = {
    "any": "Any",
    "boolean": "bool",
    "integer": "int",
    "null": "None",
    "number": "float",
    "string": "str",
}
# What annotations name: a member of a class with such a name would take its place.
ANNOTATIONS = frozenset({*SCALARS.values(), "Literal", "Required", "dict", "list"})
RESERVED_METHODS = frozenset({"Any", "Answer", "Unpack", "_call", "_client"})
WIDTH = 92
CLASS = '''\
class Tools:
    """Calls tools by a connected client of the SDK."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def _call(self, name: str, arguments: Mapping[str, Any], envelope: str) -> Answer[Any]:
        return _read_result(await self._client.call_tool(name, dict(arguments)), envelope)
'''


class PythonWriter:
    """Writes a client over the official Python SDK: a class with a method for each tool."""

    reserved = frozenset({"Tools", *re.findall(r"\b[A-Z]\w*", RUNTIME)})

    def write(self, server: str, tools: Sequence[ClientTool], records: Iterable[Record]) -> str:
        title = f"The tools of {server}. Written by manage.py mcp_client."
        aliases = "\n".join(filter(None, map(self._write_alias, tools)))
        parts = [
            f'"""{self._quote(title)}"""\n\n{RUNTIME.rstrip()}',
            *(self._write_record(record) for record in records if record.members),
            *([aliases] if aliases else []),
            self._write_class(tools),
        ]
        return "\n\n\n".join(parts) + "\n"

    def write_type(self, value: ValueType) -> str:
        if value.record is not None:
            name = value.record.name
            return f"{name} | dict[str, Any]" if value.record.is_open else name
        if value.literals:
            return f"Literal[{', '.join(self._write_value(json.loads(v)) for v in value.literals)}]"
        inner = [self.write_type(part) for part in value.parts]
        if value.kind == "union":
            return " | ".join(dict.fromkeys(inner))
        if value.kind == "list":
            return f"list[{inner[0]}]"
        return f"dict[str, {inner[0]}]" if value.kind == "map" else SCALARS[value.kind]

    def _write_value(self, value: Any) -> str:
        # JSON escapes what is not ASCII otherwise.
        is_plain = isinstance(value, str) and value.isascii() and value.isprintable()
        return json.dumps(value) if is_plain else repr(value)

    def _write_record(self, record: Record) -> str:
        is_plain = all(self._is_plain(member.name) for member in record.members)
        lines: list[str] = []
        for member in record.members:
            lines += self._comment(member.description)
            name, kind = self._write_value(member.name), self._write_member(member)
            lines.append(f"{member.name}: {kind}" if is_plain else f"{name}: {kind},")
        body, name = "\n".join(f"    {line}" for line in lines), record.name
        if is_plain:
            return f"class {name}(TypedDict, total=False):\n{body}"
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{body}\n    }},\n    total=False,\n)'

    def _is_plain(self, name: str) -> bool:
        # Python writes __name in a class otherwise, and int would be the member's type.
        if keyword.iskeyword(name) or name in ANNOTATIONS or name.startswith("__"):
            return False
        return name.isascii() and name.isidentifier()

    def _write_member(self, member: RecordMember) -> str:
        kind = self.write_type(member.type)
        return f"Required[{kind}]" if member.required else kind

    def _write_alias(self, tool: ClientTool) -> str:
        kind = self.write_type(tool.data)
        return "" if kind in ("Any", tool.data_name) else f"{tool.data_name}: TypeAlias = {kind}"

    def _write_class(self, tools: Sequence[ClientTool]) -> str:
        taken = {each for tool in tools for each in (tool.arguments.name, tool.data_name)}
        methods = UniqueNames({*RESERVED_METHODS, *taken})
        return "\n\n".join([CLASS.rstrip(), *(self._write_method(t, methods) for t in tools)])

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

    def _comment(self, text: str) -> Iterator[str]:
        for line in textwrap.wrap(text, WIDTH):
            yield f"# {line}"
