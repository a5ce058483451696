"""The tools of a caller, as a client's code has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import APIException

from drf_mcp.contrib.clients.schema_types import ClientTool, TypeReader, UniqueNames
from drf_mcp.envelopes import Envelope, PlainEnvelope
from drf_mcp.settings import override_language
from drf_mcp.tools.results import choose_envelope_class, find_success, make_envelope
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.in_process import InProcessClient, make_server
from drf_mcp.transports.local_endpoint import LocalEndpoint


class ClientTools:
    """Reads tools into types.

    Args:
        reserved: names that the language's own code has.
    """

    def __init__(self, endpoint: LocalEndpoint, reserved: frozenset[str]) -> None:
        self.endpoint = endpoint
        self.capability = make_server(endpoint).tools_capability
        self.reader = TypeReader(UniqueNames(reserved))

    @override_language()
    def read_all(self, tools: Mapping[str, Tool], user: Any) -> list[ClientTool]:
        """Return the tools, and those that only the list of the endpoint has, such as a search."""
        made = [self._read_tool(tool) for tool in tools.values()]
        default = make_envelope(choose_envelope_class(None, self.capability.server.envelope_class))
        for each in self._list_further(user):
            if each["name"] not in self.endpoint.registry.tools():
                made.append(self._make(each, {}, default))
        return made

    def _list_further(self, user: Any) -> Iterator[dict[str, Any]]:
        client = InProcessClient(user, endpoint=self.endpoint)
        params: dict[str, Any] = {}
        while True:
            try:
                page = client.send("tools/list", params)["result"]
            except APIException:
                # The endpoint does not let the caller in.
                return
            yield from page["tools"]
            if "nextCursor" not in page:
                return
            params = {"cursor": page["nextCursor"]}

    def _read_tool(self, tool: Tool) -> ClientTool:
        output = tool.options.output_schema
        if not isinstance(output, Mapping):
            # Several objects are answered by a list.
            output = {} if tool.takes_items else tool.schema.output
        definition = {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
        }
        return self._make(definition, output, self.capability.get_envelope(tool))

    def _make(
        self, definition: Mapping[str, Any], output: Mapping[str, Any], envelope: Envelope
    ) -> ClientTool:
        return ClientTool.read(
            self.reader,
            definition["name"],
            definition.get("description", ""),
            definition["inputSchema"],
            self._find_data_schema(output, envelope),
            envelope.contract,
        )

    def _find_data_schema(self, output: Mapping[str, Any], envelope: Envelope) -> Any:
        if not output or not envelope.contract:
            return output if isinstance(envelope, PlainEnvelope) else None
        schema = find_success(envelope.schema(dict(output)) or {}).get("data")
        # The "ok" contract has a page's rows alone, and null of some failures.
        values = schema.get("anyOf", [schema]) if isinstance(schema, Mapping) else [None]
        properties = values[0].get("properties", {}) if isinstance(values[0], Mapping) else {}
        is_rows = envelope.contract == "ok" and properties.keys() == {"results"}
        return properties["results"] if is_rows else values[0]
