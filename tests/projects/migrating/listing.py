"""Prints the tools of a project with their arguments, in the environment that ``record`` made."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import django
from django.test.utils import setup_test_environment


def arguments_of(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the names of arguments, in groups as dotted paths."""
    for name, member in schema.get("properties", {}).items():
        if member.get("properties"):
            yield from arguments_of(member, f"{path}{name}.")
        elif not member.get("readOnly"):
            yield f"{path}{name}"


MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def ask_over_http() -> list[dict[str, Any]]:
    from django.contrib.auth.models import User
    from django.test import Client
    from rest_framework.views import APIView

    # The list does not depend on the caller.
    APIView.perform_authentication = lambda view, request: setattr(request, "user", User())
    for path in ("/mcp/", "/mcp"):
        response = Client().post(
            path,
            json.dumps(MESSAGE),
            content_type="application/json",
            headers={"accept": "application/json, text/event-stream"},
        )
        if response.status_code == 200:
            return json.loads(response.content)["result"]["tools"]
    raise SystemExit(f"{response.status_code} {response.content!r}")


def ask_server(module: str) -> list[dict[str, Any]]:
    from fastmcp import Client

    async def ask() -> list[dict[str, Any]]:
        async with Client(importlib.import_module(module).mcp) as client:
            return [
                tool.model_dump(by_alias=True, mode="json") for tool in await client.list_tools()
            ]

    return asyncio.run(ask())


def main(project: str, package: str) -> None:
    django.setup()
    setup_test_environment()
    server = f"tests.projects.migrating.{project}.before.server"
    tools = ask_server(server) if find_spec(server) else ask_over_http()
    arguments = {tool["name"]: [*arguments_of(tool["inputSchema"])] for tool in tools}
    found = {
        "package": package,
        "version": version(package),
        "tools": dict(sorted(arguments.items())),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
