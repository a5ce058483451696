"""Calls a tool with a framework's client: ``python framework_clients.py NAME URL TOKEN``."""

import asyncio
import sys

ARGUMENTS = {"product": "desk-lamp", "quantity": 3}


async def langchain(url: str, headers: dict[str, str]) -> object:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    shop = {"transport": "streamable_http", "url": url, "headers": headers}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"shop": shop}).get_tools()}
    return await tools["quote"].ainvoke(ARGUMENTS)


async def pydantic_ai(url: str, headers: dict[str, str]) -> object:
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(url, headers=headers) as tools:
        return await tools.direct_call_tool("quote", ARGUMENTS)


async def openai_agents(url: str, headers: dict[str, str]) -> object:
    from agents.mcp import MCPServerStreamableHttp

    shop = {"url": url, "headers": headers, "timeout": 60}
    async with MCPServerStreamableHttp(shop, client_session_timeout_seconds=60) as server:
        return await server.call_tool("quote", ARGUMENTS)


async def llama_index(url: str, headers: dict[str, str]) -> object:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    specification = McpToolSpec(BasicMCPClient(url, headers=headers))
    tools = {tool.metadata.name: tool for tool in await specification.to_tool_list_async()}
    return await tools["quote"].acall(**ARGUMENTS)


if __name__ == "__main__":
    name, url, token = sys.argv[1:]
    print(asyncio.run(globals()[name](url, {"Authorization": f"Token {token}"})))  # noqa: T201
