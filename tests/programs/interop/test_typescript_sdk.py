"""The official TypeScript SDK's clients, which most desktop clients use, at a real server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("typescript_sdk.cjs")

# Package of the SDK (its first and second version) and revision.
CLIENTS = [
    ("sdk", "2025-11-25"),
    pytest.param(("client", "2025-11-25"), marks=pytest.mark.nightly),
    ("client", "2026-07-28"),
]


@pytest.fixture(scope="module", params=CLIENTS, ids=" ".join)
def seen(request, uvicorn, node_modules):
    """The output of a client of alice: the revision, the names of tools, results by tool."""
    library, revision = request.param
    command = [node_modules / ".bin" / "node", SCRIPT]
    command += [library, revision, uvicorn.url, uvicorn.shop.tokens["alice"]]
    environment = {**os.environ, "NODE_PATH": str(node_modules)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return {**json.loads(run.stdout), "asked": revision}


def envelope(result):
    """Return the envelope of a result, which is the same in both channels."""
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    return result["structuredContent"]


def test_client_lists_the_tools_of_the_user(seen):
    assert {"customers_list", "orders_create", "stats"} <= set(seen["names"])
    assert "customers_deactivate" not in seen["names"]


@pytest.mark.parametrize("name", ["customers_list", "orders_list", "products_list", "stats"])
def test_client_accepts_the_result_of_a_read(seen, name):
    """The clients validate a result by the tool's outputSchema."""
    result = seen["results"][name]
    assert "isError" not in result
    assert envelope(result)["success"] is True


def test_client_learns_what_to_correct(seen):
    result = seen["results"]["customers_create"]
    assert result["isError"] is True
    details = envelope(result)["data"]["details"]
    assert (details["field"], details["constraint"]) == ("email", "invalid")


# --- Further capabilities -------------------------------------------------------------------

CAPABILITIES = Path(__file__).with_name("typescript_capabilities.cjs")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("2025-11-25", "uvicorn"), marks=pytest.mark.nightly),
        *(("2026-07-28", "uvicorn"), ("2025-11-25", "threads")),
    ],
    ids=" ".join,
)
def capabilities(request, server_of, node_modules):
    """The output of the SDK's second version for resources, prompts, progress and forms."""
    revision, kind = request.param
    server = server_of(kind, settings="tests.programs.interop.described_settings")
    command = [node_modules / ".bin" / "node", CAPABILITIES]
    command += [revision, server.url, server.shop.tokens["alice"]]
    environment = {**os.environ, "NODE_PATH": str(node_modules)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return {**json.loads(run.stdout), "revision": revision}


def test_client_reads_resources_and_lists_prompts(capabilities):
    assert capabilities["contents"][0]["uri"] == capabilities["resources"][0]["uri"]
    assert capabilities["resourceTemplates"][0]["uriTemplate"].count("{")
    assert "complaint" in {prompt["name"] for prompt in capabilities["prompts"]}


def test_client_gets_progress(capabilities):
    assert capabilities["progress"] == sorted(set(capabilities["progress"]))
    assert capabilities["progress"]
    assert "isError" not in capabilities["exported"]


def test_client_with_forms_asks_its_user(capabilities):
    """Before 2026-07-28 the answer may reach another worker than the one that waits."""
    assert len(capabilities["asked"]) == 1
    assert envelope(capabilities["destroyed"])["success"] is True
