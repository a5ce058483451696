"""Runs in another process: ``python -m tests.projects.migrating.fastmcp_openapi.before.server``."""

import os

import django
import httpx2
from drf_spectacular.generators import SchemaGenerator
from fastmcp import FastMCP
from fastmcp.server.providers.openapi import MCPType, RouteMap

django.setup()

client = httpx2.AsyncClient(
    base_url=os.environ.get("API_URL", "http://localhost:8000"),
    headers={"Authorization": f"Token {os.environ.get('API_TOKEN')}"},
)

mcp = FastMCP.from_openapi(
    openapi_spec=SchemaGenerator().get_schema(request=None, public=True),
    client=client,
    name="books",
    route_maps=[RouteMap(methods=["DELETE", "PUT"], mcp_type=MCPType.EXCLUDE)],
)

if __name__ == "__main__":
    mcp.run()
