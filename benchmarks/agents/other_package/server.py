"""FastMCP's server over an OpenAPI document, with its own client: JSON lines in, JSON lines out.

Runs in a virtual environment that has FastMCP and nothing of this project. The first line names
the document and the URL of the API; the answer has the list and the route of each tool. Each later
line is a call, each answer its result.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import fastmcp
import httpx2
from fastmcp import Client, FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode

# The HTTP server of `LiveServer` serves one request after another.
TIMEOUT_SECONDS = 60


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def describe_routes(server: FastMCP) -> dict[str, Any]:
    """Return method, path and argument locations of each tool."""
    (provider,) = [each for each in server.providers if hasattr(each, "_spec")]
    routes = {name: tool._route for name, tool in provider._tools.items()}
    return {
        name: {"method": route.method, "path": route.path, "arguments": route.parameter_map}
        for name, route in routes.items()
    }


async def answer(client: Client, call: dict[str, Any]) -> dict[str, Any]:
    """Call a tool, and return its result as it is sent to a client."""
    try:
        result = await client.call_tool_mcp(call["tool"], call["arguments"])
    except Exception as exc:  # noqa: BLE001  # The client's own refusals are what an agent reads, too.
        return {"isError": True, "content": [{"type": "text", "text": str(exc)}]}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    api = httpx2.AsyncClient(base_url=asked["url"], timeout=TIMEOUT_SECONDS)
    # A response that does not match the OpenAPI document is no failure then.
    server = FastMCP.from_openapi(openapi_spec=asked["document"], client=api, validate_output=False)
    if asked["code_mode"]:
        server.add_transform(CodeMode())
    async with Client(server) as client:
        page = await client.list_tools_mcp()
        content = page.model_dump(mode="json", by_alias=True, exclude_none=True)
        routes = describe_routes(server)
        write({"version": fastmcp.__version__, "page": content, "routes": routes})
        while line := await asyncio.to_thread(sys.stdin.readline):
            call = json.loads(line)
            api.headers.update(call["headers"])
            write(await answer(client, call))


if __name__ == "__main__":
    asyncio.run(main())
