"""Servers and frameworks that are no extras of the tests, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.environments import make_environment
from tests.programs.interop.python_sdk import connected
from tests.programs.interop.servers import ROOT, running

pytestmark = pytest.mark.nightly

SERVERS = ["granian", "hypercorn", "daphne", "apig-wsgi", "pydantic-monty>=1.4", "PyYAML"]
FRAMEWORKS = {
    "langchain": "langchain-mcp-adapters",
    "pydantic_ai": "pydantic-ai-slim[mcp]",
    "openai_agents": "openai-agents",
    "llama_index": "llama-index-tools-mcp",
}
CALL = {"product": "desk-lamp", "quantity": 3}
TOTAL = "222.00"
# An event of a Lambda function's URL, answered by the handler that apig-wsgi makes.
LAMBDA = """
import json, sys
from apig_wsgi import make_lambda_handler
from example_project.wsgi import application
print(json.dumps(make_lambda_handler(application)(json.load(sys.stdin), None)))
"""


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["granian", "hypercorn", "daphne"])
async def test_a_server_answers_the_sdk(kind, shop, tmp_path):
    python = make_environment("servers", SERVERS)
    with running(kind, shop, tmp_path / "log", python) as server:
        async with connected(server, shop.tokens["alice"]) as connection:
            assert (await connection.call("quote", **CALL))["data"]["total"] == TOTAL


def test_a_lambda_function_answers(shop):
    params = {"name": "quote", "arguments": CALL}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    request = {"method": "POST", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}
    event = {
        "version": "2.0",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "host": "127.0.0.1",
            "content-type": "application/json",
            "authorization": f"Token {shop.tokens['alice']}",
        },
        "requestContext": {"http": request},
        "body": json.dumps(message),
        "isBase64Encoded": False,
    }
    python = make_environment("servers", SERVERS)
    assert TOTAL in run([python, "-c", LAMBDA], shop.environment, json.dumps(event))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_calls_a_tool(framework, shop, uvicorn):
    python = make_environment(framework, [FRAMEWORKS[framework]], shared=())
    script = str(Path(__file__).with_name("framework_clients.py"))
    assert TOTAL in run([python, script, framework, uvicorn.url, shop.tokens["alice"]])


def run(command: list[str], environment: dict[str, str] | None = None, sent: str = "") -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=sent, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
