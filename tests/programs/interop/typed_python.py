"""A program that uses the client of mcp_client for the shop: it reads, writes and is refused.

    python typed_python.py URL TOKEN

Writes a JSON object. `mypy --strict` checks it with the client.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from shop_client import ToolError, Tools


async def main(url: str, token: str) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Token {token}"}, timeout=30)
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        tools = Tools(client)
        page = await tools.customers_list(page_size=1, tier=["gold", "silver"])
        customer = page.data["results"][0]
        assert customer["id"] is not None
        further = await tools.customers_list(**page.next or {})
        ticket = await tools.tickets_create(
            customer=customer["id"], subject="Late", body="Where is it?", priority=3
        )
        caught = None
        try:
            await tools.orders_create(
                customer=customer["id"], lines=[{"product": "card-deck", "quantity": 0}]
            )
        except ToolError as error:
            caught = [error.code, error.pointers, error.message, error.remediation]
        seen = {"first": customer["id"], "second": further.data["results"][0]["id"]}
        more = {"subject": ticket.data["subject"], "caught": caught}
        sys.stdout.write(json.dumps({**seen, **more}))


asyncio.run(main(*sys.argv[1:]))
